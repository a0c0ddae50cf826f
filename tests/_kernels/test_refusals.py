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


ANY = (TypeError, ValueError, IndexError)
LIES, OUTSIDE = "do not lie in 8 values", "is not there, or lies outside"
WORDS = len(sets_of_five()["words"])
TOKEN_IDS = _texts.spans_of_ids(np.zeros(0, np.uint8), 8, False, np.zeros(4, int), np.arange(3))


def int64(*values):
    return np.array(values, np.int64)


def int32(*values):
    return np.array(values, np.int32)


def locked(size):
    array = np.ones(size, np.uint64)
    array.flags.writeable = False
    return array


def changed(name, argument, place, value):
    """Return an array that a sound call has, with another value at a place."""
    array = CASES[name]()[1][argument]
    array[place] = value
    return array


BAD_LINKS = [
    changed("emit_pairs", "previous", (0, place), latest)
    for place, latest in ((0, 0), (1, 1), (1, 2), (1, -2), (1, -5), (1, 2**31 - 1))
]
REFUSED = [
    # ---- sets
    ("pack_numbers", IndexError, "list 0 lies outside", [{"start": np.full(5, 2**63 - 2)}]),
    ("pack_numbers", ValueError, rf"the sets need {WORDS} words, out has", [
        {"out": np.empty(0, np.uint64)}, {"out": np.empty(WORDS - 1, np.uint64)},
    ]),
    ("pack_numbers", ValueError, "numbers must be below", [
        {"lists": np.full(200, 2**32, np.uint64)},
    ]),
    ("pack_numbers", ValueError, "place and size", [{"place": np.empty(2, np.int64)}]),
    ("Numbers.replace", IndexError, "list 0 lies outside", [
        {"count": np.full(5, 2**60)}, {"start": np.full(5, -1)}, {"count": np.full(5, -1)},
        {"count": np.full(5, 201)}, {"start": np.full(5, 200)}, {"count": np.full(5, 2**63 - 1)},
    ]),
    ("Numbers.replace", ValueError, "one element per list", [{"start": int64(0)}]),
    ("Numbers.replace", ValueError, "families must", [
        {"families": int64(*families)} for families in ([], [0], [1, 5], [0, 6], [0, 5, 1, 5])
    ]),
    ("number_jaccard", IndexError, OUTSIDE, [
        {"count": np.full(5, -1)}, {"count": np.full(5, 2**62)}, {"start": np.full(5, -1)},
        {"start": np.full(5, 2**63 - 2)}, {"words": np.full(210, 2**64 - 1, np.uint64)},
        {"words": np.ones(3, np.uint64)},
    ]),
    ("number_jaccard", ValueError, "start and count need", [{"start": int64(0)}]),
    ("number_jaccard", IndexError, "points outside 5 documents", [{"right": int64(2, 3, 5)}]),
    ("set_jaccard", IndexError, "lies outside the hashes", [
        {"count": np.full(4, 2**60)}, {"start": np.full(4, 2**63 - 2)},
    ]),
    ("set_jaccard", ValueError, "threshold must be", [{"threshold": float("nan")}]),
    ("agreement", IndexError, "points outside 4 documents", [{"right": int64(2, 3, 4)}]),
    ("agreement", ValueError, "length", [{"out": np.empty(2)}]),
    ("numbers_of", ValueError, "directory", [
        {"directory": int64(*directory)}
        for directory in ([0, 2], [0, 1, 1, 2], [0, 3, 2], [1, 1, 2], [0, -1, 2], [0, 0, 3])
    ]),
    ("numbers_of", ValueError, "same length", [
        {"number": np.array([0], np.uint32)}, {"out": np.empty(2, np.uint32)},
    ]),
    ("invert", IndexError, "number 7 of 4", [{"numbers": np.full(7, 7, np.uint32)}]),
    ("invert", ValueError, "begin must go", [{"begin": int64(0, 2, 4, 8)}]),
    ("invert", ValueError, "start must go", [{"start": int64(0, 2, 4, 6)}]),
    ("invert", ValueError, "start and begin", [{"start": int64(0)}]),
    ("invert", ValueError, "threshold", [{"threshold": 0.0}]),
    ("invert", ANY, r"list \d has \d places", [{"lists": int64(0, 1, 2, 3, 7)}]),
    ("invert", ValueError, "lists must not decrease", [{"lists": int64(0, 1, 0, 4, 7)}]),
    ("SetJoin", ValueError, "size 0", [{"size": int64(0, 2, 3)}]),
    ("SetJoin", ValueError, "set 2 stores more", [{"size": int64(2, 2, 2)}]),
    ("SetJoin", ValueError, "size must ascend", [{"size": int64(9, 2, 3)}]),
    ("SetJoin", ValueError, "start must go", [{"start": int64(1, 2, 4, 7)}]),
    ("SetJoin", ANY, "element 50 of 4", [{"elements": np.full(7, 50, np.uint32)}]),
    ("SetJoin", ValueError, "lists must not decrease", [{"lists": int64(0, 9, 3, 4, 4)}]),
    ("SetJoin", ANY, "set 3 of 3", [{"postings": np.full(4, 3, np.int32)}]),
    ("SetJoin", ANY, "set -1 of 3", [{"postings": np.full(4, -1, np.int32)}]),
    ("SetJoin", ValueError, "threshold", [{"threshold": 0.0}]),
    ("SetJoin.pairs", ValueError, "at and last", [
        {"at": int64(0, 0)}, {"at": int64(-1)}, {"last": 4},
    ]),
    ("SetJoin.pairs", ValueError, "scratch", [{"scratch": np.empty((2, 2), np.int32)}]),
    ("SetJoin.pairs", ValueError, "at least 3", [
        {"left": np.empty(2, np.int32)}, {"similarity": np.empty(4)},
    ]),
    # ---- keys, candidates and decisions
    ("band_keys", ValueError, LIES, [
        {"rows": 2**63 - 1}, {"rows": 5}, {"rows": 0}, {"first": 2**63 - 1}, {"first": -1},
        {"first": 1},
    ]),
    ("band_keys", ValueError, "side by side", [
        {"out": np.zeros((2, 8), np.uint64)[:, ::2]}, {"out": np.zeros((4, 2), np.uint64).T},
    ]),
    ("link", ValueError, "mismatch", [{"keys": np.zeros(9, np.int64)}]),
    ("link", ValueError, "table of 17 slots does not suit 9 keys", [{"table": int32(*[0] * 17)}]),
    ("link", ValueError, "later", [{"later": int32(*[0] * 8)}, {"earlier": int32(*[0] * 10)}]),
    ("unite", ValueError, None, [
        {"left": int32(0), "right": int32(0, 1)}, {"parent": int32(1, 1, 2, 3, 4, 5)},
        {"parent": int32(0, 5, 2, 3, 4, 5), "left": int32(0, 1)},
        {"parent": int32(0, -7, 1, 3, 4, 5)}, {"parent": int32(0, 9, 1, 3, 4, 5)},
    ]),
    ("unite", IndexError, None, [
        {"left": int32(0, 6)}, {"right": int32(0, -1)}, {"parent": int32()},
    ]),
    ("families", ValueError, "not later", [
        {"parent": int32(*parent)} for parent in ([1, 1], [0, 2, 2], [0, -1], [0, 1, 2**31 - 1])
    ]),
    ("roots", ValueError, "earlier", [{"previous": previous[:1]} for previous in BAD_LINKS]),
    ("chain_depths", ValueError, "earlier", [{"previous": each[0].copy()} for each in BAD_LINKS]),
    ("emit_pairs", ValueError, LIES, [{"rows": 2**63 - 1}, {"rows": 0}, {"rows": 5}]),
    ("emit_pairs", ANY, None, [
        *[{"previous": previous} for previous in BAD_LINKS],
        *[{"documents": np.arange(*ends)} for ends in ((0, 5), (1, 7), (-1, 5))],
        {"at": int64(0, 0)}, {"at": int64(-1, 0, -1)}, {"at": int64(0, 2, -1)},
        {"at": int64(1, 0, 1)}, {"at": int64(7, 0, -1)}, {"stop": 7}, {"stop": -1},
        {"left": int32(0, 0, 0)}, {"right": None},
    ]),
    ("share_first", ValueError, LIES, [{"bands": 3}]),
    ("share_first", ValueError, "bands must be at least 1", [{"bands": 0}]),
    ("share_first", ANY, r"pair \(2, 3\) in band 2 lies outside", [{"band": int64(0, 1, 2)}]),
    ("share_first", ANY, r"pair \(-1, 4\) in band 1 lies outside", [{"left": int64(0, -1, 2)}]),
    ("share_first", ANY, r"pair \(0, 6\) in band 0 lies outside", [{"right": int64(6, 4, 3)}]),
    ("share_first", ANY, r"pair \(0, 5\) in band 0 lies outside", [{"documents": np.full(6, 6)}]),
    ("share_first", IndexError, "pairs of no documents", [
        {"signatures": np.ones((0, 8), np.uint32)},
    ]),
    ("Keeper", ValueError, "to no root, at 4", [
        {"root": np.array([[1, -1]] * 4 + [[3, -1]], np.int32)},
    ]),
    ("Keeper", ANY, "root points outside", [{"root": np.full((5, 2), 5, np.int32)}]),
    ("Keeper", ValueError, "another shape", [{"empty": lambda _, kind: np.empty((5, 1), kind)}]),
    ("Keeper", ValueError, "mismatch", [{"empty": lambda shape, _: np.empty(shape, np.int64)}]),
    ("Keeper", ValueError, "mode must be", [{"mode": -1}, {"mode": 99}, {"mode": _sets.BY_TEXTS}]),
    ("Keeper", ValueError, "role needs one number for each one in root", [
        {"role": np.zeros((5, 1), np.uint8)},
    ]),
    # ---- signatures
    ("signatures", TypeError, "spans", [{"spans": None}, {"spans": ["one", "two"]}]),
    ("signatures", ValueError, "not C-contiguous", [{"out": np.zeros((4, 16), np.uint32)[:, ::2]}]),
    ("signatures", ValueError, "mismatch", [{"out": np.zeros((4, 8), np.int64)}]),
    ("signatures", ValueError, "unit must be", [{"unit": 9}, {"unit": -1}]),
    ("signatures", ValueError, "size must be", [{"size": 0}]),
    ("signatures", ValueError, "scheme must be", [{"scheme": -1}, {"scheme": 2}]),
    ("signatures", ValueError, "8 values need 16 functions", [{"scheme": _signatures.FSS}]),
    ("signatures", ValueError, "bands|keys", [{"rows": 0}, {"rows": 9}, {"rows": 2**61}]),
    ("signatures", ValueError, "one after the other", [{"keys": np.zeros((4, 2), np.uint64).T}]),
    ("signatures", ValueError, "columns, expected", [
        {"keys": np.zeros((2, 3), np.uint64)}, {"keys": np.zeros((2, 8), np.uint64)},
    ]),
    ("signatures", ValueError, "out has shape", [{"out": np.zeros((5, 8), np.uint32)}]),
    ("signatures", ValueError, "functions, got a of", [
        {"a": np.ones(7, np.uint32)}, {"b": np.ones(7, np.uint32)}, {"b": np.ones(9, np.uint32)},
    ]),
    ("hash_signatures", ValueError, "offsets", [
        {"offsets": int64(0, 3, 3, 9, 10)}, {"offsets": int64(0, 3, 2, 9, 9)},
        {"offsets": int64(-1, 3, 3, 9, 9)},
    ]),
    ("hash_signatures", ValueError, "out has shape", [{"offsets": int64(0, 9)}]),
    ("Permutations", ValueError, r"scheme|shape", [
        {"scheme": _signatures.FSS}, {"coefficients": np.zeros((3, 6), np.uint64)},
        {"coefficients": np.zeros((2, 0), np.uint64)},
    ]),
    *[
        (f"Permutations.{name}", (ValueError, BufferError), reason, [{rows: wrong}])
        for name, rows, size in (("add_hashes", "rows", 12), ("add_token", "row", 6))
        for reason, wrong in (
            ("bytes|elements|rows", np.ones(size - 1, np.uint64)),
            ("bytes|mismatch", np.ones(size, np.uint32)), ("read-only", locked(size)),
            ("aligned", np.zeros(8 * size + 1, np.uint8)[1:].view(np.uint64)),
        )
    ],
    ("Permutations.add_hashes", ValueError, "mismatch", [{"hashes": np.ones(40, np.uint32)}]),
    ("Permutations.add_hashes", ValueError, "offsets|rows", [
        {"offsets": int64(*ends)} for ends in ((0, 17, 41), (0, 41, 40), (0, 1, 1, 1))
    ]),
    ("murmur_minima", ValueError, "size must be at least 1, got 0", [{"size": 0}]),
    ("murmur_minima", ValueError, r"expected \(4, 3\)", [{"seeds": np.arange(3, dtype=np.uint32)}]),
    ("murmur_minima", ValueError, "at least one seed", [
        {"seeds": np.empty(0, np.uint32), "out": np.empty((4, 0), np.uint32)},
    ]),
    ("murmur_minima", ValueError, "not gathered as bytes", [
        {"spans": _texts.spans_of_list(["\u0416"] * 4)},
    ]),
    ("murmur_minima", TypeError, "spans", [{"spans": None}]),
    ("ShinglePlan", ValueError, "530 numbers, expected 531", [{"secret": np.ones(530, np.uint64)}]),
    ("ShinglePlan", ValueError, "must be odd", [{"secret": np.full(531, 2, np.uint64)}]),
    ("ShinglePlan", ValueError, "at least 1", [{"size": 0}]),
    ("TextReader/keyed", ValueError, "the plan is for unit 0 and size 5, not for 1 and 5", [
        {"unit": 1},
    ]),
    # ---- passages
    ("hash_grams", ValueError, "words that are not empty", [{"unit": 8}, {"unit": 6}]),
    ("hash_grams", IndexError, "gram 0 is in no text", [
        {"grams": int64(*[[0, 2, 3]] * 4)}, {"grams": int64(*[[3, 0, 1]] * 4)},
    ]),
    ("hash_grams", IndexError, "gram 1", [{"grams": int64([1, 0, 1], *[[0, 0, 1]] * 3)}]),
    ("hash_grams", ValueError, "as many elements", [{"out": np.zeros(3, np.uint64)}]),
    ("GramTable", ValueError, "least must be between 1 and 3, got 0", [{"least": 0}]),
    ("GramTable", ValueError, "least must be between 1 and 3, got 4", [{"least": 4}]),
    ("GramTable", ValueError, "ascend from 2 to below 3", [{"shorter": int64(3)}]),
    ("GramTable", ValueError, "as many numbers and flags", [{"numbers": np.arange(3)}]),
    ("GramTable.find", ValueError, "expected 3", [{"out": np.zeros((3, 2), np.int64)}]),
    ("repeat_grams", ValueError, "has 2 elements, expected 4", [{"starts": int64(0, 4)}]),
    ("repeat_grams", ValueError, "text 1 has 0 units, not 1", [{"starts": int64(0, 3, 4, 4)}]),
    ("extend_grams", IndexError, "row 0 names a text", [{"rows": np.full((4, 5), 9)}]),
    ("extend_grams", ValueError, "as many rows", [{"runs": np.zeros((3, 5), np.int64)}]),
    ("winnow", ValueError, "a gram must have 1 to 8 units, got 0", [{"gram": 0}]),
    ("winnow", ValueError, "a gram must have 1 to 8 units, got 9", [{"gram": 9}]),
    ("winnow", ValueError, "as many rows as keys", [{"rows": np.zeros((3, 4), np.int64)}]),
    ("repeats", ValueError, "windows a unit", [{"length": 0}]),
    ("repeats", IndexError, r"windows \d+ to \d+ of \d+ units", [
        {"length": 19}, {"length": 2**61},
    ]),
    ("repeats", ValueError, "groups must go from 0", [{"groups": int64(0, 1)}]),
    ("repeats", ValueError, "occurrence 4 is not behind the one before it", [
        {"occurrences": changed("repeats", "occurrences", (3, 4), 9)},
    ]),
    ("cuts", IndexError, "match 1 lies outside of 2 texts", [{"texts": 2}]),
    ("cuts", ValueError, f"{2**61} texts", [{"texts": 2**61}]),
    ("cuts", ValueError, "match 0 is not behind its source", [{"matches": int64([0, 3, 5, 0, 3])}]),
    ("cuts", ValueError, "match 1 is not behind the one before it", [
        {"matches": int64([0, 8, 9, 0, 3], [0, 7, 9, 0, 3])},
    ]),
    ("word_hashes", ValueError, "as many elements", [{"bounds": int64([0, 1])}]),
    ("word_hashes", IndexError, "word 0 has the code points 0 to 10000 of", [
        {"bounds": changed("word_hashes", "bounds", 0, (0, 10_000))},
    ]),
    ("word_hashes", ValueError, "starts", [{"starts": np.zeros(2, np.int64)}]),
    ("word_hashes", TypeError, "token ids are no texts", [{"texts": TOKEN_IDS}]),
    ("WordNumbers.find", ValueError, "as many elements", [{"out": np.zeros(1, np.uint32)}]),
    # ---- the tables of an index: three documents are in tables for six
    ("BandTables", ANY, None, [
        {"bands": 0}, {"rows": 0}, {"bands": 4}, {"rows": 2**62}, {"num_perm": 2**31},
    ]),
    ("BandTables", ANY, LIES, [{"rows": 2**62 + 1}]),
    ("BandTables.over", ANY, LIES, [{"rows": 2**63 - 1}]),
    ("BandTables.over", ANY, None, [
        {"signatures": np.zeros((6, 5), np.uint32)}, {"signatures": np.zeros((6, 8), np.uint64)},
        {"slots": []}, {"slots": [np.zeros(0, np.uint64)] * 2},
        {"slots": [np.zeros(12, np.uint64)]}, {"links": [np.zeros(3, np.uint32)] * 2}, {"rows": 0},
        {"rows": 5}, {"rows": 2**62 + 1}, {"offsets": np.zeros(4, np.int64)}, {"hashes": None},
    ]),
    ("BandTables.query", ANY, None, [
        {"signatures": np.ones((3, 5), np.uint32)}, {"first": -1}, {"first": 4}, {"last": 4},
        {"mode": 3}, {"mode": 9}, {"hashes": None}, {"offsets": np.zeros(3, np.int64)},
        {"limit": 0}, {"out": np.empty((0, 2))}, {"out": np.empty((8, 3))},
        {"counts": np.empty(2, np.int64)}, {"halt": np.empty(0, np.uint8)},
    ]),
    ("BandTables.insert_unique", ANY, None, [
        {"last": 4}, {"first": 2, "last": 1}, {"fresh": np.zeros(2, np.uint8)}, {"own": 4},
        {"own": -1}, {"limit": 0}, {"matches": np.zeros(2, np.int64)},
    ]),
    ("BandTables.append", ANY, None, [{"last": -1}, {"last": 4}]),
    ("BandTables.switch", ANY, None, [{"first": 4}, {"gone": int64(3)}, {"gone": int64(-1)}]),
    ("BandTables.remove", ANY, None, [{"number": 3}, {"number": -1}]),
    ("BandTables.copy_rows", ANY, None, [
        {"numbers": int64(3, 0)}, {"out": np.zeros((2, 5), np.uint32)},
    ]),
    ("BandTables.complete", ANY, None, [{"n": 7}]),
    ("TableMemory.reserve", ANY, "are too many", [{"count": 2**62}]),
    ("TableMemory.reserve", ANY, None, [{"count": -1}, {"words": 2**62}]),
    ("TableMemory.read", ANY, "bytes from", [{"start": 2**63 - 1}]),
    ("TableMemory.read", ANY, None, [
        {"out": np.empty(193, np.uint8)}, {"start": -1}, {"start": 2**62}, {"number": 8},
    ]),
    ("TableMemory.write", ANY, "part", [{"number": 2**62}]),
    ("TableMemory.write", ANY, None, [{"number": 4, "start": 90}]),
    ("TableMemory.resize_table", ANY, None, [{"band": 2}, {"size": 0}, {"size": 2**32}]),
    ("TableMemory.slots", ANY, None, [{"band": -1}]),
    ("TableMemory.used", ANY, None, [{"band": 2}]),
]  # fmt: skip
"""The name of a sound call, the error and its message, and arguments that are refused with it."""


