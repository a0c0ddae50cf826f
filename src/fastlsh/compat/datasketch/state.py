"""Checks of hash values and permutations that users give, and pickles of datasketch."""

import importlib
import io
import pickle
from types import FunctionType
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastlsh.compat.datasketch.params import SCHEMES


def hash_values(values: ArrayLike, scheme: str) -> NDArray[Any]:
    """Return a copy of hash values, of the scheme's type.

    Raises
    ------
    ValueError
        A value is out of the scheme's range (with "legacy" only uint64 is checked).
    """
    if scheme == "legacy":
        return numbers(values, np.dtype(np.uint64))
    return _converted(values, scheme, "hash values")


def permutations(coefficients: Any, scheme: str) -> Any:
    """Return the permutations that a user gives as (a, b) or as an array (2, num_perm).

    Raises
    ------
    ValueError
        Out of the scheme's range, or an even a, which would not permute; "legacy" is not checked.
    """
    if scheme == "legacy":
        return coefficients
    dtype = SCHEMES[scheme].dtype
    ready = isinstance(coefficients, np.ndarray) and coefficients.dtype == dtype
    if ready and coefficients.ndim == 2 and len(coefficients) == 2:
        result = coefficients
    else:
        result = np.array([_converted(coefficients[i], scheme, "permutations") for i in (0, 1)])
    if not (result[0] & dtype.type(1)).all():
        raise ValueError(f"permutations need odd a (the first row) with scheme {scheme!r}")
    return result


def _converted(values: ArrayLike, scheme: str, name: str) -> NDArray[Any]:
    kind = SCHEMES[scheme]
    if isinstance(values, np.ndarray):
        if values.dtype.kind in "iu" and values.size:
            least, greatest = int(values.min()), int(values.max())
            if least < 0 or greatest > kind.largest:
                raise ValueError(
                    f"{name} must lie between 0 and {kind.largest} with scheme {scheme!r}, "
                    f"got {least} to {greatest}"
                )
        return values.astype(kind.dtype)
    try:
        return numbers(values, kind.dtype)
    except OverflowError as error:
        raise ValueError(
            f"{name} must lie between 0 and {kind.largest} with scheme {scheme!r}: {error}"
        ) from error


def numbers(values: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an array of unsigned integers; every numpy raises OverflowError as numpy 2 does.

    Earlier ones convert a Python int that is out of range with no more than a DeprecationWarning.
    """
    largest = np.iinfo(dtype).max
    for value in () if isinstance(values, np.ndarray) else np.array(values, object).flat:
        if isinstance(value, int) and not 0 <= value <= largest:
            raise OverflowError(f"Python integer {value} out of bounds for {dtype}")
    return np.array(values, dtype)


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
            return lambda path: importlib.import_module(_ours(path))
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
