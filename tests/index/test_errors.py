"""What is wrong with a call is said, and the index stays as it was."""

import re

import numpy as np
import pytest

from fastlsh import Index, Shingler
from fastlsh._kernels.index import _index

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


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"threshold": 0}, ValueError, "threshold must be above 0"),
        ({"verify": "exactly"}, ValueError, "verify must be one of exact, signature, none"),
        ({"bands": 4}, ValueError, "bands and rows must be given together"),
        ({"bands": 20, "rows": 8}, ValueError, "need num_perm=160, got 128"),
        ({"scheme": "none"}, ValueError, "scheme must be one of"),
        ({"shingler": 5}, TypeError, "shingler must be a Shingler"),
        ({"num_perm": 0}, ValueError, "num_perm must be between"),
        ({"threads": 0}, ValueError, "threads must be at least 1"),
    ],
)
def test_options(options, error, said):
    with pytest.raises(error, match=said):
        Index(**options)


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
    with pytest.raises(error, match=said):
        index.query(**given)
    with pytest.raises(error, match=said):
        index.insert("c", **given)
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
        with pytest.raises(error, match=said):
            getattr(index, method)(ids, **given)
        assert state(index) == before
        assert index.query(TEXT) == [("a", 1.0)]


def test_known_ids(backend):
    index = filled(backend, verify="signature")
    for on_known in ("ignore", None, True):
        with pytest.raises(ValueError, match='on_known must be "raise" or "replace"'):
            index.insert("a", TEXT, on_known=on_known)
    with pytest.raises(ValueError, match="id 'a' is in the index already: on_known"):
        index.insert("a", TEXT)
    index.insert("a", "replaced by this text", on_known="replace")
    assert list(index) == ["b", "a"]
    assert index.query(TEXT) == []


def test_unknown_ids(backend):
    index = filled(backend, verify="signature")
    for call in (index.remove, index.signature):
        with pytest.raises(KeyError, match="c"):
            call("c")
    assert index.discard("c") is False
    for call in (index.remove, index.discard, index.__contains__):
        with pytest.raises(TypeError, match="unhashable"):
            call([])


def test_limits(backend):
    index = filled(backend, verify="signature")
    for limit in (0, -1, 1.5, "1", True, False, np.True_):
        for call in (index.query, index.query_many):
            with pytest.raises(ValueError, match="limit must be an integer of at least 1"):
                call([TEXT], limit=limit)


def test_exact_needs_texts(backend):
    index = filled(backend, verify="exact")
    for call in (
        lambda: index.insert("c", signature=ROWS[0]),
        lambda: index.insert_many(["c", "d"], signatures=ROWS),
        lambda: index.query_many(signatures=ROWS),
    ):
        with pytest.raises(ValueError, match=r'verify="exact" compares texts.*verify="signature"'):
            call()


def test_merging_what_does_not_suit(backend):
    index = filled(backend, verify="signature")
    for options in ({"seed": 2}, {"num_perm": 64}, {"shingler": Shingler(size=5)}):
        (name,) = options
        with pytest.raises(ValueError, match=f"the other index has {name}="):
            index.merge(Index(**options, verify="signature"))
    with pytest.raises(TypeError, match="other must be an Index, got dict"):
        index.merge({})
    with pytest.raises(ValueError, match="the other index keeps neither texts nor sets"):
        filled(backend, verify="exact").merge(index)
    with pytest.raises(ValueError, match="id 'a' is in the index already"):
        index.merge(filled(backend, verify="signature"))
    before = state(index)
    index.merge(index, on_known="replace")
    assert state(index)[:2] == before[:2]


# ---- the kernel trusts nobody


def arrays(n=4, k=6, bands=2, size=9):
    return {
        "signatures": np.zeros((n, k), np.uint32),
        "slots": [np.zeros(size, np.uint64) for _ in range(bands)],
        "links": [np.zeros(n, np.uint32) for _ in range(bands)],
        "rows": 3,
    }


def kernel_of(given, room=5):
    """Return tables of their own with what is in arrays, and room for a few more documents."""
    n, k = given["signatures"].shape
    kernel = _index.BandTables(k, len(given["slots"]), given["rows"], False)
    kernel.reserve(n, 0, 1.0)
    written = [given["signatures"], np.ones(n, np.uint8), np.empty(0), np.empty(0)]
    for band, slots in enumerate(given["slots"]):
        kernel.resize_table(band, len(slots))
        written += [slots, given["links"][band]]
    for part, array in enumerate(written):
        kernel.write(part, 0, array.reshape(-1).view(np.uint8))
    kernel.complete(n, None)
    kernel.reserve(room, 0, 1.0)
    return kernel


