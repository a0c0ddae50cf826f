import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.text._plans import ShinglePlan
from fastlsh._kernels.text._texts import Spans

AFFINE32: int
AFFINE64: int
FSS: int
LEGACY: int
PRIME61: int
ROUNDS: int

def signatures(
    spans: Spans,
    unit: int,
    size: int,
    scheme: int,
    a: NDArray[np.uint32],
    b: NDArray[np.uint32],
    out: NDArray[np.uint32],
    rows: int = 0,
    keys: NDArray[np.uint64] | None = None,
    prepared: ShinglePlan | None = None,
) -> None: ...
def token_signatures(
    tokens: NDArray[np.uint64],
    offsets: NDArray[np.int64],
    size: int,
    scheme: int,
    a: NDArray[np.uint32],
    b: NDArray[np.uint32],
    out: NDArray[np.uint32],
    rows: int = 0,
    keys: NDArray[np.uint64] | None = None,
    prepared: ShinglePlan | None = None,
) -> None: ...
def hash_signatures(
    hashes: NDArray[np.uint32] | NDArray[np.uint64],
    offsets: NDArray[np.int64],
    scheme: int,
    a: NDArray[np.uint32],
    b: NDArray[np.uint32],
    out: NDArray[np.uint32],
) -> None: ...
def band_keys(
    signatures: NDArray[np.uint32], first: int, rows: int, out: NDArray[np.uint64]
) -> None: ...
