"""Arguments that are out of range or of another type."""

import inspect
import json
import re
from functools import partial

import numpy as np
import pytest

from fastlsh import (
    Index,
    LSHParams,
    MinHasher,
    Shingler,
    band_keys,
    candidate_pairs,
    deduplicate,
    deduplicate_spans,
    estimate_jaccard,
    evaluate,
    exact_jaccard,
    exact_pairs,
    explain,
    near_duplicates,
    pack_signatures,
)
from fastlsh.arguments import CHOICES, INTEGERS, check_integer
from refusals import refuses


@pytest.mark.parametrize("function", [near_duplicates, deduplicate])
@pytest.mark.parametrize(
    ("options", "match"),
    [
        *[({"threshold": t}, "threshold") for t in (0, 1.0001, float("inf"))],
        *[({"recall": r}, "recall") for r in (0.0, 1.0)],
        *[({"num_perm": n}, "num_perm") for n in (0, 65_536)],
        ({"seed": 2**32}, "seed"),
        ({"threads": 0}, "threads"),
        ({"bands": 3}, "together"),
        ({"rows": 3}, "together"),
        ({"bands": 0, "rows": 3}, "bands"),
        ({"bands": 65, "rows": 2}, "num_perm=130"),
        ({"ids": ["a"]}, "ids has 1 elements for 2"),
        ({"ids": []}, "ids has 0 elements for 2"),
        ({"ids": {"a": 1, "b": 2, "c": 3}.keys()}, "ids has 3 elements for 2"),
    ],
    ids=str,
)
def test_arguments_out_of_range(function, options, match):
    refuses(ValueError, re.escape(match), function, ["one", "two"], **options)


NAMED = [
    ({"threshold": None}, TypeError, "threshold must be a number, got None"),
    ({"threads": 1.5}, TypeError, "threads must be an integer, got 1.5"),
    ({"max_pairs": -1}, ValueError, "max_pairs must be at least 0, got -1"),
    ({"shingler": "char"}, TypeError, "shingler must be a Shingler, got str"),
    ({"ids": 5}, TypeError, "ids must be a collection of ids, got int"),
    ({"ids": {"a", "b"}}, TypeError, "ids must have an order, got a set: pass a list"),
    *[
        ({name: value}, TypeError, f"{name} must have an order, got a {type(value).__name__}: pass")
        for name in ("ids", "priority", "within")
        for value in ({1, 2}, frozenset("ab"), {0: "a", 1: "b"})
    ],
    ({"progress": 1}, TypeError, "progress must be True, False or a function, got 1"),
    ({"against_ids": 5}, TypeError, "against_ids must be a collection of ids, got int"),
    ({"max_candidates": 0}, ValueError, "max_candidates must be at least 1, got 0"),
]


@pytest.mark.parametrize(
    ("function", "options", "error", "message"),
    [
        (function, *case)
        for function in (near_duplicates, deduplicate, exact_pairs, evaluate)
        for case in NAMED
        if case[0].keys() <= inspect.signature(function).parameters.keys()
    ],
)
@pytest.mark.parametrize("texts", [[], ["one text", "one text"]], ids=len)
def test_the_message_names_the_argument(function, options, error, message, texts):
    refuses(error, re.escape(message), function, texts, **{"threshold": 0.8, **options})


def test_values_whose_order_counts():
    """That of a set is chance; a generator and the views of a dict have one."""
    texts = ["some text", "some text"]
    names, numbers = dict.fromkeys("ab"), {"a": 1, "b": 2}
    result = deduplicate(texts, ids=names.keys(), priority=numbers.values(), within=iter("xx"))
    assert (list(result.ids), result.kept.tolist()) == (["a", "b"], [False, True])
    result = deduplicate(texts, priority=(n for n in (1, 2)))
    assert result.kept.tolist() == [False, True]
    assert result.cluster_sum(iter((1, 2))).tolist() == [3, 3]
    calls = {
        "texts": near_duplicates, "values": result.cluster_sum, "sources": result.cluster_sources,
        "labels": result.further_copies,
        "ids": lambda ids: Index().insert_many(ids, texts),
    }  # fmt: skip
    for name, call in calls.items():
        for value in ({1, 2}, {0: "a", 1: "b"}):
            refuses(TypeError, f"{name} must have an order, got a (set|dict): ", call, value)


