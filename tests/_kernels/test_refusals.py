"""What crashed kernels that were called directly, or made them write where nothing is theirs."""

import copy
import pickle
from functools import partial

import numpy as np
import pytest

from every_kernel import KERNELS
from fastlsh._kernels.index import _index
from fastlsh._kernels.minhash import _signatures
from fastlsh._kernels.sets import _sets
from fastlsh._kernels.text import _plans, _texts
from kernel_cases import CASES, sets_of_five
from refusals import refuses


def called(name, **changes):
    call, arguments = CASES[name]()
    arguments = {key: value for key, value in arguments.items() if not key.startswith("_")}
    return call(**arguments | changes)


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("pack_numbers", {"start": np.full(5, 2**63 - 2)}, "list 0 lies outside"),
        ("Numbers.replace", {"count": np.full(5, 2**60)}, "list 0 lies outside"),
        ("number_jaccard", {"count": np.full(5, -1)}, "is not there, or lies outside"),
        ("number_jaccard", {"count": np.full(5, 2**62)}, "is not there, or lies outside"),
        ("number_jaccard", {"start": np.full(5, 2**63 - 2)}, "is not there, or lies outside"),
        ("number_jaccard", {"words": np.full(210, 2**64 - 1, np.uint64)}, "or lies outside"),
        ("set_jaccard", {"count": np.full(4, 2**60)}, "lies outside the hashes"),
        ("set_jaccard", {"start": np.full(4, 2**63 - 2)}, "lies outside the hashes"),
        ("set_jaccard", {"threshold": float("nan")}, "threshold must be"),
        ("band_keys", {"rows": 2**63 - 1}, "do not lie in 8 values"),
        ("band_keys", {"first": 2**63 - 1}, "do not lie in 8 values"),
        ("BandTables", {"rows": 2**62 + 1}, "do not lie in 8 values"),
        ("BandTables.over", {"rows": 2**63 - 1}, "do not lie in 8 values"),
        ("TableMemory.reserve", {"count": 2**62}, "are too many"),
        ("TableMemory.read", {"start": 2**63 - 1}, "bytes from"),
        ("TableMemory.write", {"number": 2**62}, "part"),
        ("emit_pairs", {"rows": 2**63 - 1}, "do not lie in 8 values"),
        ("share_first", {"bands": 3}, "do not lie in 8 values"),
        ("share_first", {"bands": 0}, "bands must be at least 1"),
        ("share_first", {"band": np.array([0, 1, 2])}, r"pair \(2, 3\) in band 2 lies outside"),
        ("share_first", {"left": np.array([0, -1, 2])}, r"pair \(-1, 4\) in band 1 lies outside"),
        ("share_first", {"right": np.array([6, 4, 3])}, r"pair \(0, 6\) in band 0 lies outside"),
        ("share_first", {"documents": np.full(6, 6)}, r"pair \(0, 5\) in band 0 lies outside"),
        ("share_first", {"signatures": np.ones((0, 8), np.uint32)}, "pairs of no documents"),
        ("Keeper", {"root": np.full((5, 2), 4, np.int32)}, None),
        ("Keeper", {"root": np.array([[1, -1]] * 4 + [[3, -1]], np.int32)}, "to no root, at 4"),
        ("Keeper", {"root": np.full((5, 2), 5, np.int32)}, "root points outside"),
        ("Keeper", {"empty": lambda shape, kind: np.empty((5, 1), kind)}, "another shape"),
        ("Keeper", {"empty": lambda shape, kind: np.empty(shape, np.int64)}, "mismatch"),
        ("link", {"keys": np.zeros(9, np.int64)}, "mismatch"),
        ("signatures", {"spans": None}, "spans"),
        ("signatures", {"spans": ["one", "two"]}, "spans"),
        ("signatures", {"out": np.zeros((4, 16), np.uint32)[:, ::2]}, "not C-contiguous"),
        ("signatures", {"out": np.zeros((4, 8), np.int64)}, "mismatch"),
        ("signatures", {"unit": 9}, "unit must be"),
        ("signatures", {"unit": -1}, "unit must be"),
        ("signatures", {"size": 0}, "size must be"),
        ("signatures", {"scheme": -1}, "scheme must be"),
        ("signatures", {"scheme": 2}, "scheme must be"),
        ("signatures", {"scheme": _signatures.FSS}, "8 values need 16 functions"),
        ("signatures", {"rows": 0}, "bands|keys"),
        ("signatures", {"rows": 9}, "bands|keys"),
        ("signatures", {"rows": 2**61}, "bands|keys"),
        ("signatures", {"keys": np.zeros((4, 2), np.uint64).T}, "one after the other"),
        ("hash_signatures", {"offsets": np.array([0, 3, 3, 9, 10])}, "offsets"),
        ("hash_signatures", {"offsets": np.array([0, 3, 2, 9, 9])}, "offsets"),
        ("hash_signatures", {"offsets": np.array([-1, 3, 3, 9, 9])}, "offsets"),
        ("hash_signatures", {"offsets": np.array([0, 9])}, "out has shape"),
        ("band_keys", {"rows": 5}, "do not lie in 8 values"),
        ("band_keys", {"rows": 0}, "do not lie in 8 values"),
        ("band_keys", {"first": -1}, "do not lie in 8 values"),
        ("band_keys", {"first": 1}, "do not lie in 8 values"),
        ("agreement", {"right": np.array([2, 3, 4])}, "points outside 4 documents"),
        ("agreement", {"out": np.empty(2)}, "length"),
    ],
)
def test_refused(name, changes, message):
    if message is None:
        called(name, **changes)
        return
    refuses((TypeError, ValueError, IndexError), message, called, name, **changes)


