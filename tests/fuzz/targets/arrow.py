"""Arrow structures of a hostile producer: an error, or texts; never memory that is not theirs.

The protocol does not say how long a buffer is, so nobody can notice a data buffer that is too
short: here they are as long as anything in them can ask for, and all else is as the fuzzer likes.
"""

from contextlib import suppress

import numpy as np
from chosen import Chosen

from arrow_structures import Producer, array, schema
from fastlsh import MinHasher

FORMATS = [b"u", b"U", b"vu", b"z", b"Z", b"vz", b"n", b"i", b"l", b"C", b"S", b"+s", b"", b"x"]
ROOM = 1 << 12
HASHER = MinHasher(8, threads=1)
ERRORS = (ValueError, TypeError, BufferError, OverflowError, MemoryError, NotImplementedError)


def number(given):
    """Return a length or an offset: one that the buffers have room for, or one that shows."""
    return given.one([given.number(40), given.number(40), -1, 2**62, 2**63 - 1, -(2**63)])


def buffer_of(given, form):
    """Return a buffer that is large enough for 128 rows from offset 128 on, or None."""
    code = given.bytes(given.number(256))
    if form == "data":
        return np.frombuffer(code.ljust(ROOM, b"x"), np.uint8).copy()
    if form == "validity":
        return np.frombuffer(code.ljust(64, b"\xff"), np.uint8).copy()
    dtype = np.int64 if form == "offsets64" else np.int32
    numbers = np.zeros(512, dtype)
    some = np.frombuffer(code, np.int8)
    numbers[: len(some)] = np.cumsum(some, dtype=dtype) if given.flag() else some
    return np.clip(numbers, -ROOM, ROOM)


def views(given):
    """Return 64 views of strings in the first data buffer, some wrong in a way that shows."""
    made = np.zeros((64, 4), np.int32)
    code = given.bytes(256)
    some = np.frombuffer(code[: len(code) // 4 * 4], "<i4")
    made.ravel()[: len(some)] = some
    long = made[:, 0] > 12
    made[long, 0] %= ROOM // 4
    made[long, 2] %= 3
    made[long, 3] %= ROOM // 2
    return made


def column(given, depth=0):
    """Return a schema and an array."""
    form = given.one(FORMATS)
    length, offset = number(given), number(given)
    if form in (b"vu", b"vz"):
        length, offset = (n if abs(n) > 40 else min(n, 30) for n in (length, offset))
    validity = given.one([None, buffer_of(given, "validity")])
    if form in (b"vu", b"vz"):
        data = buffer_of(given, "data")
        sizes = np.array([given.one([ROOM, ROOM, 0, -1])], np.int64)
        buffers = [validity, views(given), data, sizes]
    elif form in (b"u", b"z"):
        buffers = [validity, buffer_of(given, "offsets32"), buffer_of(given, "data")]
    elif form in (b"U", b"Z"):
        buffers = [validity, buffer_of(given, "offsets64"), buffer_of(given, "data")]
    else:
        buffers = [validity, buffer_of(given, "offsets64")]
    if given.number(8) == 7:
        buffers[given.number(len(buffers))] = None
    if given.number(16) == 15:
        del buffers[given.number(len(buffers))]
    dictionary, children = None, []
    if depth == 0 and given.number(4) == 3:
        dictionary = column(given, 1)
    if form == b"+s" and depth < 2:
        children = [column(given, depth + 1) for _ in range(given.number(3))]
    fields = {"null_count": given.one([0, -1, 1, 40, 2**62]), "offset": offset}
    return (
        schema(form, *(c[0] for c in children), dictionary=dictionary and dictionary[0]),
        array(length, *buffers, children=[c[1] for c in children],
              dictionary=dictionary and dictionary[1], **fields),
    )  # fmt: skip


def one_input(data):
    with suppress(*ERRORS):
        HASHER.signatures(Producer(*column(Chosen(data))))
