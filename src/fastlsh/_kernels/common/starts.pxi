# Where the parts of an array begin.

cdef inline int check_starts(const int64_t[::1] start, Py_ssize_t total, str name) except -1:
    cdef Py_ssize_t i
    if start.shape[0] < 1 or start[0] != 0 or start[start.shape[0] - 1] != total:
        raise ValueError(f"{name} must go from 0 to {total}")
    for i in range(start.shape[0] - 1):
        if start[i + 1] < start[i]:
            raise ValueError(f"{name} must not decrease, but does at {i + 1}")
    return 0
