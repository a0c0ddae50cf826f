# Called from Python: tables of another size. And what the class of the tables needs.
# With tables.pxi.

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport malloc

from fastlsh._kernels.common.prefetch cimport AHEAD
from fastlsh._kernels.index.tables cimport Desk, Tables


cdef Desk new_desk(const Tables* t, Py_ssize_t documents) except *:
    cdef Desk desk
    desk.room = max(desk_room(t, documents), <Py_ssize_t> AHEAD + 1)
    desk.tags = <uint32_t*> malloc(desk.room * (t.count + 1) * sizeof(uint32_t))
    if desk.tags == NULL:
        raise MemoryError()
    desk.filled = desk.tags + desk.room * t.count
    return desk


cdef int check_sound(bint damaged) except -1:
    if damaged:
        raise ValueError("the tables are damaged")
    return 0


def move_slots(const uint64_t[::1] old not None, uint64_t[::1] slots not None):
    """Move a table into another one, uint64 (size,) of zeros; return how many slots are used."""
    cdef Py_ssize_t i
    cdef Py_ssize_t used = 0
    cdef Py_ssize_t size = slots.shape[0]
    if size > <Py_ssize_t> 0xFFFFFFFF:
        raise ValueError(f"a table of {size} slots is too large")
    for i in range(old.shape[0]):
        used += old[i] != 0
    for i in range(size):
        if slots[i] != 0:
            raise ValueError("the new table is not empty")
    if used >= size:
        raise ValueError(f"{used} keys do not fit into {size} slots")
    if used:
        with nogil:
            move_slots_to(&old[0], old.shape[0], &slots[0], size)
    return used
