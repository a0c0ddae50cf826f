"""Sets of shingle hashes: made, compared, packed as dense numbers, and joined."""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

import numpy as np
import threading

from fastlsh._kernels.common.checks cimport (
    check_array, check_matrix, check_offsets, check_starts, check_threshold,
)
from fastlsh._kernels.common.compiler cimport either, noinline_void, popcount
from fastlsh._kernels.common.debug cimport check
from fastlsh._kernels.common.hash_table cimport (
    HASHES_AHEAD, HashTable, first_slot, forget_numbers, free_table, given_number, make_room,
    make_table,
)
from fastlsh._kernels.common.prefetch cimport prefetch
from fastlsh._kernels.common._common cimport loops
from fastlsh._kernels.sets.checks cimport check_pairs, sets_of
from fastlsh._kernels.sets.modes cimport (
    BY_CONTAINMENT, BY_SETS, BY_SIGNATURE, BY_TEXTS, NOT_VERIFIED,
)
from fastlsh._kernels.sets.overlap cimport (
    least_overlap, least_part, least_size, prefix_length, quotient,
)
from fastlsh._kernels.sets.sets cimport Sets, Workbench
from fastlsh._kernels.text._plans cimport (
    ShinglePlan, check_documents, longest_of, new_window, plan_of,
)
from fastlsh._kernels.text._texts cimport Spans
from fastlsh._kernels.text.source cimport CHARACTERS, Hashing


# ---- A set of dense numbers as bits, from which its words are taken in ascending order.

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


# ---- Dense numbers for the hashes of documents that are compared with each other.
#
# Equal hashes get the same number, each new hash the next one. Documents that are alike share most
# of their numbers, and these lie close together: as bits, a set takes a few words, and common
# elements are counted 64 at a time.

cdef enum:
    FIRST_ROOM = 1 << 12


cdef noinline_void replace(HashTable* t, uint64_t* values, Py_ssize_t n) noexcept nogil:
    # There is room for n more numbers.
    cdef Py_ssize_t i
    for i in range(n):
        if i + HASHES_AHEAD < n:
            prefetch(t.slots + first_slot(t, values[i + HASHES_AHEAD]))
        values[i] = given_number(t, values[i])


cdef bint replace_lists(
    HashTable* t, uint64_t* lists, const int64_t* start, const int64_t* count, Py_ssize_t n
) noexcept nogil:
    # False: there is no memory; nothing has changed.
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t i
    for i in range(n):
        total += count[i]
    if not make_room(t, total):
        return False
    for i in range(n):
        replace(t, lists + start[i], count[i])
    return True


cdef bint replace_families(
    HashTable* t, uint64_t* lists, const int64_t* start, const int64_t* count,
    const int64_t* begins, Py_ssize_t families
) noexcept nogil:
    # The table of a small family stays in the cache. False: there is no memory.
    cdef Py_ssize_t i, first
    for i in range(families):
        first = begins[i]
        forget_numbers(t)
        if not replace_lists(t, lists, start + first, count + first, begins[i + 1] - first):
            return False
    return True


cdef int check_lists(
    const uint64_t[::1] lists, const int64_t[::1] start, const int64_t[::1] count
) except -1:
    cdef Py_ssize_t i
    check_array(lists, "lists")
    check_array(start, "start")
    check_array(count, "count")
    if start.shape[0] < count.shape[0]:
        raise ValueError("start and count need one element per list")
    for i in range(count.shape[0]):
        if not 0 <= start[i] <= lists.shape[0] or not 0 <= count[i] <= lists.shape[0] - start[i]:
            raise IndexError(f"list {i} lies outside the array")
    return 0


