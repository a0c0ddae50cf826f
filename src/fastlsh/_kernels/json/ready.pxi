# Lines of a block, each made ready for a loop that reads up to PADDING bytes behind it.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_RawRealloc
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy, memset

from fastlsh._kernels.json.rows cimport PADDING as _PADDING, Key


cdef struct Lines:
    const uint8_t* data
    Py_ssize_t size
    const int64_t* bounds
    const int64_t* rows
    Py_ssize_t n
    uint8_t* scratch            # for a line that does not end as the loop needs it
    size_t room
    uint8_t* pieces             # for the texts of a line, if they are several
    size_t pieces_room


cdef int make_key(Key* key, object name) except -1:
    key.size = -1
    key.name = NULL
    if name is not None:
        key.name = <const uint8_t*> PyBytes_AS_STRING(<bytes?> name)
        key.size = PyBytes_GET_SIZE(name)
    return 0


cdef bint has_room(uint8_t** memory, size_t* room, size_t needed) noexcept nogil:
    # Makes memory larger where it must be; False: no memory.
    if needed <= room[0]:
        return True
    larger = <uint8_t*> PyMem_RawRealloc(memory[0], needed)
    if larger == NULL:
        return False
    memory[0] = larger
    room[0] = needed
    return True


cdef const uint8_t* ready_line(Lines* lines, Py_ssize_t row, Py_ssize_t* size) noexcept nogil:
    # A line that ends with a line feed and PADDING bytes that can be read; NULL: no memory.
    cdef Py_ssize_t start = lines.bounds[row]
    cdef Py_ssize_t stop = lines.bounds[row + 1]
    size[0] = stop - start
    if stop > start and lines.data[stop - 1] == c'\n':
        if lines.size - stop >= _PADDING:
            return lines.data + start
        size[0] -= 1
    if not has_room(&lines.scratch, &lines.room, <size_t> size[0] + 1 + _PADDING):
        return NULL
    if size[0]:                     # else there may be no data
        memcpy(lines.scratch, lines.data + start, size[0])
    memset(lines.scratch + size[0], c'\n', 1 + _PADDING)
    size[0] += 1
    return lines.scratch
