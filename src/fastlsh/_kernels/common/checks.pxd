# Checks of arguments that several wrappers share. None adds or multiplies what may be anything.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

ctypedef fused number:
    uint8_t
    int32_t
    uint32_t
    int64_t
    uint64_t
    double


cdef inline int check_address(const void* address, Py_ssize_t width, str name) except -1:
    if <size_t> address % width:
        raise ValueError(f"{name} must be aligned to {width} bytes")
    return 0


cdef inline int check_array(const number[::1] array, str name) except -1:
    # None and an empty array have no address.
    return check_address(&array[0], sizeof(number), name) if array.shape[0] else 0


cdef inline int check_matrix(const number[:, ::1] rows, str name) except -1:
    if not rows.shape[0] or not rows.shape[1]:
        return 0
    return check_address(&rows[0, 0], sizeof(number), name)


cdef inline int check_offsets(
    const int64_t[::1] offsets, Py_ssize_t n, Py_ssize_t total, str name
) except -1:
    cdef Py_ssize_t i
    if n < 0 or offsets.shape[0] != n + 1:
        raise ValueError(f"{name} has {offsets.shape[0]} elements, expected {max(n, 0) + 1}")
    check_array(offsets, name)
    if offsets[0] < 0 or offsets[n] > total:
        raise ValueError(f"{name} must lie between 0 and {total}")
    for i in range(n):
        if offsets[i + 1] < offsets[i]:
            raise ValueError(f"{name} must not decrease, but does at {i + 1}")
    return 0


cdef inline int check_starts(const int64_t[::1] start, Py_ssize_t total, str name) except -1:
    # Where the parts of an array begin.
    check_array(start, name)
    if start.shape[0] < 1 or start[0] != 0 or start[start.shape[0] - 1] != total:
        raise ValueError(f"{name} must go from 0 to {total}")
    return check_offsets(start, start.shape[0] - 1, total, name)


cdef inline int check_band_rows(
    Py_ssize_t first, Py_ssize_t bands, Py_ssize_t rows, Py_ssize_t k
) except -1:
    if rows < 1 or first < 0 or bands < 0 or bands > k // rows or first > k // rows - bands:
        raise ValueError(
            f"{bands} bands of {rows} rows, from band {first} on, do not lie in {k} values"
        )
    return 0


cdef inline int check_range(Py_ssize_t first, Py_ssize_t last, Py_ssize_t n) except -1:
    if not 0 <= first <= last <= n:
        raise IndexError(f"documents {first} to {last} of {n}")
    return 0


cdef inline int check_threshold(double threshold) except -1:
    if not 0.0 <= threshold <= 1.0:
        raise ValueError(f"threshold must be at least 0 and at most 1, got {threshold}")
    return 0