# Three documents are in tables for six.
TABLES_REFUSE = {
    "BandTables": [
        {"bands": 0}, {"rows": 0}, {"bands": 4}, {"rows": 2**62}, {"num_perm": 2**31},
    ],
    "BandTables.over": [
        {"signatures": np.zeros((6, 5), np.uint32)}, {"signatures": np.zeros((6, 8), np.uint64)},
        {"slots": []}, {"slots": [np.zeros(0, np.uint64)] * 2},
        {"slots": [np.zeros(12, np.uint64)]}, {"links": [np.zeros(3, np.uint32)] * 2}, {"rows": 0},
        {"rows": 5}, {"rows": 2**62 + 1}, {"offsets": np.zeros(4, np.int64)}, {"hashes": None},
    ],
    "BandTables.query": [
        {"signatures": np.ones((3, 5), np.uint32)}, {"first": -1}, {"first": 4}, {"last": 4},
        {"mode": 3}, {"mode": 9}, {"hashes": None}, {"offsets": np.zeros(3, np.int64)},
        {"limit": 0}, {"out": np.empty((0, 2))}, {"out": np.empty((8, 3))},
        {"counts": np.empty(2, np.int64)}, {"halt": np.empty(0, np.uint8)},
    ],
    "BandTables.insert_unique": [
        {"last": 4}, {"first": 2, "last": 1}, {"fresh": np.zeros(2, np.uint8)}, {"own": 4},
        {"own": -1}, {"limit": 0}, {"matches": np.zeros(2, np.int64)},
    ],
    "BandTables.append": [{"last": -1}, {"last": 4}],
    "BandTables.switch": [{"first": 4}, {"gone": np.array([3])}, {"gone": np.array([-1])}],
    "BandTables.remove": [{"number": 3}, {"number": -1}],
    "BandTables.copy_rows": [
        {"numbers": np.array([3, 0])}, {"out": np.zeros((2, 5), np.uint32)},
    ],
    "BandTables.complete": [{"n": 7}],
    "TableMemory.read": [
        {"out": np.empty(193, np.uint8)}, {"start": -1}, {"start": 2**62}, {"number": 8},
    ],
    "TableMemory.write": [{"number": 4, "start": 90}],
    "TableMemory.resize_table": [{"band": 2}, {"size": 0}, {"size": 2**32}],
    "TableMemory.reserve": [{"count": -1}, {"words": 2**62}],
    "TableMemory.slots": [{"band": -1}],
    "TableMemory.used": [{"band": 2}],
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES_REFUSE)
def test_tables_refuse(name):
    for changes in TABLES_REFUSE[name]:
        with pytest.raises((TypeError, ValueError, IndexError)):
            called(name, **changes)


def test_a_full_table_takes_no_key():
    kernel = _index.BandTables(8, 2, 3, True)
    kernel.reserve(6, 40, 1.0)
    kernel.resize_table(0, 12)
    kernel.resize_table(1, 2)
    with pytest.raises(ValueError, match="the table of band 1 has no room for"):
        kernel.append(**CASES["BandTables.append"]()[1])


def test_nothing_is_written_into_arrays_of_the_caller():
    mapped = called("BandTables.over")
    for name in (
        "BandTables.append", "BandTables.begin_compact", "BandTables.remove", "BandTables.switch",
        "BandTables.complete", "TableMemory.write", "TableMemory.reserve", "TableMemory.shrink",
        "TableMemory.resize_table",
    ):  # fmt: skip
        call = getattr(mapped, name.partition(".")[2])
        refuses(ValueError, "nothing can be written", call, **CASES[name]()[1])


def test_keeper_with_shared_memory():
    room = np.zeros(40, np.uint8)
    with pytest.raises(ValueError, match="must not share memory"):
        called("Keeper", empty=lambda shape, kind: room.view(kind)[:10].reshape(shape))


@pytest.mark.parametrize(("one", "other"), [("table", "later"), ("later", "earlier")])
def test_link_with_shared_outputs(one, other):
    room = np.zeros(18, np.int32)
    shared = {one: room if one == "table" else room[:9], other: room[:9]}
    refuses(ValueError, "must not share memory", called, "link", **shared)


@pytest.mark.parametrize(("one", "other"), [("out", "count"), ("out", "start"), ("count", "start")])
def test_shingle_sets_with_shared_outputs(one, other):
    room = np.arange(0, 40_000, 100)
    arrays = {"out": room.view(np.uint64), "count": room[:4], "start": room[:5]}
    with pytest.raises(ValueError, match="must not share memory"):
        called("shingle_sets", **{key: arrays[key] for key in (one, other)})


