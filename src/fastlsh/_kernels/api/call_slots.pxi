# Called from Python: tables of another size. And what the class of the tables needs.
# With tables.pxi.

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, qsort

from fastlsh._kernels.common.checks cimport Memory, check_apart, memory_of
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


cdef int check_writable(array) except -1:
    if array is not None and memoryview(array).readonly:
        raise ValueError("an array of the tables is read-only: nothing can be inserted")
    return 0


cdef Memory part_of(const Tables* t, Py_ssize_t capacity, Py_ssize_t i) noexcept:
    # The arrays of tables that are written to: number i of 5 + 2 * bands.
    cdef Memory memory
    cdef size_t width
    if i == 0:
        memory.begin = <size_t> t.signatures
        width = capacity * t.k * sizeof(uint32_t)
    elif i == 1:
        memory.begin = <size_t> t.live
        width = capacity
    elif i == 2:
        memory.begin = <size_t> t.bands[0].used
        width = t.count * sizeof(int64_t)
    elif i == 3:
        memory.begin = <size_t> t.hashes
        width = t.total * sizeof(uint64_t)
    elif i == 4:
        memory.begin = <size_t> t.offsets
        width = (capacity + 1) * sizeof(int64_t) if t.offsets != NULL else 0
    elif i < 5 + t.count:
        memory.begin = <size_t> t.bands[i - 5].slots
        width = t.bands[i - 5].size * sizeof(uint64_t)
    else:
        memory.begin = <size_t> t.bands[i - 5 - t.count].links
        width = capacity * sizeof(uint32_t)
    memory.end = memory.begin + width
    return memory


cdef int check_untouched(
    const Tables* t, Py_ssize_t capacity, Memory memory, str name
) except -1:
    cdef Memory parts[2]
    cdef Py_ssize_t i
    parts[0] = memory
    for i in range(5 + 2 * t.count):
        parts[1] = part_of(t, capacity, i)
        check_apart(parts, 2, 1, f"{name} and the arrays of the tables")
    return 0


cdef int by_place(const void* a, const void* b) noexcept nogil:
    cdef size_t x = (<const Memory*> a).begin
    cdef size_t y = (<const Memory*> b).begin
    return (x > y) - (x < y)


cdef int check_all_apart(const Tables* t, Py_ssize_t capacity) except -1:
    # Of tables that are written to. Sorted, for there may be thousands of bands.
    cdef Py_ssize_t n = 5 + 2 * t.count
    cdef Py_ssize_t i
    cdef bint apart = True
    cdef Memory* parts = <Memory*> malloc(n * sizeof(Memory))
    if parts == NULL:
        raise MemoryError()
    for i in range(n):
        parts[i] = part_of(t, capacity, i)
    qsort(parts, n, sizeof(Memory), by_place)
    for i in range(n - 1):
        apart &= parts[i].end <= parts[i + 1].begin
    free(parts)
    if not apart:
        raise ValueError("the arrays of the tables must not share memory")
    return 0


def move_slots(const uint64_t[::1] old not None, uint64_t[::1] slots not None):
    """Move a table into another one, uint64 (size,) of zeros; return how many slots are used."""
    cdef Memory parts[2]
    cdef Py_ssize_t used
    cdef Py_ssize_t size = slots.shape[0]
    parts[0] = memory_of(slots, "slots")
    parts[1] = memory_of(old, "old")
    check_apart(parts, 2, 1, "slots and old")
    if size > <Py_ssize_t> 0xFFFFFFFF:
        raise ValueError(f"a table of {size} slots is too large")
    if size and used_slots(&slots[0], size):
        raise ValueError("the new table is not empty")
    used = used_slots(&old[0], old.shape[0]) if old.shape[0] else 0
    if used >= size:
        raise ValueError(f"{used} keys do not fit into {size} slots")
    if used:
        with nogil:
            move_slots_to(&old[0], old.shape[0], &slots[0], size)
    return used