def unread():
    """Texts that must not be read: an argument is refused before the work begins."""
    pytest.fail("the texts were read")
    yield


CALLS = {
    "near_duplicates": partial(near_duplicates, unread()),
    "deduplicate": partial(deduplicate, unread()),
    "exact_pairs": partial(exact_pairs, unread(), threshold=0.8),
    "evaluate": partial(evaluate, unread()),
    "explain": partial(explain, "one text", "another text"),
    "MinHasher": MinHasher,
    "Shingler": Shingler,
    "Index": Index,
    "LSHParams": partial(LSHParams, bands=2, rows=2),
    "LSHParams.for_threshold": partial(LSHParams.for_threshold, threshold=0.8),
    "estimate_jaccard": partial(estimate_jaccard, np.zeros((2, 8), np.uint32), ([0], [1])),
    "band_keys": partial(band_keys, np.zeros((2, 8), np.uint32), LSHParams(2, 2)),
    "candidate_pairs": partial(candidate_pairs, np.zeros((2, 8), np.uint32), LSHParams(2, 2)),
    "exact_jaccard": partial(exact_jaccard, ["a", "b"], ([0], [1])),
    "pack_signatures": partial(pack_signatures, np.zeros((2, 64), np.uint32)),
}
HUGE = 2**70
NO_NUMBERS = ["x", "2", True, np.True_, 1 + 2j, [1], b"1"]
ODD_NUMBERS = [2.5, float("nan"), -1, HUGE]


def arguments(names):
    """Return (call, argument) for all arguments of these names."""
    return [
        (call, name)
        for call in CALLS
        for name in inspect.signature(CALLS[call]).parameters
        if name in names
    ]


@pytest.mark.parametrize(
    ("call", "name"), arguments({*INTEGERS, "threshold", "recall", "lowest", "containment"})
)
def test_every_number_is_checked_by_name(call, name):
    other = {"bands": {"rows": 1}, "rows": {"bands": 1}}.get(name, {})
    kind = "an integer" if name in INTEGERS else "a number"
    for value in NO_NUMBERS:
        reason = f"^{name} must be {kind}, got {re.escape(repr(value))}$"
        refuses(TypeError, reason, CALLS[call], **{**other, name: value})
    for value in ODD_NUMBERS:
        if value is HUGE and name in INTEGERS and INTEGERS[name].greatest is None:
            continue
        refuses((TypeError, ValueError), rf"\b{name}\b", CALLS[call], **{**other, name: value})


@pytest.mark.parametrize(("call", "name"), arguments(CHOICES))
def test_every_choice_is_checked_by_name(call, name):
    for value in ["x", "", 1, True, b"char"]:
        choices = ", ".join(CHOICES[name])
        refuses(ValueError, f"^{name} must be one of {choices}, got", CALLS[call], **{name: value})


def test_numbers_that_no_kernel_takes_and_what_is_no_function():
    for name in ("min_length", "step", "max_items"):
        refuses(ValueError, f"^{name} must be between", check_integer, 2**63, name)
    refuses(ValueError, "min_length must be between", deduplicate_spans, ["one text"], 2**63)
    assert len(deduplicate_spans(["one text"], 2**63 - 1)) == 0
    refuses(ValueError, "weights must be two numbers", LSHParams.for_threshold, 0.8, weights=0.5)
    for name in ("normalize", "tokenizer"):
        for value in (5, "abc"):
            message = f"{name} must be a function, got {value!r}"
            refuses(TypeError, message, Shingler, "word", **{name: value})


def test_a_limit_may_be_as_large_as_you_like():
    texts = ["one text", "one text", "another text"]
    assert deduplicate(texts, max_candidates=10**20).kept.tolist() == [True, False, True]
    assert len(near_duplicates(texts, max_pairs=10**20)) == 1
    assert len(exact_pairs(texts, 0.8, max_pairs=10**20)) == 1


