from fastlsh._kernels._arrays import I64, U8
from fastlsh._kernels.text._texts import Spans

ABSENT: int
REFUSED: int
STRING: int
NULL_VALUE: int
INTEGER: int
REAL: int
LONG_REAL: int
TOKEN: int
PADDING: int
COLUMNS: int
MOST_KEYS: int
MOST_ROLES: int
MOST_JOIN: int

def json_lines(
    data: U8,
    bounds: I64,
    rows: I64,
    keys: tuple[bytes | None, ...],
    labels: int,
    out: U8,
    kinds: U8,
    members: I64,
    texts: int = 1,
    join_with: bytes = b"",
    roles: tuple[bytes, ...] | None = None,
) -> int: ...
def line_bounds(data: U8, last: bool, returns: bool = False) -> I64: ...
def chosen_lines(data: U8, bounds: I64, chosen: U8) -> bytes: ...
def object_ends(
    data: U8,
    bounds: I64,
    rows: I64,
    names: tuple[bytes, ...],
    lowest: int,
    ends: I64,
    doubtful: U8,
) -> None: ...
def lines_with_tails(
    data: U8,
    bounds: I64,
    rows: I64,
    ends: I64,
    tails: U8,
    tail_bounds: I64,
) -> bytes: ...
def value_places(data: U8, bounds: I64, rows: I64, key: bytes, places: I64, plain: U8) -> None: ...
def json_strings(texts: Spans, plain: U8, offsets: I64) -> bytes: ...
def delimited_fields(
    data: U8,
    bounds: I64,
    rows: I64,
    delimiter: bytes,
    quotes: bool,
    width: int,
    columns: tuple[int, ...],
    out: U8,
    members: I64,
) -> tuple[int, bool]: ...
def element_bounds(data: U8, scan: I64) -> I64: ...
def element_lines(data: U8, bounds: I64, feed: int, back: int) -> tuple[U8, I64]: ...