cdef class Numbers:
    """The numbers that have been given, from 1 on. Threads take turns."""

    cdef HashTable table
    cdef object lock

    def __cinit__(self):
        self.lock = threading.Lock()
        if not make_table(&self.table, FIRST_ROOM):
            raise MemoryError()

    def __dealloc__(self):
        free_table(&self.table)

    def __len__(self):
        return self.table.used - 1

    def clear(self):
        """Forget all numbers."""
        with self.lock:
            forget_numbers(&self.table)

    def replace(
        self, uint64_t[::1] lists not None, const int64_t[::1] start not None,
        const int64_t[::1] count not None, const int64_t[::1] families=None,
    ):
        """Put numbers in the place of hashes.

        Parameters
        ----------
        lists
            uint64, written.
        start, count
            int64 (n,): place and size of each list. `start` may have more elements.
        families
            int64 (m + 1,), from 0 to n: where families begin and end. Before each of them all
            numbers are forgotten. None: those that have been given stay.
        """
        cdef Py_ssize_t n = count.shape[0]
        cdef bint done
        check_lists(lists, start, count)
        if families is not None:
            check_starts(families, n, "families")
        if n == 0 or lists.shape[0] == 0:
            return
        with self.lock:
            with nogil:
                if families is None:
                    done = replace_lists(&self.table, &lists[0], &start[0], &count[0], n)
                else:
                    done = replace_families(
                        &self.table, &lists[0], &start[0], &count[0], &families[0],
                        families.shape[0] - 1,
                    )
        if not done:
            raise MemoryError("no room for so many numbers")


def pack_numbers(
    const uint64_t[::1] lists not None, const int64_t[::1] start not None,
    const int64_t[::1] count not None, uint64_t[::1] out not None, int64_t[::1] place not None,
    int64_t[::1] size not None,
):
    """Write sets of numbers as words, one after the other; return where the last one ends.

    A set is the number of its words; then, for each of them in ascending order, its place and its
    64 bits: bit b of word w stands for the number 64 * w + b.

    Parameters
    ----------
    lists, start, count
        As `Numbers.replace` leaves them; repetitions do no harm.
    out
        uint64; 1 + 2 * count[i] elements for each set are enough.
    place, size
        int64 (n,), written: where each set begins, and how many elements it has.
    """
    cdef Py_ssize_t n = count.shape[0]
    cdef Py_ssize_t end = 0
    cdef uint64_t all_bits
    cdef Bitmap map
    check_lists(lists, start, count)
    if place.shape[0] != n or size.shape[0] != n:
        raise ValueError("place and size need one element per list")
    check_array(out, "out")
    check_array(place, "place")
    check_array(size, "size")
    if n == 0:
        return 0
    cdef const uint64_t* first = &lists[0] if lists.shape[0] else NULL
    cdef uint64_t* to = &out[0] if out.shape[0] else NULL
    with nogil:
        all_bits = bits_of_lists(first, &start[0], &count[0], n)
    if all_bits >> 32:
        raise ValueError("numbers must be below 2^32")
    map.most = (all_bits >> 18) + 1
    map.words = <uint64_t*> calloc((64 * 64 + 64 + 1) * map.most, sizeof(uint64_t))
    if map.words == NULL:
        raise MemoryError()
    map.taken = map.words + 64 * 64 * map.most
    map.taken_taken = map.taken + 64 * map.most
    with nogil:
        end = pack_lists(
            &map, first, &start[0], &count[0], n, to, out.shape[0], &place[0], &size[0]
        )
    free(map.words)
    if end > out.shape[0]:
        raise ValueError(f"the sets need {end} words, out has {out.shape[0]}")
    return end


# ---- Sets of dense numbers (`Numbers`), as words: the number of words, then for each of them its
# place and its 64 bits, by ascending place. Common elements are counted a word at a time.

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
    cdef Py_ssize_t _i
    for _i in range(steps):
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
    cdef Py_ssize_t _i
    for _i in range(steps):
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


# ---- Many pairs of sorted sets of shingle hashes.

cdef inline bint has_set(const Sets* sets, Py_ssize_t d) noexcept nogil:
    cdef int64_t count = sets.count[d]
    return 0 <= count <= sets.total and 0 <= sets.start[d] <= sets.total - count


