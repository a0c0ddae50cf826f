# Ids of an index: lists of answers, and the look-up table that a file holds.

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp

from cpython.exc cimport PyErr_CheckSignals

from fastlsh._kernels.common.checks cimport Memory, check_apart, memory_of, memory_of_rows
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


cdef enum:
    TOGETHER = 1 << 16          # answers between two looks for Ctrl-C


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
    memory_of_rows(found, "found")
    memory_of(counts, "counts")
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


cdef list lists_of(list names, const double[:, ::1] found, const int64_t[::1] counts, alike):
    cdef Py_ssize_t i, j, total = 0
    cdef list answers, result = []
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
            if j % TOGETHER == TOGETHER - 1:
                PyErr_CheckSignals()
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


cdef enum:
    DAMAGED_IDS = -2

cdef struct Names:
    # The bytes of n ids; without offsets each has 8.
    const uint8_t* data
    Py_ssize_t total
    const int64_t* offsets
    Py_ssize_t n


cdef Names names_of(
    const uint8_t[::1] data, const int64_t[::1] offsets, Py_ssize_t n, Py_ssize_t size
) except *:
    cdef Names names
    if n < 0 or n > <Py_ssize_t> 0x7FFFFFFF:
        raise ValueError(f"{n} ids")
    if not n < size <= <Py_ssize_t> 0xFFFFFFFF:
        raise ValueError(f"a table of {size} slots does not suit {n} ids")
    if offsets is None and data.shape[0] != 8 * n:
        raise ValueError(f"{data.shape[0]} bytes are no {n} integers")
    if offsets is not None and offsets.shape[0] != n + 1:
        raise ValueError(f"{n} ids need {n + 1} offsets, got {offsets.shape[0]}")
    memory_of(offsets, "offsets")
    names.data = &data[0] if data.shape[0] else NULL
    names.total = data.shape[0]
    names.offsets = &offsets[0] if offsets is not None else NULL
    names.n = n
    return names


cdef inline bint name_at(
    const Names* names, Py_ssize_t i, const uint8_t** name, Py_ssize_t* width
) noexcept nogil:
    # False: it lies outside the bytes.
    cdef int64_t start = 8 * i
    cdef int64_t end = start + 8
    if names.offsets != NULL:
        start = names.offsets[i]
        end = names.offsets[i + 1]
        if not 0 <= start <= end <= names.total:
            return False
    width[0] = end - start
    name[0] = names.data + start if width[0] else NULL
    return True


cdef bint is_zero(const uint64_t* table, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(size):
        if table[i] != 0:
            return False
    return True


cdef Py_ssize_t enter_all(const Names* names, uint64_t* table, uint64_t size) noexcept nogil:
    # Returns how many were entered: all, or the first that lies outside the bytes.
    cdef const uint8_t* name
    cdef Py_ssize_t i, width
    cdef uint64_t h, at
    for i in range(names.n):
        if not name_at(names, i, &name, &width):
            return i
        h = hash_of(name, width) >> 32
        at = (h * size) >> 32
        while table[at] != 0:
            at = at + 1 if at + 1 < size else 0
        table[at] = h << 32 | <uint64_t> (i + 1)
    return names.n


cdef Py_ssize_t look_up(
    const Names* names, const uint64_t* table, uint64_t size, const uint8_t* wanted, Py_ssize_t n
) noexcept nogil:
    cdef uint64_t h = hash_of(wanted, n) >> 32
    cdef uint64_t at = (h * size) >> 32
    cdef uint64_t _probe
    cdef const uint8_t* name
    cdef Py_ssize_t i, width
    for _probe in range(size):
        if table[at] == 0:
            return -1
        if table[at] >> 32 == h:
            i = <Py_ssize_t> <uint32_t> table[at] - 1
            if not (0 <= i < names.n and name_at(names, i, &name, &width)):
                return DAMAGED_IDS
            if width == n and (width == 0 or memcmp(name, wanted, width) == 0):
                return i
        at = at + 1 if at + 1 < size else 0
    return -1


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
    cdef Memory parts[3]
    cdef Py_ssize_t entered
    cdef Names names = names_of(data, offsets, n, table.shape[0])
    parts[0] = memory_of(table, "table")
    parts[1] = memory_of(data, "data")
    parts[2] = memory_of(offsets, "offsets")
    check_apart(parts, 3, 1, "table, data and offsets")
    if not is_zero(&table[0], table.shape[0]):
        raise ValueError("the table is not empty")
    with nogil:
        entered = enter_all(&names, &table[0], table.shape[0])
    if entered < n:
        raise ValueError(f"id {entered} lies outside the bytes")


def find_id(
    const uint8_t[::1] data not None, const int64_t[::1] offsets, Py_ssize_t n,
    const uint64_t[::1] table not None, const uint8_t[::1] wanted not None,
):
    """Return the number of an id, -1 if it is not there.

    Parameters as in `link_ids`, but nothing in them is trusted; `wanted` are the bytes of the id.
    """
    cdef Py_ssize_t found
    cdef Names names = names_of(data, offsets, n, table.shape[0])
    memory_of(table, "table")
    memory_of(offsets, "offsets")
    with nogil:
        found = look_up(
            &names, &table[0], table.shape[0], &wanted[0] if wanted.shape[0] else NULL,
            wanted.shape[0],
        )
    if found == DAMAGED_IDS:
        raise ValueError("the table of ids is damaged")
    return found
