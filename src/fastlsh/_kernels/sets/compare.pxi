# Comparing two signatures, and two sorted sets of shingle hashes.
# With blocks.pxi.

from libc.stdint cimport int64_t, uint32_t, uint64_t

from fastlsh._kernels.candidates.bandkeys cimport is_empty_row
from fastlsh._kernels.common.compiler cimport either, noinline_void
from fastlsh._kernels.sets.overlap cimport least_overlap, least_part, quotient


cdef noinline_void count_equal(
    const uint32_t* a, const uint32_t* b, Py_ssize_t k, Py_ssize_t* count
) noexcept nogil:
    cdef uint32_t total = 0
    cdef uint32_t j
    for j in range(<uint32_t> k):
        total += a[j] == b[j]
    count[0] = total


cdef void agree_pairs(
    const uint32_t* signatures, Py_ssize_t k, const int64_t* left, const int64_t* right,
    Py_ssize_t n, double* out
) noexcept nogil:
    cdef Py_ssize_t i, equal
    cdef const uint32_t* a
    cdef const uint32_t* b
    for i in range(n):
        a = signatures + left[i] * k
        b = signatures + right[i] * k
        count_equal(a, b, k, &equal)
        out[i] = <double> equal / <double> k
        if is_empty_row(a, k) or is_empty_row(b, k):
            out[i] = 0.0


cdef enum:
    WORTH_FOUR = 60                     # elements; fewer are not cut into four strands

cdef struct Strands:
    # Four parts of the hash range, each with its own part of both sets.
    Py_ssize_t i[4]
    Py_ssize_t j[4]
    Py_ssize_t i_end[4]
    Py_ssize_t j_end[4]


cdef Py_ssize_t lower_bound(const uint64_t* values, Py_ssize_t n, uint64_t value) noexcept nogil:
    cdef Py_ssize_t low = 0
    cdef Py_ssize_t middle
    while low < n:
        middle = (low + n) >> 1
        if values[middle] < value:
            low = middle + 1
        else:
            n = middle
    return low


cdef Py_ssize_t merge(
    const uint64_t* a, Py_ssize_t na, const uint64_t* b, Py_ssize_t nb
) noexcept nogil:
    # The size of the intersection, one comparison at a time.
    cdef Py_ssize_t found = 0
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t j = 0
    cdef uint64_t x, y
    while i < na and j < nb:
        x = a[i]
        y = b[j]
        found += x == y
        i += either(x <= y)
        j += either(y <= x)
    return found


cdef noinline_void step_strands(
    const uint64_t* a, const uint64_t* b, Strands* s, Py_ssize_t steps
) noexcept nogil:
    # One comparison moves one side on, or both where they are equal. No branch depends on the
    # data, and the four strands hide each other's latency.
    cdef const uint64_t* a0 = a + s.i[0]
    cdef const uint64_t* a1 = a + s.i[1]
    cdef const uint64_t* a2 = a + s.i[2]
    cdef const uint64_t* a3 = a + s.i[3]
    cdef const uint64_t* b0 = b + s.j[0]
    cdef const uint64_t* b1 = b + s.j[1]
    cdef const uint64_t* b2 = b + s.j[2]
    cdef const uint64_t* b3 = b + s.j[3]
    cdef uint64_t x, y
    cdef Py_ssize_t step
    for step in range(steps):
        x = a0[0]
        y = b0[0]
        a0 += either(x <= y)
        b0 += either(y <= x)
        x = a1[0]
        y = b1[0]
        a1 += either(x <= y)
        b1 += either(y <= x)
        x = a2[0]
        y = b2[0]
        a2 += either(x <= y)
        b2 += either(y <= x)
        x = a3[0]
        y = b3[0]
        a3 += either(x <= y)
        b3 += either(y <= x)
    s.i[0] = a0 - a
    s.i[1] = a1 - a
    s.i[2] = a2 - a
    s.i[3] = a3 - a
    s.j[0] = b0 - b
    s.j[1] = b1 - b
    s.j[2] = b2 - b
    s.j[3] = b3 - b


cdef Py_ssize_t intersect_strands(
    const uint64_t* a, Py_ssize_t na, const uint64_t* b, Py_ssize_t nb, Py_ssize_t needed
) noexcept nogil:
    # The size of the intersection, or -1 as soon as it cannot reach `needed`.
    cdef Strands s
    cdef Py_ssize_t quarter, steps, moved, left, most
    cdef Py_ssize_t found = 0
    cdef Py_ssize_t i, j
    if min(na, nb) < WORTH_FOUR:
        found = merge(a, na, b, nb)
        return found if found >= needed else -1
    for quarter in range(4):
        s.i[quarter] = quarter * na // 4
        s.j[quarter] = lower_bound(b, nb, a[s.i[quarter]]) if quarter else 0
    for quarter in range(4):
        s.i_end[quarter] = s.i[quarter + 1] if quarter < 3 else na
        s.j_end[quarter] = s.j[quarter + 1] if quarter < 3 else nb
    while True:
        steps = na + nb
        most = 0
        moved = 0
        for quarter in range(4):
            left = min(s.i_end[quarter] - s.i[quarter], s.j_end[quarter] - s.j[quarter])
            steps = min(steps, left)        # so many steps reach no end
            most += left
            moved -= s.i[quarter] + s.j[quarter]
        if found + most < needed:
            return -1
        if steps < 4:
            break
        steps = min(steps, <Py_ssize_t> 256)
        step_strands(a, b, &s, steps)
        for quarter in range(4):
            moved += s.i[quarter] + s.j[quarter]
        found += moved - 4 * steps          # a step that moved both sides found one
    for quarter in range(4):
        i = s.i[quarter]
        j = s.j[quarter]
        found += merge(a + i, s.i_end[quarter] - i, b + j, s.j_end[quarter] - j)
    return found if found >= needed else -1


cdef inline Py_ssize_t common_of_sets(
    const uint64_t* a, Py_ssize_t na, const uint64_t* b, Py_ssize_t nb, Py_ssize_t needed
) noexcept nogil:
    # The size of the intersection, or -1 where it does not reach `needed`.
    if needed > min(na, nb):
        return -1
    if IN_VECTOR:
        return intersect_blocks(a, na, b, nb, needed)
    return intersect_strands(a, na, b, nb, needed)


cdef double jaccard_of_sets(
    const uint64_t* a, Py_ssize_t na, const uint64_t* b, Py_ssize_t nb, double threshold
) noexcept nogil:
    # |A n B| / |A u B|, or -1 where that is below the threshold; 0 if a set is empty.
    cdef Py_ssize_t common
    if na == 0 or nb == 0:
        return 0.0 if threshold <= 0.0 else -1.0
    common = common_of_sets(a, na, b, nb, least_overlap(na, nb, threshold))
    return -1.0 if common < 0 else quotient(common, na, nb)


cdef double containment_of_sets(
    const uint64_t* a, Py_ssize_t na, const uint64_t* b, Py_ssize_t nb, double share
) noexcept nogil:
    # |A n B| / |A|, or -1 where that is below the share; 0 if a set is empty.
    cdef Py_ssize_t common
    if na == 0 or nb == 0:
        return 0.0 if share <= 0.0 else -1.0
    common = common_of_sets(a, na, b, nb, least_part(na, share))
    return -1.0 if common < 0 else <double> common / <double> na
