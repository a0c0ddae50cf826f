"""The command line as a user meets it: results and messages."""

import json
import os
from pathlib import Path

import pytest

from files import put_rows as put
from files import table_rows

EXAMPLES = Path(__file__).parents[2] / "examples"
ONE = "the quick brown fox jumps over the lazy dog and runs away"
NEAR = ONE.replace("away", "off")
OTHER = "something else altogether, long enough to have shingles"


def table(text):
    return [line.split("\t") for line in text.splitlines()]


@pytest.fixture
def three(run):
    return put("a.jsonl", *({"id": i, "text": t} for i, t in enumerate([ONE, NEAR, OTHER])))


def jaccard(a, b):
    a, b = ({t[i : i + 9] for i in range(len(t) - 8)} for t in (a, b))
    return f"{len(a & b) / len(a | b):.6f}"


FOUND = "a pair at 0.8 is found with probability 0.9817"


# --- pairs


def test_pairs(run, three):
    out, err = run.done("pairs", three)
    assert table(out) == [["id_a", "id_b", "jaccard"], ["0", "1", jaccard(ONE, NEAR)]]
    line = f"fastlsh: 3 documents: 1 pair; {FOUND}"
    assert err == [line]
    *lines, more = run("pairs", three, "--verbose", "--memory", "1.5G")[2]
    assert lines == [line]
    needs = "fastlsh: 17 bands x 7 rows; engine: memory (needs "
    assert more.startswith(needs)
    assert more.endswith("MB, --memory is 1.5G)")
    assert run("pairs", three, "-v")[2][1].startswith(needs)
    assert run("pairs", three, "-v", "-q")[2] == []


@pytest.mark.skipif(not EXAMPLES.exists(), reason="an installed package has no examples")
@pytest.mark.parametrize("threshold", [0.5, 0.8])
def test_pairs_of_the_examples(run, threshold):
    truth = table((EXAMPLES / "notices.truth.tsv").read_text(encoding="utf-8"))[1:]
    expected = {(*sorted(row[:2]), row[2]) for row in truth if float(row[2]) >= threshold}
    out, _ = run.done("pairs", EXAMPLES / "notices.jsonl", "--threshold", threshold)
    found = {(*sorted(row[:2]), row[2]) for row in table(out)[1:]}
    assert found <= expected
    assert len(found) >= 0.95 * len(expected)


def test_pairs_with_another_collection(run, three):
    theirs = put("b.jsonl", *({"id": i, "text": t} for i, t in (("x", NEAR), ("y", ONE))))
    status, out, err = run("pairs", three, "--against", theirs)
    assert (status, err[0]) == (0, f"fastlsh: 3 documents: 4 pairs; {FOUND}")
    assert [row[:2] for row in table(out)] == [
        ["id_a", "id_b"], ["0", "x"], ["0", "y"], ["1", "x"], ["1", "y"]
    ]  # fmt: skip
    status, out, err = run("pairs", three, "--against", theirs, "--best")
    assert (status, err[0]) == (0, f"fastlsh: 3 documents: 2 pairs; {FOUND}")
    assert table(out)[1:] == [["0", "y", "1.000000"], ["1", "x", "1.000000"]]
    line = run.refused("pairs", three, "--best")
    assert line == "fastlsh: --best chooses pairs with another collection: give --against"


def test_exact_pairs(run, three):
    status, out, err = run("pairs", three, "--exact", "--threshold", 0.05, "-v")
    assert status == 0
    assert table(out) == [["id_a", "id_b", "jaccard"], ["0", "1", jaccard(ONE, NEAR)]]
    assert err == [
        "fastlsh: 3 documents: 1 pair; every pair at 0.05 or above is found",
        "fastlsh: engine: memory (an exact search works there only)",
    ]
    for option, value in (("--num-perm", 64), ("--recall", 0.9), ("--verify", "exact")):
        line = run.refused("pairs", three, "--exact", option, value)
        assert line == f"fastlsh: {option} has no effect with --exact, which has no bands"


