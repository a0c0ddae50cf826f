"""`fastlsh overlap`: its table, its summary, its page, and its complaints."""

from pathlib import Path

from files import put_rows as put
from report_page import NASTY, Page, family, words


def put_three():
    shared = family("alpha", 3)
    put("a.jsonl", *({"text": text} for text in [*shared, "something else of some length"]))
    put("b.jsonl", {"text": shared[0]})
    put("c.jsonl", {"text": "nothing that occurs in any other data set"})
    return "a.jsonl", "b.jsonl", "c.jsonl"


def test_the_page(run):
    names = [*put_three(), "<b>&.jsonl"]
    put(names[-1], {"text": NASTY}, {"text": ""})
    arguments = ("overlap", *names, "--threshold", "0.7")
    assert run(*arguments, "--report", "r.html", "-q")[0] == 0
    seen = Page(Path("r.html").read_text(encoding="utf-8"))
    first = words(seen.sections["Overlap of 4 data sets"])
    assert "4 data sets 8 documents" in first
    matrix = seen.tables["Shared documents"]
    assert matrix[0] == ["", "1", "2", "3", "4", "all"]
    assert matrix[1] == ["1.a.jsonl", "75.0%3", "75.0%3", "", "", "4"]
    assert matrix[4][0] == "4.<b>&.jsonl"
    assert [row[0] for row in seen.tables["Time"][1:]] == ["reading", "search"]


def test_complaints(run):
    names = put_three()
    for given, reason in [
        (names[:1], "fastlsh: an overlap compares 2 to 64 data sets, got 1"),
        ((*names, "--limit", "3"), "unrecognized arguments: --limit"),
        (
            (*names, "--stage", "sign"),
            "a stage needs the directory that all stages share: give --work",
        ),
        (
            (*names, "--stage", "sign", "--work", "w"),
            "a stage needs the memory that every process may use, not half of what is free on the"
            " first one: give --memory",
        ),
        ((*names, "--unit", "token"), "which token ids do not have"),
        ((*names, "--report", "a.jsonl"), "a.jsonl"),
        ((*names, "--engine", "disk"), "needs a work directory (--work)"),
    ]:
        assert reason in run.refused("overlap", *given)


def test_the_plan_of_an_overlap(run):
    arguments = ("overlap", *put_three(), "-o", "t.tsv", "--work", "w", "--memory", "300M")
    script, _ = run.done(*arguments, "--threads", "2", "--plan", "sh", "--parts", "3")
    assert "--stage decide --part $part/3" in script
    assert "--stage merge" not in script
