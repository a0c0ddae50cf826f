"""What is wrong with a call is said, and the index stays as it was."""

import numpy as np
import pytest

from fastlsh import Index, Shingler
from index_model import OPERATIONS
from refusals import refuses

ROWS = np.arange(256, dtype=np.uint32).reshape(2, 128)
TEXT = "a text of some length"


def filled(make=Index, **options):
    index = make(**options)
    index.insert_many(["a", "b"], [TEXT, "another one that is not alike"])
    return index


@pytest.fixture(scope="module")
def unchanged(backend):
    """Indexes that no test changes, by `verify`."""
    return {verify: filled(backend, verify=verify) for verify in ("signature", "exact")}


def state(index):
    return list(index), [index.signature(name).tolist() for name in index], len(index)


BAD_DOCUMENTS = [
    ({}, TypeError, "give either text or signature, got neither"),
    ({"text": "a", "signature": ROWS[0]}, TypeError, "got both"),
    ({"text": 5}, TypeError, "document 0 is of type int"),
    ({"text": b"\xff"}, ValueError, "document 0 is not valid UTF-8"),
    ({"signature": ROWS}, TypeError, r"shape \(128,\), got uint32 of shape \(2, 128\)"),
    ({"signature": [1, 2]}, TypeError, "got list"),
    ({"signature": ROWS[0, :64]}, ValueError, "num_perm=128 values, got 64"),
    ({"signature": ROWS[0].astype(np.uint64)}, TypeError, "array of uint32, got uint64"),
]


@pytest.mark.parametrize(("given", "error", "said"), BAD_DOCUMENTS)
def test_one_document(unchanged, given, error, said):
    index = unchanged["signature"]
    before = state(index)
    refuses(error, said, index.query, **given)
    refuses(error, said, index.insert, "c", **given)
    assert state(index) == before


@pytest.mark.parametrize("method", ["insert_many", "insert_unique"])
@pytest.mark.parametrize(
    ("ids", "given", "error", "said"),
    [
        (["c", "d"], {"texts": ["fine", 5]}, TypeError, "document 1 is of type int"),
        (["c", "d"], {"texts": ["fine", b"\xff"]}, ValueError, "document 1 is not valid UTF-8"),
        (["c", "d"], {"texts": "ab"}, TypeError, "wrap it in a list"),
        (["c"], {"texts": ["x", "y"]}, ValueError, "ids has 1 elements for 2 documents"),
        (["c", "b"], {"texts": ["x", "y"]}, ValueError, "id 'b' is in the index already"),
        (["c", "c"], {"texts": ["x", "y"]}, ValueError, "id 'c' is given twice"),
        (["c", []], {"texts": ["x", "y"]}, TypeError, "unhashable|ids must be str"),
        (None, {"texts": ["x", "y"]}, TypeError, "ids must be a collection"),
        ("cd", {"texts": ["x", "y"]}, TypeError, "ids must be a collection"),
        (["c", "d"], {"signatures": ROWS[0]}, ValueError, r"shape \(n, num_perm\)"),
        (["c", "d"], {"signatures": ROWS[:, :8]}, ValueError, "must have num_perm=128 values"),
        (["c", "d"], {}, TypeError, "give either texts or signatures, got neither"),
    ],
)
def test_many_documents_are_all_or_none(unchanged, method, ids, given, error, said):
    for verify, index in unchanged.items():
        if verify == "exact" and "signatures" in given:
            continue
        before = state(index)
        refuses(error, said, getattr(index, method), ids, **given)
        assert state(index) == before
        assert index.query(TEXT) == [("a", 1.0)]


def test_known_ids(backend):
    index = filled(backend, verify="signature")
    for on_known in ("ignore", None, True):
        refuses(ValueError, "on_known must be", index.insert, "a", TEXT, on_known=on_known)
    refuses(ValueError, "id 'a' is in the index already: on_known", index.insert, "a", TEXT)
    index.insert("a", "replaced by this text", on_known="replace")
    assert list(index) == ["b", "a"]
    assert index.query(TEXT) == []


def test_unknown_ids(backend):
    index = filled(backend, verify="signature")
    for call in (index.remove, index.signature):
        refuses(KeyError, "c", call, "c")
    assert index.discard("c") is False
    for call in (index.remove, index.discard, index.__contains__):
        refuses(TypeError, "unhashable", call, [])


