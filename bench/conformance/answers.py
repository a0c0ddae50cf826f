"""What a library answers, as arrays of the right type and shape; if it is none, an AdapterError."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.conformance.guard import AdapterError
from bench.conformance.text import one_line


def as_signatures(answer: Any, n: int) -> NDArray[Any]:
    """Return signatures of n documents, integers (n, k)."""
    found = _whole(answer, _array(answer, "signatures"))
    if found.ndim != 2 or len(found) != n or not found.shape[1]:
        raise AdapterError(
            f"signatures of {n} documents have the shape {found.shape}, expected ({n}, k)"
        )
    if found.dtype.kind not in "iu":
        raise AdapterError(f"signatures are {found.dtype}, expected integers")
    return found


def as_estimates(answer: Any, n: int) -> NDArray[np.float64]:
    """Return the estimates of n pairs."""
    found = _column(answer, "estimates", n, "iuf").astype(np.float64)
    if len(strange := found[~np.isfinite(found)]):
        raise AdapterError(f"estimates contain {strange[0]}, expected finite numbers")
    return found


def as_flags(answer: Any, what: str, n: int) -> NDArray[np.bool_]:
    """Return what is so of n pairs."""
    return _column(answer, what, n, "b")


def as_keys(answer: Any, n: int, bands: int) -> list[list[Any]]:
    """Return the band keys of n signatures, all of them bytes or integers from 0 on."""
    keys = [list(row) for row in (answer.tolist() if isinstance(answer, np.ndarray) else answer)]
    if len(keys) != n or any(len(row) != bands for row in keys):
        raise AdapterError(f"band_keys of {n} signatures are not of shape ({n}, {bands})")
    kinds = {type(key) for row in keys for key in row}
    if kinds == {bytes}:
        return keys
    if not all(issubclass(kind, int | np.integer) for kind in kinds):
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise AdapterError(f"band keys are {names}, expected int or bytes")
    if not all(-(2**63) <= key < 2**64 for row in keys for key in row):
        raise AdapterError("band keys are integers of more than 64 bits, expected fewer or bytes")
    return [[int(key) & (2**64 - 1) for key in row] for row in keys]


def _array(answer: Any, what: str) -> NDArray[Any]:
    try:
        found = np.asarray(answer)
    except ValueError as error:
        raise AdapterError(f"{what} are no array: {one_line(str(error), 160)}") from None
    if not found.ndim:
        raise AdapterError(f"{what} are of type {type(answer).__name__}, expected an array")
    return found


def _whole(answer: Any, found: NDArray[Any]) -> NDArray[Any]:
    """Return lists of int as one type of integers; numpy makes floats of some above 2^63."""
    if isinstance(answer, np.ndarray) and found.dtype.kind != "O":
        return found
    if found.dtype.kind in ("f", "O"):
        exact = np.asarray(answer, object)
        if not all(isinstance(value, int | np.integer) for value in exact.flat):
            return found
        if not all(-(2**63) <= value < 2**64 for value in exact.flat):
            raise AdapterError("signatures have values of more than 64 bits")
        return exact.astype(np.int64 if exact.min() < 0 else np.uint64)
    signed = found.dtype.kind != "i" or not found.size or found.min() < 0
    return found if signed else found.astype(np.uint64)


def _column(answer: Any, what: str, n: int, kinds: str) -> NDArray[Any]:
    found = _array(answer, what)
    if found.shape != (n,):
        raise AdapterError(f"{what} of {n} pairs have the shape {found.shape}, expected ({n},)")
    if found.dtype.kind not in kinds:
        expected = "bool" if kinds == "b" else "numbers"
        raise AdapterError(f"{what} are {found.dtype}, expected {expected}")
    return found
