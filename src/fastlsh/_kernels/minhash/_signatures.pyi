from fastlsh._kernels._arrays import I64, U32, U64
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
    a: U32,
    b: U32,
    out: U32,
    rows: int = 0,
    keys: U64 | None = None,
    prepared: ShinglePlan | None = None,
) -> None: ...
def token_signatures(
    tokens: U64,
    offsets: I64,
    size: int,
    scheme: int,
    a: U32,
    b: U32,
    out: U32,
    rows: int = 0,
    keys: U64 | None = None,
    prepared: ShinglePlan | None = None,
) -> None: ...
def hash_signatures(
    hashes: U32 | U64, offsets: I64, scheme: int, a: U32, b: U32, out: U32
) -> None: ...
def band_keys(signatures: U32, first: int, rows: int, out: U64) -> None: ...