cdef Py_ssize_t compare_pairs(
    const Sets* sets, const int64_t* left, const int64_t* right, Py_ssize_t n, double threshold,
    double* out
) noexcept nogil:
    # Returns how many were compared: all, or the place of the first with a set that lies outside.
    cdef Py_ssize_t i
    cdef int64_t a, b
    for i in range(n):
        a = left[i]
        b = right[i]
        if not (has_set(sets, a) and has_set(sets, b)):
            return i
        out[i] = loops.jaccard_of_sets(
            sets.words + sets.start[a], sets.count[a],
            sets.words + sets.start[b], sets.count[b], threshold,
        )
    return n


# ---- Sets as numbers by rarity, and for each number the sets in whose prefix it lies.
#
# Elements that one set alone has are not stored: they are the rarest, come first in its order and
# are in no overlap.

cdef enum:
    ABSENT = 0xFFFFFFFF


# ---- numbers instead of hashes


cdef void find_numbers(
    const uint64_t* known, const int64_t* directory, int bits, const uint32_t* number,
    const uint64_t* hashes, Py_ssize_t n, uint32_t* out
) noexcept nogil:
    cdef Py_ssize_t i, at, end
    for i in range(n):
        at = directory[hashes[i] >> (64 - bits)]
        end = directory[(hashes[i] >> (64 - bits)) + 1]
        while at < end and known[at] < hashes[i]:
            at += 1
        out[i] = number[at] if at < end and known[at] == hashes[i] else <uint32_t> ABSENT


def numbers_of(
    const uint64_t[::1] known not None, const uint32_t[::1] number not None,
    const int64_t[::1] directory not None, const uint64_t[::1] hashes not None,
    uint32_t[::1] out not None,
):
    """Write the number of each hash into `out`, uint32 (n,); 2^32 - 1 where it has none.

    Parameters
    ----------
    known, number
        uint64 (m,), ascending, evenly spread; and their numbers, uint32 (m,).
    directory
        int64 (2^bits + 1,), bits at least 1: where the hashes with each leading bits begin.
    hashes
        uint64 (n,).
    """
    cdef Py_ssize_t m = known.shape[0]
    cdef int bits = 1
    while bits < 40 and (<Py_ssize_t> 1 << bits) + 1 < directory.shape[0]:
        bits += 1
    if directory.shape[0] != (<Py_ssize_t> 1 << bits) + 1:
        raise ValueError(f"directory has {directory.shape[0]} elements, expected 2^bits + 1")
    if number.shape[0] != m or out.shape[0] != hashes.shape[0]:
        raise ValueError("known and number need the same length, and hashes and out")
    check_starts(directory, m, "directory")
    check_array(known, "known")
    check_array(number, "number")
    check_array(hashes, "hashes")
    check_array(out, "out")
    check_array(directory, "directory")
    if hashes.shape[0] == 0:
        return
    if m == 0:
        out[:] = <uint32_t> ABSENT
        return
    with nogil:
        find_numbers(
            &known[0], &directory[0], bits, &number[0], &hashes[0], hashes.shape[0], &out[0]
        )


# ---- the sets in order of rarity, and the inverted lists of their prefixes


cdef void turn(
    const uint32_t* numbers, const int64_t* begin, Py_ssize_t n, int64_t* fill, int32_t* postings
) noexcept nogil:
    cdef Py_ssize_t d, i
    for d in range(n):
        for i in range(begin[d], begin[d + 1]):
            if numbers[i] != <uint32_t> ABSENT:
                postings[fill[numbers[i]]] = <int32_t> d
                fill[numbers[i]] += 1


cdef void turn_back(
    const int64_t* size, const int64_t* start, double threshold, Py_ssize_t n, Py_ssize_t m,
    int64_t* lists, int32_t* postings, int64_t* fill, uint32_t* elements
) noexcept nogil:
    # By rising number, so that each set is written in its order. Lists keep the sets in whose
    # prefix the element lies, moved together in place.
    cdef Py_ssize_t e, i, end, needed
    cdef Py_ssize_t kept = 0
    cdef Py_ssize_t begin = 0
    cdef int32_t d
    for d in range(<int32_t> n):
        fill[d] = start[d]
    for e in range(m):
        end = lists[e + 1]
        lists[e] = kept
        for i in range(begin, end):
            d = postings[i]
            elements[fill[d]] = <uint32_t> e
            fill[d] += 1
            needed = least_overlap(size[d], size[d], threshold)
            if fill[d] - start[d] <= prefix_length(start[d + 1] - start[d], needed):
                postings[kept] = d
                kept += 1
        begin = end
    lists[m] = kept


