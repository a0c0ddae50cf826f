"""MinHash of fastlsh.compat.datasketch: numbers of datasketch 2.0.0, errors, attributes."""

import pickle
import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlsh
import sketches
from fastlsh.compat.datasketch import MinHash, sha1_hash32, sha1_hash64
from fastlsh.compat.datasketch import minhash as module
from fastlsh.compat.datasketch.params import SCHEMES, draw
from fastlsh.compat.datasketch.sketch import is_identity
from refusals import refuses


@pytest.fixture(params=SCHEMES)
def scheme(request):
    return request.param


def ready(element):
    return element


def expected(scheme, num_perm, seed, elements):
    permutations = MinHash(num_perm, seed, scheme=scheme).permutations
    width = 64 if scheme == "affine64" else 32
    return sketches.minima(scheme, permutations, [sketches.sha1(e, width) for e in elements])


# ---- the numbers


@pytest.mark.parametrize(
    "seeds", [[*range(15), 2**31, 2**32 - 1], pytest.param(range(1000), marks=pytest.mark.slow)]
)
def test_draws_are_those_of_random_state(scheme, seeds):
    dtype, prime = SCHEMES[scheme].dtype, 2**61 - 1
    for seed in seeds:
        for k in (1, 2, 64, 128) if len(seeds) < 1000 else (1, 3, 64, 128, 257):
            stream = np.random.RandomState(seed)
            if scheme == "legacy":
                pairs = [
                    (stream.randint(1, prime, dtype=dtype), stream.randint(0, prime, dtype=dtype))
                    for _ in range(k)
                ]
                a, b = zip(*pairs, strict=True)
            else:
                bits = 8 * dtype.itemsize
                a = [2 * int(h) + 1 for h in stream.randint(0, 2 ** (bits - 1), k, dtype)]
                b = stream.randint(0, 2**bits, k, dtype)
            found = MinHash(k, seed, scheme=scheme).permutations
            assert found.dtype == dtype
            assert found.tolist() == [list(map(int, a)), list(map(int, b))], (seed, k)


def test_a_seed_of_none_draws_anew():
    first, second = MinHash(64, None), MinHash(64, None)
    assert (first.permutations != second.permutations).any()


@given(
    st.sampled_from(sorted(SCHEMES)),
    st.lists(st.binary(max_size=130), max_size=40),
    st.integers(1, 40),
    st.integers(0, 2**32 - 1),
)
def test_update_batch_equals_updates(scheme, tokens, num_perm, seed):
    together, single = (
        MinHash(num_perm, seed, scheme=scheme),
        MinHash(num_perm, seed, scheme=scheme),
    )
    together.update_batch(iter(tokens))
    for token in tokens:
        single.update(token)
    assert together.hashvalues.tolist() == expected(scheme, num_perm, seed, tokens)
    assert together == single
    assert together.is_empty() == (not tokens)


@pytest.mark.parametrize(
    "hashfunc", [ready, lambda x: x, lambda x: x + 0, int, lambda x: np.uint32(x)]
)
def test_ready_hashes_in_every_form(scheme, hashfunc):
    numbers = random.Random(3).sample(range(2**32), 300)
    permutations = MinHash(33, scheme=scheme).permutations
    minima = sketches.minima(scheme, permutations, numbers)
    arrays = [np.array(numbers, t) for t in (np.uint32, np.uint64, np.int64, ">u8", "<u4")]
    arrays += [np.repeat(arrays[0], 2)[::2], np.array(numbers, np.uint64)[::-1]]
    for elements in (numbers, tuple(numbers), iter(numbers), *arrays):
        sketch = MinHash(33, scheme=scheme, hashfunc=hashfunc)
        sketch.update_batch(elements)
        assert sketch.hashvalues.tolist() == minima
    sketch = MinHash(33, scheme=scheme, hashfunc=hashfunc)
    for number in numbers:
        sketch.update(number)
    assert sketch.hashvalues.tolist() == minima
    many = [arrays[0], arrays[1][:50], np.array([], np.int64), numbers[:7], range(5)]
    for sets in (many, many[:3]):
        found = MinHash.bulk(sets, num_perm=33, scheme=scheme, hashfunc=hashfunc)
        for sketch, one in zip(found, sets, strict=True):
            assert sketch.hashvalues.tolist() == sketches.minima(scheme, permutations, one)


