"""Pairs of sets of a chosen similarity, ready for the kernel that compares them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fastlsh._kernels.sets import _sets
from fastlsh._kernels.text import _plans, _texts


def ready_sets(
    rng: np.random.Generator,
    similarity: float,
    pairs: int,
    *,
    size: int = 500,
    times: int = 1,
    threshold: float = 0.0,
    numbered: bool = False,
) -> Callable[[], Any]:
    """Return the comparison, so many times over, of pairs of sets of 64-bit hashes."""
    shared = round(2 * size * similarity / (1 + similarity))
    texts = []
    for _ in range(pairs):  # texts of single characters: the sets can be chosen
        drawn = [chr(c) for c in rng.choice(0x100000, 2 * size - shared, replace=False) + 0x10000]
        texts += ["".join(drawn[:size]), "".join(drawn[size - shared :])]
    sizes = np.full(2 * pairs, size)
    start = np.arange(0, 2 * pairs * size + 1, size)
    hashes = np.zeros(start[-1], np.uint64)
    _sets.shingle_sets(
        _texts.spans_of_list(texts), None, _plans.CHARACTERS, 1, hashes, start, sizes
    )
    start = start[:-1]
    left = np.tile(np.arange(0, 2 * pairs, 2), times)
    out = np.empty(len(left))
    if numbered:
        hashes, start = numbered_pairs(hashes, start, sizes)
    compare = _sets.number_jaccard if numbered else _sets.set_jaccard
    call = partial(compare, hashes, start, sizes, left, left + 1, threshold, out)
    call()
    exact = shared / (2 * size - shared)
    assert (out == (exact if exact >= threshold else -1.0)).all()
    return call


def numbered_pairs(hashes: Any, start: Any, sizes: Any) -> tuple[Any, Any]:
    """Return the sets as words, and where each begins; every two are a family."""
    for first in range(0, len(sizes), 2):
        _sets.Numbers().replace(hashes, start[first : first + 2], sizes[first : first + 2])
    words = np.empty(len(sizes) + 2 * len(hashes), np.uint64)
    place = np.empty_like(sizes)
    end = _sets.pack_numbers(hashes, start, sizes, words, place, np.empty_like(sizes))
    return words[:end], place