def invert(
    const uint32_t[::1] numbers not None, const int64_t[::1] begin not None,
    const int64_t[::1] start not None, double threshold, int64_t[::1] lists not None,
    int32_t[::1] postings not None, uint32_t[::1] elements not None,
):
    """Put each set in order of its numbers, and list in whose prefix each number lies.

    Parameters
    ----------
    numbers, begin
        uint32 and int64 (n + 1,): the sets, in any order inside; 2^32 - 1 is no element to store.
    start
        int64 (n + 1,): where each set is stored.
    threshold
        Of the join, which makes the prefixes.
    lists
        int64 (m + 1,): where the list of each number begins; made to fit the prefixes.
    postings, elements
        int32 and uint32 (start[n],), written: the lists; the sets, ascending.
    """
    import numpy as np
    cdef Py_ssize_t n = begin.shape[0] - 1
    cdef Py_ssize_t m = lists.shape[0] - 1
    cdef Py_ssize_t total = elements.shape[0]
    cdef Py_ssize_t d, i, here
    cdef int64_t[::1] fill = np.array(lists)
    cdef int64_t[::1] size = np.diff(begin)
    if not 0.0 < threshold <= 1.0:
        raise ValueError(f"threshold must be above 0 and at most 1, got {threshold}")
    if start.shape[0] != n + 1 or postings.shape[0] != total or n >= 1 << 31:
        raise ValueError("start and begin need the same length, and elements and postings")
    check_starts(begin, numbers.shape[0], "begin")
    check_starts(start, total, "start")
    check_starts(lists, total, "lists")
    check_array(postings, "postings")
    check_array(elements, "elements")
    check_array(numbers, "numbers")
    for d in range(n):
        here = 0
        for i in range(begin[d], begin[d + 1]):
            if numbers[i] != <uint32_t> ABSENT:
                if numbers[i] >= m:
                    raise IndexError(f"set {d} has number {numbers[i]} of {m}")
                fill[numbers[i]] += 1
                here += 1
        if here != start[d + 1] - start[d]:
            raise ValueError(f"start leaves {start[d + 1] - start[d]} places for {here} elements")
    for i in range(m):
        if fill[i] != lists[i + 1]:
            raise ValueError(f"list {i} has {lists[i + 1] - lists[i]} places, needs others")
        fill[i] = lists[i]
    if total == 0:
        return
    with nogil:
        turn(&numbers[0], &begin[0], n, &fill[0], &postings[0])
    fill = np.empty(n, np.int64)
    with nogil:
        turn_back(
            &size[0], &start[0], threshold, n, m, &lists[0], &postings[0], &fill[0], &elements[0]
        )


# ---- The exact join of sets: which pairs overlap enough, found by their rarest elements.
#
# All-pairs with prefix and length filters (Bayardo, Ma, Srikant 2007), and the position filter
# (Xiao, Wang, Lin, Yu 2008) where the shorter prefix ends: up to there the overlap is known.
#
# Elements, lists and postings belong to the caller, who may have written to them since they were
# checked: each number is compared with what it counts before it is used.

cdef enum:
    JOIN_STEPS = 1 << 26        # of one call, some nanoseconds each


cdef struct Join:
    const int64_t* size         # of the whole sets, ascending
    const int64_t* start
    const uint32_t* elements
    const int64_t* lists
    const int32_t* postings
    double threshold
    int32_t* met                # how often each set was met; 0 between two probes
    int32_t* candidates
    Py_ssize_t numbers          # lists
    Py_ssize_t total            # of the postings
    Py_ssize_t steps            # left to the call under way
    bint changed                # what the caller holds is no longer what was checked


