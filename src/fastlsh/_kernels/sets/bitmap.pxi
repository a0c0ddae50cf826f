# A set of dense numbers as bits, from which its words are taken in ascending order.

from libc.stdint cimport int64_t, uint64_t

from fastlsh._kernels.common.compiler cimport noinline_void, popcount

cdef struct Bitmap:
    uint64_t* words             # a bit for each number
    uint64_t* taken             # a bit for each word that is not 0
    uint64_t* taken_taken       # a bit for each of these
    Py_ssize_t most             # of the last: how many


cdef inline void add_number(Bitmap* map, uint64_t number) noexcept nogil:
    cdef uint64_t word = number >> 6
    cdef uint64_t bits = map.words[word]
    map.words[word] = bits | <uint64_t> 1 << (number & 63)
    if bits == 0:
        map.taken[word >> 6] |= <uint64_t> 1 << (word & 63)
        map.taken_taken[word >> 12] |= <uint64_t> 1 << ((word >> 6) & 63)


cdef noinline_void add_numbers(Bitmap* map, const uint64_t* list, Py_ssize_t n) noexcept nogil:
    # Neighbours in the list mostly share a word: four strands do not wait for each other.
    cdef Py_ssize_t quarter = n >> 2
    cdef Py_ssize_t i
    for i in range(quarter):
        add_number(map, list[i])
        add_number(map, list[i + quarter])
        add_number(map, list[i + 2 * quarter])
        add_number(map, list[i + 3 * quarter])
    for i in range(4 * quarter, n):
        add_number(map, list[i])


cdef inline int lowest(uint64_t word) noexcept nogil:
    return <int> popcount((word - 1) & ~word)


cdef Py_ssize_t take_words(
    Bitmap* map, uint64_t* out, Py_ssize_t room, int64_t* size
) noexcept nogil:
    # Writes the set and empties the bitmap; returns how long it is: out is written up to `room`.
    cdef Py_ssize_t at = 1
    cdef Py_ssize_t high, middle, word
    cdef uint64_t some, more, bits
    size[0] = 0
    for high in range(map.most):
        some = map.taken_taken[high]
        map.taken_taken[high] = 0
        while some:
            middle = high << 6 | lowest(some)
            some &= some - 1
            more = map.taken[middle]
            map.taken[middle] = 0
            while more:
                word = middle << 6 | lowest(more)
                more &= more - 1
                bits = map.words[word]
                map.words[word] = 0
                size[0] += popcount(bits)
                if at + 2 <= room:
                    out[at] = word
                    out[at + 1] = bits
                at += 2
    if room > 0:
        out[0] = at >> 1
    return at


cdef uint64_t bits_of_lists(
    const uint64_t* lists, const int64_t* start, const int64_t* count, Py_ssize_t n
) noexcept nogil:
    # All bits that are set in one of the numbers: at least the greatest, and sooner found.
    cdef uint64_t bits = 0
    cdef Py_ssize_t i, j
    for i in range(n):
        for j in range(count[i]):
            bits |= lists[start[i] + j]
    return bits


cdef Py_ssize_t pack_lists(
    Bitmap* map, const uint64_t* lists, const int64_t* start, const int64_t* count, Py_ssize_t n,
    uint64_t* out, Py_ssize_t room, int64_t* place, int64_t* size
) noexcept nogil:
    # Returns how many words the sets need; no more than `room` are written.
    cdef Py_ssize_t end = 0
    cdef Py_ssize_t i
    for i in range(n):
        if count[i]:
            add_numbers(map, lists + start[i], count[i])
        place[i] = end
        if end < room:
            end += take_words(map, out + end, room - end, &size[i])
        else:
            end += take_words(map, NULL, 0, &size[i])
    return end
