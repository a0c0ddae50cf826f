"""`fastlsh audit`: it writes a page, and prints what the answers tell."""

import json
from pathlib import Path

from files import put_rows as put
from report_page import family


def put_removed(run):
    texts = family("alpha", 6)
    put("a.jsonl", *({"id": f"a{n}", "text": text} for n, text in enumerate(texts[:3])))
    put("b.jsonl", *({"id": f"b{n}", "text": text} for n, text in enumerate(texts[3:])))
    arguments = ("a.jsonl", "b.jsonl", "--threshold", "0.5")
    assert run("dedup", *arguments, "-o", "kept.jsonl", "--removed", "r.tsv", "-q")[0] == 0
    return "audit", "a.jsonl", "b.jsonl", "--removed", "r.tsv"


RESULTS = ("--answers", "answers.jsonl", "--results")


def put_answers(*duplicate):
    """Answer the first removals of the table; the last line has no line feed."""
    rows = [line.split("\t") for line in Path("r.tsv").read_text().splitlines()[1:]]
    lines = [
        json.dumps({"id": row[0], "kept_id": row[1], "duplicate": each})
        for row, each in zip(rows, duplicate, strict=False)
    ]
    Path("answers.jsonl").write_text("\n".join(lines))


def test_a_page_and_its_results(run):
    arguments = put_removed(run)
    status, out, err = run(*arguments, "--page", "audit.html", "--sample", "3")
    assert (status, out) == (0, "")
    assert err == ["fastlsh: 3 pairs: open audit.html in a browser"]
    assert Path("audit.html").read_text("utf-8").count("<h2") == 4  # with the end
    assert not Path("answers.jsonl").exists()
    put_answers(False, True)
    out, err = run.done(*arguments, *RESULTS)
    head, first, *rows = [line.split("\t") for line in out.splitlines()]
    assert head == [
        "kind", "level", "removed", "judged", "duplicates", "precision", "low", "high",
    ]  # fmt: skip
    assert first[:2] == ["all", "all"]
    assert first[3:5] == ["2", "1"]
    assert {row[1] for row in rows if row[0] == "source"} == {"a.jsonl", "b.jsonl"}
    assert err == ["fastlsh: No threshold is sure to have a precision of 0.95 by these answers."]


def test_answers_that_do_not_belong_to_the_sample_are_told(run):
    arguments = put_removed(run)
    put_answers(*[True] * 9)
    status, out, err = run(*arguments, *RESULTS, "--sample", "3")
    assert (status, out.split("\n")[1].split("\t")[3]) == (0, "3")
    others = len(Path("answers.jsonl").read_text().splitlines()) - 3
    assert err[0] == f"fastlsh: warning: {others} answers of answers.jsonl for other pairs"
    status, out, err = run(*arguments, "--answers", "absent.jsonl", "--results")
    assert (status, out.split("\n")[1].split("\t")[3]) == (0, "0")
    assert err[0] == "fastlsh: warning: absent.jsonl does not exist: no pair is judged"


def test_complaints(run):
    arguments = put_removed(run)
    Path("thesis.txt").write_text("years of work")
    page = ("--page", "a.html")
    for more, reason in [
        ((*page, "--sample", "0"), "--sample must be at least 1"),
        ((*page, "--precision", "1"), "--precision must be between 0 and 1"),
        ((*page, "--seed", "-1"), "--seed must be between 0 and"),
        ((*page, "--removed", "absent.tsv"), "absent.tsv"),
        ((), "give --page FILE.html to judge the sample, or --answers FILE --results"),
        (("--results",), "--answers and --results need each other"),
        ((*page, "--answers", "x"), "--answers and --results need each other"),
        (("--page", "a.jsonl"), "a.jsonl"),
        (("--page", "a.txt"), "a.txt: a report must be an .html file"),
        (("--page", "absent/a.html"), "absent"),
        (("--page", "x.html", "--answers", "x.html", "--results"), "x.html: --page names the same"),
        (("--answers", "thesis.txt", "--results"), "thesis.txt: row 1: not JSON"),
    ]:
        assert reason in run.refused(*arguments, *more)
    assert "which the inputs do not have: give those of the run" in run.refused(
        "audit", "a.jsonl", "--removed", "r.tsv", *page
    )
    assert not Path("a.html").exists()
