# Common elements of two sorted sets, a vector of each at a time: every element of the one with
# every element of the other. Written in the vector extensions of gcc and clang, for there is no
# loop that both turn into this. With narrower vectors `step_strands` is as fast.

cdef extern from *:
    """
    #if defined(__GNUC__) && defined(__AVX512F__)
    #define FASTLSH_BLOCK 8
    #else
    #define FASTLSH_BLOCK 0
    #endif

    #if FASTLSH_BLOCK
    typedef long long fastlsh_block __attribute__((vector_size(8 * FASTLSH_BLOCK)));

    static __attribute__((noinline)) Py_ssize_t fastlsh_step_blocks(
        const uint64_t* a, const uint64_t* b, Py_ssize_t* i, Py_ssize_t* j,
        Py_ssize_t i_last, Py_ssize_t j_last, int steps
    ) {
        const uint64_t* x = a + *i;
        const uint64_t* y = b + *j;
        const uint64_t* x_last = a + i_last;
        const uint64_t* y_last = b + j_last;
        fastlsh_block hits = {0};
        Py_ssize_t found = 0;
        for (; steps && x <= x_last && y <= y_last; steps--) {
            fastlsh_block theirs, equal;
            uint64_t x_end = x[FASTLSH_BLOCK - 1], y_end = y[FASTLSH_BLOCK - 1];
            memcpy(&theirs, y, sizeof theirs);
            equal = theirs == (long long) x[0];
            for (int e = 1; e < FASTLSH_BLOCK; e++)
                equal |= theirs == (long long) x[e];
            hits -= equal;
            x += (x_end <= y_end) * FASTLSH_BLOCK;
            y += (y_end <= x_end) * FASTLSH_BLOCK;
        }
        for (int e = 0; e < FASTLSH_BLOCK; e++)
            found += (Py_ssize_t) hits[e];
        *i = x - a;
        *j = y - b;
        return found;
    }
    #else
    #define fastlsh_step_blocks(a, b, i, j, i_last, j_last, steps) 0
    #endif
    """
    enum:
        IN_VECTOR "FASTLSH_BLOCK"   # elements in a vector; 0: there are no blocks
    # Goes on from (i, j), at most so many steps and while both lie at or before their last
    # places; returns how many common elements that found.
    Py_ssize_t step_blocks "fastlsh_step_blocks"(
        const uint64_t* a, const uint64_t* b, Py_ssize_t* i, Py_ssize_t* j,
        Py_ssize_t i_last, Py_ssize_t j_last, int steps
    ) noexcept nogil


cdef Py_ssize_t intersect_blocks(
    const uint64_t* a, Py_ssize_t na, const uint64_t* b, Py_ssize_t nb, Py_ssize_t needed
) noexcept nogil:
    # The size of the intersection, or -1 as soon as it cannot reach `needed`.
    cdef Py_ssize_t found = 0
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t j = 0
    cdef uint64_t x, y
    while i + IN_VECTOR <= na and j + IN_VECTOR <= nb:
        if found + min(na - i, nb - j) < needed:
            return -1
        found += step_blocks(a, b, &i, &j, na - IN_VECTOR, nb - IN_VECTOR, 32)
    while i < na and j < nb:
        x = a[i]
        y = b[j]
        found += x == y
        i += either(x <= y)
        j += either(y <= x)
    return found if found >= needed else -1
