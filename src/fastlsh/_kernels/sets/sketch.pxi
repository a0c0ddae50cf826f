# The sketch of a set: two bitmaps in which each hash sets the bit that its leading bits name,
# 4 to 8 and 8 to 16 bits for each hash. A bit that only A has is a hash that only A has, so that
# counting common bits bounds the overlap from above: most pairs below the threshold are refused
# for a small part of the price of an intersection, and none wrongly.
# Layout, in 64-bit words behind the set: bits in the small map, in the large one, the two maps.

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memset

from fastlsh._kernels.common.compiler cimport either, noinline_void, popcount


cdef inline int sketch_class(Py_ssize_t n) noexcept nogil:
    # The large map has 2^class bits.
    cdef int c = 7
    while (<Py_ssize_t> 1 << c) < 8 * n:
        c += 1
    return c


cdef inline Py_ssize_t sketch_words(Py_ssize_t n) noexcept nogil:
    cdef int c = sketch_class(n)
    return 2 + (<Py_ssize_t> 1 << (c - 7)) + (<Py_ssize_t> 1 << (c - 6))


cdef Py_ssize_t sketch_sizes(const int64_t* sizes, Py_ssize_t n, int64_t* out) noexcept nogil:
    # Returns how many sizes were in order: all, or the place of the first that is not.
    cdef Py_ssize_t i
    cdef int64_t size
    for i in range(n):
        size = sizes[i]
        if not 0 <= size < <int64_t> 1 << 56:
            return i
        out[i] = sketch_words(size)
    return n


cdef noinline_void make_sketch(
    const uint64_t* values, Py_ssize_t n, uint64_t* sketch
) noexcept nogil:
    cdef int c = sketch_class(n)
    cdef Py_ssize_t small = <Py_ssize_t> 1 << (c - 7)
    cdef uint64_t* large_map = sketch + 2 + small
    cdef uint64_t bit
    cdef uint64_t at = 0
    cdef uint64_t word = 0
    cdef Py_ssize_t i
    memset(sketch, 0, sketch_words(n) * sizeof(uint64_t))
    for i in range(n):                          # ascending: what is stored last is whole
        bit = values[i] >> (64 - c)
        word = word * either(bit >> 6 == at) | <uint64_t> 1 << (bit & 63)
        at = bit >> 6
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


cdef bint maps_refuse(
    const uint64_t* x, Py_ssize_t na, bint large_x,
    const uint64_t* y, Py_ssize_t nb, bint large_y, int bits, Py_ssize_t needed
) noexcept nogil:
    # Compares maps of 2^bits bits, each the large or the small one of its sketch.
    cdef Py_ssize_t words = <Py_ssize_t> 1 << (bits - 6)
    cdef Py_ssize_t common
    count_common_bits(
        x + 2 + (words >> 1) * large_x, y + 2 + (words >> 1) * large_y, words, &common
    )
    return common + min(na - <Py_ssize_t> x[large_x], nb - <Py_ssize_t> y[large_y]) < needed


cdef bint sketches_refuse(
    const uint64_t* a, Py_ssize_t na, const uint64_t* b, Py_ssize_t nb, Py_ssize_t needed
) noexcept nogil:
    # Whether the sketches behind the sets show that less than `needed` hashes are common.
    cdef int ca = sketch_class(na)
    cdef int cb = sketch_class(nb)
    if ca == cb:
        return (
            maps_refuse(a + na, na, False, b + nb, nb, False, ca - 1, needed)
            or maps_refuse(a + na, na, True, b + nb, nb, True, ca, needed)
        )
    if ca == cb + 1:
        return maps_refuse(a + na, na, False, b + nb, nb, True, cb, needed)
    if cb == ca + 1:
        return maps_refuse(a + na, na, True, b + nb, nb, False, ca, needed)
    return False
