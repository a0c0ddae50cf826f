"""What tells programs how a run went: --fail-above, --summary, and the last line of the log."""

import json
import os
from pathlib import Path

import pytest

import fastlsh
from combinations import covering, every
from files import put_rows
from report_page import family

TEXTS = [*family("alpha", 4), "something else of some length", "and one of its own kind"]
ENGINES = {
    "memory": ["--engine", "memory"],
    "disk": ["--engine", "disk", "--memory", "300M", "--work", "w"],
    "stages": ["--memory", "300M", "--work", "w", "--threads", "1"],
}
STAGES = ["sign", "link", "unite", "gather", "decide", "merge", "write", "finish"]
OF_PAIRS = ["sign", "link", "unite", "gather", "decide", "finish"]


def rows(name, texts, **more):
    return put_rows(name, *({"id": f"{name}-{n}", "text": t, **more} for n, t in enumerate(texts)))


def outcome(run, engine, words):
    """Run a command; return its status and the lines of the standard error of its last stage."""
    if engine != "stages":
        return run(*words, *ENGINES[engine])[::2]
    for stage in OF_PAIRS if words[0] in ("pairs", "overlap") else STAGES:
        assert not Path("s.json").exists()
        status, _, err = run(*words, *ENGINES[engine], "--stage", stage)
        assert (status, err) == (0, []) or stage == "finish"
    return status, err


