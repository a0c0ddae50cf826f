"""Sets of hashes: made of a document, compared in full and as dense numbers; and signatures."""

include "fuzz/native/drive.pxi"
include "fuzz/native/sources.pxi"
include "sets/_sets.pyx"
include "sets/blocks.pxi"
include "sets/compare.pxi"
include "sets/sets.pxi"

cdef extern from *:
    """
    FUZZ_OBVIOUS static Py_ssize_t fuzz_common(const uint8_t *a, const uint8_t *b, Py_ssize_t n)
    {
        Py_ssize_t common = 0;
        for (Py_ssize_t i = 0; i < n; i++)
            common += a[i] & b[i];
        return common;
    }

    FUZZ_OBVIOUS static Py_ssize_t fuzz_list(const uint8_t *has, Py_ssize_t n, uint64_t *out)
    {
        Py_ssize_t made = 0;
        for (Py_ssize_t i = 0; i < n; i++) {
            out[made] = i + 1;
            made += has[i];
        }
        return made;
    }
    """
    Py_ssize_t count_common "fuzz_common"(
        const uint8_t* a, const uint8_t* b, Py_ssize_t n) noexcept nogil
    Py_ssize_t list_numbers "fuzz_list"(
        const uint8_t* has, Py_ssize_t n, uint64_t* out) noexcept nogil

cdef enum:
    MOST_OF_A_SET = 600
    SPAN = 1024                 # the elements are numbers below

cdef Workbench* bench = NULL


def prepare():
    global bench
    bench = <Workbench*> malloc(sizeof(Workbench))


cdef inline uint64_t hash_of(uint32_t element, int form) noexcept nogil:
    # Spread over 64 bits, or all alike in the leading bits, or small.
    cdef uint64_t h = (<uint64_t> element + 1) * <uint64_t> 0x9E3779B97F4A7C15
    if form == 0:
        return h ^ h >> 29
    if form == 1:
        return <uint64_t> 0xABCDEF0000000000 | element
    return element + 1


cdef Py_ssize_t read_elements(Given* given, uint8_t* has, uint32_t* elements) noexcept nogil:
    # Single ones and runs, up to the first byte 255; says which there are, too.
    cdef uint32_t at = 0
    cdef Py_ssize_t n = 0
    cdef int c, step, count
    memset(has, 0, SPAN)
    while given.left > 0:
        c = byte(given)
        if c == 255:
            break
        step = 1 + (c & 7)
        count = 1 if c < 192 else (c & 63) * 2
        at += c >> 3
        while count and n < MOST_OF_A_SET:
            at = (at + step) % SPAN
            has[at] = 1
            elements[n] = at
            n += 1
            count -= 1
    return n


cdef uint64_t* make_set(
    const uint32_t* elements, Py_ssize_t n, int form, Py_ssize_t* count
) noexcept nogil:
    # As a document of ready hashes gives it, in an array of just that size.
    cdef uint64_t* hashes = <uint64_t*> room(8 * n)
    cdef uint64_t* out = <uint64_t*> room(8 * n)
    cdef uint64_t* made
    cdef Source source
    cdef Py_ssize_t i
    for i in range(n):
        hashes[i] = hash_of(elements[i], form)
    open_hashes(&source, hashes, True, n)
    count[0] = write_set(&source, out, n, False, bench)
    made = <uint64_t*> room(8 * count[0])
    memcpy(made, out, 8 * count[0])
    free(out)
    free(hashes)
    return made


cdef bint has_hash(const uint64_t* values, Py_ssize_t n, uint64_t value) noexcept nogil:
    cdef Py_ssize_t low = 0
    cdef Py_ssize_t middle
    while n - low > 1:
        middle = (low + n) // 2
        if values[middle] <= value:
            low = middle
        else:
            n = middle
    return values[low] == value


cdef uint64_t* pack_set(const uint64_t* numbers, Py_ssize_t n) noexcept nogil:
    # A list of dense numbers as words, twice: how many, and in an array of just that size.
    cdef uint64_t words[17]             # a bit for each number up to SPAN
    cdef uint64_t taken[1]
    cdef uint64_t taken_taken[1]
    cdef Bitmap bitmap
    cdef int64_t start = 0
    cdef int64_t count = n
    cdef int64_t place, size
    cdef Py_ssize_t needed
    cdef uint64_t* out
    bitmap.words = words
    bitmap.taken = taken
    bitmap.taken_taken = taken_taken
    bitmap.most = 1
    memset(words, 0, sizeof(words))
    memset(taken, 0, sizeof(taken))
    memset(taken_taken, 0, sizeof(taken_taken))
    needed = pack_lists(&bitmap, numbers, &start, &count, 1, NULL, 0, &place, &size)
    must(size == n, "the numbers of a bitmap")
    out = <uint64_t*> room(8 * needed)
    must(
        needed == pack_lists(&bitmap, numbers, &start, &count, 1, out, needed, &place, &size),
        "the words of a bitmap",
    )
    return out


cdef int one_input(const uint8_t* data, size_t size) noexcept nogil:
    cdef Given given = Given(data, <Py_ssize_t> size)
    cdef int form = <int> number(&given, 3)
    cdef double threshold = byte(&given) / 250.0
    cdef uint8_t has[2][SPAN]
    cdef uint32_t elements[MOST_OF_A_SET]
    cdef uint64_t numbers[SPAN]
    cdef Py_ssize_t count[2]
    cdef uint64_t* sets[2]
    cdef uint64_t* lists[2]
    cdef uint64_t* packed[2]
    cdef Py_ssize_t n, m, common, side, i
    cdef double right, contained
    threshold = min(threshold, 1.0)
    for side in range(2):
        n = read_elements(&given, has[side], elements)
        sets[side] = make_set(elements, n, form, &count[side])
        lists[side] = <uint64_t*> room(8 * count[side])
        m = 0
        m = list_numbers(has[side], SPAN, numbers)
        must(m == count[side], "the size of a set")
        memcpy(lists[side], numbers, 8 * m)
        for i in range(m):
            must(i == 0 or sets[side][i - 1] < sets[side][i], "the order of a set")
        for i in range(m):
            must(
                has_hash(sets[side], m, hash_of(<uint32_t> lists[side][i] - 1, form)), "a hash"
            )
        packed[side] = pack_set(lists[side], m)
    common = count_common(has[0], has[1], SPAN)
    right = contained = 0.0
    if count[0] and count[1]:
        right = <double> common / <double> (count[0] + count[1] - common)
        contained = <double> common / <double> count[0]
    right = right if right >= threshold else -1.0
    contained = contained if contained >= threshold else -1.0
    must(
        jaccard_of_sets(sets[0], count[0], sets[1], count[1], threshold) == right, "the similarity"
    )
    must(
        jaccard_of_numbers(packed[0], count[0], packed[1], count[1], threshold) == right,
        "the similarity of numbers",
    )
    must(
        containment_of_numbers(packed[0], count[0], packed[1], count[1], threshold) == contained,
        "the containment",
    )
    for side in range(2):
        free(sets[side])
        free(lists[side])
        free(packed[side])
    return 0
