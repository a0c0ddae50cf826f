"""Rows of the sketches: MinHash, LeanMinHash, bBitMinHash, WeightedMinHash."""

import pickle
from collections.abc import Callable
from functools import partial
from operator import eq
from typing import Any

import numpy as np

from bench.peers.calls.registry import Rows, Work, error_of, row
from bench.peers.calls.world import World

ROWS: Rows = []
DIM, SAMPLES = 50, 64


def add(
    *calls: str, arguments: str = "", sized: bool = False
) -> Callable[[Callable[[World], Work]], Callable[[World], Work]]:
    """Return a decorator that adds rows; most calls do not depend on a number of keys."""
    return row(ROWS, *calls, arguments=arguments, sized=sized)


def lean(world: World) -> Any:
    return world.library.LeanMinHash(world.sketch)


def b_bit(world: World) -> Any:
    return world.library.bBitMinHash(world.sketch, 4)


def generator(world: World) -> Any:
    return world.library.WeightedMinHashGenerator(DIM, SAMPLES)


def weighted(world: World) -> Any:
    return generator(world).minhash(np.arange(DIM))


SKETCHES: dict[str, Callable[[World], Any]] = {
    "MinHash": lambda world: world.sketch,
    "LeanMinHash": lean,
    "bBitMinHash": b_bit,
    "WeightedMinHash": weighted,
}


def method(kind: str, name: str, *others: str) -> None:
    """Add a row of a method that takes as many other sketches as there are kinds of them."""

    @add(f"{kind}.{name}", arguments=" ".join(others))
    def _(world: World) -> Work:
        one = SKETCHES[kind](world)
        arguments = [SKETCHES[other](world) for other in others]
        return Work(lambda: getattr(one, name)(*arguments))


for _kind in ("MinHash", "LeanMinHash"):
    for _name in ("count", "digest", "is_empty", "copy", "__len__", "__getstate__"):
        method(_kind, _name)
    for _other in ("MinHash", "LeanMinHash"):
        method(_kind, "jaccard", _other)
        method(_kind, "union", _kind, _other)
    method(_kind, "merge", "MinHash")
for _name in ("__len__", "copy", "digest"):
    method("WeightedMinHash", _name)
method("WeightedMinHash", "jaccard", "WeightedMinHash")
method("bBitMinHash", "jaccard", "bBitMinHash")
method("bBitMinHash", "__getstate__")
method("bBitMinHash", "bytesize")
method("LeanMinHash", "__hash__")

for _kind in SKETCHES:

    @add(f"{_kind}.__eq__")
    def _(world: World, kind: str = _kind) -> Work:
        return Work(partial(eq, SKETCHES[kind](world), SKETCHES[kind](world)))

    @add(f"{_kind}.__setstate__", arguments="pickle")
    def _(world: World, kind: str = _kind) -> Work:
        data = pickle.dumps(SKETCHES[kind](world))
        return Work(lambda: pickle.loads(data))


ROWS[:] = [one for one in ROWS if one.call != "WeightedMinHash.__setstate__"]  # has none


# ---- MinHash


for _scheme in ("affine32", "affine64", "legacy"):

    @add("MinHash.__init__", arguments=_scheme)
    def _(world: World, scheme: str = _scheme) -> Work:
        return Work(lambda: world.library.MinHash(scheme=scheme))

    @add("MinHash.update", arguments=_scheme)
    def _(world: World, scheme: str = _scheme) -> Work:
        sketch = world.library.MinHash(scheme=scheme)
        return Work(lambda: sketch.update(b"token"))

    @add("MinHash.update_batch", arguments=_scheme, sized=True)
    def _(world: World, scheme: str = _scheme) -> Work:
        sketch = world.library.MinHash(scheme=scheme)
        return Work(lambda: sketch.update_batch(world.tokens))


@add("MinHash.__init__", arguments="hash values")
def _(world: World) -> Work:
    values = world.sketch.hashvalues
    return Work(lambda: world.library.MinHash(hashvalues=values, scheme="affine32"))


@add("MinHash.update", arguments="hash function")
def _(world: World) -> Work:
    sketch = world.library.MinHash(hashfunc=len)
    return Work(lambda: sketch.update(b"token"))


for _label, _elements in {"nothing": [], "one element": [b"token"], "no bytes": b""}.items():

    @add("MinHash.update_batch", arguments=_label)
    def _(world: World, elements: Any = _elements) -> Work:
        sketch = world.library.MinHash()
        return Work(lambda: sketch.update_batch(elements))


@add("MinHash.update_batch", arguments="array of hashes", sized=True)
def _(world: World) -> Work:
    sketch = world.library.MinHash(hashfunc=lambda x: x)
    hashes = np.arange(world.n, dtype=np.uint32)
    return Work(lambda: sketch.update_batch(hashes))


@add("MinHash.update_batch", arguments="hash function", sized=True)
def _(world: World) -> Work:
    sketch = world.library.MinHash(hashfunc=len)
    return Work(lambda: sketch.update_batch(world.tokens))


