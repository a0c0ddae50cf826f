"""The parameters that `near_duplicates` and `deduplicate` share, checked once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fastlsh._kernels import BY_SETS, BY_SIGNATURE, NOT_VERIFIED
from fastlsh.banding import LSHParams, check_threshold
from fastlsh.signatures import MinHasher
from fastlsh.texts import Shingler

VERIFY = {"exact": BY_SETS, "signature": BY_SIGNATURE, "none": NOT_VERIFIED}


@dataclass(frozen=True)
class Settings:
    """How to sign, band and verify."""

    threshold: float
    hasher: MinHasher
    params: LSHParams
    verify: int

    @classmethod
    def of(
        cls,
        threshold: float,
        *,
        shingler: Shingler | None,
        num_perm: int,
        seed: int,
        recall: float,
        bands: int | None,
        rows: int | None,
        scheme: str,
        verify: str,
        threads: int | None,
    ) -> "Settings":
        """Check the arguments of a main function."""
        threshold = check_threshold(threshold)
        if verify not in VERIFY:
            raise ValueError(f"verify must be one of {', '.join(VERIFY)}, got {verify!r}")
        hasher = MinHasher(num_perm, seed=seed, shingler=shingler, scheme=scheme, threads=threads)
        if (bands is None) != (rows is None):
            raise ValueError("bands and rows must be given together, or neither")
        if bands is None or rows is None:
            params = LSHParams.for_threshold(threshold, num_perm, recall=recall)
        else:
            params = LSHParams(bands, rows)
            if params.bands * params.rows > num_perm:
                raise ValueError(
                    f"{bands} bands of {rows} rows need num_perm={params.bands * params.rows},"
                    f" got {num_perm}"
                )
        return cls(threshold, hasher, params, VERIFY[verify])


def check_ids(ids: Any, n: int, name: str = "ids") -> Sequence[Any] | None:
    """Return the ids as a sequence of n, or raise ValueError."""
    if ids is None:
        return None
    if hasattr(ids, "to_pylist"):
        ids = ids.to_pylist()
    elif hasattr(ids, "tolist"):
        ids = ids.tolist()
    elif not isinstance(ids, (list, tuple, range)):
        ids = list(ids)
    if len(ids) != n:
        raise ValueError(f"{name} has {len(ids)} elements for {n} documents")
    return ids  # type: ignore[no-any-return]
