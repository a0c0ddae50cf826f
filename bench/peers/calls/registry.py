"""What a row of the drop-in benchmark is, and which rows there must be."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np


class Work(NamedTuple):
    """Calls to time."""

    run: Callable[[], Any]
    """Makes the calls, and returns an answer to compare."""
    before: Callable[[], object] | None = None
    """Makes what one run uses up. It is not timed."""
    calls: int = 1
    """Number of calls in a run."""


class Row(NamedTuple):
    """A public call with certain arguments."""

    call: str
    """``Class.method``, or the name of a function."""
    arguments: str
    """What distinguishes rows of the same call."""
    sized: bool
    """Whether the number of keys or elements matters."""
    make: Callable[[Any], Work]
    """From the world of a library to the work."""

    @property
    def name(self) -> str:
        return f"{self.call}: {self.arguments}" if self.arguments else self.call


Rows = list[Row]


def row(
    rows: Rows, *calls: str, arguments: str = "", sized: bool = True
) -> Callable[[Callable[[Any], Work]], Callable[[Any], Work]]:
    """Return a decorator that adds a row for each of the calls."""

    def add(make: Callable[[Any], Work]) -> Callable[[Any], Work]:
        rows.extend(Row(call, arguments, sized, make) for call in calls)
        return make

    return add


def public_calls(package: ModuleType, skipped: Iterable[str] = ()) -> Iterator[str]:
    """Yield the public calls of a package: functions, constructors, methods and properties.

    Special methods count as public where a class of the package defines them. Abstract classes
    do not: their subclasses have the calls.

    Parameters
    ----------
    skipped
        Modules of the package to leave out.
    """
    for found in pkgutil.iter_modules(package.__path__):
        if found.name in skipped or found.name.startswith(("_", "test")):
            continue
        module = importlib.import_module(f"{package.__name__}.{found.name}")
        for name, value in sorted(vars(module).items()):
            if name.startswith("_") or getattr(value, "__module__", "") != module.__name__:
                continue
            if inspect.isclass(value):
                if not inspect.isabstract(value):
                    yield from (f"{name}.{method}" for method in _methods(value, package.__name__))
            elif callable(value):
                yield name


def _methods(kind: type, package: str) -> Iterator[str]:
    for name in dir(kind):
        owner = next(one for one in kind.__mro__ if name in vars(one))
        special = name.startswith("__") and name.endswith("__")
        hidden = name.startswith("_") and not special
        if hidden or owner.__module__.partition(".")[0] != package:
            continue
        if callable(getattr(kind, name)) or isinstance(vars(owner)[name], property):
            yield name


def plain(value: Any) -> Any:
    """Return an answer in a form that is equal for both libraries."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (set, frozenset)):
        return {one if isinstance(one, bytes) else repr(plain(one)) for one in value}
    if isinstance(value, (str, bytes, bytearray, int, float, np.number, type(None))):
        return value
    if hasattr(value, "hashvalues"):
        return [value.seed, value.hashvalues.tolist(), getattr(value, "scheme", None)]
    if isinstance(value, Iterable):
        return [plain(one) for one in value]
    return type(value).__name__


def error_of(call: Callable[[], Any]) -> str:
    """Return the name of the exception that a call raises."""
    try:
        call()
    except Exception as error:
        return type(error).__name__
    raise AssertionError("the call raises nothing")