cdef Py_ssize_t first_of_size(const int64_t* size, Py_ssize_t n, Py_ssize_t least) noexcept nogil:
    cdef Py_ssize_t low = 0
    cdef Py_ssize_t middle
    while low < n:
        middle = (low + n) >> 1
        if size[middle] < least:
            low = middle + 1
        else:
            n = middle
    return low


cdef Py_ssize_t collect_candidates(Join* j, int32_t x) noexcept nogil:
    # All sets before x that meet one of its first elements in one of theirs.
    cdef Py_ssize_t least = least_size(j.size[x], j.threshold)
    cdef int32_t smallest = <int32_t> first_of_size(j.size, x, least)
    cdef Py_ssize_t begin = j.start[x]
    cdef Py_ssize_t end = begin + prefix_length(j.start[x + 1] - begin, least)
    cdef Py_ssize_t found = 0
    cdef Py_ssize_t i, at, low, stop, middle
    cdef uint32_t number
    cdef int32_t y
    for i in range(begin, end):
        number = j.elements[i]
        if number >= <size_t> j.numbers:
            j.changed = True
            continue
        at = j.lists[number]
        low = stop = j.lists[number + 1]
        if not 0 <= at <= stop <= j.total:
            j.changed = True
            continue
        while at < low:
            middle = (at + low) >> 1
            if j.postings[middle] < smallest:
                at = middle + 1
            else:
                low = middle
        j.steps -= stop - at
        while at < stop:
            y = j.postings[at]
            if <uint32_t> y >= <uint32_t> x:
                break
            j.candidates[found] = y
            found += j.met[y] == 0
            j.met[y] += 1
            at += 1
    check(found <= x)
    return found


cdef Py_ssize_t upper_bound(const uint32_t* values, Py_ssize_t n, uint32_t value) noexcept nogil:
    cdef Py_ssize_t low = 0
    cdef Py_ssize_t middle
    while low < n:
        middle = (low + n) >> 1
        if values[middle] <= value:
            low = middle + 1
        else:
            n = middle
    return low


cdef Py_ssize_t common_elements(
    const uint32_t* a, Py_ssize_t na, const uint32_t* b, Py_ssize_t nb, Py_ssize_t needed
) noexcept nogil:
    # As many as both have, or -1 as soon as there cannot be `needed`.
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t k = 0
    cdef Py_ssize_t found = 0
    cdef Py_ssize_t steps
    cdef uint32_t x, y
    while True:
        steps = min(na - i, nb - k)
        if found + steps < needed:
            return -1
        if steps == 0:
            return found
        steps = min(steps, <Py_ssize_t> 32)
        while steps > 0:
            x = a[i]
            y = b[k]
            found += x == y
            i += x <= y
            k += y <= x
            steps -= 1


cdef Py_ssize_t overlap(Join* j, int32_t x, int32_t y, Py_ssize_t met) noexcept nogil:
    # |X n Y|, or -1 if too small. Up to the end of the prefix that ends first all is counted.
    cdef const uint32_t* a = j.elements + j.start[x]
    cdef const uint32_t* b = j.elements + j.start[y]
    cdef Py_ssize_t na = j.start[x + 1] - j.start[x]
    cdef Py_ssize_t nb = j.start[y + 1] - j.start[y]
    cdef Py_ssize_t needed = least_overlap(j.size[x], j.size[y], j.threshold)
    cdef Py_ssize_t i = prefix_length(na, least_size(j.size[x], j.threshold))
    cdef Py_ssize_t k = prefix_length(nb, least_overlap(j.size[y], j.size[y], j.threshold))
    cdef Py_ssize_t more
    if i == 0 or k == 0:                    # not in lists that `invert` made
        return -1
    if a[i - 1] < b[k - 1]:
        if met + na - i < needed:
            return -1
        k = upper_bound(b, k, a[i - 1])
    else:
        if met + nb - k < needed:
            return -1
        i = upper_bound(a, i, b[k - 1])
    if met + min(na - i, nb - k) < needed:
        return -1
    j.steps -= na - i + nb - k
    more = common_elements(a + i, na - i, b + k, nb - k, needed - met)
    return -1 if more < 0 else met + more