def test_pairs_into_files(run, three):
    assert run("pairs", three, "-o", "p.tsv", "-q") == (0, "", [])
    assert table(Path("p.tsv").read_text())[1][:2] == ["0", "1"]
    run("pairs", three, "-o", "p.jsonl", "-q")
    (pair,) = table_rows("p.jsonl")
    assert (pair["id_a"], pair["id_b"]) == (0, 1)
    pq = pytest.importorskip("pyarrow.parquet")
    run("pairs", three, "-o", "p.parquet", "-q")
    assert pq.read_table("p.parquet").to_pylist() == [pair]


def test_options_reach_the_search(run, three):
    _, out, err = run(
        "pairs", three, "--unit", "word", "--size", 2, "--threshold", 0.7, "--num-perm", 64,
        "--bands", 32, "--rows", 2, "--seed", 5, "--verify", "signature", "--threads", 1,
        "--lowercase", "--scheme", "fss", "-v",
    )  # fmt: skip
    assert "32 bands x 2 rows" in err[1]
    assert len(table(out)) == 2
    assert float(table(out)[1][2]) * 64 % 1 == 0
    _, out, _ = run("pairs", three, "--verify", "none", "--recall", 0.9, "--remove-whitespace")
    assert table(out)[1][2] == "nan"


def test_columns_without_header(run):
    Path("a.tsv").write_text(f"x\t{ONE}\ny\t{ONE}\n")
    assert table(run("pairs", "a.tsv", "--no-header")[1])[1] == ["x", "y", "1.000000"]
    Path("a.csv").write_bytes(f"k;body\n'1;{ONE} é\n\"2;{ONE} é\n".encode("latin-1"))
    arguments = ["--delimiter", ";", "--encoding", "latin-1", "--text", "body", "--id", "k"]
    assert table(run("pairs", "a.csv", *arguments, "--no-quotes")[1])[1][:2] == ["'1", '"2']
    Path("b").write_text(f"id\ttext\n1\t{ONE}\n2\t{ONE}\n")
    out = run("pairs", "b", "--format", "csv", "--delimiter", r"\t")[1]
    assert table(out)[1][:2] == ["1", "2"]


def test_help_says_that_accents_count_letters_of_hangul(run, capfd):
    with pytest.raises(SystemExit):
        run("pairs", "--help")
    text = " ".join(capfd.readouterr().out.split())
    assert "--strip-accents remove accents; texts stay decomposed, so that a syllable of" in text


def test_repeated_ids_are_kept_with_a_warning(run):
    put("a.jsonl", *[{"id": "x", "text": ONE}] * 3)
    out, err = run.done("pairs", "a.jsonl", "-q")
    assert table(out)[1:] == [["x", "x", "1.000000"]] * 3
    said = "fastlsh: warning: documents that repeat the id of an earlier one: "
    assert err == [said + "2, such as 'x' in a.jsonl"]
    put("b.jsonl", {"id": 7, "text": OTHER}, {"text": OTHER})
    put("c.jsonl", {"id": 7, "text": ONE})
    for command in (["pairs"], ["dedup", "-o", "kept.jsonl"], ["evaluate"]):
        err = run(command[0], "b.jsonl", "c.jsonl", *command[1:], "-q")[2]
        assert err == [said + "1, such as 7 in b.jsonl, c.jsonl"]


def test_skipped_rows_are_told(run):
    Path("a.jsonl").write_text("x\n" * 12 + json.dumps({"text": ""}) + "\n")
    _, err = run.done("pairs", "a.jsonl", "--on-error", "skip")
    assert err[0].startswith("fastlsh: warning: skipped: a.jsonl: row 1: not JSON")
    assert err[10:12] == [
        "fastlsh: warning: skipped: 2 more rows",
        f"fastlsh: 1 document, 1 empty, 12 rows skipped: 0 pairs; {FOUND}",
    ]


def test_too_many_pairs(run):
    put("a.jsonl", *[{"text": ONE}] * 50)
    line = run.refused("pairs", "a.jsonl", "--max-pairs", 1000)
    assert "--max-pairs=1,000" in line
    assert "Use fastlsh dedup, which is linear" in line


# --- dedup


