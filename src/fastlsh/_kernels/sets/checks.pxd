# Checks of pairs and sets, for the wrappers that take them.

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memset

from fastlsh._kernels.common.checks cimport check_array
from fastlsh._kernels.sets.modes cimport BY_SETS, BY_SIGNATURE, NOT_VERIFIED
from fastlsh._kernels.sets.sets cimport Sets


cdef inline Sets sets_of(
    const uint64_t[::1] words, const int64_t[::1] start, const int64_t[::1] count, Py_ssize_t n
) except *:
    cdef Sets sets
    if start.shape[0] != n or count.shape[0] != n:
        raise ValueError(f"start and count need {n} elements, one per set")
    check_array(words, "the sets")
    check_array(start, "start")
    check_array(count, "count")
    memset(&sets, 0, sizeof(Sets))
    sets.total = words.shape[0]
    if n:
        sets.start = &start[0]
        sets.count = &count[0]
    if sets.total:
        sets.words = &words[0]
    return sets


cdef inline int check_pairs(
    const int64_t[::1] left, const int64_t[::1] right, double[::1] out, Py_ssize_t n
) except -1:
    cdef Py_ssize_t i
    if right.shape[0] != left.shape[0] or out.shape[0] != left.shape[0]:
        raise ValueError("left, right and out need the same length")
    check_array(out, "out")
    check_array(left, "left")
    check_array(right, "right")
    for i in range(left.shape[0]):
        if not (0 <= left[i] < n and 0 <= right[i] < n):
            raise IndexError(f"pair {i} ({left[i]}, {right[i]}) points outside {n} documents")
    return 0


cdef inline int check_mode(int mode) except -1:
    if mode != BY_SETS and mode != BY_SIGNATURE and mode != NOT_VERIFIED:
        raise ValueError(
            f"mode must be {BY_SETS} (sets), {BY_SIGNATURE} (signatures) or {NOT_VERIFIED} "
            f"(not verified), got {mode}"
        )
    return 0
