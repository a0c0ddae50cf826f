"""Pages that come with a run."""

from pathlib import Path

from files import put_rows as put
from report_page import NASTY, Page, family, words

TEXTS = [*family("alpha", 4), "something else of some length"]


def rows(name="a.jsonl", texts=TEXTS):
    return put(name, *({"id": f"id-{n}", "text": text} for n, text in enumerate(texts)))


def page(name="r.html"):
    return Page(Path(name).read_text(encoding="utf-8"))


def test_pairs_in_pages_and_by_file(run):
    names = []
    for name, texts in (("a.txt", TEXTS * 2), ("b.txt", TEXTS[:3])):
        Path(name).write_text("\n".join(texts))
        names.append(name)
    how = ["--threshold", "0.7", "--split", "lines", "--report", "r.html"]
    _, out, _ = run("pairs", *names, *how)
    pairs = [line.split("\t") for line in out.splitlines()[1:]]
    assert len(pairs) > 50
    seen = page()
    shown = words(seen.sections["The most similar pairs"])
    assert "Pairs 1 to 50 a.txt" in shown
    assert f"Pairs 51 to {len(pairs)} a.txt" in shown
    order = sorted(pairs, key=lambda pair: -float(pair[2]))
    places = [shown.index(f"{a} and {b} {float(s):.4f}") for a, b, s in order]
    assert places == sorted(places)
    assert "not shown" not in shown
    table = {tuple(row[:2]): row[2:] for row in seen.tables["Pairs by file"][1:]}
    counts = [sum(a[0] == x and b[0] == y for a, b, _ in pairs) for x, y in ("aa", "ab", "bb")]
    files = [("a.txt", "a.txt"), ("a.txt", "b.txt"), ("b.txt", "b.txt")]
    assert [int(table[each][0]) for each in files] == counts
    run("pairs", *names, *how, "--threshold", "1")
    of_equal = sum(map(len, TEXTS)), 2 * sum(map(len, TEXTS[:3]))
    table = {tuple(row[:2]): row[2:] for row in page().tables["Pairs by file"][1:]}
    assert table == {
        each: [str(count), f"{size:,}"]
        for each, count, size in zip(files, (5, 6), of_equal, strict=False)
    }
    run("pairs", *names, *how, "--most", "2", "-o", "pairs.tsv")
    shown = words(page().sections["The most similar pairs"])
    assert shown.count("both texts are identical") == 2
    assert f"{len(pairs) - 2} other pairs are not shown: pairs.tsv has all pairs." in shown


def test_a_page_about_equal_texts(run):
    name = rows(texts=["One text", "one text", "another one", ""])
    for engine in ("memory", "disk"):
        more = ["--rule", "equal", "--lowercase", "--report", "r.html", "--engine", engine]
        _, err = run.done("dedup", name, "-o", "kept.jsonl", *more)
        assert err[-1].endswith(
            "3 kept, 1 removed (duplicate ratio 0.2500); all equal texts are found"
        )
        text = Path("r.html").read_text(encoding="utf-8")
        assert "A document was removed if it equals another one that is kept." in text
        assert "the same set of shingles" in text


def test_no_pairs(run):
    assert run("pairs", rows(texts=["one", "two"]), "--report", "r.html")[0] == 0
    assert "No pair has" in page().sections["How similar the pairs are"]


def test_a_page_about_an_overlap(run):
    shared = family("alpha", 3)
    rows("a.jsonl", [*shared, "something else of some length"])
    rows("b.jsonl", shared[:1])
    rows("c.jsonl", ["nothing that occurs in any other data set"])
    names = ["a.jsonl", "b.jsonl", "c.jsonl", rows("<b>&.jsonl", [NASTY, ""])]
    arguments = ("overlap", *names, "--threshold", "0.7")
    assert run(*arguments, "--report", "r.html", "-q")[0] == 0
    seen = page()
    first = words(seen.sections["Overlap of 4 data sets"])
    assert "4 data sets 8 documents" in first
    matrix = seen.tables["Shared documents"]
    assert matrix[0] == ["", "1", "2", "3", "4", "all"]
    assert matrix[1] == ["1.a.jsonl", "75.0%3", "75.0%3", "", "", "4"]
    assert matrix[4][0] == "4.<b>&.jsonl"
    assert [row[0] for row in seen.tables["Time"][1:]] == ["reading", "search"]


def test_a_page_to_judge_removals(run):
    rows("a.jsonl", family("alpha", 6))
    given = ("a.jsonl", "--threshold", "0.5", "--removed", "r.tsv")
    assert run("dedup", *given, "-q")[0] == 0
    arguments = ("audit", "a.jsonl", "--removed", "r.tsv")
    status, out, err = run(*arguments, "--page", "audit.html", "--sample", "3")
    assert (status, out) == (0, "")
    assert err == ["fastlsh: 3 pairs: open audit.html in a browser"]
    assert Path("audit.html").read_text("utf-8").count("<h2") == 4  # with the end
    status, out, err = run(*arguments, "--answers", "absent.jsonl", "--results")
    assert (status, out.split("\n")[1].split("\t")[3]) == (0, "0")
    assert err[0] == "fastlsh: warning: absent.jsonl does not exist: no pair is judged"