def test_numbers_of_numpy_are_numbers():
    result = evaluate(
        ["one text", "one text"], np.float32(0.5), num_perm=np.int64(128), seed=np.uint8(3),
        bands=np.uint8(32), rows=np.uint8(4), lowest=np.float32(0.25), sample=np.int32(9),
        threads=np.int8(1), max_pairs=np.int16(9),
    )  # fmt: skip
    assert json.loads(json.dumps(result.to_dict()))["bands"] == 32
    assert repr(result.params) == "LSHParams(bands=32, rows=4)"
    assert result.recall.hits == 1
    with pytest.raises(ValueError, match="200 bands of 2 rows need num_perm=400, got 128"):
        near_duplicates(["a"], bands=np.uint8(200), rows=np.uint8(2))


@pytest.mark.parametrize("num_perm", [1, 65_535])
@pytest.mark.parametrize("seed", [0, 2**32 - 1])
def test_arguments_at_the_edge(num_perm, seed):
    hasher = MinHasher(num_perm, seed=seed)
    assert hasher.signatures(["a text"]).shape == (1, num_perm)
    pairs = near_duplicates(
        ["a text", "a text"], num_perm=num_perm, seed=seed, bands=1, rows=num_perm
    )
    assert list(pairs) == [(0, 1, 1.0)]


@pytest.mark.parametrize(
    ("out", "error"),
    [
        (np.zeros((2, 8), np.int32), TypeError),
        (np.zeros((2, 8), np.uint64), TypeError),
        ([[0] * 8] * 2, TypeError),
        (np.zeros((2, 9), np.uint32), ValueError),
        (np.zeros((3, 8), np.uint32), ValueError),
        (np.zeros(16, np.uint32), ValueError),
        (np.zeros((2, 16), np.uint32)[:, ::2], ValueError),
        (np.zeros((8, 2), np.uint32).T, ValueError),
        (np.zeros(65, np.uint8)[1:].view(np.uint32).reshape(2, 8), ValueError),
        (np.frombuffer(bytes(64), np.uint32).reshape(2, 8), ValueError),
    ],
)
def test_unsuitable_out(out, error):
    hasher = MinHasher(8)
    for call in (
        lambda: hasher.signatures(["a", "b"], out=out),
        lambda: hasher.from_tokens([["a"], ["b"]], out=out),
        lambda: hasher.from_hashes(np.arange(2, dtype=np.uint64), [0, 1, 2], out=out),
    ):
        refuses(error, "out", call)


@pytest.mark.parametrize(
    ("hashes", "offsets", "error"),
    [
        (np.arange(4), [0, 4], TypeError),
        (np.arange(4, dtype=np.uint16), [0, 4], TypeError),
        (np.arange(4.0), [0, 4], TypeError),
        ([1, 2, 3, 4], [0, 4], TypeError),
        (np.zeros((2, 2), np.uint64), [0, 4], TypeError),
        (np.arange(4, dtype=np.uint64), [0.0, 4.0], TypeError),
        (np.arange(4, dtype=np.uint64), [[0, 4]], TypeError),
        (np.arange(4, dtype=np.uint64), [], TypeError),
        (np.arange(4, dtype=np.uint64), [0, 5], ValueError),
        (np.arange(4, dtype=np.uint64), [-1, 4], ValueError),
        (np.arange(4, dtype=np.uint64), [0, 3, 2, 4], ValueError),
        (np.arange(4, dtype=np.uint64), [0, 2**62], ValueError),
        (np.arange(4, dtype=np.uint64), np.array([0, 2**64 - 1], np.uint64), ValueError),
    ],
)
def test_bad_hashes_and_offsets(hashes, offsets, error):
    refuses(error, r"hashes|offsets", MinHasher(8).from_hashes, hashes, offsets)


@pytest.mark.parametrize(
    ("documents", "error", "match"),
    [
        ([["a"], "abc"], TypeError, "document 1 is one str"),
        ([["a"], b"abc"], TypeError, "document 1 is one bytes"),
        ([["a"], ["b", 7]], TypeError, "document 1 has a token of type int"),
        ([["a"], ["b", None]], TypeError, "document 1 has a token of type NoneType"),
        ([["a"], ["b", b"\xff"]], ValueError, "document 1 is not valid UTF-8"),
        ([["a"], 7], TypeError, None),
        (None, TypeError, "token_lists must be a collection of lists, got None"),
    ],
)
def test_bad_tokens(documents, error, match):
    refuses(error, match, MinHasher(8).from_tokens, documents)