def test_dedup(run):
    given = [
        {"x": [1], "id": i, "text": t} for i, t in enumerate([ONE, OTHER, NEAR, "", None, ONE])
    ]
    put("a.jsonl", *given)
    status, out, err = run("dedup", "a.jsonl", "-o", "kept.jsonl", "--removed", "gone.tsv")
    assert (status, out) == (0, "")
    assert table_rows("kept.jsonl") == [given[i] for i in (0, 1, 3, 4)]
    assert table(Path("gone.tsv").read_text()) == [
        ["id", "kept_id", "jaccard"],
        ["2", "0", jaccard(ONE, NEAR)],
        ["5", "0", "1.000000"],
    ]
    counts = "4 kept, 2 removed (duplicate ratio 0.3333)"
    assert err == [f"fastlsh: 6 documents, 2 empty: {counts}; {FOUND}"]


def test_keep(run):
    put("a.jsonl", {"id": 1, "text": NEAR}, {"id": 2, "text": ONE}, {"id": 3, "text": NEAR})
    for keep, kept in [("first", 1), ("last", 3), ("longest", 2)]:
        assert run("dedup", "a.jsonl", "-o", "b.jsonl", "--keep", keep)[0] == 0
        assert [row["id"] for row in table_rows("b.jsonl")] == [kept]


def test_the_summary_counts_further_copies(run):
    rows = [{"site": site, "text": ONE} for site in ("a", "a", "b", "b", "b")]
    put("a.jsonl", *rows, {"site": "a", "text": OTHER})
    for options, kept, said in (
        (["--copies-per", "site", "1"], 3, ["1 near-duplicate kept by --copies-per"]),
        (["--max-copies", "4"], 5, ["3 near-duplicates kept by --max-copies"]),
        (["--copies-per", "site", "2", "--max-copies", "3"], 4,
         ["2 near-duplicates kept by --max-copies and --copies-per"]),
        (["--max-copies", "1"], 2, []),
        ([], 2, []),
    ):  # fmt: skip
        _, err = run.done("dedup", "a.jsonl", "-o", "b.jsonl", *options)
        assert f"6 documents: {kept} kept, {6 - kept} removed" in err[0]
        assert [part for part in err[0].split("; ") if "near-dup" in part] == said


def test_the_summary_counts_missing_priorities(run):
    dates = ({"day": day} for day in ("2024-01-31", None, "2024-03-02"))
    put("a.jsonl", *({"text": ONE, **date} for date in dates), {"text": OTHER})
    said = "fastlsh: 4 documents, 2 without a value of day: "
    for engine in ("memory", "disk"):
        options = ["--priority", "day", "--engine", engine, "--log", "log.jsonl"]
        _, err = run.done("dedup", "a.jsonl", "-o", "b.jsonl", *options)
        (line,) = (line for line in err if "without" in line)
        assert line.startswith(said)
        assert [row.get("day") for row in table_rows("b.jsonl")] == ["2024-03-02", None]
        assert table_rows("log.jsonl")[-1]["missing_priorities"] == 2
    status, _, err = run("dedup", "a.jsonl", "-o", "b.jsonl")
    assert (status, [line for line in err if "without" in line]) == (0, [])


def test_against(run, three):
    put("known.jsonl", {"id": "other", "text": OTHER})
    Path("more").mkdir()
    Path("more/one.txt").write_text(ONE)
    arguments = ["-o", "b.jsonl", "--removed", "gone.jsonl", "-q"]
    said = "fastlsh: warning: every document of the inputs is removed because of --against: "
    status, out, err = run("dedup", three, "--against", "known.jsonl", "more", *arguments)
    assert (status, out, len(err)) == (0, "", 1)
    assert err[0].startswith(said)
    assert table_rows("b.jsonl") == []
    gone = {row["id"]: row["kept_id"] for row in table_rows("gone.jsonl")}
    assert gone == {
        0: os.path.join("more", "one.txt"),
        1: os.path.join("more", "one.txt"),
        2: "other",
    }


def test_too_many_candidates_are_told(run):
    words = ONE.split(" ")
    texts = [" ".join([*words[:i], str(i) * 3, *words[i:]]) for i in range(len(words))]
    put("a.jsonl", *({"text": text} for text in texts))
    arguments = ["--threshold", 0.75, "--num-perm", 64, "--bands", 64, "--rows", 1]
    _, err = run.done("dedup", "a.jsonl", "-o", "b.jsonl", "--max-candidates", 1, *arguments)
    assert any("--max-candidates" in line for line in err)