@pytest.mark.parametrize(
    "wrong",
    [
        {"signatures": np.zeros((4, 5), np.uint32)},
        {"signatures": np.zeros((4, 6), np.uint64)},
        {"slots": []},
        {"slots": [np.zeros(0, np.uint64)] * 2},
        {"slots": [np.zeros(9, np.uint64)]},
        {"links": [np.zeros(3, np.uint32)] * 2},
        {"rows": 0},
        {"rows": 4},
        {"rows": 2**62 + 1},
        {"rows": 2**63 - 1},
        {"hashes": np.zeros(3, np.uint64), "offsets": np.zeros(4, np.int64)},
        {"offsets": np.zeros(5, np.int64)},
    ],
)
def test_kernel_arrays(wrong):
    with pytest.raises((ValueError, TypeError)):
        _index.BandTables.over(**{**arrays(), **wrong})


@pytest.mark.parametrize("shape", [(6, 0, 1), (6, 1, 0), (6, 4, 2), (6, 2, 2**62), (2**31, 1, 1)])
def test_kernel_shapes(shape):
    with pytest.raises(ValueError, match="values"):
        _index.BandTables(*shape, False)


def test_kernel_calls():
    kernel = kernel_of(arrays(2), room=2)
    asked = np.ones((3, 6), np.uint32)
    good = {"signatures": asked, "hashes": None, "offsets": None, "first": 0, "last": 3}
    how = {"mode": 1, "threshold": 0.5}
    out = {
        "limit": 5, "out": np.empty((8, 2)), "counts": np.empty(3, np.int64),
        "halt": np.zeros(1, np.uint8),
    }  # fmt: skip
    assert kernel.query(**good, **how, **out) == (3, 0, 0)
    for wrong in (
        {"signatures": asked[:, :5].copy()}, {"first": -1}, {"first": 4}, {"last": 4}, {"mode": 3},
        {"mode": 0}, {"limit": 0}, {"out": np.empty((0, 2))}, {"out": np.empty((8, 3))},
        {"counts": np.empty(2, np.int64)}, {"halt": np.empty(0, np.uint8)},
        {"offsets": np.zeros(4, np.int64), "mode": 0},
    ):  # fmt: skip
        with pytest.raises((ValueError, IndexError)):
            kernel.query(**{**good, **how, **out, **wrong})
    fresh = np.zeros(3, np.uint8)
    for wrong in (
        {"last": 3},
        {"last": 2, "fresh": np.zeros(2, np.uint8)},
        {"last": 2, "matches": np.zeros(2, np.int64)},
        {"first": 2, "last": 1},
        {"own": 3},
        {"own": -1},
        {"last": 2, "limit": 0},
    ):
        with pytest.raises((ValueError, IndexError)):
            kernel.insert_unique(**{**good, **how, "own": 2, "limit": 9, "fresh": fresh, **wrong})
    for last in (-1, 3):
        with pytest.raises((ValueError, IndexError)):
            kernel.append(**{**good, "last": last})
    for call in (
        lambda: kernel.switch(3, np.empty(0, np.int64)),
        lambda: kernel.switch(2, np.array([2])),
        lambda: kernel.switch(2, np.array([-1])),
        lambda: kernel.remove(2),
        lambda: kernel.remove(-1),
        lambda: kernel.copy_rows(np.array([2]), np.empty((1, 6), np.uint32)),
        lambda: kernel.copy_rows(np.array([0]), np.empty((1, 5), np.uint32)),
        lambda: kernel.read(0, 0, np.empty(97, np.uint8)),
        lambda: kernel.read(0, -1, np.empty(1, np.uint8)),
        lambda: kernel.read(0, 2**62, np.empty(1, np.uint8)),
        lambda: kernel.read(8, 0, np.empty(1, np.uint8)),
        lambda: kernel.write(4, 72, np.empty(1, np.uint8)),
        lambda: kernel.resize_table(2, 9),
        lambda: kernel.resize_table(0, 0),
        lambda: kernel.resize_table(0, 2**32),
        lambda: kernel.reserve(-1, 0, 1.0),
        lambda: kernel.reserve(2**62, 0, 1.0),
        lambda: kernel.reserve(1, 2**62, 1.0),
        lambda: kernel.complete(5, None),
        lambda: kernel.slots(-1),
        lambda: kernel.used(2),
    ):
        with pytest.raises((ValueError, IndexError)):
            call()
    full = arrays(2)
    full["slots"][1][:8] = np.arange(1, 9) << 32
    with pytest.raises(ValueError, match="the table of band 1 has no room for 1 keys"):
        kernel_of(full).append(**{**good, "last": 1})
    read_only = _index.BandTables.over(**arrays(3))
    for call in (
        lambda: read_only.append(**{**good, "last": 1}),
        lambda: read_only.begin_compact(None),
        lambda: read_only.remove(0),
        lambda: read_only.switch(0, np.empty(0, np.int64)),
        lambda: read_only.write(0, 0, np.empty(1, np.uint8)),
        lambda: read_only.reserve(1, 0, 1.0),
        read_only.shrink,
        lambda: read_only.resize_table(0, 99),
        lambda: read_only.complete(0, None),
    ):
        with pytest.raises(ValueError, match="nothing can be written"):
            call()


