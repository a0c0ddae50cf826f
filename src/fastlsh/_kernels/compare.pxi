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


# The sketch of a set: two bitmaps in which each hash sets the bit that its leading bits name,
# 2 to 4 and 4 to 8 bits for each hash. A bit that only A has is a hash that only A has, so that
# counting common bits bounds the overlap from above: most pairs below the threshold are refused
# for a fiftieth of the price of an intersection, and none wrongly.
# Layout, in 64-bit words behind the set: bits in the small map, in the large one, the two maps.

cdef inline int sketch_class(Py_ssize_t n) noexcept nogil:
    # The large map has 2^class bits.
    cdef int c = 7
    while (<Py_ssize_t> 1 << c) < 4 * n:
        c += 1
    return c


cdef inline Py_ssize_t sketch_words(Py_ssize_t n) noexcept nogil:
    cdef int c = sketch_class(n)
    return 2 + (<Py_ssize_t> 1 << (c - 7)) + (<Py_ssize_t> 1 << (c - 6))


cdef void make_sketch(const uint64_t* values, Py_ssize_t n, uint64_t* sketch) noexcept nogil:
    cdef int c = sketch_class(n)
    cdef Py_ssize_t small = <Py_ssize_t> 1 << (c - 7)
    cdef uint64_t* large_map = sketch + 2 + small
    cdef uint64_t bit, word
    cdef Py_ssize_t i
    memset(sketch, 0, sketch_words(n) * sizeof(uint64_t))
    for i in range(n):
        bit = values[i] >> (64 - c)
        large_map[bit >> 6] |= <uint64_t> 1 << (bit & 63)
    for i in range(2 * small):
        word = large_map[i]
        sketch[1] += popcount(word)
        word = halved(word)
        sketch[0] += popcount(word)
        sketch[2 + (i >> 1)] |= word << (32 * (i & 1))


cdef inline uint64_t halved(uint64_t word) noexcept nogil:
    # Each two neighbouring bits become one.
    word = (word | (word >> 1)) & <uint64_t> 0x5555555555555555
    word = (word | (word >> 1)) & <uint64_t> 0x3333333333333333
    word = (word | (word >> 2)) & <uint64_t> 0x0F0F0F0F0F0F0F0F
    word = (word | (word >> 4)) & <uint64_t> 0x00FF00FF00FF00FF
    word = (word | (word >> 8)) & <uint64_t> 0x0000FFFF0000FFFF
    return (word | (word >> 16)) & <uint64_t> 0x00000000FFFFFFFF


cdef noinline_void count_common_bits(
    const uint64_t* a, const uint64_t* b, Py_ssize_t words, Py_ssize_t* count
) noexcept nogil:
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t i
    for i in range(words):
        total += popcount(a[i] & b[i])
    count[0] = total


cdef Py_ssize_t most_common(
    const uint64_t* a, Py_ssize_t na, const uint64_t* b, Py_ssize_t nb
) noexcept nogil:
    # An upper bound of the intersection, from the sketches behind the sets.
    cdef int ca = sketch_class(na)
    cdef int cb = sketch_class(nb)
    cdef int c = min(ca, cb)
    cdef const uint64_t* x = a + na
    cdef const uint64_t* y = b + nb
    cdef Py_ssize_t bits
    if max(ca, cb) > c + 1:
        return min(na, nb)
    # The large map of the smaller class, the small map of the larger one.
    count_common_bits(
        x + 2 + (<Py_ssize_t> 1 << (ca - 7)) * (ca == c),
        y + 2 + (<Py_ssize_t> 1 << (cb - 7)) * (cb == c),
        <Py_ssize_t> 1 << (c - 6), &bits,
    )
    return bits + min(na - <Py_ssize_t> x[ca == c], nb - <Py_ssize_t> y[cb == c])


cdef double jaccard_of_sets(
    const uint64_t* a, Py_ssize_t na, const uint64_t* b, Py_ssize_t nb, double threshold,
    bint sketched,
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
    if sketched and most_common(a, na, b, nb) < needed:
        return -1.0
    intersect(a, na, b, nb, needed, &common)
    return -1.0 if common < 0 else quotient(common, na, nb)