def test_the_recall_that_is_stated_is_that_of_the_search(run):
    name = put("a.jsonl", {"text": ONE}, {"text": NEAR}, {"text": OTHER})
    index = ["index", "build", "a.index", name, "--verify", "signature"]
    assert run(*index)[0] == 0
    found = "a pair at 0.8 is found with probability 0.9817"
    estimates = "estimates decide, which differ from the similarity by chance"
    for command, expected in (
        (["dedup", "-o", "k.jsonl"], found),
        (["dedup", "-o", "k.jsonl", "--verify", "none"], found),
        (["dedup", "-o", "k.jsonl", "--verify", "signature"], estimates),
        (["dedup", "-o", "k.jsonl", "--index", "a.index"], estimates),
        (["dedup", "-o", "k.jsonl", "--by", "line", "--threshold", "0.8"], found),
        (["dedup", "-o", "k.jsonl", "--by", "line", "--threshold", "0.8", "--verify", "signature"],
         estimates),
        (["dedup", "-o", "k.jsonl", "--rule", "equal"], "all equal texts are found"),
        (["pairs", "-o", "p.tsv"], found),
        (["pairs", "-o", "p.tsv", "--verify", "signature"], estimates),
        (["pairs", "-o", "p.tsv", "--exact"], "every pair at 0.8 or above is found"),
        (["dedup", "-o", "k.jsonl", "--bands", "16", "--rows", "8", "--num-perm", "128"],
         "a pair at 0.8 is found with probability 0.9470"),
    ):  # fmt: skip
        _, err = run.done(command[0], name, *command[1:])
        assert err[-1].endswith(f"; {expected}"), (command, err)
        assert sum("probability" in line for line in err) == ("probability" in expected), err


def test_the_rule_of_removal(run):
    long = ONE + ", and then it goes on and on"
    name = put("a.jsonl", *({"id": i, "text": t} for i, t in enumerate([ONE, long, NEAR])))
    options = ["--threshold", 0.6, "--num-perm", 400, "--keep", "longest", "--removed", "gone.tsv"]
    assert run("dedup", name, "-o", "kept.jsonl", *options, "--rule", "contained")[0] == 0
    assert [row["id"] for row in table_rows("kept.jsonl")] == [1, 2]
    gone = table(Path("gone.tsv").read_text(encoding="utf-8"))
    assert gone == [["id", "kept_id", "containment"], ["0", "1", "1.000000"]]
    share = ["--rule", "contained", "--containment", "0.8"]
    assert run("dedup", name, "-o", "kept.jsonl", *options, *share)[0] == 0
    assert [row["id"] for row in table_rows("kept.jsonl")] == [1]
    far = put("b.jsonl", {"text": f"{long} " + " ".join(map(str, range(200)))}, {"text": long})
    options = ["--rule", "contained", "--keep", "longest"]
    for search, engine, kept in (
        ("jaccard", "memory", 2), ("containment", "memory", 1), ("containment", "disk", 1),
    ):  # fmt: skip
        searched = [*options, "--search", search]
        status, _, err = run("dedup", far, "-o", "kept.jsonl", *searched, "--engine", engine)
        assert (status, len(table_rows("kept.jsonl"))) == (0, kept)
        probability = {
            "jaccard": "a document in a much longer one needs --search containment to be found",
            "containment": "a document contained in one of up to 32 times as many shingles is"
            " found with a probability of at least 0.98, a shorter part with --split paragraphs or"
            " --by paragraph",
        }
        assert err[-1].endswith(f"; {probability[search]}")
    *_, chosen = run("dedup", far, "-o", "kept.jsonl", *searched, "--verbose")[2]
    assert chosen.startswith("fastlsh: engine: ")  # no bands: there are some for each ratio
    for wrong, said in (
        (["--threshold", "0.5"], "--threshold has no effect with --search containment"),
        (["--bands", "4", "--rows", "3"], "bands and rows cannot be given with"),
    ):
        assert said in run.refused("dedup", far, "-o", "none.jsonl", *searched, *wrong)
    assert "--containment=0.8 needs --rule=contained" in run.refused(
        "dedup", name, "-o", "kept.jsonl", "--containment", "0.8"
    )


