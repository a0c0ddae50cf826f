"""The page about a deduplication: what it says, and that text of documents is only text."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlsh import InputError, Shingler, deduplicate, report
from fastlsh.reporting import sections
from fastlsh.reporting.sections import CLUSTERS, LISTED, MEMBERS
from refusals import refuses
from report_page import NASTY, Page, family, words
from strategies import by_text

pytestmark = pytest.mark.filterwarnings("ignore::fastlsh.RecallWarning")  # of low thresholds

TEXTS = [
    *family("alpha", 6),
    *family("beta", 3),
    "alone " * 5,
    "",
    "tiny",
    family("beta", 1)[0],
    None,
]


def number(text):
    return int(re.sub("[^0-9]", "", text))


def test_token_ids_are_shown_as_numbers(page):
    documents = [[1, 2, 3, 44, 5, 6], [1, 2, 3, 77, 5, 6], [9], []]
    result = deduplicate(documents, 0.2, shingler=Shingler("token", 2))
    made = page(result, documents)
    assert {"44", "77"} <= set(" ".join(made.marked).split())


def test_what_went_in_and_out(page):
    result = deduplicate(TEXTS, 0.5)
    seen = page(result, TEXTS, title="Ours")
    assert "14 documents 6 kept 8 removed 57.1% duplicates" in words(seen.sections["Ours"])
    assert "removed, similarity 1 1 removed, similarity below 1 7" in words(seen.sections["Ours"])
    seen = page(result.rethreshold(0.9), TEXTS)
    assert "threshold 0.9" in words(seen.sections["Parameters and recall"])


def test_parameters_and_promised_recall(page):
    result = deduplicate(
        TEXTS, 0.5, keep="longest", num_perm=200, seed=7, shingler=Shingler("word", 2),
        scheme="fss", max_candidates=50,
    )  # fmt: skip
    text = words(page(result, TEXTS).sections["Parameters and recall"])
    for expected in (
        "threshold 0.5", "shingles 2 words", "signatures 200 values (fss, seed 7)",
        f"bands {result.params.bands} x {result.params.rows} rows", "kept document the longest",
        "comparison limit 50 per document",
    ):  # fmt: skip
        assert expected in text
    found = page(result, TEXTS).tables["Parameters and recall"]
    assert [row[0] for row in found] == ["similarity", "0.5", "0.625", "0.75", "0.875"]
    assert f"with probability {found[1][2]}, a" in text
    assert "Every removal was verified" in text
    assert float(found[1][2]) == pytest.approx(result.params.probability(0.5), abs=1e-3)


def test_the_histogram_counts_every_removed_document(page):
    result = deduplicate(TEXTS, 0.5)
    rows = page(result, TEXTS).tables["How similar the removed documents are"][1:]
    similarity = result.similarity[result.removed]
    assert [row[0] for row in rows][::5] == ["0.5 to 0.55", "0.75 to 0.8", "1"]
    for label, _, count in rows:
        low, _, high = label.partition(" to ")
        inside = similarity == 1 if not high else (
            (similarity >= float(low)) & (similarity < float(high))
        )  # fmt: skip
        assert number(count) == inside.sum()


@pytest.mark.parametrize(
    ("threshold", "first", "last"),
    [
        (0.03, "0.03 to 0.1", "0.9 to 1"),
        (0.7, "0.7 to 0.75", "0.95 to 1"),
        (0.8, "0.8 to 0.82", "0.98 to 1"),
        (0.805, "0.805 to 0.82", "0.98 to 1"),
        (0.83, "0.83 to 0.84", "0.98 to 1"),
        (0.999, "0.999 to 0.9991", "0.9999 to 1"),
    ],
)
def test_the_bins_have_round_borders(page, threshold, first, last):
    result = deduplicate(TEXTS, threshold, num_perm=512, bands=512, rows=1)
    rows = page(result, TEXTS).tables["How similar the removed documents are"][1:]
    assert (rows[0][0], rows[-2][0], rows[-1][0]) == (first, last, "1")
    assert 6 < len(rows) <= 12
    assert sum(number(row[2]) for row in rows) == len(result.removed)
    ends = [label.split(" to ") for label, _, _ in rows[:-1]]
    assert [low for low, _ in ends[1:]] == [high for _, high in ends[:-1]]


def test_a_similarity_at_a_border():
    for whole in (10, 20, 50, 100):
        edges = sections._edges(1 - 10 / whole)
        for n in range(whole - 9, whole):
            assert n / whole in edges


def test_cluster_sizes(page):
    texts = [*family("a", 2), *family("b", 3), *family("c", 4), *family("d", 5), "alone enough"]
    result = deduplicate(texts, 0.5)
    seen = page(result, texts)
    assert "Kept documents with duplicates: 4. The largest cluster has 5" in words(
        seen.sections["Sizes of clusters"]
    )
    rows = [(label, count) for label, _, count in seen.tables["Sizes of clusters"][1:]]
    assert rows == [("2", "1"), ("3 to 4", "2"), ("5 to 8", "1")]


def test_the_largest_clusters_show_what_differs(page):
    result = deduplicate(TEXTS, 0.5, ids=[f"id-{n}" for n in range(len(TEXTS))])
    seen = page(result, TEXTS)
    text = words(seen.sections["The largest clusters"])
    assert text.index("id-0 5 duplicates") < text.index("id-6 3 duplicates")
    assert "1 more is identical to the kept document." in text
    assert "Marked" in seen.marked
    # Where the kept one has "changed0 alpha1" and the removed one "alpha0 changed1".
    assert seen.marked[1:5] == ["alpha", "changed", "changed", "alpha"]
    assert "changed0 alpha1 alpha2" in text


def test_few_of_many_clusters_and_members_are_shown(page):
    texts = [text for n in range(CLUSTERS + 3) for text in family(f"w{n}x", 2)]
    texts += family("many", MEMBERS + 5)
    result = deduplicate(texts, 0.5)
    text = words(page(result, texts).sections["The largest clusters"])
    assert text.count("duplicate") == CLUSTERS
    assert f"{MEMBERS + 4} duplicates" in text
    assert "4 more are not shown." in text
    assert "4 other clusters are not shown." in text


def test_differences_come_before_copies(page):
    """Copies of the kept document, and of a removed one, are told once and not listed."""
    first, second, third, *_ = family("alpha", 5)
    texts = [first] * 30 + [second] * 30 + [third]
    result = deduplicate(texts, 0.5)
    assert len(result.selected) == 1
    text = words(page(result, texts).sections["The largest clusters"])
    assert text.count("document 30 ") == text.count("document 60 ") == 1
    assert "document 31" not in text
    assert "document 1 " not in text
    assert (
        "At least 19 more are identical to the kept document; at least 29 more are identical to a"
        " removed one above; 10 more are not shown." in text
    )
    copies = words(page(deduplicate([first] * 3), [first] * 3).sections["The largest clusters"])
    assert copies.endswith("2 more are identical to the kept document.")


def test_limited_short_and_empty_documents(page):
    texts = [
        f"{'the same words again and again ' * 3}{n:03}{n * 7919 % 1000:03}" for n in range(200)
    ]
    result = deduplicate(texts, 0.99, max_candidates=1, bands=128, rows=1)
    assert result.limited > LISTED
    seen = page(result, texts)
    text = words(seen.sections["Documents not compared with every candidate"])
    assert f"compared with every candidate: {result.limited}." in text
    assert f"document {result.limited_documents[0]} the same words" in text
    assert f"{result.limited - LISTED} more are not shown." in text
    assert f"The first {LISTED}" in text
    assert "No document is empty" in seen.sections["Empty and short documents"]
    seen = page(deduplicate(TEXTS), TEXTS)
    text = words(seen.sections["Empty and short documents"])
    assert "always kept: 2." in text
    assert "document 10 document 13" in text
    assert (
        "Documents with fewer than 9 characters, which are similar only to an identical one: 1."
        in text
    )
    assert "document 11 tiny" in text
    assert "compared with all" in seen.sections["Documents not compared with every candidate"]


CUT = {"words": "alphanumeric"}
CAT = {"vocabulary": ["CAT,", "b", "sat"], "lowercase": True}


@pytest.mark.parametrize(
    ("shingler", "empty", "short"),
    [
        (Shingler("word", 3), 3, 6),
        (Shingler("word", 1), 3, 0),
        (Shingler("byte", 4), 1, 7),
        (Shingler(size=3, remove_whitespace=True), 3, 4),
        (Shingler("word", 2, tokenizer=str.splitlines), 1, 10),
        (Shingler("word", 2, normalize=lambda text: text.replace("b", "b b")), 3, 4),
        (Shingler("word", 3, **CUT), 5, 3),
        (Shingler("word", 3, **CUT, empty_words=True), 1, 4),
        (Shingler("word", 3, **CUT, stop_words=["the"]), 5, 5),
        (Shingler("word", 3, **CAT), 9, 3),
    ],
    ids=by_text,
)
def test_short_in_every_unit(page, shingler, empty, short):
    texts = ["a", "a b", "é", "", " ", "\n\n", "one two three four", "red-green-blue", "...", ",,"]
    texts += ["the cat sat", "the Cat, the"]
    result = deduplicate(texts, shingler=shingler)
    text = words(page(result, texts).sections["Empty and short documents"])
    assert empty == result.empty == sum(not shingler.shingles(text) for text in texts)
    assert f"always kept: {empty}." in text
    assert (f"only to an identical one: {short}." in text) == (short > 0)


def test_ids_in_every_form_and_times(pa, page):
    pd = pytest.importorskip("pandas")
    result = deduplicate(TEXTS, 0.5)
    names = [f"id-{n}" for n in range(len(TEXTS))]
    column = pd.Series(names, index=range(len(names))[::-1])
    for form in (names, np.array(names), pa.array(names), pa.chunked_array([names]), column):
        text = words(page(result, TEXTS, ids=form).sections["The largest clusters"])
        assert "id-0 5 duplicates" in text
    rows = page(result, TEXTS).tables["Time"][1:]
    assert [row[0] for row in rows] == list(result.seconds)
    rows = page(result, TEXTS, seconds={"all": 1234.5}).tables["Time"][1:]
    assert rows == [["all", "", "1,234.50 s"]]
    assert "Time" not in page(result, TEXTS, seconds={}).sections


def test_documents_that_were_kept_before(page):
    known = family("alpha", 2)
    result = deduplicate(TEXTS, 0.5, against=known)
    seen = page(result, TEXTS, against=known, against_ids=["k0", "k1"])
    assert "removed, duplicates of the reference collection 6" in words(
        seen.sections["Deduplication"]
    )
    assert "k0 from the reference collection 5 duplicates" in words(
        seen.sections["The largest clusters"]
    )


def test_without_exact_verification(page):
    for verify in ("signature", "none"):
        seen = page(deduplicate(TEXTS, 0.5, verify=verify), TEXTS)
        assert "Every removal was verified" not in seen.sections["Parameters and recall"]
    assert "removed, not verified" in seen.sections["Deduplication"]
    assert "not verified" in seen.sections["The largest clusters"]


@pytest.mark.parametrize("texts", [[], ["one document of some length"], ["", None], ["x" * 20] * 3])
@pytest.mark.parametrize("threshold", [0.8, 1.0])
def test_small_collections(page, texts, threshold):
    seen = page(deduplicate(texts, threshold), texts)
    assert f"{len(texts)} documents" in words(seen.sections["Deduplication"])


# ---- text is text


@pytest.mark.parametrize(
    "shingler", [Shingler(), Shingler("word", 2), Shingler("byte", 5)], ids=str
)
def test_nothing_in_a_text_acts(page, shingler):
    texts = [NASTY + "a" * n + " end" for n in range(1, 4)] + ["<b>", "\x00", "\u202e"]
    result = deduplicate(texts, 0.3, shingler=shingler)
    assert len(result.removed) > 0
    seen = page(
        result, texts, ids=[NASTY + str(n) for n in range(6)], title=NASTY,
        notes={NASTY: NASTY}, seconds={NASTY: 1.0},
    )  # fmt: skip
    everything = "".join(seen.sections.values()) + "".join(seen.sections)
    assert "<script>alert(1)</script>" in everything
    for character in NASTY:
        if ord(character) < 9 or ord(character) > 0x7E:
            assert character not in everything.replace("\u2026", "")
    assert "U+202E" in everything
    assert "U+001B" in everything


pieces = st.lists(
    st.sampled_from([NASTY, "<", "&lt;", "\x1b", "\u202e", "\ud800", "plain words ", "é", "</p>"]),
    max_size=6,
).map("".join)


@given(st.lists(pieces, max_size=8), st.sampled_from([1, 3, 9]))
def test_any_texts(tmp_path_factory, texts, size):
    path = tmp_path_factory.mktemp("report") / "r.html"
    result = deduplicate(texts, 0.4, shingler=Shingler(size=size), ids=texts)
    report(result, texts, path, title="".join(texts))
    Page(path.read_text(encoding="utf-8"))


def test_bytes_that_are_not_utf_8(page):
    texts = [b"\xff\xfe binary " + bytes([n]) * 3 + b" <b> and more of it" for n in (1, 200, 201)]
    result = deduplicate(texts, 0.3, shingler=Shingler("byte", 4))
    assert "\\xff\\xfe binary" in page(result, texts).sections["The largest clusters"]


@pytest.mark.exhaustive
def test_below_five_megabytes_whatever_the_texts(tmp_path):
    """Everything that is text is cut; here each character of it takes 36 bytes."""
    draw = np.random.RandomState(0)
    codes = np.concatenate([np.arange(1, 9), np.arange(0x202A, 0x202F), np.arange(0x2066, 0x206A)])
    texts = []
    for _ in range(CLUSTERS + 5):
        base = draw.choice(codes, 21_000)  # more than is compared
        for _ in range(MEMBERS + 2):
            own = base.copy()
            own[draw.randint(0, 400, 20)] = draw.choice(codes, 20)
            texts.append(own.astype("<u4").tobytes().decode("utf-32-le"))
    texts += ["\x01" * n for n in range(1, 9)] * 20 + [""] * 200
    ids = ["\u202e" * 10_000] * len(texts)
    result = deduplicate(texts, 0.5, max_candidates=1, ids=ids)
    assert len(result.clusters()) >= CLUSTERS
    report(
        result, texts, tmp_path / "r.html", title="\x01" * 10**6, notes={"input": "\x01" * 10**6}
    )
    assert 10**6 < (tmp_path / "r.html").stat().st_size < 5 * 10**6


def test_the_same_bytes_each_time_and_for_each_form(pa, tmp_path):
    forms = [TEXTS, tuple(TEXTS), [t and t.encode() for t in TEXTS], pa.chunked_array([TEXTS])]
    result = deduplicate(TEXTS, 0.5)
    written = []
    for n, form in enumerate(forms):
        report(result, form, tmp_path / f"{n}.html")
        written.append((tmp_path / f"{n}.html").read_bytes())
    assert len(set(written)) == 1


def test_one_file_that_loads_nothing(tmp_path):
    report(deduplicate(TEXTS), TEXTS, tmp_path / "r.html")
    source = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in source
    assert not re.search(r"https?:|<script|<link|<img|<iframe|@import|url\(|\son\w+=", source)
    assert 'name="viewport"' in source
    assert "prefers-color-scheme: dark" in source


# ---- bad input

WRONG = [
    ({"texts": TEXTS[:2]}, "texts has 2 documents, but the result has 14"),
    ({"against": None}, "against has 0 documents, but the result refers to at least 1"),
    ({"ids": ["a"]}, "ids has 1 elements for 14 documents"),
    ({"path": "r.pdf"}, r"r\.pdf: a report must be an \.html"),
    ({"path": "absent/r.html"}, "there is no directory"),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG, ids=str)
def test_wrong_arguments(here, wrong, message):
    result = deduplicate(TEXTS, 0.5, against=TEXTS[:1])
    arguments = {"texts": TEXTS, "against": TEXTS[:1], "path": "r.html", **wrong}
    refuses(InputError if "path" in wrong else ValueError, message, report, result, **arguments)
    assert not list(here.iterdir())


def test_an_error_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "r.html"
    path.write_text("old")
    monkeypatch.setattr(sections, "cluster_sizes", lambda sizes: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        report(deduplicate(TEXTS), TEXTS, path)
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]
    assert path.read_text() == "old"
