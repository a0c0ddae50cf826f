"""The kernels of datasketch's sketches on every instruction set against slow Python."""

import functools
import random

import numpy as np
import pytest

import sketches
from combinations import covering, every
from fastlsh._kernels.minhash._signatures import AFFINE32, AFFINE64, LEGACY, PRIME61
from refusals import refuses

KERNELS = {"affine32": AFFINE32, "affine64": AFFINE64, "legacy": LEGACY, "prime61": PRIME61}
WIDTHS = {name: np.uint32 if name == "affine32" else np.uint64 for name in KERNELS}
EMPTY = dict.fromkeys(KERNELS, 2**32 - 1) | {"affine64": 2**64 - 1, "prime61": 2**64 - 1}
OF_PRIMES = ("legacy", "prime61")
NUM_PERMS = [1, 7, 8, 9, 16, 31, 32, 33, 63, 64, 65, 100, 128, 130]
SIZES = [0, 1, 2, 15, 16, 17, 31, 32, 33, 64, 100]
# All lengths around SHA-1's blocks, and long ones.
LENGTHS = [*range(130), 183, 184, 191, 192, 1000, 4096, 9999, 10_000]


@pytest.fixture(params=KERNELS)
def scheme(request):
    return request.param


def coefficients(scheme, k, seed=0):
    draw = random.Random(seed)
    top = 2**32 if scheme == "affine32" else 2**61 - 1 if scheme in OF_PRIMES else 2**64
    a = [draw.randrange(top) | (scheme not in OF_PRIMES) for _ in range(k)]
    return np.array([a, [draw.randrange(top) for _ in range(k)]], WIDTHS[scheme])


def check(isa, scheme, functions, hashes, expected=None):
    """Compare minima with those of slow Python."""
    row = np.full(functions.shape[1], EMPTY[scheme], WIDTHS[scheme])
    kernel = isa.Permutations(KERNELS[scheme], functions)
    kernel.add_hashes(np.array(hashes, WIDTHS[scheme]), row)
    assert row.tolist() == (expected or sketches.minima(scheme, functions, hashes))


def test_sha1_of_every_length_and_number(isa):
    draw = random.Random(1)
    tokens = [draw.randbytes(length) for length in LENGTHS]
    counts = 0, 1, 15, 16, 17, 33, 511, 512, 513, 1030
    samples = [draw.choices(tokens[:80], k=count) for count in counts]
    for some in (tokens, tokens[::-1], draw.sample(tokens, len(tokens)), *samples):
        narrow, wide = np.empty(len(some), np.uint32), np.empty(len(some), np.uint64)
        assert isa.sha1_hashes(some, narrow)
        assert isa.sha1_hashes(some, wide)
        assert narrow.tolist() == [sketches.sha1(token, 32) for token in some]
        assert wide.tolist() == [sketches.sha1(token, 64) for token in some]


def test_sha1_leaves_what_is_not_bytes(isa):
    for other in ("text", bytearray(b"a"), None, 1):
        assert not isa.sha1_hashes([b"a", other], np.empty(2, np.uint32))
    assert isa.sha1_hashes([np.bytes_(b"ab")], found := np.empty(1, np.uint32))
    assert found[0] == sketches.sha1(b"ab", 32)


@functools.cache  # for each of the instruction sets
def drawn(scheme, k):
    """Return pairs of hashes and their minima."""
    draw = random.Random(k)
    functions = coefficients(scheme, k)
    top = 2**32 if scheme == "affine32" else 2**64
    collections = [[draw.randrange(top) for _ in range(size)] for size in SIZES]
    return [(each, sketches.minima(scheme, functions, each)) for each in collections]


@pytest.mark.parametrize("k", every(3, NUM_PERMS))
def test_minima(isa, scheme, k):
    functions = coefficients(scheme, k)
    for hashes, expected in drawn(scheme, k):
        check(isa, scheme, functions, hashes, expected)


def test_minima_of_many_blocks(isa, scheme):
    functions = coefficients(scheme, 70)
    hashes = np.random.default_rng(0).integers(0, 2**32, 1100, np.uint64)
    check(isa, scheme, functions, hashes.tolist())


@pytest.mark.parametrize("size", [1, 3, 40])
def test_prime61_at_the_edges_of_the_prime(isa, size):
    draw = random.Random(size)
    functions = coefficients("prime61", 20, seed=size)
    functions[0] |= np.uint64(1)
    near = [0, 1, 2, 2**61 - 9, 2**61 - 8, 2**61 - 2, 2**61 - 1]
    for j in range(20):
        a, b = map(int, functions[:, j])
        targets = [draw.randrange(8) << 61 | draw.choice(near) for _ in range(size)]
        check(isa, "prime61", functions, [solve(a, b, t) for t in targets])


