"""Rows of the storages, `keys` and `hashtables` of an index, and of storages by themselves."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from bench.peers.calls.registry import Rows, Work, row
from bench.peers.calls.world import FEW, World

ROWS: Rows = []
add = partial(row, ROWS)
STORAGES: dict[str, Callable[[Any], Any]] = {
    "DictListStorage": lambda index: index.keys,
    "DictSetStorage": lambda index: index.hashtables[0],
}


def asked(world: World, kind: str, looked: bool) -> tuple[Any, list[Any]]:
    """Return a storage of an index, and some of its keys."""
    names = sorted(STORAGES[kind](world.looked).keys())[:FEW]
    return STORAGES[kind](world.looked if looked else world.index), names


def reads(kind: str, looked: bool) -> None:
    """Add the rows of everything that changes nothing."""
    label = "of an index, looked into" if looked else "of an index"

    def of_each(name: str, call: Callable[[Any, Any], Any]) -> None:
        @add(f"{kind}.{name}", arguments=label)
        def _(world: World) -> Work:
            storage, names = asked(world, kind, looked)
            return Work(lambda: [call(storage, one) for one in names], calls=len(names))

    def of_all(name: str, call: Callable[[Any], Any], arguments: str = "") -> None:
        @add(f"{kind}.{name}", arguments=f"{label}{arguments}")
        def _(world: World) -> Work:
            storage, _names = asked(world, kind, looked)
            return Work(lambda: call(storage))

    of_each("get", lambda storage, one: storage.get(one))
    of_each("__getitem__", lambda storage, one: storage[one])
    of_each("has_key", lambda storage, one: storage.has_key(one))
    of_each("__contains__", lambda storage, one: one in storage)
    of_all("keys", lambda storage: set(storage.keys()))
    of_all("__iter__", lambda storage: set(storage))
    of_all("__len__", len)
    of_all("size", lambda storage: storage.size())
    of_all("itemcounts", lambda storage: storage.itemcounts())
    of_all("status", lambda storage: storage.status())
    of_all("get", lambda storage: storage.get("no key"), ", unknown key")
    of_all("empty_buffer", lambda storage: storage.empty_buffer())
    of_all("buffer_size", lambda storage: storage.buffer_size)

    @add(f"{kind}.getmany", arguments=label)
    def _(world: World) -> Work:
        storage, names = asked(world, kind, looked)
        return Work(lambda: storage.getmany(*names), calls=len(names))

    @add(f"{kind}.add_to_select_buffer", f"{kind}.collect_select_buffer", arguments=label)
    def _(world: World) -> Work:
        storage, names = asked(world, kind, looked)

        def run() -> Any:
            storage.add_to_select_buffer(names)
            return storage.collect_select_buffer()

        return Work(run, calls=len(names))


for _kind in STORAGES:
    reads(_kind, looked=False)
    reads(_kind, looked=True)


for _name, _kind in {"ordered": "DictListStorage", "unordered": "DictSetStorage"}.items():

    def made(world: World, name: str) -> Any:
        module = import_module(f"{world.library.__name__}.storage")
        return getattr(module, f"{name}_storage")({"type": "dict"})

    def filled(world: World, name: str) -> Any:
        storage = made(world, name)
        for key in world.names:
            storage.insert(key, *range(9))
        return storage

    def insert_few(world: World, storage: Any) -> None:
        for key in world.few:
            storage.insert(key, 1, 2, buffer=False)

    def remove_few(world: World, storage: Any) -> None:
        for key in world.few:
            storage.remove(key)

    @add(f"{_name}_storage", f"{_kind}.__init__", sized=False)
    def _(world: World, name: str = _name) -> Work:
        return Work(lambda: made(world, name).size())

    @add(f"{_kind}.insert")
    def _(world: World, name: str = _name) -> Work:
        storage = filled(world, name)
        insert_few(world, storage)
        return Work(partial(insert_few, world, storage), partial(remove_few, world, storage), FEW)

    @add(f"{_kind}.remove")
    def _(world: World, name: str = _name) -> Work:
        storage = filled(world, name)
        return Work(partial(remove_few, world, storage), partial(insert_few, world, storage), FEW)

    @add(f"{_kind}.__delitem__")
    def _(world: World, name: str = _name) -> Work:
        storage = filled(world, name)

        def run() -> None:
            for key in world.few:
                del storage[key]

        return Work(run, partial(insert_few, world, storage), FEW)

    @add(f"{_kind}.remove_val")
    def _(world: World, name: str = _name) -> Work:
        storage = filled(world, name)

        def run() -> None:
            for key in world.few:
                storage.remove_val(key, 1)

        return Work(run, partial(insert_few, world, storage), FEW)
