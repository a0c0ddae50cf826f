"""Texts without repeated passages, against the definition in plain Python."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_passages
from combinations import rounds
from fastlsh import Index, Shingler, deduplicate_spans
from fastlsh.parallel import RunOptions
from fastlsh.stages import passages
from fastlsh.texts import as_texts
from hostile_texts import hostile_text
from strategies import few_letters

pytestmark = pytest.mark.filterwarnings("ignore:.*equal by accident")  # short ones


@st.composite
def collections(draw):
    """Return texts with repetitions of many kinds: periodic, nested, overlapping, astral."""
    letters = draw(st.sampled_from(["ab", "a", "abcdef", "aé☃😀"]))
    pieces = draw(st.lists(st.text(letters, min_size=1, max_size=12), min_size=1, max_size=4))
    piece = st.tuples(st.sampled_from(pieces), st.integers(0, 12)).map(lambda p: p[0] * p[1])
    text = st.lists(piece | st.text(letters, max_size=5), max_size=6).map("".join)
    return draw(st.lists(st.none() | text, max_size=6))


def units_of(result, first=0):
    """Return the removed units, as the oracle names them."""
    spans = zip(result.document.tolist(), result.start.tolist(), result.end.tolist(), strict=True)
    units = [(d + first, place) for d, begin, end in spans for place in range(begin, end)]
    assert len(units) == len(set(units))
    return set(units)


def check(result, documents, length, known=()):
    """Compare a result with the definition; look whether each unit stays where it is said to."""
    everything = [text or "" for text in (*known, *documents)]
    first = len(known)
    gone = units_of(result, first)
    assert gone == oracle_passages.removed(everything, length, first)
    sources = np.where(
        result.against_document >= 0, result.against_document, result.kept_document + first
    )
    rows = np.stack([result.document + first, result.start, result.end, sources], axis=1)
    bounds = zip(result.kept_start.tolist(), result.kept_end.tolist(), strict=True)
    for (d, begin, end, source), (start, stop) in zip(rows.tolist(), bounds, strict=True):
        assert 0 <= begin < end
        assert everything[d][begin:end] == everything[source][start:stop]
        assert (source, start) < (d, begin)
        assert not {(source, place) for place in range(start, stop)} & gone
    for d, text in enumerate(documents):
        left = "".join(c for n, c in enumerate(text or "") if (d + first, n) not in gone)
        assert (result.texts[d] or "") == left


@few_letters
@given(collections(), st.sampled_from([1, 2, 3, 5, 8, 13, 30]), st.sampled_from([1, 3]))
def test_what_goes_and_where_it_stays(documents, length, threads):
    check(deduplicate_spans(documents, length, threads=threads), documents, length)


@few_letters
@given(collections(), collections(), st.sampled_from([2, 5, 13]))
def test_passages_of_a_reference_collection_go_too(documents, known, length):
    result = deduplicate_spans(documents, length, against=known)
    check(result, documents, length, known)
    again = deduplicate_spans(documents, against=known, **result.options)
    assert (again.texts, list(again)) == (result.texts, list(result))


MANY = [pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(1, 40)]


@pytest.mark.parametrize("seed", [0, *MANY])
def test_hostile_collections(monkeypatch, seed):
    draw = random.Random(seed)
    for _ in range(rounds(200)):
        base = "".join(draw.choices("abcdefgh  é😀"[: draw.choice([3, 8, 12])], k=300))
        documents = [hostile_text(draw, base) for _ in range(draw.randrange(1, 9))]
        length = draw.choice([1, 2, 3, 5, 8, 13, 21, 34, 55, 80, 120])
        gram = min(draw.choice([1, 2, 5, 20, 50]), length)
        monkeypatch.setattr(passages, "gram_size", lambda length, gram=gram: gram)
        n_against = draw.choice([0, 0, draw.randrange(len(documents))])
        known, own = documents[:n_against], documents[n_against:]
        check(deduplicate_spans(own, length, against=known, threads=1), own, length, known)


@pytest.mark.parametrize("length", [40, 100, 101, 500])
def test_long_passages(length):
    """Of lengths in which a window has many grams, in texts with much that repeats."""
    draw = random.Random(length)
    base = "".join(draw.choices("abcdefgh ", k=3000))
    documents = []
    for _ in range(15):
        begin = draw.randrange(2500)
        parts = [
            base[begin : begin + draw.randrange(20, 1200)],
            "".join(draw.choices("xyz", k=draw.randrange(300))),
            draw.choice("abc") * draw.randrange(2 * length),
            base[: draw.randrange(1, 9)] * draw.randrange(2 * length // 5),
        ]
        documents.append("".join(draw.sample(parts, draw.randrange(1, 5))))
    result = deduplicate_spans(documents, length)
    assert len(result)
    check(result, documents, length)


def test_a_third_one_may_repeat_the_second():
    letters = random.Random(1)
    common, tail = ("".join(letters.choices("abcdefgh", k=60)) for _ in range(2))
    documents = [f"A {common}", f"B {common}X {tail}", f"C {common}X {tail}"]
    result = deduplicate_spans(documents, 50)
    check(result, documents, 50)
    assert result.texts == [documents[0], f"BX {tail}", "C"]
    assert set(result.kept_id) == {0, 1}


@given(st.lists(st.text("aA  bÄß", max_size=24), max_size=5))
def test_normalised_passages_are_cut_in_the_original(documents):
    shingler = Shingler(lowercase=True, collapse_whitespace=True)
    result = deduplicate_spans(documents, 4, shingler=shingler)
    normal = [" ".join(text.lower().split()) for text in documents]
    check_normal = deduplicate_spans(normal, 4)
    assert len(result) == len(check_normal)
    assert (result.kept_document == check_normal.kept_document).all()
    for row in range(len(result)):
        d, begin, end = result.document[row], result.start[row], result.end[row]
        source = documents[result.kept_document[row]]
        ours = documents[d][begin:end].lower().split()
        assert ours == source[result.kept_start[row] : result.kept_end[row]].lower().split()
        cut = normal[d][check_normal.start[row] : check_normal.end[row]]
        assert ours == cut.split()


def test_options_and_columns():
    documents = ["abcdefgh 1", "2 abcdefgh 3", "abcdefgh", None, "4"]
    result = deduplicate_spans(documents, 8, ids=list("vwxyz"), join=" ... ", keep_least=3)
    assert result.texts == ["abcdefgh 1", "2  ... 3", "", None, "4"]
    assert list(result) == [("w", 2, 11, "v", 0), ("x", 0, 8, "v", 0)]
    assert (result.emptied.tolist(), result.dropped.tolist()) == ([2], [2])
    assert result.changed.tolist() == [1, 2]
    assert (result.documents, result.n_removed, result.characters) == (5, 2, 17)
    assert "2 spans of 17 characters removed from 2 of 5 documents" in repr(result)
    pa = pytest.importorskip("pyarrow")
    assert pa.table(result)["kept_id"].to_pylist() == ["v", "v"]
    column = pa.array(documents, pa.large_string())
    assert deduplicate_spans(column, 8).texts == ["abcdefgh 1", "2 3", "", "", "4"]
    assert deduplicate_spans([], 5).texts == []
    assert deduplicate_spans(["short"]).texts == ["short"]


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"min_length": 0}, ValueError, "min_length must be at least 1"),
        ({"min_length": 1.5}, TypeError, "min_length must be an integer"),
        ({"keep_least": -1}, ValueError, "keep_least must be at least 0"),
        ({"join": 3}, TypeError, "join must be a str"),
        ({"shingler": Shingler(normalize=str.lower)}, ValueError, "normalize= does not tell where"),
        ({"against": Index()}, TypeError, "an index holds documents, and not their passages"),
        ({"ids": [1]}, ValueError, "ids has 1 elements for 2 documents"),
        ({"threshold": 0.5}, TypeError, "unexpected keyword argument"),
        ({"texts": "one text"}, TypeError, "wrap it in a list"),
    ],
)
def test_bad_arguments(keywords, error, message):
    with pytest.raises(error, match=message):
        deduplicate_spans(**{"texts": ["one", "two"], **keywords})


def test_periodic_text_has_few_keys():
    text = "abc" * 10_000
    anchors = passages.anchors_of(as_texts([text]).spans(0, 1), 500)
    assert len(anchors.keys) < 200
    assert len(anchors.echoes) == 1
    rows = passages.repeated_passages(as_texts([text]), Shingler(), 500, 0, RunOptions.of(1))
    assert (rows[:, 2] - rows[:, 1]).sum() == len(text) - 501