CASES = {
    "documents": (["dedup", "a.jsonl", "-o", "out.jsonl"], 3 / 6, "removed"),
    "against": (
        ["dedup", "a.jsonl", "--against", "b.jsonl", "-o", "out/"], 5 / 6, "removed",
    ),
    "counted": (["dedup", "a.jsonl"], 3 / 6, "removed"),
    "lines": (["dedup", "lines.jsonl", "-o", "out.jsonl", "--by", "line"], 3 / 8, "removed"),
    "spans": (
        ["dedup", "lines.jsonl", "-o", "out.jsonl", "--by", "span", "--min-length", "40"],
        None, "characters are removed",
    ),
    "pairs": (["pairs", "a.jsonl", "-o", "out.tsv"], 4 / 6, "in a pair"),
    "crossing": (
        ["pairs", "a.jsonl", "--against", "b.jsonl", "-o", "out.tsv"], 5 / 6, "in a pair",
    ),
    "overlap": (
        ["overlap", "b.jsonl", "a.jsonl", "-o", "out.tsv"],
        1.0, "all of the documents of a data set are in another one",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("case", "engine"), covering([*CASES], [*ENGINES]))
def test_a_share_above_the_given_one_is_status_3(run, case, engine):
    rows("a.jsonl", TEXTS)
    rows("b.jsonl", [TEXTS[0], TEXTS[4]])
    menu = "a line that is on every page of this collection"
    lines = [f"{menu}\n{text}" for text in TEXTS[:1] + TEXTS[4:]] + [f"{menu}\nlast of all"]
    rows("lines.jsonl", lines)
    words, share, told = CASES[case]
    if share is None:
        share = 3 * (len(menu) + 1) / sum(map(len, lines))
    words = [*words, "--threshold", "0.7"] if case not in ("lines", "spans") else words
    above = share - 0.001
    words = [*words, "-q", "--summary", "s.json", "--log", "log.jsonl"]
    status, err = outcome(run, engine, [*words, "--fail-above", above])
    assert status == 3
    (line,) = err
    assert told in line
    assert line.endswith(f"which is above --fail-above {above:.6g}")
    summary = json.loads(Path("s.json").read_text())
    assert summary["share"] == pytest.approx(share, abs=1e-12)
    assert (summary["command"], summary["version"]) == (words[0], fastlsh.__version__)
    assert summary["engine"] == ("memory" if engine == "memory" else "disk")
    last = json.loads(Path("log.jsonl").read_text().splitlines()[-1])
    assert {name: last[name] for name in summary} == summary
    assert last["event"] == "done"
    assert case == "counted" or any(path.name.startswith("out") for path in Path().iterdir())
    for path in ("s.json", "out.jsonl", "out.tsv"):
        Path(path).unlink(missing_ok=True)
    equal = [*words, "--fail-above", repr(summary["share"])] if share < 1 else words
    assert outcome(run, "memory", equal) == (0, [])


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_all_counts_of_a_run(run, engine):
    good = Path(rows("a.jsonl", [*TEXTS, ""]))
    good.write_text(good.read_text() + '{"id": "bad"}\n')
    rows("b.jsonl", TEXTS[4:5])
    words = [*ENGINES[engine], "--on-error", "skip", "-q", "--summary", "s.json"]
    words += ["--against", "b.jsonl", "--threshold", "0.7"]
    search = {"threshold": 0.7, "seed": 1, "num_perm": 128, "verify": "exact"}
    shared = {"documents": 7, "empty": 1, "skipped": 1, "against_documents": 1}
    for command, more, parameters in (
        ("dedup", {"kept": 3, "removed": 4, "limited": 0}, {"keep": "first", "rule": "jaccard"}),
        ("pairs", {"pairs": 1, "documents_in_pairs": 1}, {"best": False}),
    ):
        assert run(command, "a.jsonl", "-o", f"{command}.jsonl", *words)[0] == 0
        found = json.loads(Path("s.json").read_text())
        assert {name: found[name] for name in (*shared, *more)} == {**shared, **more}
        named = {name: found["parameters"][name] for name in (*search, *parameters)}
        assert named == {**search, **parameters}
        assert (
            found["parameters"]["shingler"]["unit"],
            found["parameters"]["shingler"]["size"],
        ) == ("char", 9)
        params = fastlsh.LSHParams(found["parameters"]["bands"], found["parameters"]["rows"])
        assert found["recall_at_threshold"] == params.probability(0.7) >= 0.98
        assert found["seconds"]


def test_items_that_are_found(run):
    rows("a.jsonl", [" ".join(f"word{n}{x}" for x in range(20)) for n in range(5)])
    put_rows(
        "e.jsonl", {"id": 1, "q": " ".join(f"word0{x}" for x in range(20))}, {"id": 2, "q": "few"}
    )
    words = ["decontaminate", "a.jsonl", "--evals", "e.jsonl", "-o", "out.jsonl", "-q"]
    for more in ([], ["--work", "w"]):
        status, _, err = run(*words, *more, "--summary", "s.json", "--fail-above", "0.19")
        assert (status, err[-1]) == (
            3, "fastlsh: 0.2 of the documents contain an item, which is above --fail-above 0.19",
        )  # fmt: skip
        found = json.loads(Path("s.json").read_text())
        counts = {"documents": 5, "contaminated": 1, "items": 2, "items_found": 1, "skipped": 0}
        assert {name: found[name] for name in counts} == counts
        assert found["not_searched"] == [{"item": 2, "reason": "short"}]
        assert found["parameters"]["shingler"]["size"] == 13
        assert run(*words, *more, "--fail-above", "0.2")[0] == 0
    before = sorted(Path().iterdir())
    for more in ([], ["--work", "w"]):  # without an output, it only counts
        assert run(*words[:-3], *more, "--fail-above", "0.2")[0] == 0
        assert run(*words[:-3], *more, "--fail-above", "0.19", "-q")[0] == 3
        assert sorted(Path().iterdir()) == before
    assert run(*words[:-3], "--self-test", "--summary", "s.json")[0] == 2


def test_with_an_index(run):
    rows("a.jsonl", TEXTS[:5])
    rows("b.jsonl", TEXTS[3:])
    run("index", "build", "i", "a.jsonl", "-q", "--threshold", "0.7")
    words = ["dedup", "b.jsonl", "--index", "i", "-q", "--summary", "s.json"]
    assert "would be lost: give -o" in run.refused(*words)
    status, _, err = run(*words, "-o", "out.jsonl", "--fail-above", "0.5")
    assert (status, len(err)) == (3, 1)
    found = json.loads(Path("s.json").read_text())
    assert (found["removed"], found["kept"], found["against_documents"]) == (2, 1, 5)


@pytest.mark.parametrize("by", [None, "line", "span"])
@pytest.mark.parametrize("engine", every(3, ["memory", "disk", "auto"], 1))
def test_without_an_output_a_run_only_counts(run, tmp_path, by, engine):
    rows("a.jsonl", TEXTS)
    put_rows("b.csv.jsonl", {"text": TEXTS[0], "another": "column"})
    words = ["dedup", "a.jsonl", "b.csv.jsonl", "--engine", engine]
    words += ["--by", by] if by else ["--threshold", "0.7"]
    before = set(os.listdir())
    status, out, err = run(*words)
    assert (status, out) == (0, "")
    assert set(os.listdir()) == before
    assert not any("written" in line for line in err)
    told = {None: "3 kept, 4 removed", "line": "1 line removed", "span": "0 spans"}[by]
    assert any(told in line for line in err), err
    status, _, _ = run(*words, "--removed", "removed.tsv", "-q")
    assert status == 0
    assert set(os.listdir()) == {*before, "removed.tsv"}
    for more, reason in ((["--convert-to", "csv"], "without an output"), (["--annotate"], "")):
        if by != "line" or more[0] != "--annotate":
            assert reason in run.refused(*words, *more, "-q")
