"""What every backend must do alike: in memory, in SQLite, in Redis."""

import re
from pathlib import Path

import numpy as np
import pytest

from fastlsh import Index, MinHasher, Shingler
from fastlsh.index import location_of
from index_model import TEXTS, texts_alike
from refusals import refuses

SMALL = {"num_perm": 24, "bands": 8, "rows": 3, "shingler": Shingler(size=4)}


def assert_same(index, other, texts):
    assert list(index) == list(other)
    assert len(index) == len(other)
    for limit in (None, 1, 3):
        assert repr(index.query_many(texts, limit=limit)) == repr(
            other.query_many(texts, limit=limit)
        )
    assert index.query(texts[0]) == other.query(texts[0])


def test_a_bucket_with_more_than_it_offers_is_counted(backend):
    rows = np.random.default_rng(0).integers(0, 2**32, (82, 8), np.uint32)
    rows[:, 0] = 5  # the band in which all of them meet, and they are alike in nothing else
    for make in (Index, backend):
        for known, limited in ((64, 0), (65, 1), (80, 1)):
            index = make(0.9, num_perm=8, bands=1, rows=1, verify="signature")
            index.insert_many(range(known), signatures=rows[:known])
            index.compact()
            assert index.insert_unique([99], signatures=rows[81:]).all()
            assert index.limited == limited


def test_merge_and_ready_signatures(backend):
    texts = texts_alike(30)
    signatures = MinHasher(24, shingler=SMALL["shingler"]).signatures(texts)
    index, other = backend(0.6, **SMALL), Index(0.6, **SMALL)
    index.insert_many(range(10), texts[:10], signatures=signatures[:10])
    other.insert_many(range(5, 32), texts[5:], signatures=signatures[5:])
    index.merge(other, on_known="replace")
    expected = Index(0.6, **SMALL)
    expected.insert_many([*range(5), *range(5, 32)], texts)
    assert_same(index, expected, texts)
    assert index.query_many(texts, signatures=signatures) == expected.query_many(texts)
    with pytest.raises(ValueError, match="30 signatures for 32 texts"):
        index.query_many(texts, signatures=signatures[:30])


def test_what_a_batch_has_removed_is_in_nobodys_way(backend):
    """However many of a bucket are gone, those that are left are found."""
    index = backend(0.6, **SMALL)
    text = "a text that all of these documents have in common"
    index.insert_many(range(300), [text] * 300)
    with index.batch():
        for d in range(280):
            index.remove(d)
        assert index.insert_unique([300], [text]).tolist() == [False]
        assert len(index.query(text)) == 20


def test_more_than_256_bands(backend):
    rows = np.random.default_rng(0).integers(0, 2**32, (20, 600), np.uint32)
    rows[7, 1::2] = rows[3, 1::2]
    with backend(0.5, num_perm=600, bands=600, rows=1, verify="signature") as index:
        index.insert_many(range(20), signatures=rows)
        assert index.query(signature=rows[3]) == [(3, 1.0), (7, 0.5)]
        assert [found[0][0] for found in index.query_many(signatures=rows)] == list(range(20))
        index.remove(3)
        assert index.query(signature=rows[7]) == [(7, 1.0)]


READ_BACK = [
    ("char", ["Ab c", "\u4e2d\u6587\u5b57", "\ud800 x", "", None, "\U0001f600" * 9], None),
    ("word", ["A  b c", "", "d"], None),
    ("byte", [b"ab\xff\x00", "\u00e9\u4e2d", b""], [b"ab\xff\x00", "\u00e9\u4e2d".encode(), b""]),
    ("token", [[1, 2**64 - 1], [], [7, 7, 7]], None),
]


@pytest.mark.parametrize(("unit", "texts", "expected"), READ_BACK)
def test_texts_can_be_read_back(backend, unit, texts, expected):
    index = backend(0.8, shingler=Shingler(unit, 2))
    index.insert_many([*range(len(texts) - 1), "last"], texts)
    expected = expected or [text or "" for text in texts]
    expected = [text or [] for text in texts] if unit == "token" else expected
    assert list(index.items()) == list(zip([*range(len(texts) - 1), "last"], expected, strict=True))
    assert index.text("last") == expected[-1]
    index.remove(0)
    assert next(index.items()) == (1, expected[1])
    refuses(KeyError, "0", index.text, 0)
    index = backend(0.8, shingler=Shingler(size=2, lowercase=True, collapse_whitespace=True))
    index.insert("a", " The  Quick ")
    assert index.text("a") == "the quick"