@pytest.mark.parametrize("seed", range(30))
def test_tables_of_random_numbers(seed):
    draw = np.random.default_rng(seed)
    nobody = np.empty(0, np.int64)
    for _ in range(30):
        given = arrays(20, 6, 2, 25)
        given["signatures"][:] = draw.integers(0, 2, (20, 6))
        good = kernel_of(given, 0)
        good.write(0, 0, np.empty(0, np.uint8))  # as if it were empty again
        good.append(given["signatures"], None, None, 0, 20)
        for band in (0, 1):
            good.read(4 + 2 * band, 0, given["slots"][band].view(np.uint8))
            good.read(5 + 2 * band, 0, given["links"][band].view(np.uint8))
            for array in (given["slots"][band], given["links"][band]):
                bits = array.dtype.itemsize * 8
                for place in draw.integers(0, len(array), 6):
                    array[place] ^= np.array(1 << draw.integers(0, bits), array.dtype)
                if draw.random() < 0.2:
                    array[:] = draw.integers(0, 1 << (bits - 1), len(array))
        asked = given["signatures"].copy()
        counts = np.empty(20, np.int64)
        halt = np.zeros(1, np.uint8)

        def query(k, asked=asked, counts=counts, halt=halt):
            k.query(asked, None, None, 0, 20, 1, 0.1, 99, np.empty((999, 2)), counts, halt)

        def compact(k):
            k.begin_compact(None)
            while k.go_on():
                pass

        def append(k, asked=asked):
            k.append(asked, None, None, 0, 5)
            k.switch(k.n - 5, nobody)

        def insert_unique(k, asked=asked):
            k.insert_unique(asked, None, None, 0, 3, k.n, 2, 0.1, 9, np.empty(20, np.uint8))

        n = int(draw.integers(0, 16))
        given["signatures"] = given["signatures"][:n].copy()
        given["links"] = [links[:n].copy() for links in given["links"]]
        for call in (query, compact, append, insert_unique):
            for kernel in (kernel_of(given), _index.BandTables.over(**given)):
                harmless(call, kernel)


def harmless(call, kernel):
    try:
        call(kernel)
    except ValueError as error:
        if not re.search("damaged|no room|nothing can be written", str(error)):
            raise


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
    for call in (
        lambda: len(index),
        lambda: "a" in index,
        lambda: list(index),
        lambda: index.query("a text"),
        lambda: index.insert("b", "another"),
        lambda: index.discard("a"),
        index.compact,
        index.copy,
        lambda: index.batch().__enter__(),
        index.__enter__,
    ):
        with pytest.raises(ValueError, match="the index is closed") as error:
            call()
        assert str(error.value).startswith(("redis://", str(backend.place)))

    def half():
        with again.batch():
            again.insert("a", "a text")
            again.close()

    again = backend()
    with pytest.raises(ValueError, match="closed"):
        half()


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


def test_no_wait_is_one_attempt(backend):
    if not backend.stored:
        return
    index = backend(wait=0)
    index.insert("a", "a text")
    with (
        Index.open(index._backend.store.location, wait=0) as other,
        other.batch(),
        pytest.raises(TimeoutError, match="another process is writing"),
    ):
        index.insert("b", "another text")
    index.insert("b", "another text")
    assert list(index) == ["a", "b"]