cdef Py_ssize_t join_sets(
    Join* j, int64_t* at, int32_t last, int32_t* left, int32_t* right, double* similarity,
    Py_ssize_t room
) noexcept nogil:
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t i, found, common
    cdef int32_t x = <int32_t> at[0]
    cdef int32_t y
    memset(j.met, 0, last * sizeof(int32_t))
    while x < last and total + x <= room and (j.steps > 0 or x == at[0]):
        found = collect_candidates(j, x)
        j.steps -= 8 * found
        for i in range(found):
            y = j.candidates[i]
            common = overlap(j, x, y, j.met[y])
            j.met[y] = 0
            if common >= 0:
                left[total] = y
                right[total] = x
                similarity[total] = quotient(common, j.size[y], j.size[x])
                total += 1
        x += 1
    at[0] = x
    return total


# ---- Called from Python: shingle sets and similarities. The loops run without the GIL.

globals().update(       # for callers
    BY_CONTAINMENT=BY_CONTAINMENT, BY_SETS=BY_SETS, BY_SIGNATURE=BY_SIGNATURE, BY_TEXTS=BY_TEXTS,
    NOT_VERIFIED=NOT_VERIFIED,
)


def shingle_sets(
    units, const int64_t[::1] offsets, int unit, Py_ssize_t size,
    uint64_t[::1] out not None, const int64_t[::1] start not None, int64_t[::1] count not None,
    bint unique=True, bint thinned=False, ShinglePlan prepared=None,
):
    """Write the 64-bit hashes of each document's shingles, sorted and without repetitions.

    Parameters
    ----------
    units, offsets
        The texts, `Spans`, and None; or tokens and offsets as `token_hashes` makes them.
    unit, size
        As in `signatures`.
    out
        uint64: document d writes from start[d] and before start[d + 1].
    start
        int64 (n + 1,), not decreasing.
    count
        int64 (n,), written: how many hashes a document has.
    unique
        False leaves them as they come, one for each window.
    thinned
        Leave them as they come, but most of those that repeat out.
    prepared
        Hashes with a key, or without some words; for this unit and size.

    Raises
    ------
    ValueError
        A document has more windows than there is room for in `out`.
    """
    cdef Hashing own
    cdef const Hashing* plan = plan_of(&own, unit, size, prepared)
    cdef Py_ssize_t n, done
    cdef Py_ssize_t longest = 0
    cdef Spans spans = None
    cdef const uint64_t[::1] tokens = None
    cdef Workbench* bench = NULL
    cdef uint64_t* base = NULL
    if units is None:
        raise TypeError("units must be Spans, or an array with offsets")
    if offsets is None:
        spans = units
        check_documents(spans, unit)
        n = spans.n
        longest = longest_of(spans) if unit != CHARACTERS else 0
    else:
        tokens = units
        n = offsets.shape[0] - 1
        longest = tokens.shape[0]
        check_offsets(offsets, n, longest, "offsets")
    check_offsets(start, n, out.shape[0], "start")
    if count.shape[0] != n:
        raise ValueError(f"count has {count.shape[0]} elements, expected {n}")
    check_array(out, "out")
    check_array(count, "count")
    check_array(start, "start")
    check_array(offsets, "offsets")
    check_array(tokens, "units")
    cdef uint64_t[::1] window = new_window(size, longest)
    if n == 0:
        return
    if unique or thinned:
        bench = <Workbench*> malloc(sizeof(Workbench))
        if bench == NULL:
            raise MemoryError()
    if out.shape[0]:
        base = &out[0]
    with nogil:
        if spans is not None:
            done = loops.sets_of_texts(
                spans.at, n, plan, &window[0], base, &start[0], &count[0], thinned, bench
            )
        else:
            done = loops.sets_of_tokens(
                &tokens[0] if longest else NULL, &offsets[0], n, plan, &window[0], base,
                &start[0], &count[0], thinned, bench,
            )
    free(bench)
    if done < n:
        raise ValueError(
            f"document {done} of the batch has more shingles than its room of"
            f" {start[done + 1] - start[done]}: the functions of a shingler must return the same"
            " whenever they are called with the same text"
        )


