"""Looks at all bytes of a block, at many GB a second."""

import sys
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

_WIDTH = 1021
_WEIGHTS = np.arange(1, _WIDTH + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
_WEIGHTS = (_WEIGHTS ^ (_WEIGHTS >> np.uint64(32))) * np.uint64(0xBF58476D1CE4E5B9) | np.uint64(1)
_WORTH = 1 << 21
"""Bytes for which it is worth to import pyarrow."""
_DIGITS_LIMIT = getattr(sys, "get_int_max_str_digits", lambda: 0)


def checksum(data: Bytes, seed: int = 0) -> int:
    """Return a number below 2 ** 63 that tells a block from what it becomes by accident.

    Words of 8 bytes are added up by their position in a row of 1021, and the sums weighted: at 20
    GB a second, where a cyclic redundancy check does one.
    """
    words = data[: len(data) // 8 * 8].view("<u8")
    rows = len(words) // _WIDTH
    sums = words[: rows * _WIDTH].reshape(rows, _WIDTH).sum(axis=0, dtype=np.uint64)
    rest = words[rows * _WIDTH :]
    total = int((sums * _WEIGHTS).sum(dtype=np.uint64)) + int((rest * _WEIGHTS[: len(rest)]).sum())
    last = int.from_bytes(data[len(words) * 8 :].tobytes(), "little")
    mixed = (
        total + (last + 1) * 0x9E3779B97F4A7C15 + len(data) + seed * 0xBF58476D1CE4E5B9
    ) % 2**64
    return (mixed ^ (mixed >> 31)) % 2**63


def is_utf8(data: Bytes) -> bool:
    """Whether the bytes are UTF-8, as strict as Python is."""
    if data.max(initial=0) < 0x80:
        return True
    if len(data) >= _WORTH or sys.modules.get("pyarrow") is not None:
        try:  # 40 times as fast where characters are wide
            return _is_utf8_by_arrow(import_module("pyarrow"), data)
        except ImportError:
            pass
    try:
        str(data.data, "utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _is_utf8_by_arrow(pa: Any, data: Bytes) -> bool:
    offsets = pa.py_buffer(np.array([0, len(data)], np.int64))
    text = pa.Array.from_buffers(pa.large_string(), 1, [None, offsets, pa.py_buffer(data)])
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def may_have_long_number(data: Bytes) -> bool:
    """Whether there may be a number with more digits than Python reads; rarely True in vain."""
    limit = _DIGITS_LIMIT()
    if not limit or len(data) <= limit:
        return False
    # So many digits in a row hit at least eight looks in a row.
    looks = data[:: (limit + 1) // 9]
    digits = (looks >= 0x30) & (looks <= 0x39)
    runs = np.flatnonzero(~digits)
    longest = np.diff(runs, prepend=-1, append=len(looks)).max() - 1
    return bool(longest >= 8)
