"""The command line as a user meets it: results and messages."""

import json
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


# --- dedup


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


def test_too_many_candidates_are_told(run):
    words = ONE.split(" ")
    texts = [" ".join([*words[:i], str(i) * 3, *words[i:]]) for i in range(len(words))]
    put("a.jsonl", *({"text": text} for text in texts))
    arguments = ["--threshold", 0.75, "--num-perm", 64, "--bands", 64, "--rows", 1]
    _, err = run.done("dedup", "a.jsonl", "-o", "b.jsonl", "--max-candidates", 1, *arguments)
    assert any("--max-candidates" in line for line in err)
