# Memory of the tables of an index.
# With tables.pxi.

from libc.stdint cimport int32_t, int64_t, uint32_t

from fastlsh._kernels.common.prefetch cimport AHEAD
from fastlsh._kernels.greedy.keeper cimport REMEMBERED
from fastlsh._kernels.greedy.ranks cimport Candidates, Rank
from fastlsh._kernels.index.tables cimport Desk, Slice, Tables

cdef extern from "Python.h":
    void* PyMem_RawMalloc(size_t n) nogil
    void* PyMem_RawCalloc(size_t count, size_t n) nogil
    void* PyMem_RawRealloc(void* old, size_t n) nogil
    void PyMem_RawFree(void* old) nogil

cdef Py_ssize_t MOST_BYTES = 0x7FFFFFFFFFFFFFFF


cdef Desk new_desk(const Tables* t, Py_ssize_t documents) except *:
    cdef Desk desk
    desk.room = max(desk_room(t, documents), <Py_ssize_t> AHEAD + 1)
    desk.tags = <uint32_t*> PyMem_RawMalloc(desk.room * (t.count + 1) * sizeof(uint32_t))
    if desk.tags == NULL:
        raise MemoryError()
    desk.filled = desk.tags + desk.room * t.count
    return desk


cdef Candidates new_candidates(const Tables* t, Py_ssize_t more, Py_ssize_t limit) except *:
    # Room for the candidates of one document, while up to `more` documents are inserted.
    cdef Candidates candidates
    cdef Py_ssize_t room = t.count * min(<Py_ssize_t> REMEMBERED, t.n + more)
    candidates.ranks = <Rank*> PyMem_RawMalloc(room * (sizeof(Rank) + 2 * sizeof(int32_t)))
    if candidates.ranks == NULL:
        raise MemoryError()
    candidates.found = <int32_t*> (candidates.ranks + room)
    candidates.shared = candidates.found + room
    candidates.limit = limit
    return candidates


cdef Slice* slices_of(
    const int64_t[:, ::1] given, Py_ssize_t bands, Py_ssize_t minima
) except NULL:
    # A checked copy.
    cdef Slice* slices
    cdef Py_ssize_t b
    if given.shape[0] != bands or given.shape[1] != 7:
        raise ValueError(f"slices need the shape ({bands}, 7)")
    for b in range(bands):
        if not (
            given[b, 0] >= 0 and 1 <= given[b, 1] <= minima - given[b, 0] and given[b, 2] >= 0
            and given[b, 3] >= 0 and 0 <= given[b, 4] <= 255
            and 0 <= given[b, 5] <= 1 and 0 <= given[b, 6] <= 1
        ):
            raise ValueError(f"slice {b} does not suit signatures of {minima} values")
    slices = <Slice*> PyMem_RawCalloc(bands, sizeof(Slice))
    if slices == NULL:
        raise MemoryError()
    for b in range(bands):
        slices[b].start = given[b, 0]
        slices[b].rows = given[b, 1]
        slices[b].band = given[b, 2]
        slices[b].number = given[b, 3]
        slices[b].distance = <uint32_t> given[b, 4]
        slices[b].odd = <uint32_t> given[b, 5]
        slices[b].shift = <uint32_t> given[b, 6]
    return slices


cdef int check_sound(bint damaged) except -1:
    if damaged:
        raise ValueError("the tables are damaged")
    return 0


cdef int resize(void** memory, Py_ssize_t count, Py_ssize_t width) except -1:
    cdef void* moved = NULL
    if count <= MOST_BYTES // width:
        moved = PyMem_RawRealloc(memory[0], max(count, <Py_ssize_t> 1) * width)
    if moved == NULL:
        raise MemoryError()
    memory[0] = moved
    return 0
