"""Pickles that datasketch and fastlsh exchange.

A pickle names its classes: one written by datasketch asks for datasketch. `load` and `loads` read
it without datasketch, as objects of ours; `dump` and `dumps` write objects of ours so that a
process with datasketch, and without fastlsh, reads them as its own. As with all pickles: read only
what you trust.
"""

import importlib
import io
import pickle
from types import FunctionType
from typing import IO, Any

THEIRS = "datasketch"
OURS = "fastlsh.compat.datasketch"


def load(file: IO[bytes]) -> Any:
    """Read a pickle from a file; classes of datasketch become those of fastlsh."""
    return _Unpickler(file).load()


def loads(data: bytes) -> Any:
    """Read a pickle; classes of datasketch become those of fastlsh."""
    return load(io.BytesIO(data))


def dump(obj: Any, file: IO[bytes], protocol: int | None = None) -> None:
    """Write a pickle to a file; classes of fastlsh have the names of datasketch's."""
    _Pickler(file, protocol).dump(obj)


def dumps(obj: Any, protocol: int | None = None) -> bytes:
    """Return a pickle in which classes of fastlsh have the names of datasketch's."""
    file = io.BytesIO()
    dump(obj, file, protocol)
    return file.getvalue()


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("importlib", "import_module"):  # written by `dump`
            return lambda found: importlib.import_module(_ours(found))
        return super().find_class(_ours(module), name)


def _ours(module: str) -> str:
    here = module == THEIRS or module.startswith(THEIRS + ".")
    return OURS + module[len(THEIRS) :] if here else module


class _Module:
    """Represents a module of datasketch in a pickle."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __reduce__(self) -> Any:
        return importlib.import_module, (self.name,)


class _Pickler(pickle.Pickler):
    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, (type, FunctionType)) and obj.__module__.startswith(OURS + "."):
            # getattr(module, name) instead of the name in our module
            return getattr, (_Module(THEIRS + obj.__module__[len(OURS) :]), obj.__name__)
        return NotImplemented
