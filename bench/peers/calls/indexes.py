"""Rows of the indexes: MinHashLSH, its sessions, the forest, the ensemble."""

import copy
import pickle
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from bench.peers.calls.registry import Rows, Work, row
from bench.peers.calls.world import FEW, NUM_PERM, THRESHOLD, World

ROWS: Rows = []
FORMS: dict[str, dict[str, Any]] = {
    "": {},
    "looked into": {"looked": True},
    "prepickle": {"prepickle": True},
    "hash function": {"hashfunc": lambda band: band[:8]},
}
"""An index keeps its keys in different ways: what `World.filled` takes."""
add = partial(row, ROWS)


def insert_few(world: World, index: Any) -> None:
    for name, sketch in zip(world.few, world.new, strict=True):
        index.insert(name, sketch)


def remove_few(world: World, index: Any) -> None:
    for name in world.few:
        index.remove(name)


def each(call: Callable[[Any], Any], arguments: list[Any]) -> Work:
    """Return the work of a call with each of some arguments."""
    return Work(lambda: [call(one) for one in arguments], calls=len(arguments))


# ---- MinHashLSH


@add("MinHashLSH.__init__", sized=False)
def _(world: World) -> Work:
    return Work(lambda: world.library.MinHashLSH(THRESHOLD, NUM_PERM).b)


@add("MinHashLSH.__init__", arguments="params", sized=False)
def _(world: World) -> Work:
    return Work(lambda: world.empty_index().b)


@add(
    "MinHashLSH.insert",
    "MinHashLSH.keys",
    "MinHashLSH.hashtables",
    arguments="all keys, then a look",
)
def _(world: World) -> Work:
    def run() -> Any:
        index = world.filled()
        return [index.get_counts(), index.keys.get(world.names[0])]

    return Work(run, calls=world.n)


for _label, _how in FORMS.items():

    @add("MinHashLSH.insert", arguments=_label)
    def _(world: World, how: Any = _how) -> Work:
        index = world.filled(**how)
        insert_few(world, index)
        return Work(lambda: insert_few(world, index), lambda: remove_few(world, index), calls=FEW)

    @add("MinHashLSH.remove", arguments=_label)
    def _(world: World, how: Any = _how) -> Work:
        index = world.filled(**how)
        return Work(lambda: remove_few(world, index), lambda: insert_few(world, index), calls=FEW)

    @add("MinHashLSH.query", arguments=_label)
    def _(world: World, how: Any = _how) -> Work:
        index = world.filled(**how)
        return each(lambda sketch: set(index.query(sketch)), world.sketches[:FEW])

    @add("MinHashLSH.__contains__", arguments=_label)
    def _(world: World, how: Any = _how) -> Work:
        index = world.filled(**how)
        return each(index.__contains__, [*world.names[:FEW], "no key"])

    @add("MinHashLSH.is_empty", arguments=_label)
    def _(world: World, how: Any = _how) -> Work:
        return Work(world.filled(**how).is_empty)

    @add("MinHashLSH.get_counts", arguments=_label)
    def _(world: World, how: Any = _how) -> Work:
        return Work(world.filled(**how).get_counts)

    @add("MinHashLSH.get_subset_counts", arguments=_label)
    def _(world: World, how: Any = _how) -> Work:
        index = world.filled(**how)
        return Work(lambda: index.get_subset_counts(*world.names[:FEW]))

    @add("MinHashLSH.merge", arguments=_label)
    def _(world: World, how: Any = _how) -> Work:
        options = {name: value for name, value in how.items() if name != "looked"}
        other = world.filled(**how)
        merged: list[Any] = []

        def run() -> Any:
            merged[0].merge(other)
            return len(merged[0].keys)

        def before() -> None:
            merged[:] = [world.empty_index(**options)]

        return Work(run, before, calls=world.n)

    @add("MinHashLSH.add_to_query_buffer", "MinHashLSH.collect_query_buffer", arguments=_label)
    def _(world: World, how: Any = _how) -> Work:
        index = world.filled(**how)

        def buffered(sketch: Any) -> Any:
            index.add_to_query_buffer(sketch)
            return set(index.collect_query_buffer())

        return each(buffered, world.sketches[:FEW])


@add("MinHashLSH.merge", arguments="check overlap")
def _(world: World) -> Work:
    small = world.empty_index()
    insert_few(world, small)
    merged: list[Any] = []

    def before() -> None:
        merged[:] = [world.filled()]

    return Work(lambda: merged[0].merge(small, check_overlap=True), before, calls=FEW)


@add("MinHashLSH.collect_query_buffer", arguments="nothing", sized=False)
def _(world: World) -> Work:
    return Work(world.filled().collect_query_buffer)


