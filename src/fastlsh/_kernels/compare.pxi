# Comparing two signatures, and two sorted sets of shingle hashes.

cdef noinline_void count_equal(
    const uint32_t* a, const uint32_t* b, Py_ssize_t k, Py_ssize_t* count
) noexcept nogil:
    cdef uint32_t total = 0
    cdef uint32_t j
    for j in range(<uint32_t> k):
        total += a[j] == b[j]
    count[0] = total


cdef noinline_void intersect(
    const uint64_t* a, Py_ssize_t na, const uint64_t* b, Py_ssize_t nb,
    Py_ssize_t needed, Py_ssize_t* common
) noexcept nogil:
    # The size of the intersection, or -1 as soon as it cannot reach `needed`.
    # Blocks of 8 against 8 without branches; the block with the smaller end moves on.
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t j = 0
    cdef uint64_t found = 0
    cdef uint64_t hits[8]
    cdef uint64_t value, last_a, last_b
    cdef int x, y
    while i + 8 <= na and j + 8 <= nb:
        memset(hits, 0, sizeof(hits))
        for x in range(8):
            value = a[i + x]
            for y in range(8):
                hits[y] += value == b[j + y]
        for y in range(8):
            found += hits[y]
        last_a = a[i + 7]
        last_b = b[j + 7]
        i += 8 * <Py_ssize_t> (last_a <= last_b)
        j += 8 * <Py_ssize_t> (last_b <= last_a)
        if <Py_ssize_t> found + min(na - i, nb - j) < needed:
            common[0] = -1
            return
    while i < na and j < nb:
        last_a = a[i]
        last_b = b[j]
        found += last_a == last_b
        i += last_a <= last_b
        j += last_b <= last_a
    common[0] = <Py_ssize_t> found if <Py_ssize_t> found >= needed else -1


cdef inline double quotient(Py_ssize_t common, Py_ssize_t na, Py_ssize_t nb) noexcept nogil:
    return <double> common / <double> (na + nb - common)


cdef double jaccard_of_sets(
    const uint64_t* a, Py_ssize_t na, const uint64_t* b, Py_ssize_t nb, double threshold
) noexcept nogil:
    # |A n B| / |A u B|, or -1 where that is below the threshold; 0 if a set is empty.
    cdef Py_ssize_t needed, common
    if na == 0 or nb == 0:
        return 0.0 if threshold <= 0.0 else -1.0
    # The smallest overlap whose quotient, as a float64, reaches the threshold.
    needed = <Py_ssize_t> (threshold / (1.0 + threshold) * <double> (na + nb))
    needed = max(needed - 2, 0)
    while needed <= min(na, nb) and quotient(needed, na, nb) < threshold:
        needed += 1
    if needed > min(na, nb):
        return -1.0
    intersect(a, na, b, nb, needed, &common)
    return -1.0 if common < 0 else quotient(common, na, nb)