@pytest.mark.parametrize(
    "name", ["BandTables", "Keeper", "Permutations", "SetJoin", "ArrowColumn", "KeyBuckets"]
)
def test_nothing_is_made_without_its_arguments(name):
    kind = getattr(KERNELS, name)
    with pytest.raises(TypeError):
        kind.__new__(kind)


def test_nothing_compiled_is_pickled_or_copied():
    cases = [case() for case in CASES.values()]
    classes = [(call, arguments) for call, arguments in cases if isinstance(call, type)]
    assert len(classes) > 10
    for call, arguments in classes:
        made = call(**{key: value for key, value in arguments.items() if key[0] != "_"})
        for way in (copy.copy, *(partial(pickle.dumps, protocol=p) for p in (0, 1, 2, 5))):
            refuses(TypeError, "cannot pickle", way, made)


def test_a_root_that_changes_is_not_followed():
    call, arguments = CASES["Keeper"]()
    keeper = call(**arguments)
    decided = np.full(5, -1, np.int32), np.zeros(5), np.zeros(5, np.uint8)
    sets = tuple(sets_of_five().values())
    for root in (4, 7, 2**31 - 1, -(2**31)):
        arguments["root"][:] = root
        keeper.settle(0, 5, *sets, *decided)
    arguments["document"][:] = 2**62
    arguments["root"][:] = 0
    for mode in (_sets.BY_SIGNATURE, _sets.BY_CONTAINMENT):
        other = call(**CASES["Keeper"]()[1] | {"mode": mode})
        other.settle(0, 5, *sets, *decided)


def test_modes_that_there_are_not():
    call, arguments = CASES["Keeper"]()
    for mode in (-1, 99, _sets.BY_TEXTS):
        refuses(ValueError, "mode must be", call, **arguments | {"mode": mode})


@pytest.mark.parametrize(
    ("column", "value"),
    [(0, -1), (0, 6), (1, 0), (1, 9), (1, 2**62), (2, -1), (3, -1), (4, 256), (5, 2), (6, 2)],
)
def test_slices_outside_of_a_row_are_refused(column, value):
    slices = np.array([(0, 3, 0, 0, 0, 0, 1), (3, 3, 1, 0, 2, 0, 0)])
    kernel = _index.BandTables(9, 2, 1, True, slices=slices)
    assert kernel.n == 0
    slices[1, column] = value
    with pytest.raises(ValueError, match="slice 1 does not suit signatures of 8 values"):
        _index.BandTables(9, 2, 1, True, slices=slices)
    with pytest.raises(ValueError, match=r"slices need the shape \(3, 7\)"):
        _index.BandTables(9, 3, 1, True, slices=slices)


def test_a_document_that_changes_is_refused():
    call, arguments = CASES["Keeper"]()
    keeper = call(**arguments | {"mode": 1})
    decided = np.full(5, -1, np.int32), np.zeros(5), np.zeros(5, np.uint8)
    sets = np.zeros(0, np.uint64), np.zeros(0, np.int64), np.zeros(0, np.int64)
    arguments["document"][:] = 2**62
    refuses(ValueError, "document was changed", keeper.settle, 0, 5, *sets, *decided)


def test_elements_that_change_are_refused():
    call, arguments = CASES["SetJoin.pairs"]()
    arguments["_elements"][:] = 2**32 - 1
    with pytest.raises(ValueError, match="were changed"):
        call(**{key: value for key, value in arguments.items() if not key.startswith("_")})


def test_documents_that_shrink_while_they_are_read():
    class Tokens:
        def __iter__(self):
            documents.clear()
            return iter(["a"])

    documents = [Tokens() for _ in range(4)]
    refuses(RuntimeError, "changed while", _plans.token_hashes, documents, np.zeros(5, np.int64))


@pytest.mark.parametrize("ids", [(), [], [3]])
@pytest.mark.parametrize("wrong", [7, b"\xff"])
def test_ids_that_are_too_few_for_the_message(ids, wrong):
    with pytest.raises(IndexError):
        _texts.spans_of_list(["a", wrong], ids=ids)
    with pytest.raises(IndexError):
        _plans.token_hashes([["a"], [wrong]], np.zeros(3, np.int64), ids=ids)
    with pytest.raises((TypeError, ValueError), match=f"document {2**63} "):
        _texts.spans_of_list(["a", wrong], 2**63 - 1)


@pytest.mark.parametrize(
    ("name", "changed", "message"),
    [
        ("out", lambda out: np.vstack([out, out[:1]]), "out has shape"),
        ("a", lambda a: a[:-1].copy(), "functions, got a of"),
        ("b", lambda b: b[:-1].copy(), "functions, got a of"),
        ("b", lambda b: np.append(b, b[:1]), "functions, got a of"),
        ("keys", lambda keys: keys[:, :-1], "columns, expected"),
        ("keys", lambda keys: np.hstack([keys, keys]), "columns, expected"),
    ],
)
def test_signers_want_as_much_as_they_fill(name, changed, message):
    _, arguments = CASES["signatures"]()
    refuses(ValueError, message, called, "signatures", **{name: changed(arguments[name])})
