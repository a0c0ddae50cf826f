# Comparing two signatures, and two sorted sets of shingle hashes.

cdef noinline_void count_equal(
    const uint32_t* a, const uint32_t* b, Py_ssize_t k, Py_ssize_t* count
) noexcept nogil:
    cdef uint32_t total = 0
    cdef uint32_t j
    for j in range(<uint32_t> k):
        total += a[j] == b[j]
    count[0] = total


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


cdef Py_ssize_t intersect(
    const uint64_t* a, Py_ssize_t na, const uint64_t* b, Py_ssize_t nb, Py_ssize_t needed
) noexcept nogil:
    # The size of the intersection, or -1 as soon as it cannot reach `needed`.
    cdef Strands s
    cdef Py_ssize_t quarter, steps, moved, left, most
    cdef Py_ssize_t found = 0
    cdef Py_ssize_t i, j
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
        while i < s.i_end[quarter] and j < s.j_end[quarter]:
            steps = a[i] <= b[j]
            found += a[i] == b[j]
            j += b[j] <= a[i]
            i += steps
    return found if found >= needed else -1


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


cdef noinline_void make_sketch(const uint64_t* values, Py_ssize_t n, uint64_t* sketch) noexcept nogil:
    cdef int c = sketch_class(n)
    cdef Py_ssize_t small = <Py_ssize_t> 1 << (c - 7)
    cdef uint64_t* large_map = sketch + 2 + small
    cdef uint64_t bit
    cdef uint64_t at = 0
    cdef uint64_t word = 0
    cdef Py_ssize_t i
    memset(sketch, 0, sketch_words(n) * sizeof(uint64_t))
    for i in range(n):
        bit = values[i] >> (64 - c)
        if bit >> 6 != at:                      # ascending: a word is finished
            large_map[at] = word
            at = bit >> 6
            word = 0
        word |= <uint64_t> 1 << (bit & 63)
    large_map[at] = word
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
    common = intersect(a, na, b, nb, needed)
    return -1.0 if common < 0 else quotient(common, na, nb)
