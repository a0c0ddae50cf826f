"""The exact join: hashes to numbers, inverted lists, pairs; against all pairs one by one."""

include "fuzz/native/drive.pxi"
include "sets/_sets.pyx"

cdef enum:
    MOST = 48                   # sets
    SPAN = 128                  # the elements are numbers below

cdef extern from *:
    """
    FUZZ_OBVIOUS static int fuzz_count(const uint64_t *set)
    {
        return __builtin_popcountll(set[0]) + __builtin_popcountll(set[1]);
    }

    FUZZ_OBVIOUS static double fuzz_jaccard(const uint64_t *a, const uint64_t *b)
    {
        int common = __builtin_popcountll(a[0] & b[0]) + __builtin_popcountll(a[1] & b[1]);
        return (double) common / (double) (fuzz_count(a) + fuzz_count(b) - common);
    }

    FUZZ_OBVIOUS static uint64_t fuzz_hash(int element)
    {
        uint64_t h = (uint64_t) (element + 1) * 0x9E3779B97F4A7C15u;
        return (h ^ h >> 29) * 0xBF58476D1CE4E5B9u;
    }
    """
    int size_of "fuzz_count"(const uint64_t* s) noexcept nogil
    double right_jaccard "fuzz_jaccard"(const uint64_t* a, const uint64_t* b) noexcept nogil
    uint64_t hash_of "fuzz_hash"(int element) noexcept nogil

cdef struct Elements:
    # Those that two sets have.
    Py_ssize_t m
    int by_hash[SPAN]
    int number[SPAN]            # the rarest first
    int64_t sets[SPAN]          # of each number


def prepare():
    pass


cdef inline bint has(const uint64_t* s, int element) noexcept nogil:
    return s[element >> 6] >> (element & 63) & 1


cdef void read_sets(Given* given, uint64_t (*sets)[2], Py_ssize_t n) noexcept nogil:
    # Of numbers in a row or not, or an earlier one with some changed; ascending in size.
    cdef uint64_t moving[2]
    cdef Py_ssize_t d, i, e, step, count
    cdef uint8_t how, from_
    for d in range(n):
        how = byte(given)
        from_ = byte(given)
        moving[0] = moving[1] = 0
        if how >= 128 and d:
            moving[0] = sets[from_ % d][0]
            moving[1] = sets[from_ % d][1]
            for _ in range((how & 127) >> 5):
                e = number(given, SPAN)
                moving[e >> 6] ^= <uint64_t> 1 << (e & 63)
        else:
            step = 1 + (how & 3)
            count = 1 + (how >> 2) * (1 + (from_ >> 7))
            for i in range(count):
                e = (from_ + i * step) % SPAN
                moving[e >> 6] |= <uint64_t> 1 << (e & 63)
        if moving[0] == 0 == moving[1]:
            moving[0] = 1
        i = d
        while i > 0 and size_of(sets[i - 1]) > size_of(moving):
            sets[i][0] = sets[i - 1][0]
            sets[i][1] = sets[i - 1][1]
            i -= 1
        sets[i][0] = moving[0]
        sets[i][1] = moving[1]


cdef void number_elements(const uint64_t (*sets)[2], Py_ssize_t n, Elements* all) noexcept nogil:
    cdef int64_t often[SPAN]
    cdef Py_ssize_t d, i
    cdef int e
    all.m = 0
    for e in range(SPAN):
        often[e] = 0
        for d in range(n):
            often[e] += has(sets[d], e)
        all.number[e] = -1
        if often[e] < 2:
            continue
        i = all.m
        all.m += 1
        while i > 0 and hash_of(all.by_hash[i - 1]) > hash_of(e):
            all.by_hash[i] = all.by_hash[i - 1]
            i -= 1
        all.by_hash[i] = e
    for e in range(SPAN):
        if often[e] < 2:
            continue
        all.number[e] = 0
        for d in range(SPAN):
            if often[d] >= 2 and (often[d] < often[e] or (often[d] == often[e] and d < e)):
                all.number[e] += 1
        all.sets[all.number[e]] = often[e]


cdef int64_t write_numbers(
    const uint64_t* of, const Elements* all, int bits, uint32_t* out
) noexcept nogil:
    # Of one set, by their hashes; returns how many elements are to be stored.
    cdef Py_ssize_t m = all.m
    cdef uint64_t* known = <uint64_t*> room(8 * m)
    cdef uint32_t* numbers = <uint32_t*> room(4 * m)
    cdef int64_t* directory = <int64_t*> room(8 * ((1 << bits) + 1))
    cdef uint64_t* hashes = <uint64_t*> room(8 * size_of(of))
    cdef Py_ssize_t i
    cdef Py_ssize_t n = 0
    cdef int64_t stored = 0
    cdef int e
    for i in range((1 << bits) + 1):
        directory[i] = 0
        while directory[i] < m and <Py_ssize_t> (
            hash_of(all.by_hash[directory[i]]) >> (64 - bits)
        ) < i:
            directory[i] += 1
    for i in range(m):
        known[i] = hash_of(all.by_hash[i])
        numbers[i] = <uint32_t> all.number[all.by_hash[i]]
    for e in range(SPAN):
        if has(of, e):
            hashes[n] = hash_of(e)
            n += 1
    find_numbers(known, directory, bits, numbers, hashes, n, out)
    n = 0
    for e in range(SPAN):
        if has(of, e):
            must(out[n] == <uint32_t> all.number[e], "a number")
            stored += all.number[e] >= 0
            n += 1
    free(hashes)
    free(directory)
    free(numbers)
    free(known)
    return stored


