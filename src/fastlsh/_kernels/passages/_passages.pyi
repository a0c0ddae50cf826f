from fastlsh._kernels._arrays import I64, U64
from fastlsh._kernels.text._texts import Spans

def winnow(
    texts: Spans,
    length: int,
    gram: int,
    keys: U64,
    rows: I64,
    echoes: I64,
    echoing: bool = True,
) -> tuple[int, int]: ...
def repeats(texts: Spans, occurrences: I64, groups: I64, length: int, out: I64) -> int: ...
def cuts(matches: I64, texts: int, out: I64) -> int: ...
