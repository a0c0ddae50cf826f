# Common elements of two sorted sets, a vector of each at a time: every element of the one with
# every element of the other, in intrinsics, for no compiler makes this of a loop. With narrower
# vectors `step_strands` is as fast.
# With compare.pxi.

from libc.stdint cimport uint64_t

from fastlsh._kernels.common.compiler cimport popcount      # and its macros, in the text below

cdef extern from *:
    """
    #if defined(__GNUC__) && defined(__AVX512F__) && defined(__AVX512DQ__)
    #include <immintrin.h>
    #define FASTLSH_BLOCK 8

    /* Moves on the block that ends first, or both; returns how many elements they share. */
    static FASTLSH_INLINE Py_ssize_t fastlsh_step(const uint64_t** x, const uint64_t** y) {
        const uint64_t *a = *x, *b = *y;
        uint64_t a_end = a[FASTLSH_BLOCK - 1], b_end = b[FASTLSH_BLOCK - 1];
        Py_ssize_t a_moves = a_end <= b_end, b_moves = b_end <= a_end;
        __m512i theirs = _mm512_loadu_si512(b);
        __mmask8 even = 0xFF, odd = 0xFF;       /* equal to none so far; two chains */
        for (int e = 0; e < FASTLSH_BLOCK; e += 2) {
            even = _mm512_mask_cmpneq_epi64_mask(even, theirs, _mm512_set1_epi64(a[e]));
            odd = _mm512_mask_cmpneq_epi64_mask(odd, theirs, _mm512_set1_epi64(a[e + 1]));
        }
        __asm__("" : "+r"(a_moves), "+r"(b_moves));     /* no branch: it could not be predicted */
        *x = a + FASTLSH_BLOCK * a_moves;
        *y = b + FASTLSH_BLOCK * b_moves;
        return FASTLSH_BLOCK - fastlsh_popcount(_cvtmask8_u32(_kand_mask8(even, odd)));
    }

    static FASTLSH_NOINLINE Py_ssize_t fastlsh_step_one(
        const uint64_t* a, const uint64_t* b, Py_ssize_t* i, Py_ssize_t* j, Py_ssize_t steps
    ) {
        const uint64_t *x = a + *i, *y = b + *j;
        Py_ssize_t found = 0;
        for (; steps > 0; steps--)
            found += fastlsh_step(&x, &y);
        *i = x - a;
        *j = y - b;
        return found;
    }

    static FASTLSH_NOINLINE Py_ssize_t fastlsh_step_two(
        const uint64_t* a, const uint64_t* b, Py_ssize_t* i, Py_ssize_t* j, Py_ssize_t steps
    ) {
        const uint64_t *x0 = a + i[0], *x1 = a + i[1], *y0 = b + j[0], *y1 = b + j[1];
        Py_ssize_t found = 0;
        for (; steps > 0; steps--) {
            found += fastlsh_step(&x0, &y0);
            found += fastlsh_step(&x1, &y1);
        }
        i[0] = x0 - a;
        i[1] = x1 - a;
        j[0] = y0 - b;
        j[1] = y1 - b;
        return found;
    }
    #else
    #define FASTLSH_BLOCK 0
    #define fastlsh_step_one(a, b, i, j, steps) 0
    #define fastlsh_step_two(a, b, i, j, steps) 0
    #endif
    """
    enum:
        IN_VECTOR "FASTLSH_BLOCK"   # elements in a vector; 0: there are no blocks
    # Both go on from (i, j), where both sets need `steps` more blocks, and return how many common
    # elements that found. The second one has two strands, which hide each other's latency.
    Py_ssize_t step_one "fastlsh_step_one"(
        const uint64_t* a, const uint64_t* b, Py_ssize_t* i, Py_ssize_t* j, Py_ssize_t steps
    ) noexcept nogil
    Py_ssize_t step_two "fastlsh_step_two"(
        const uint64_t* a, const uint64_t* b, Py_ssize_t* i, Py_ssize_t* j, Py_ssize_t steps
    ) noexcept nogil

cdef enum:
    WORTH_TWO = 128                     # elements; fewer are not cut into two strands


cdef inline Py_ssize_t whole_blocks(Py_ssize_t n) noexcept nogil:
    return n // max(IN_VECTOR, 1)


cdef Py_ssize_t intersect_strand(
    const uint64_t* a, Py_ssize_t na, const uint64_t* b, Py_ssize_t nb
) noexcept nogil:
    # The size of the intersection: blocks while both sets have one, then one by one.
    cdef Py_ssize_t found = 0
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t j = 0
    cdef Py_ssize_t steps = whole_blocks(min(na, nb))
    while steps:
        found += step_one(a, b, &i, &j, steps)
        steps = whole_blocks(min(na - i, nb - j))
    return found + merge(a + i, na - i, b + j, nb - j)


cdef Py_ssize_t intersect_blocks(
    const uint64_t* a, Py_ssize_t na, const uint64_t* b, Py_ssize_t nb, Py_ssize_t needed
) noexcept nogil:
    # The size of the intersection, or -1 as soon as it cannot reach `needed`.
    cdef Py_ssize_t i[2]
    cdef Py_ssize_t j[2]
    cdef Py_ssize_t first, second, steps, a_half, b_half
    cdef Py_ssize_t found = 0
    if min(na, nb) < WORTH_TWO:
        found = intersect_strand(a, na, b, nb)
        return found if found >= needed else -1
    a_half = na >> 1
    b_half = lower_bound(b, nb, a[a_half])
    i[0] = j[0] = 0
    i[1] = a_half
    j[1] = b_half
    while True:
        first = min(a_half - i[0], b_half - j[0])
        second = min(na - i[1], nb - j[1])
        if found + first + second < needed:
            return -1
        steps = min(whole_blocks(min(first, second)), <Py_ssize_t> 32)
        if steps == 0:
            break
        found += step_two(a, b, i, j, steps)
    found += intersect_strand(a + i[0], a_half - i[0], b + j[0], b_half - j[0])
    found += intersect_strand(a + i[1], na - i[1], b + j[1], nb - j[1])
    return found if found >= needed else -1