def test_what_is_an_identity():
    def documented(x: int) -> int:
        """Return x."""
        return x

    assert all(map(is_identity, [ready, documented, lambda value: value]))
    others = [
        lambda x, y=0: x, lambda *x: x, lambda **x: x, lambda x: +x, lambda x: (x,), int, len,
        lambda *, x=1: x, print,
    ]  # fmt: skip

    def generator(x):
        yield x

    async def coroutine(x):
        return x

    assert not any(map(is_identity, [*others, generator, coroutine]))


@pytest.mark.parametrize("value", [2**32, -1, 2**64])
def test_hashes_out_of_range(value):
    sketch = MinHash(4, hashfunc=lambda x: value)
    for add in (lambda: sketch.update(0), lambda: sketch.update_batch([0])):
        refuses(ValueError, "affine64", add)
    assert sketch.is_empty()
    legacy = MinHash(4, hashfunc=lambda x: value, scheme="legacy")
    if value == 2**32:
        legacy.update(0)
    else:
        with pytest.raises(OverflowError):
            legacy.update(0)


def test_hash_functions():
    assert sha1_hash32(b"hello") == 499578026
    assert sha1_hash64(b"hello") == int.from_bytes(bytes.fromhex("aaf4c61ddcc5e8a2"), "little")


# ---- one batch or many, one by one or together


def test_bulk_and_generator(scheme, monkeypatch):
    monkeypatch.setattr(module, "BATCH_SETS", 3)
    monkeypatch.setattr(module, "BATCH_ELEMENTS", 20)
    draw_from = random.Random(0)
    sets = [[draw_from.randbytes(5) for _ in range(n)] for n in (0, 1, 5, 30, 0, 0, 0, 0, 2, 19)]
    for make in (MinHash.bulk, MinHash.generator):
        for form in (list, tuple, iter):
            found = list(make((form(s) for s in sets), num_perm=17, seed=5, scheme=scheme))
            assert [m.hashvalues.tolist() for m in found] == [
                expected(scheme, 17, 5, s) for s in sets
            ]
    assert {type(m) for m in found} == {MinHash}
    assert MinHash.bulk([]) == []
    kept = found[3].digest()
    found[3].update(b"more")
    assert (found[4].hashvalues == SCHEMES[scheme].largest).all()
    assert (found[3].hashvalues <= kept).all()


def test_bulk_from_given_state():
    start = MinHash(8)
    start.update(b"a")
    (found,) = MinHash.bulk([[b"b"]], hashvalues=start.hashvalues, scheme="affine32")
    start.update(b"b")
    assert found == start


def test_generator_takes_one_at_a_time():
    taken = []
    source = (taken.append(i) or [b"a"] for i in range(3))
    sketches_of = MinHash.generator(source)
    next(sketches_of)
    assert taken == [0]


# ---- state


def test_updates_leave_arrays_that_were_given_out(scheme):
    sketch = MinHash(8, scheme=scheme)
    before, copy, digest = sketch.hashvalues, sketch.copy(), sketch.digest()
    sketch.update(b"a")
    sketch.update_batch([b"b"])
    assert (before == SCHEMES[scheme].largest).all()
    assert copy.is_empty()
    assert not sketch.is_empty()
    assert (digest == before).all()
    given = MinHash(seed=1, hashvalues=before, scheme=scheme)
    given.update(b"a")
    assert (before == SCHEMES[scheme].largest).all()
    sketch.clear()
    assert sketch.is_empty()


def test_changed_attributes_count(scheme):
    sketch, other = MinHash(8, 1, scheme=scheme), MinHash(8, 2, scheme=scheme)
    sketch.update(b"x")
    sketch.permutations = tuple(other.permutations.tolist())
    sketch.hashvalues = other.hashvalues.tolist()
    sketch.hashvalues = np.array(sketch.hashvalues, object)
    sketch.update(b"a")
    other.update(b"a")
    assert (sketch.hashvalues == other.hashvalues).all()
    assert sketch.hashvalues.dtype == SCHEMES[scheme].dtype


