# Every argument of what Python calls is checked by these.

import numpy as np


cdef int check_plan(int unit, Py_ssize_t size) except -1:
    if unit != CHARACTERS and unit != WORDS:
        raise ValueError(f"unit must be {CHARACTERS} (characters) or {WORDS} (words), got {unit}")
    if size < 1:
        raise ValueError(f"size must be at least 1, got {size}")
    return 0


cdef int check_aligned(const void* address, Py_ssize_t width, str name) except -1:
    if <size_t> address % width:
        raise ValueError(f"{name} must be aligned to {width} bytes")
    return 0


cdef int check_offsets(
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


cdef int check_minima(
    const uint32_t[::1] a, const uint32_t[::1] b, uint32_t[:, ::1] out, Py_ssize_t n
) except -1:
    if a.shape[0] != b.shape[0] or a.shape[0] < 1:
        raise ValueError("a and b need the same length, at least 1")
    if out.shape[0] != n or out.shape[1] != a.shape[0]:
        raise ValueError(
            f"out has shape ({out.shape[0]}, {out.shape[1]}), expected ({n}, {a.shape[0]})"
        )
    if n:
        check_aligned(&out[0, 0], 4, "out")
        check_aligned(&a[0], 4, "a")
        check_aligned(&b[0], 4, "b")
    return 0


cdef uint64_t[::1] new_ring(Py_ssize_t size, Py_ssize_t longest):
    return np.empty(min(size, longest + 1), np.uint64)


cdef Py_ssize_t longest_of(Spans spans) noexcept:
    cdef Py_ssize_t i
    cdef Py_ssize_t longest = 0
    for i in range(spans.n):
        longest = max(longest, spans.at[i].length)
    return longest
