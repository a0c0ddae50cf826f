"""Hash values and permutations as users give them, checked."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastlsh.compat.datasketch.schemes import SCHEMES


def hash_values(values: ArrayLike, scheme: str) -> NDArray[Any]:
    """Return a copy of hash values, of the scheme's type.

    Raises
    ------
    ValueError
        A value is out of the scheme's range (with "legacy" only uint64 is checked).
    """
    if scheme == "legacy":
        return np.array(values, np.uint64)
    return _converted(values, scheme, "hash values")


def permutations(coefficients: Any, scheme: str) -> Any:
    """Return permutations that a user gives: (a, b), or an array (2, num_perm).

    Raises
    ------
    ValueError
        Out of the scheme's range, or an even a, which would not permute; "legacy" is not checked.
    """
    if scheme == "legacy":
        return coefficients
    dtype = SCHEMES[scheme].dtype
    if isinstance(coefficients, np.ndarray) and coefficients.dtype == dtype:
        result = coefficients
    else:
        result = np.array([_converted(c, scheme, "permutations") for c in coefficients[:2]])
    if not (result[0] & dtype.type(1)).all():
        raise ValueError(f"permutations need odd a (the first row) with scheme {scheme!r}")
    return result


def _converted(values: ArrayLike, scheme: str, name: str) -> NDArray[Any]:
    kind = SCHEMES[scheme]
    if isinstance(values, np.ndarray):
        if values.dtype.kind in "iu" and values.size:
            least, most = int(values.min()), int(values.max())
            if least < 0 or most > kind.largest:
                raise ValueError(
                    f"{name} must lie between 0 and {kind.largest} with scheme {scheme!r}, "
                    f"got {least} to {most}"
                )
        return values.astype(kind.dtype)
    try:
        return np.array(values, kind.dtype)
    except OverflowError as error:
        raise ValueError(
            f"{name} must lie between 0 and {kind.largest} with scheme {scheme!r}: {error}"
        ) from error