def agreement(
    const uint32_t[:, ::1] signatures not None, const int64_t[::1] left not None,
    const int64_t[::1] right not None, double[::1] out not None,
):
    """Write the share of equal minima of each pair into `out`, float64 (m,); 0 if one is empty.

    Parameters
    ----------
    signatures
        uint32 (n, k).
    left, right
        int64 (m,).
    """
    cdef Py_ssize_t k = signatures.shape[1]
    check_pairs(left, right, out, signatures.shape[0])
    check_matrix(signatures, "signatures")
    if k < 1:
        raise ValueError("signatures have no columns")
    if left.shape[0]:
        with nogil:
            loops.agree_pairs(&signatures[0, 0], k, &left[0], &right[0], left.shape[0], &out[0])


def set_jaccard(
    const uint64_t[::1] hashes not None, const int64_t[::1] start not None,
    const int64_t[::1] count not None, const int64_t[::1] left not None,
    const int64_t[::1] right not None, double threshold, double[::1] out not None,
):
    """Write |A n B| / |A u B| of each pair of sets into `out`, float64 (m,); -1 below `threshold`.

    Parameters
    ----------
    hashes
        uint64: the sets, each sorted and without repetitions.
    start, count
        int64 (n,): place and size of each set.
    left, right
        int64 (m,): the pairs.
    """
    cdef Py_ssize_t n = left.shape[0]
    cdef Py_ssize_t done
    cdef Sets sets = sets_of(hashes, start, count, start.shape[0])
    check_threshold(threshold)
    check_pairs(left, right, out, start.shape[0])
    if n == 0:
        return
    with nogil:
        done = compare_pairs(&sets, &left[0], &right[0], n, threshold, &out[0])
    if done < n:
        raise IndexError(
            f"a set of pair {done} ({left[done]}, {right[done]}) lies outside the hashes"
        )


def number_jaccard(
    const uint64_t[::1] words not None, const int64_t[::1] start not None,
    const int64_t[::1] count not None, const int64_t[::1] left not None,
    const int64_t[::1] right not None, double threshold, double[::1] out not None,
):
    """Write |A n B| / |A u B| of each pair of sets into `out`, float64 (m,); -1 below `threshold`.

    Parameters
    ----------
    words
        uint64: sets of numbers, as `pack_numbers` writes them.
    start, count
        int64 (n,): place and size of each set; the size -1 stands for a set that is not there.
    left, right
        int64 (m,): the pairs.
    """
    cdef Py_ssize_t n = left.shape[0]
    cdef Py_ssize_t done
    cdef Sets sets = sets_of(words, start, count, start.shape[0])
    check_threshold(threshold)
    check_pairs(left, right, out, start.shape[0])
    if n == 0:
        return
    with nogil:
        done = compare_numbers(&sets, &left[0], &right[0], n, threshold, &out[0])
    if done < n:
        raise IndexError(
            f"a set of pair {done} ({left[done]}, {right[done]}) is not there, or lies outside"
        )


# ---- Called from Python: the exact join of sets. The loops run without the GIL.