@add("MinHash.clear")
def _(world: World) -> Work:
    sketch = world.sketch.copy()
    return Work(sketch.clear)


@add("MinHash.union", arguments="all", sized=True)
def _(world: World) -> Work:
    return Work(lambda: world.library.MinHash.union(*world.sketches))


@add("MinHash.bulk", sized=True)
def _(world: World) -> Work:
    return Work(lambda: world.library.MinHash.bulk(world.sets))


@add("MinHash.bulk", arguments="nothing")
def _(world: World) -> Work:
    return Work(lambda: world.library.MinHash.bulk([]))


@add("MinHash.bulk", arguments="empty sets")
def _(world: World) -> Work:
    return Work(lambda: world.library.MinHash.bulk([[]] * 10), calls=10)


@add("MinHash.generator", sized=True)
def _(world: World) -> Work:
    return Work(lambda: list(world.library.MinHash.generator(world.sets)))


# ---- LeanMinHash


@add("LeanMinHash.__init__", arguments="MinHash")
def _(world: World) -> Work:
    return Work(lambda: world.library.LeanMinHash(world.sketch))


@add("LeanMinHash.__init__", arguments="hash values")
def _(world: World) -> Work:
    how = {"seed": 1, "hashvalues": world.sketch.hashvalues, "scheme": "affine32"}
    return Work(lambda: world.library.LeanMinHash(**how))


for _name, _arguments in {
    "update": (b"token",), "update_batch": ([b"token"],), "bulk": ([[b"token"]],),
}.items():  # fmt: skip

    @add(f"LeanMinHash.{_name}", arguments="raises")
    def _(world: World, name: str = _name, arguments: Any = _arguments) -> Work:
        sketch = lean(world)
        return Work(lambda: error_of(lambda: getattr(sketch, name)(*arguments)))


@add("LeanMinHash.generator", arguments="raises")
def _(world: World) -> Work:
    sets = [[b"token"]]
    return Work(lambda: error_of(lambda: list(world.library.LeanMinHash.generator(sets))))


@add("LeanMinHash.update_batch", arguments="nothing")
def _(world: World) -> Work:
    sketch = lean(world)
    return Work(lambda: sketch.update_batch([]))


@add("LeanMinHash.clear")
def _(world: World) -> Work:
    sketch = lean(world)
    return Work(sketch.clear)


for _order in "@=<>!":

    @add("LeanMinHash.bytesize", arguments=_order)
    def _(world: World, order: str = _order) -> Work:
        return Work(partial(lean(world).bytesize, order))

    @add("LeanMinHash.serialize", arguments=_order)
    def _(world: World, order: str = _order) -> Work:
        sketch = lean(world)
        buffer = bytearray(sketch.bytesize(order))
        return Work(lambda: (sketch.serialize(buffer, order), buffer)[1])

    @add("LeanMinHash.deserialize", arguments=_order)
    def _(world: World, order: str = _order) -> Work:
        sketch = lean(world)
        buffer = bytearray(sketch.bytesize(order))
        sketch.serialize(buffer, order)
        return Work(lambda: world.library.LeanMinHash.deserialize(buffer, order))


for _scheme in ("affine64", "legacy"):

    @add("LeanMinHash.deserialize", arguments=_scheme)
    def _(world: World, scheme: str = _scheme) -> Work:
        sketch = world.library.LeanMinHash(world.library.MinHash(scheme=scheme))
        buffer = bytearray(sketch.bytesize())
        sketch.serialize(buffer)
        return Work(lambda: world.library.LeanMinHash.deserialize(buffer))


# ---- bBitMinHash, weighted sketches, hash functions


for _b in (0, 1, 4, 32):

    @add("bBitMinHash.__init__", arguments=f"b = {_b}")
    def _(world: World, b: int = _b) -> Work:
        return Work(lambda: world.library.bBitMinHash(world.sketch, b))


@add("WeightedMinHash.__init__")
def _(world: World) -> Work:
    values = weighted(world).hashvalues
    return Work(lambda: world.library.WeightedMinHash(1, values))


@add("WeightedMinHashGenerator.__init__")
def _(world: World) -> Work:
    return Work(lambda: type(generator(world)).__name__)


@add("WeightedMinHashGenerator.minhash")
def _(world: World) -> Work:
    make, vector = generator(world), np.arange(DIM)
    return Work(lambda: make.minhash(vector))


@add("WeightedMinHashGenerator.minhash", arguments="list")
def _(world: World) -> Work:
    make, vector = generator(world), list(range(DIM))
    return Work(lambda: make.minhash(vector))


@add("WeightedMinHashGenerator.minhash_many", sized=True)
def _(world: World) -> Work:
    make = generator(world)
    rows = np.random.default_rng(0).integers(0, 9, (min(world.n, 1000), DIM)).astype(np.float64)
    return Work(lambda: make.minhash_many(rows))


for _name in ("sha1_hash32", "sha1_hash64"):

    @add(_name)
    def _(world: World, name: str = _name) -> Work:
        return Work(partial(getattr(world.library, name), b"token"))