def test_limits(backend):
    index = filled(backend, verify="signature")
    for limit in (0, -1, 1.5, "1", True, False, np.True_):
        for call in (index.query, index.query_many):
            refuses(ValueError, "limit must be an integer of at least 1", call, [TEXT], limit=limit)


def test_exact_needs_texts(backend):
    index = filled(backend, verify="exact")
    said = r'verify="exact" compares texts.*verify="signature"'
    refuses(ValueError, said, index.insert, "c", signature=ROWS[0])
    refuses(ValueError, said, index.insert_many, ["c", "d"], signatures=ROWS)
    refuses(ValueError, said, index.query_many, signatures=ROWS)


def test_merging_what_does_not_suit(backend):
    index = filled(backend, verify="signature")
    ignoring = Shingler().ignoring(["a template"])
    for options, difference in (
        ({"seed": 2}, "seed=2, not 1"), ({"num_perm": 64}, "num_perm=64, not 128"),
        ({"shingler": Shingler(size=5)}, "size=5, not 9"),
        ({"shingler": Shingler("word", 9, stop_words=["a"])}, "unit='word', not 'char'"),
        ({"shingler": ignoring}, f"shingles is {ignoring.ignored.digest}, not none$"),
    ):  # fmt: skip
        other = Index(**options, verify="signature")
        refuses(ValueError, f"the other index has .*{difference}", index.merge, other)
    refuses(TypeError, "other must be an Index, got dict", index.merge, {})
    exact = filled(backend, verify="exact")
    refuses(ValueError, "the other index keeps neither texts nor sets", exact.merge, index)
    with pytest.raises(ValueError, match="id 'a' is in the index already"):
        index.merge(filled(backend, verify="signature"))
    before = state(index)
    index.merge(index, on_known="replace")
    assert state(index)[:2] == before[:2]


def test_a_closed_index(backend):
    """Every call is refused alike, and names the index; an index in memory has nothing to close."""
    index = backend()
    index.insert("a", "a text")
    index.close()
    index.close()
    if not backend.stored:
        assert list(index) == ["a"]
        return
    assert repr(index).startswith("<fastlsh.Index (the index is closed), threshold=0.8")
    more = (Index.compact, lambda index: index.batch().__enter__(), Index.__enter__)
    for call in (*OPERATIONS.values(), *more):
        with pytest.raises(ValueError, match="the index is closed") as error:
            call(index)
        assert str(error.value).startswith(("redis://", str(backend.place)))

    def half():
        with again.batch():
            again.insert("a", "a text")
            again.close()

    again = backend()
    refuses(ValueError, "closed", half)


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"threads": 2.0}, TypeError, "threads must be an integer"),
        ({"shingler": "word"}, TypeError, "shingler must be a Shingler"),
        ({"recall": "0.9"}, TypeError, "recall must be a number"),
        ({"recall": 2}, ValueError, "recall must lie between"),
        ({"num_perm": "64"}, TypeError, "num_perm must be an integer"),
        ({"threshold": "0.8"}, TypeError, "threshold must be a number"),
        ({"containment": 0}, ValueError, "containment must be above 0"),
        ({"verify": 1}, ValueError, "verify must be one of"),
        ({"key": "secret"}, TypeError, "key must be"),
        ({"wait": -1}, ValueError, "wait must be a number of seconds"),
        ({"wait": float("nan")}, ValueError, "wait must be a number of seconds"),
        ({"wait": float("inf")}, ValueError, "wait must be a number of seconds"),
        ({"wait": "1"}, TypeError, "wait must be a number"),
    ],
)
def test_wrong_arguments_are_no_damage(backend, given, error, said, tmp_path):
    calls = []
    if backend.stored:
        location = backend()._backend.store.location
        calls.append(lambda: Index.open(location, **given))
    if not {"wait", "recall", "verify"} & {*given}:  # which `load` does not have
        Index(0.8).save(tmp_path / "saved")
        calls.append(lambda: Index.load(tmp_path / "saved", **given))
    for call in calls:
        with pytest.raises(error, match=said) as raised:
            call()
        assert str(raised.value).startswith(next(iter(given)))
