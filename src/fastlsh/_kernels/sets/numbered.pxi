# Sets of dense numbers (`Numbers`), as words: the number of words, then for each of them its place
# and its 64 bits, by ascending place. Common elements are counted a word at a time.

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memset

from fastlsh._kernels.common.compiler cimport either, noinline_void, popcount
from fastlsh._kernels.sets.overlap cimport least_overlap, least_part, quotient
from fastlsh._kernels.sets.sets cimport Sets

cdef enum:
    STEPS = 16                  # words, before it is asked whether going on is worth while
    WORTH_HALVING = 8           # words; fewer are not cut into two strands

cdef struct Strand:
    # A part of two sets: the words that are still to be compared.
    const uint64_t* a
    const uint64_t* a_end
    const uint64_t* b
    const uint64_t* b_end

cdef struct Tally:
    Py_ssize_t common           # elements
    Py_ssize_t only_a           # passed, and not common
    Py_ssize_t only_b


cdef inline Py_ssize_t steps_in(const Strand* s) noexcept nogil:
    # So many reach no end.
    return min(s.a_end - s.a, s.b_end - s.b) >> 1


cdef inline void step_words(
    const uint64_t** a, const uint64_t** b, Py_ssize_t* common, Py_ssize_t* passed_a,
    Py_ssize_t* passed_b,
) noexcept nogil:
    # Moves one side on by a word, or both where they are at the same place. No branch depends on
    # the data.
    cdef const uint64_t* x = a[0]
    cdef const uint64_t* y = b[0]
    cdef Py_ssize_t x_moves = either(x[0] <= y[0])
    cdef Py_ssize_t y_moves = either(y[0] <= x[0])
    common[0] += popcount(x[1] & y[1] & -<uint64_t> (x_moves & y_moves))
    passed_a[0] += popcount(x[1] & -<uint64_t> x_moves)
    passed_b[0] += popcount(y[1] & -<uint64_t> y_moves)
    a[0] = x + 2 * x_moves
    b[0] = y + 2 * y_moves


cdef noinline_void count_in_one(Strand* s, Tally* tally, Py_ssize_t steps) noexcept nogil:
    cdef const uint64_t* a = s.a
    cdef const uint64_t* b = s.b
    cdef Py_ssize_t common = 0
    cdef Py_ssize_t passed_a = 0
    cdef Py_ssize_t passed_b = 0
    cdef Py_ssize_t i
    for i in range(steps):
        step_words(&a, &b, &common, &passed_a, &passed_b)
    s.a = a
    s.b = b
    tally.common += common
    tally.only_a += passed_a - common
    tally.only_b += passed_b - common


cdef noinline_void count_in_both(Strand* s, Tally* tally, Py_ssize_t steps) noexcept nogil:
    # Two strands hide each other's latency.
    cdef const uint64_t* a = s[0].a
    cdef const uint64_t* b = s[0].b
    cdef const uint64_t* c = s[1].a
    cdef const uint64_t* d = s[1].b
    cdef Py_ssize_t common = 0
    cdef Py_ssize_t passed_a = 0
    cdef Py_ssize_t passed_b = 0
    cdef Py_ssize_t i
    for i in range(steps):
        step_words(&a, &b, &common, &passed_a, &passed_b)
        step_words(&c, &d, &common, &passed_a, &passed_b)
    s[0].a = a
    s[0].b = b
    s[1].a = c
    s[1].b = d
    tally.common += common
    tally.only_a += passed_a - common
    tally.only_b += passed_b - common


cdef const uint64_t* find_place(
    const uint64_t* words, const uint64_t* end, uint64_t place
) noexcept nogil:
    # The first word at this place or behind it.
    cdef Py_ssize_t n = (end - words) >> 1
    cdef Py_ssize_t half
    while n:
        half = n >> 1
        if words[2 * half] < place:
            words += 2 * (half + 1)
            n -= half + 1
        else:
            n = half
    return words


cdef Py_ssize_t common_numbers(
    const uint64_t* a, Py_ssize_t na, const uint64_t* b, Py_ssize_t nb, Py_ssize_t needed
) noexcept nogil:
    # The size of the intersection, or -1 as soon as it cannot reach `needed`.
    cdef Strand strands[2]
    cdef Tally tally
    cdef Py_ssize_t steps, s
    memset(&tally, 0, sizeof(Tally))
    strands[0].a = strands[1].a = a + 1
    strands[0].b = strands[1].b = b + 1
    strands[1].a_end = a + 1 + 2 * a[0]
    strands[1].b_end = b + 1 + 2 * b[0]
    if a[0] >= WORTH_HALVING:
        strands[1].a += 2 * (a[0] >> 1)
        strands[1].b = find_place(b + 1, strands[1].b_end, strands[1].a[0])
    strands[0].a_end = strands[1].a
    strands[0].b_end = strands[1].b
    while True:
        steps = min(steps_in(&strands[0]), steps_in(&strands[1]))
        if steps == 0:
            break
        count_in_both(strands, &tally, min(steps, <Py_ssize_t> STEPS // 2))
        if min(na - tally.only_a, nb - tally.only_b) < needed:
            return -1
    for s in range(2):
        while True:
            steps = steps_in(&strands[s])
            if steps == 0:
                break
            count_in_one(&strands[s], &tally, min(steps, <Py_ssize_t> STEPS))
            if min(na - tally.only_a, nb - tally.only_b) < needed:
                return -1
    return tally.common if tally.common >= needed else -1


cdef double jaccard_of_numbers(
    const uint64_t* a, Py_ssize_t na, const uint64_t* b, Py_ssize_t nb, double threshold
) noexcept nogil:
    # As `jaccard_of_sets`.
    cdef Py_ssize_t needed, common
    if na == 0 or nb == 0:
        return 0.0 if threshold <= 0.0 else -1.0
    needed = least_overlap(na, nb, threshold)
    if needed > min(na, nb):
        return -1.0
    common = common_numbers(a, na, b, nb, needed)
    return -1.0 if common < 0 else quotient(common, na, nb)


cdef double containment_of_numbers(
    const uint64_t* a, Py_ssize_t na, const uint64_t* b, Py_ssize_t nb, double share
) noexcept nogil:
    # |A n B| / |A|, or -1 where that is below the share; 0 if a set is empty.
    cdef Py_ssize_t needed, common
    if na == 0 or nb == 0:
        return 0.0 if share <= 0.0 else -1.0
    needed = least_part(na, share)
    if needed > min(na, nb):
        return -1.0
    common = common_numbers(a, na, b, nb, needed)
    return -1.0 if common < 0 else <double> common / <double> na


cdef bint has_numbers(const Sets* sets, Py_ssize_t d) noexcept nogil:
    cdef int64_t start = sets.start[d]
    return (
        sets.count[d] >= 0 and 0 <= start < sets.total
        and sets.words[start] <= <uint64_t> (sets.total - start - 1) >> 1
        and <uint64_t> sets.count[d] <= 64 * sets.words[start]
    )


cdef Py_ssize_t compare_numbers(
    const Sets* sets, const int64_t* left, const int64_t* right, Py_ssize_t n, double threshold,
    double* out
) noexcept nogil:
    # Returns how many were compared: all, or the place of the first with a set that is not there.
    cdef Py_ssize_t i
    cdef int64_t a, b
    for i in range(n):
        a = left[i]
        b = right[i]
        if not (has_numbers(sets, a) and has_numbers(sets, b)):
            return i
        out[i] = jaccard_of_numbers(
            sets.words + sets.start[a], sets.count[a],
            sets.words + sets.start[b], sets.count[b], threshold,
        )
    return n