def solve(a, b, t):
    """Return the h with a * h + b = t mod 2^64, for odd a."""
    return (t - b) * pow(a, -1, 2**64) % 2**64


EDGES = [*range(26), *range(2**32 - 26, 2**32)]


@pytest.mark.parametrize(("high", "size"), covering([0, 1, 2**28, 2**29 - 1], [1, 16, 17, 40, 200]))
def test_legacy_where_the_sum_wraps_and_carries(isa, high, size):
    draw = random.Random(size * 2**30 + high)
    functions = coefficients("legacy", 20, seed=size)
    functions[0] |= np.uint64(1)
    for _ in range(30):
        j = draw.randrange(20)
        a, b = map(int, functions[:, j])
        targets = [draw.randrange(8) << 61 | high << 32 | draw.choice(EDGES) for _ in range(size)]
        check(isa, "legacy", functions, [solve(a, b, t) for t in targets])


@pytest.mark.parametrize("least", [0, 7, 8, 9, 15, 16, 17, 1000, 2**32 - 60, 2**32 - 20])
def test_legacy_where_minima_are_near_each_other(isa, least):
    # Elements of 32 bits whose filter values lie within 20 of the least, in several groups; the
    # rest is larger.
    draw = random.Random(least)
    functions = coefficients("legacy", 3, seed=5)
    functions[0] |= np.uint64(1)
    a, b = map(int, functions[:, 0])
    inverse = pow(a, -1, 2**32)
    for distance in (0, 1, 7, 8, 9, 10, 16, 20):
        lows = [least, (least + distance) % 2**32, (least + 1) % 2**32]
        lows += [draw.randrange(2**31, 2**32) for _ in range(90)]
        draw.shuffle(lows)
        check(isa, "legacy", functions, [(low - b) * inverse % 2**32 for low in lows])


def test_rows_by_offsets_keep_what_is_less(isa, scheme):
    functions = coefficients(scheme, 19)
    kernel = isa.Permutations(KERNELS[scheme], functions)
    hashes = np.arange(100, dtype=WIDTHS[scheme])
    rows = np.full((4, 19), EMPTY[scheme], WIDTHS[scheme])
    rows[2] = 5
    kernel.add_hashes(hashes, rows.ravel(), np.array([0, 40, 40, 41, 100]))
    assert rows[0].tolist() == sketches.minima(scheme, functions, range(40))
    assert (rows[1] == EMPTY[scheme]).all()
    assert rows[2].tolist() == [min(5, v) for v in sketches.minima(scheme, functions, [40])]
    assert rows[3].tolist() == sketches.minima(scheme, functions, range(41, 100))


def test_one_token(isa, scheme):
    functions = coefficients(scheme, 9)
    row = np.full(9, EMPTY[scheme], WIDTHS[scheme])
    isa.Permutations(KERNELS[scheme], functions).add_token(b"token", row)
    element = sketches.sha1(b"token", 64 if scheme in ("affine64", "prime61") else 32)
    assert row.tolist() == sketches.minima(scheme, functions, [element])


def test_called_hashes(isa):
    narrow, wide = np.empty(3, np.uint32), np.empty(3, np.uint64)
    assert isa.called_hashes(None, [0, 1, 2**32 - 1], narrow) == (3, None)
    assert narrow.tolist() == [0, 1, 2**32 - 1]
    assert isa.called_hashes(lambda x: x * x, [0, 2, 2**32 - 1], wide) == (3, None)
    assert wide.tolist() == [0, 4, (2**32 - 1) ** 2]
    for last in (2**32, -1, 1.5, "1", True, None, 2**70):
        done, value = isa.called_hashes(None, [3, 4, last], narrow)
        assert (done, value) == (2, last)
    refuses(ValueError, "expected 2", isa.called_hashes, None, [1, 2], narrow)
    refuses(ZeroDivisionError, None, isa.called_hashes, lambda x: 1 // x, [1, 0, 1], narrow)


def test_called_hashes_of_a_list_that_shrinks(isa):
    elements = [1, 2, 3]
    with pytest.raises(RuntimeError, match="changed"):
        isa.called_hashes(lambda x: elements.clear() or 1, elements, np.empty(3, np.uint32))