cdef class SetJoin:
    """The join of sets that stand in ascending order of size.

    Parameters
    ----------
    size
        int64 (n,), at least 1, ascending: of the sets, elements that are not stored included.
    start, elements
        int64 (n + 1,) and uint32: the stored elements of each set, ascending.
    lists, postings
        int64 (m + 1,) and int32: the sets in whose prefix each number lies, ascending.
    threshold
        The one that `invert` made these for.
    """

    cdef const int64_t[::1] size
    cdef const int64_t[::1] start
    cdef const uint32_t[::1] elements
    cdef const int64_t[::1] lists
    cdef const int32_t[::1] postings
    cdef double threshold

    def __cinit__(
        self, const int64_t[::1] size not None, const int64_t[::1] start not None,
        const uint32_t[::1] elements not None, const int64_t[::1] lists not None,
        const int32_t[::1] postings not None, double threshold,
    ):
        cdef Py_ssize_t n = size.shape[0]
        cdef Py_ssize_t m = lists.shape[0] - 1
        cdef Py_ssize_t i
        check_array(size, "size")
        check_array(elements, "elements")
        check_array(postings, "postings")
        if not 0.0 < threshold <= 1.0:
            raise ValueError(f"threshold must be above 0 and at most 1, got {threshold}")
        if start.shape[0] != n + 1 or n >= <Py_ssize_t> 1 << 31:
            raise ValueError(f"start has {start.shape[0]} elements, expected {n + 1}")
        check_starts(start, elements.shape[0], "start")
        check_starts(lists, postings.shape[0], "lists")
        for i in range(n):
            if size[i] < max(start[i + 1] - start[i], <int64_t> 1):
                raise ValueError(f"set {i} stores more elements than its size {size[i]}")
            if i and size[i] < size[i - 1]:
                raise ValueError("size must ascend")
        for i in range(elements.shape[0]):
            if elements[i] >= m:
                raise IndexError(f"element {elements[i]} of {m}")
        for i in range(postings.shape[0]):
            if not 0 <= postings[i] < n:
                raise IndexError(f"set {postings[i]} of {n}")
        self.size = np.array(size)      # small, and all else is found by them
        self.start = np.array(start)
        self.elements = elements
        self.lists = lists
        self.postings = postings
        self.threshold = threshold

    def pairs(
        self, int64_t[::1] at not None, Py_ssize_t last, int32_t[:, ::1] scratch not None,
        int32_t[::1] left not None, int32_t[::1] right not None, double[::1] similarity not None,
        Py_ssize_t steps=JOIN_STEPS,
    ):
        """Write the pairs of the sets at[0] ... last - 1 with earlier ones; return how many.

        Returns when there might be no room for those of the next set, and after about `steps`,
        for Ctrl-C.

        Parameters
        ----------
        at
            int64 (1,): the first set; written: where to go on, `last` at the end.
        last
            One after the last set.
        scratch
            int32 (2, n).
        left, right, similarity
            int32, int32, float64 of the same length, at least n; written: left < right.
        """
        cdef Join j
        cdef Py_ssize_t n = self.size.shape[0]
        cdef Py_ssize_t room = left.shape[0]
        cdef Py_ssize_t found
        check_array(at, "at")
        check_matrix(scratch, "scratch")
        check_array(left, "left")
        check_array(right, "right")
        check_array(similarity, "similarity")
        if at.shape[0] != 1 or not 0 <= at[0] <= last <= n:
            raise ValueError(f"at and last must lie within {n} sets")
        if scratch.shape[0] != 2 or scratch.shape[1] != n:
            raise ValueError(f"scratch needs the shape (2, {n})")
        if room < n or right.shape[0] != room or similarity.shape[0] != room:
            raise ValueError(f"left, right and similarity need the same length, at least {n}")
        if at[0] == last or self.postings.shape[0] == 0:
            at[0] = last
            return 0
        j.size = &self.size[0]
        j.start = &self.start[0]
        j.elements = &self.elements[0]
        j.lists = &self.lists[0]
        j.postings = &self.postings[0]
        j.threshold = self.threshold
        j.met = &scratch[0, 0]
        j.candidates = &scratch[1, 0]
        j.numbers = self.lists.shape[0] - 1
        j.total = self.postings.shape[0]
        j.changed = False
        j.steps = steps
        with nogil:
            found = join_sets(
                &j, &at[0], <int32_t> last, &left[0], &right[0], &similarity[0], room
            )
        if j.changed:
            raise ValueError("elements, lists or postings were changed")
        return found
