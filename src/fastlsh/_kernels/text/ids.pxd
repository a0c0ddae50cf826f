# A token id, however wide.

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t


cdef inline uint64_t id_at(const void* ids, int width, Py_ssize_t i) noexcept nogil:
    if width == 1:
        return (<const uint8_t*> ids)[i]
    if width == 2:
        return (<const uint16_t*> ids)[i]
    if width == 4:
        return (<const uint32_t*> ids)[i]
    return (<const uint64_t*> ids)[i]
