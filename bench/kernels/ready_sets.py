"""Pairs of sets of a chosen similarity, ready for the kernel that compares them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fastlsh import _kernels


def ready_sets(
    rng: np.random.Generator,
    similarity: float,
    pairs: int,
    *,
    size: int = 500,
    times: int = 1,
    threshold: float = 0.0,
    sketched: bool = False,
) -> Callable[[], Any]:
    """Return the comparison, so many times over, of pairs of sets of 64-bit hashes."""
    shared = round(2 * size * similarity / (1 + similarity))
    texts = []
    for _ in range(pairs):  # texts of single characters: the sets can be chosen
        drawn = [chr(c) for c in rng.choice(0x100000, 2 * size - shared, replace=False) + 0x10000]
        texts += ["".join(drawn[:size]), "".join(drawn[size - shared :])]
    sizes = np.full(2 * pairs, size)
    room = np.empty_like(sizes)
    _kernels.sketch_room(sizes, room)
    start = np.concatenate([[0], np.cumsum(sizes + room)])
    hashes = np.zeros(start[-1], np.uint64)
    _kernels.shingle_sets(
        _kernels.spans_of_list(texts), None, _kernels.CHARACTERS, 1, hashes, start, sizes,
        sketched=sketched,
    )  # fmt: skip
    left = np.tile(np.arange(0, 2 * pairs, 2), times)
    out = np.empty(len(left))
    call = partial(
        _kernels.set_jaccard, hashes, start[:-1], sizes, left, left + 1, threshold, out,
        sketched=sketched,
    )  # fmt: skip
    call()
    exact = shared / (2 * size - shared)
    assert (out == (exact if exact >= threshold else -1.0)).all()
    return call