cdef void check_join(
    Join* j, const uint64_t (*sets)[2], Py_ssize_t n, Py_ssize_t space, Py_ssize_t steps
) noexcept nogil:
    cdef uint8_t seen[MOST][MOST]
    cdef int32_t* left = <int32_t*> room(4 * space)
    cdef int32_t* right = <int32_t*> room(4 * space)
    cdef double* similarity = <double*> room(8 * space)
    cdef int64_t* at = <int64_t*> room(8)
    cdef Py_ssize_t found, a, b, i
    cdef int64_t before
    cdef double expected
    memset(seen, 0, sizeof(seen))
    at[0] = 0
    while at[0] < n and j.total:
        before = at[0]
        j.steps = steps
        found = join_sets(j, at, <int32_t> n, left, right, similarity, space)
        must(before < at[0] <= n and found <= space, "how far it is")
        for i in range(found):
            must(0 <= left[i] < right[i] < n, "the order of a pair")
            must(not seen[left[i]][right[i]], "a pair twice")
            seen[left[i]][right[i]] = 1
            must(similarity[i] == right_jaccard(sets[left[i]], sets[right[i]]), "a similarity")
    must(not j.changed, "what nobody has changed")
    for b in range(n):
        for a in range(b):
            expected = right_jaccard(sets[a], sets[b])
            must(seen[a][b] == (expected >= j.threshold), "a pair")
    free(at)
    free(similarity)
    free(right)
    free(left)


cdef int one_input(const uint8_t* data, size_t size) noexcept nogil:
    cdef Given given = Given(data, <Py_ssize_t> size)
    cdef uint64_t sets[MOST][2]
    cdef Elements all
    cdef Join j
    cdef Py_ssize_t n = 1 + number(&given, MOST)
    cdef int bits = <int> (1 + number(&given, 6))
    cdef Py_ssize_t space = n + number(&given, 60)
    cdef Py_ssize_t steps = byte(&given) * 8
    cdef Py_ssize_t d, i, total
    cdef int64_t* whole = <int64_t*> room(8 * n)
    cdef int64_t* begin = <int64_t*> room(8 * (n + 1))
    cdef int64_t* start = <int64_t*> room(8 * (n + 1))
    cdef int64_t* fill
    cdef int64_t* lists
    cdef uint32_t* numbers
    cdef uint32_t* elements
    cdef int32_t* postings
    memset(&j, 0, sizeof(j))
    j.threshold = (1 + number(&given, 250)) / 250.0
    read_sets(&given, sets, n)
    number_elements(sets, n, &all)
    begin[0] = start[0] = 0
    for d in range(n):
        whole[d] = size_of(sets[d])
        begin[d + 1] = begin[d] + whole[d]
    numbers = <uint32_t*> room(4 * begin[n])
    for d in range(n):
        start[d + 1] = start[d] + write_numbers(sets[d], &all, bits, numbers + begin[d])
    total = start[n]
    elements = <uint32_t*> room(4 * total)
    postings = <int32_t*> room(4 * total)
    lists = <int64_t*> room(8 * (all.m + 1))
    fill = <int64_t*> room(8 * max(all.m, n))
    lists[0] = 0
    for i in range(all.m):
        fill[i] = lists[i]
        lists[i + 1] = lists[i] + all.sets[i]
    turn(numbers, begin, n, fill, postings)
    turn_back(whole, start, j.threshold, n, all.m, lists, postings, fill, elements)
    for d in range(n):
        must(fill[d] == start[d + 1], "the size of a stored set")
        for i in range(start[d] + 1, start[d + 1]):
            must(elements[i - 1] < elements[i] < all.m, "the order of a stored set")
    j.size = whole
    j.start = start
    j.elements = elements
    j.lists = lists
    j.postings = postings
    j.numbers = all.m
    j.total = total
    j.met = <int32_t*> room(4 * n)
    j.candidates = <int32_t*> room(4 * n)
    check_join(&j, sets, n, space, steps)
    free(j.candidates)
    free(j.met)
    free(fill)
    free(lists)
    free(postings)
    free(elements)
    free(numbers)
    free(start)
    free(begin)
    free(whole)
    return 0
