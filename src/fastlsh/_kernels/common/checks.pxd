# Checks of arguments that several wrappers share.

from libc.stdint cimport int64_t


cdef inline int check_aligned(const void* address, Py_ssize_t width, str name) except -1:
    if <size_t> address % width:
        raise ValueError(f"{name} must be aligned to {width} bytes")
    return 0


cdef inline int check_offsets(
    const int64_t[::1] offsets, Py_ssize_t n, Py_ssize_t total, str name
) except -1:
    cdef Py_ssize_t i
    if offsets.shape[0] != n + 1:
        raise ValueError(f"{name} has {offsets.shape[0]} elements, expected {n + 1}")
    if offsets[0] < 0 or offsets[n] > total:
        raise ValueError(f"{name} must lie between 0 and {total}")
    for i in range(n):
        if offsets[i + 1] < offsets[i]:
            raise ValueError(f"{name} must not decrease, but does at {i + 1}")
    return 0


cdef inline int check_starts(const int64_t[::1] start, Py_ssize_t total, str name) except -1:
    cdef Py_ssize_t i
    if start.shape[0] < 1 or start[0] != 0 or start[start.shape[0] - 1] != total:
        raise ValueError(f"{name} must go from 0 to {total}")
    for i in range(start.shape[0] - 1):
        if start[i + 1] < start[i]:
            raise ValueError(f"{name} must not decrease, but does at {i + 1}")
    return 0