@pytest.mark.parametrize(
    ("how", "kept"),
    [
        ({"verify": "signature"}, "no texts"),
        ({"verify": "none"}, "no texts"),
        ({"shingler": Shingler("word", 2, tokenizer=str.split)}, "only sets"),
    ],
)
def test_an_index_without_texts_says_so(backend, how, kept):
    index = backend(0.8, **how)
    index.insert("a", "one two three")
    for read in (lambda: index.text("a"), index.items):
        refuses(ValueError, f"the index keeps {kept}", read)
    assert list(index) == ["a"]


def test_a_query_with_a_higher_threshold(backend):
    texts = [text[:length] for text in texts_alike(9) for length in range(20, 61, 5)]
    index = backend(0.4, **SMALL)
    index.insert_many(range(60), texts[:60])
    whole = index.query_many(texts)
    assert {round(s, 1) for found in whole for _, s in found} >= {0.5, 0.8, 1.0}
    for threshold in (0.4, 0.55, 0.8, 1.0):
        expected = [[pair for pair in found if pair[1] >= threshold] for found in whole]
        assert index.query_many(texts, threshold=threshold) == expected
        assert index.query(texts[0], threshold=threshold) == expected[0]
        for limit in (1, 2):
            assert index.query_many(texts, limit=limit, threshold=threshold) == [
                found[:limit] for found in expected
            ]
    with pytest.raises(ValueError, match=r"threshold=0\.3 is below that of the index, 0\.4"):
        index.query(texts[0], threshold=0.3)
    refuses(ValueError, "threshold must be", index.query, texts[0], threshold=1.5)
    no_similarities = backend(0.8, verify="none").query
    refuses(ValueError, 'the index has verify="none"', no_similarities, "a", threshold=0.9)


def shown(place):
    """Return a place as messages have it."""
    return str(place).replace("/0#", "#")


def test_it_is_there_when_it_is_opened_again(stored):
    with stored(0.7, num_perm=64, seed=3, shingler=Shingler(size=5)) as index:
        place = location_of(index)
        index.insert_many(range(60), TEXTS)
        index.remove(7)
        found = index.query_many(TEXTS)
    if stored.kind != "redis":
        assert [*Path(place).parent.glob(f"{Path(place).name}*")] == [Path(place)]
    with Index.open(place) as index:
        assert (index.threshold, index.query_many(TEXTS)) == (0.7, found)
        index.remove(3)
    with Index.open(place, read_only=True) as index:
        assert len(index) == 58
        refuses(ValueError, "read_only=True", index.insert, "x", "text")
    refuses(ValueError, f"^{re.escape(shown(place))}: .*threshold=0.7, not", Index.open, place, 0.8)
    refuses(FileNotFoundError, "there is no index", Index.open, stored.new_place(), read_only=True)


def test_it_ignores_the_same_texts_when_it_is_opened_again(stored, tmp_path):
    sheet = "questions that all of them repeat, and more than they answer. " * 3
    with stored(0.6, ignore=iter([sheet])) as index:
        index.insert_many([*"abc"], [sheet, sheet + TEXTS[0], sheet + TEXTS[0] + "!"])
        found = index.query(sheet + TEXTS[0])
        assert [name for name, _ in found] == ["b", "c"]
        location = location_of(index)
    for expected in ({}, {"ignore": [sheet]}):
        with Index.open(location, **expected) as index:
            assert index.query(sheet + TEXTS[0]) == found
            assert index.query(sheet) == []
            index.save(tmp_path / "seen.index")
    assert Index.load(tmp_path / "seen.index").query(sheet + TEXTS[0]) == found
    digests = [Shingler().ignoring([text]).ignored.digest for text in (sheet, TEXTS[0])]
    refuses(ValueError, " is {}, not {}".format(*digests), Index.open, location, ignore=[TEXTS[0]])


def test_copies_from_form_to_form(stored, tmp_path):
    place, second, one_file = stored.new_place(), tmp_path / "second", tmp_path / "one file"
    memory = Index(0.7, shingler=Shingler(size=5, lowercase=True))
    memory.insert_many(range(60), TEXTS)
    memory.remove(7)
    memory.copy_to(place)
    with pytest.raises(FileExistsError):
        memory.copy_to(place)
    with Index.open(place) as index:
        assert_same(index, memory, TEXTS)
        index.copy_to(second)
        index.save(one_file)
    with Index.open(second) as index:
        assert_same(index, memory, TEXTS)
    assert_same(Index.load(one_file), memory, TEXTS)


@pytest.mark.parametrize("wait", [0, 0.05])
def test_writers_take_turns(stored, wait):
    with stored() as index, Index.open(location_of(index), wait=wait) as other:
        with index.batch():
            index.insert("a", TEXTS[0])
            with pytest.raises(TimeoutError, match="another process is writing") as error:
                other.insert("b", TEXTS[1])
            assert shown(location_of(index)) in str(error.value)
            assert len(other) == 0
        other.insert("b", TEXTS[1])
        assert list(index) == ["a", "b"]