def test_equal_texts(run):
    texts = ["One text", "one text", "another one", ""]
    name = put("a.jsonl", *({"id": i, "text": t} for i, t in enumerate(texts)))
    equal = ["dedup", name, "-o", "kept.jsonl", "--rule", "equal"]
    assert run(*equal)[0] == 0
    assert len(table_rows("kept.jsonl")) == 4
    for engine in ("memory", "disk"):
        more = ["--lowercase", "--removed", "gone.tsv", "--report", "run.html", "--engine", engine]
        status, _, err = run(*equal, *more)
        assert status == 0
        assert err[-1].endswith("; all equal texts are found")
        assert [row["id"] for row in table_rows("kept.jsonl")] == [0, 2, 3]
        gone = table(Path("gone.tsv").read_text(encoding="utf-8"))
        assert gone == [["id", "kept_id", "jaccard"], ["1", "0", "1.000000"]]
        page = Path("run.html").read_text(encoding="utf-8")
        assert "A document was removed if it equals another one that is kept." in page
    for wrong in (["--threshold", "0.5"], ["--size", "3"], ["--preset", "fineweb"]):
        assert f"{wrong[0]} has no effect with --rule equal, which compares texts" in run.refused(
            *equal, *wrong
        )


def test_repeated_passages(run):
    common = "a passage of more than thirty characters that occurs twice"
    texts = [f"One. {common}", f"{common} Two.", "three"]
    name = put("a.jsonl", *({"id": i, "text": t} for i, t in enumerate(texts)))
    spans = ["dedup", name, "-o", "kept.jsonl", "--by", "span", "--min-length", 30]
    for engine in ("memory", "disk"):
        more = ["--removed", "gone.tsv", "--keep-least", 6, "--engine", engine]
        status, _, err = run(*spans, *more)
        assert status == 0
        assert err[-1] == (
            "fastlsh: 3 documents: 58 characters removed in 1 span of at least 30 characters from"
            " 1 document; 2 rows written, 1 row left out"
        )
        assert [row["text"] for row in table_rows("kept.jsonl")] == [texts[0], "three"]
        gone = table(Path("gone.tsv").read_text(encoding="utf-8"))
        assert gone == [["id", "start", "end", "kept_id", "kept_start"], ["1", "0", "58", "0", "5"]]
    for wrong, said in (
        (["--threshold", "0.5"], "--threshold has no effect with --by span"),
        (["--clusters", "a.tsv"], "--clusters has no effect with --by span"),
        (["--unit", "token"], "--unit token needs --tokenizer FILE"),
        (["--words", "alphanumeric"], "words"),
        (["--drop-empty"], "--drop-empty has no effect with --by span"),
    ):
        assert said in run.refused(*spans, *wrong)
    more = ["--unit", "byte", "--snap", "word", "--merge-gap", 3, "--annotate"]
    status, _, err = run(*spans, *more)
    assert status == 0
    assert (
        "3 documents: 58 characters removed in 1 span of at least 30 bytes from 1 document"
        in err[0]
    )
    found = [row.pop("repeated_spans") for row in table_rows("kept.jsonl")]
    assert found == [None, "[[0,58]]", None]
    for engine in ("memory", "disk"):
        words = ["--unit", "word", "--min-length", 8, "--engine", engine, "--report", "run.html"]
        _, err = run.done(*spans[:-2], *words, "--words", "alphanumeric")
        said = "58 characters removed in 1 span of at least 8 words from 1 document"
        assert said in err[-1]
        assert "Passages removed most often" in Path("run.html").read_text(encoding="utf-8")
    _, err = run.done(*spans, "--max-share", 0.5)
    assert "; 1 passage kept, in more than --max-share of the documents; " in err[-1]
    assert "--join is for --by span" in run.refused(
        "dedup", name, "-o", "kept.jsonl", "--by", "line", "--join", "x"
    )