@add("MinHashLSH.__getstate__", arguments="pickle")
def _(world: World) -> Work:
    index = world.index
    return Work(lambda: len(pickle.dumps(index)) > 0)


@add("MinHashLSH.__setstate__", arguments="pickle")
def _(world: World) -> Work:
    data = pickle.dumps(world.index)
    return Work(lambda: pickle.loads(data).b)


@add("MinHashLSH.__deepcopy__", arguments="copy.deepcopy")
def _(world: World) -> Work:
    index = world.index
    return Work(lambda: copy.deepcopy(index).b)


@add("MinHashLSH.buffer_size", sized=False)
def _(world: World) -> Work:
    index = world.filled()

    def run() -> int:
        index.buffer_size = 100
        return int(index.buffer_size)

    return Work(run)


# ---- sessions


def bulk_insertion(world: World) -> Any:
    index = world.empty_index()
    with index.insertion_session() as session:
        for name, sketch in zip(world.names, world.sketches, strict=True):
            session.insert(name, sketch)
    return index


@add("MinHashLSHInsertionSession.insert")
def _(world: World) -> Work:
    return Work(lambda: len(bulk_insertion(world).keys), calls=world.n)


@add("MinHashLSHDeletionSession.remove")
def _(world: World) -> Work:
    index = world.filled()

    def run() -> None:
        with index.deletion_session() as session:
            for name in world.few:
                session.remove(name)

    return Work(run, lambda: insert_few(world, index), calls=FEW)


for _kind, _make in {
    "MinHashLSHInsertionSession": "insertion_session",
    "MinHashLSHDeletionSession": "deletion_session",
}.items():
    _opened = [f"{_kind}.{name}" for name in ("__init__", "__enter__", "__exit__", "close")]

    @add(f"MinHashLSH.{_make}", *_opened, sized=False)
    def _(world: World, make: str = _make) -> Work:
        index = world.filled()

        def run() -> None:
            with getattr(index, make)() as session:
                session.close()

        return Work(run)


# ---- MinHashLSHForest


@add("MinHashLSHForest.__init__", sized=False)
def _(world: World) -> Work:
    return Work(lambda: world.library.MinHashLSHForest(NUM_PERM).k)


@add("MinHashLSHForest.add")
def _(world: World) -> Work:
    def run() -> int:
        forest = world.library.MinHashLSHForest(NUM_PERM)
        for name, sketch in zip(world.names, world.sketches, strict=True):
            forest.add(name, sketch)
        return len(forest.keys)

    return Work(run, calls=world.n)


@add("MinHashLSHForest.index")
def _(world: World) -> Work:
    return Work(world.forest.index)


@add("MinHashLSHForest.query")
def _(world: World) -> Work:
    forest = world.forest
    return each(lambda sketch: set(forest.query(sketch, world.n)), world.sketches[:5])


@add("MinHashLSHForest.query", arguments="k = 1")
def _(world: World) -> Work:
    forest = world.forest
    return each(lambda sketch: forest.query(sketch, 1), world.sketches[::5][:FEW])


@add("MinHashLSHForest.get_minhash_hashvalues")
def _(world: World) -> Work:
    return each(world.forest.get_minhash_hashvalues, world.names[:FEW])


@add("MinHashLSHForest.__contains__")
def _(world: World) -> Work:
    return each(world.forest.__contains__, world.names[:FEW])


@add("MinHashLSHForest.is_empty")
def _(world: World) -> Work:
    return Work(world.forest.is_empty)


# ---- MinHashLSHEnsemble


@add("MinHashLSHEnsemble.__init__", sized=False)
def _(world: World) -> Work:
    return Work(lambda: world.empty_ensemble().params)


@add("MinHashLSHEnsemble.index")
def _(world: World) -> Work:
    made: list[Any] = []

    def before() -> None:
        made[:] = [world.empty_ensemble()]

    return Work(lambda: made[0].index(world.entries), before, calls=world.n)


@add("MinHashLSHEnsemble.query")
def _(world: World) -> Work:
    ensemble = world.ensemble
    return each(lambda sketch: set(ensemble.query(sketch, 15)), world.sketches[:FEW])


@add("MinHashLSHEnsemble.__contains__")
def _(world: World) -> Work:
    return each(world.ensemble.__contains__, [*world.names[:FEW], "no key"])


@add("MinHashLSHEnsemble.is_empty")
def _(world: World) -> Work:
    return Work(world.ensemble.is_empty)


@add("optimal_partitions", sized=False)
def _(world: World) -> Work:
    module = import_module(f"{world.library.__name__}.lshensemble_partition")
    sizes, counts = np.arange(1, 40), np.arange(39) % 7 + 1
    return Work(lambda: module.optimal_partitions(sizes, counts, 8))
