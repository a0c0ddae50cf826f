"""Ids of an index: lists of answers, and the look-up table that a file holds."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp

from fastlsh._kernels.common.mixing cimport fmix64

cdef extern from *:
    """
    #ifdef Py_GIL_DISABLED                      /* other threads go on: leave it alone */
    #define fastlsh_pause_gc() 0
    #else
    #define fastlsh_pause_gc() PyGC_Disable()
    #endif
    """
    # Lists and tuples by the thousand, none of them garbage: looking through them again and again
    # would take longer than making them. No other thread runs meanwhile.
    bint fastlsh_pause_gc()

cdef extern from "Python.h":
    int PyGC_Enable()
    void PyObject_GC_UnTrack(object o)
    bint PyBytes_CheckExact(object o)
    bint PyLong_CheckExact(object o)
    bint PyUnicode_CheckExact(object o)


def answer_lists(
    list names not None, const double[:, ::1] found not None, const int64_t[::1] counts not None,
    object alike=None,
):
    """Return for each question the list of its answers (id, similarity).

    Parameters
    ----------
    names
        The ids of all answers.
    found
        float64 (total, 2): the similarity of each comes first.
    counts
        int64 (questions,): how many answers each has.
    alike
        If it is given, the similarity of all, whatever was found.
    """
    cdef Py_ssize_t i
    cdef bint was_on
    cdef Py_ssize_t total = 0
    for i in range(counts.shape[0]):
        if not 0 <= counts[i] <= found.shape[0] - total:
            raise ValueError("counts do not fit what was found")
        total += counts[i]
    if len(names) != total or total != found.shape[0] or (total and found.shape[1] != 2):
        raise ValueError(f"{len(names)} names and {found.shape[0]} similarities of {total} answers")
    was_on = fastlsh_pause_gc()
    try:
        return lists_of(names, found, counts, alike)
    finally:
        if was_on:
            PyGC_Enable()


cdef list lists_of(
    list names, const double[:, ::1] found, const int64_t[::1] counts, object alike
):
    cdef Py_ssize_t i, j
    cdef Py_ssize_t total = 0
    cdef list result = []
    cdef list answers
    cdef double latest = 1.0
    cdef object similarity = 1.0 if alike is None else alike
    for i in range(counts.shape[0]):
        answers = []
        for j in range(total, total + counts[i]):
            if alike is None and found[j, 0] != latest:     # equal ones often follow each other
                latest = found[j, 0]
                similarity = latest
            name = names[j]
            answer = (name, similarity)
            # No part of a cycle: the garbage collector need not look at it.
            if PyUnicode_CheckExact(name) or PyLong_CheckExact(name) or PyBytes_CheckExact(name):
                PyObject_GC_UnTrack(answer)
            answers.append(answer)
        total += counts[i]
        result.append(answers)
    return result


cdef uint64_t hash_of(const uint8_t* data, Py_ssize_t n) noexcept nogil:
    # docs/index-format.md: words of 8 bytes, the first byte lowest.
    cdef uint64_t h = <uint64_t> n + 1
    cdef uint64_t word
    cdef Py_ssize_t i, j
    for i in range(0, n, 8):
        word = 0
        for j in range(min(n - i, <Py_ssize_t> 8)):
            word |= <uint64_t> data[i + j] << (8 * j)
        h = (h ^ word) * <uint64_t> 0xD6E8FEB86659FD93
        h ^= h >> 32
    return fmix64(h)


cdef int check_ids(
    const uint8_t[::1] data, const int64_t[::1] offsets, Py_ssize_t n, Py_ssize_t size
) except -1:
    if n < 0 or n > <Py_ssize_t> 0x7FFFFFFF:
        raise ValueError(f"{n} ids")
    if not n < size <= <Py_ssize_t> 0xFFFFFFFF:
        raise ValueError(f"a table of {size} slots does not suit {n} ids")
    if offsets is None and data.shape[0] != 8 * n:
        raise ValueError(f"{data.shape[0]} bytes are no {n} integers")
    if offsets is not None and offsets.shape[0] != n + 1:
        raise ValueError(f"{n} ids need {n + 1} offsets, got {offsets.shape[0]}")
    return 0


def link_ids(
    const uint8_t[::1] data not None, const int64_t[::1] offsets, Py_ssize_t n,
    uint64_t[::1] table not None,
):
    """Enter the ids into a look-up table.

    Parameters
    ----------
    data, offsets
        The bytes of the ids, and int64 (n + 1,): where each begins; None: each has 8 bytes.
    n
        How many.
    table
        uint64 (size,), size > n, zeros; written: hash and number of the ids.
    """
    cdef Py_ssize_t i
    cdef uint64_t h, at
    cdef uint64_t size = table.shape[0]
    check_ids(data, offsets, n, table.shape[0])
    for i in range(table.shape[0]):
        if table[i] != 0:
            raise ValueError("the table is not empty")
    for i in range(n):
        if not lies_within(offsets, i, data.shape[0]):
            raise ValueError(f"id {i} lies outside the bytes")
        h = hash_of(
            data_at(data, offsets[i] if offsets is not None else 8 * i),
            offsets[i + 1] - offsets[i] if offsets is not None else 8,
        ) >> 32
        at = (h * size) >> 32
        while table[at] != 0:
            at = at + 1 if at + 1 < size else 0
        table[at] = h << 32 | <uint64_t> (i + 1)


def find_id(
    const uint8_t[::1] data not None, const int64_t[::1] offsets, Py_ssize_t n,
    const uint64_t[::1] table not None, const uint8_t[::1] wanted not None,
):
    """Return the number of an id, -1 if it is not there.

    Parameters as in `link_ids`, but nothing in them is trusted; `wanted` are the bytes of the id.
    """
    cdef Py_ssize_t i, start, width
    cdef uint64_t h, at, _probe
    cdef uint64_t size = table.shape[0]
    check_ids(data, offsets, n, table.shape[0])
    h = hash_of(data_at(wanted, 0), wanted.shape[0]) >> 32
    at = (h * size) >> 32
    for _probe in range(size):
        if table[at] == 0:
            return -1
        if table[at] >> 32 == h:
            i = <Py_ssize_t> <uint32_t> table[at] - 1
            if not (0 <= i < n and lies_within(offsets, i, data.shape[0])):
                raise ValueError("the table of ids is damaged")
            start = offsets[i] if offsets is not None else 8 * i
            width = offsets[i + 1] - start if offsets is not None else 8
            if width == wanted.shape[0] and (
                width == 0 or memcmp(&data[start], &wanted[0], width) == 0
            ):
                return i
        at = at + 1 if at + 1 < size else 0
    return -1


cdef inline bint lies_within(const int64_t[::1] offsets, Py_ssize_t i, Py_ssize_t total) noexcept:
    return offsets is None or 0 <= offsets[i] <= offsets[i + 1] <= total


cdef inline const uint8_t* data_at(const uint8_t[::1] data, Py_ssize_t at) noexcept:
    return &data[at] if at < data.shape[0] else NULL