@pytest.mark.parametrize(
    ("how", "what"),
    [
        ({"scheme": "legacy"}, "schemes"),
        ({"seed": 2}, "seeds"),
        ({"num_perm": 9}, "numbers of permutation functions"),
    ],
)
def test_what_does_not_compare(how, what):
    a, b = MinHash(8), MinHash(**{"num_perm": 8, **how})
    for work in (a.jaccard, a.merge, lambda other: MinHash.union(a, other)):
        refuses(ValueError, what, work, b)
    assert a != b
    assert a != 1
    refuses(ValueError, "at least 2", MinHash.union, a)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"seed": -1}, r"Seed must be between 0 and 2\*\*32 - 1"),
        ({"seed": 2**32}, r"Seed must be between 0 and 2\*\*32 - 1"),
        ({"num_perm": 0}, "num_perm must be between 1 and"),
        ({"num_perm": 2**32 + 1}, "num_perm must be between 1 and"),
        ({"scheme": "affine16"}, "affine32, affine64, legacy"),
        ({"hashvalues": [1]}, "'legacy'"),
        ({"permutations": ([1], [1])}, "'legacy'"),
        ({"hashfunc": 1}, "callable"),
        ({"hashvalues": [1, 2], "permutations": ([1], [1]), "scheme": "affine32"}, "as many"),
        ({"hashvalues": [2**32], "scheme": "affine32"}, "between 0 and 4294967295"),
        ({"hashvalues": np.array([-1]), "scheme": "affine32"}, "between 0 and 4294967295"),
        ({"hashvalues": [-1], "scheme": "affine64"}, "between 0 and"),
        ({"hashvalues": [], "scheme": "affine32"}, "num_perm"),
        ({"num_perm": 1, "permutations": ([2], [1]), "scheme": "affine32"}, "odd"),
        ({"num_perm": 1, "permutations": ([2**32 + 1], [1]), "scheme": "affine32"}, "between"),
    ],
)
def test_arguments(how, message):
    refuses(ValueError, message, MinHash, **how)


def test_hashobj_is_deprecated():
    with pytest.warns(DeprecationWarning, match="hashfunc"):
        MinHash(4, hashobj=object())


def test_gpu_mode():
    assert MinHash(4, gpu_mode="detect").copy()._gpu_mode == "detect"
    for mode in ("disable", "detect"):
        MinHash(4, gpu_mode=mode).update_batch([b"a"])
    always = MinHash(4, gpu_mode="always")
    always.update(b"a")
    always.update_batch([])
    refuses(RuntimeError, "gpu_mode='always'", always.update_batch, [b"a"])
    refuses(RuntimeError, "gpu_mode='always'", MinHash.bulk, [[b"a"]], gpu_mode="always")


def test_pickle(scheme):
    sketch = MinHash(8, 2, scheme=scheme)
    sketch.update(b"a")
    for protocol in range(2, 6):
        restored = pickle.loads(pickle.dumps(sketch, protocol))
        assert restored == sketch
        assert (restored.permutations == sketch.permutations).all()
        restored.update(b"b")
        restored.update_batch([b"c"])
        assert restored.hashvalues.tolist() == expected(scheme, 8, 2, [b"a", b"b", b"c"])


def test_state_from_before_schemes():
    old = MinHash(4, scheme="legacy")
    state = old.__getstate__()
    assert {"_a_gpu", "_b_gpu", "_gpu_mode", "permutations", "seed", "num_perm"} < set(state)
    restored = MinHash.__new__(MinHash)
    restored.__setstate__({n: state[n] for n in ("seed", "num_perm", "hashfunc", "hashvalues")})
    restored.permutations = np.asfortranarray(state["permutations"])
    assert restored.scheme == "legacy"
    restored.update_batch([b"a"])
    old.update(b"a")
    assert restored == old


def test_draws_are_shared_and_read_only():
    assert MinHash(16).permutations is MinHash(16).permutations
    with pytest.raises(ValueError, match="read-only"):
        MinHash(16).permutations[0] = 1
    assert draw("affine32", 5000, 1) is not draw("affine32", 5000, 1)


# ---- native signatures


def test_native_signatures_are_hash_values():
    hasher = fastlsh.MinHasher(num_perm=64, seed=9)
    hashes = np.random.default_rng(0).integers(0, 2**32, 500, np.uint64)
    offsets = np.array([0, 200, 200, 500])
    signatures = hasher.from_hashes(hashes, offsets)
    sets = [hashes[s:e] for s, e in pairwise(offsets)]
    found = MinHash.bulk(sets, num_perm=64, seed=9, hashfunc=ready)
    assert (np.stack([m.hashvalues for m in found]) == signatures).all()
    sketch = MinHash(seed=9, hashvalues=signatures[0], scheme="affine32", hashfunc=ready)
    sketch.update_batch(sets[2])
    assert sketch == MinHash.union(found[0], found[2])
    native = hasher.signatures(["some text of a few words", ""])
    assert MinHash(seed=9, hashvalues=native[1], scheme="affine32").is_empty()