@pytest.mark.parametrize(("name", "error", "message", "changes"), REFUSED)
def test_refused(name, error, message, changes):
    for change in changes:
        refuses(error, message, called, name, **change)


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


def test_nothing_is_made_without_its_arguments():
    for name in ("BandTables", "Keeper", "Permutations", "SetJoin", "ArrowColumn", "KeyBuckets"):
        kind = getattr(KERNELS, name)
        refuses(TypeError, None, kind.__new__, kind)


def test_nothing_compiled_is_pickled_or_copied():
    cases = [case() for case in CASES.values()]
    classes = [(call, arguments) for call, arguments in cases if isinstance(call, type)]
    assert len(classes) > 10
    for call, arguments in classes:
        made = call(**arguments)
        for way in (copy.copy, *(partial(pickle.dumps, protocol=p) for p in (0, 1, 2, 5))):
            refuses(TypeError, "cannot pickle", way, made)


def test_a_root_that_changes_is_not_followed():
    call, arguments = CASES["Keeper"]()
    keeper = call(**arguments)
    called("Keeper", root=np.full((5, 2), 4, np.int32))
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
    refuses(IndexError, None, _texts.spans_of_list, ["a", wrong], ids=ids)
    refuses(IndexError, None, _plans.token_hashes, [["a"], [wrong]], np.zeros(3, np.int64), ids=ids)
    with pytest.raises((TypeError, ValueError), match=f"document {2**63} "):
        _texts.spans_of_list(["a", wrong], 2**63 - 1)
