# Sets as numbers by rarity, and for each number the sets in whose prefix it lies.
#
# Elements that one set alone has are not stored: they are the rarest, come first in its order and
# are in no overlap.

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from fastlsh._kernels.common.checks cimport Memory, check_apart, check_starts, memory_of
from fastlsh._kernels.sets.overlap cimport least_overlap, prefix_length

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
    cdef Memory parts[2]
    cdef Py_ssize_t m = known.shape[0]
    cdef int bits = 1
    while bits < 40 and (<Py_ssize_t> 1 << bits) + 1 < directory.shape[0]:
        bits += 1
    if directory.shape[0] != (<Py_ssize_t> 1 << bits) + 1:
        raise ValueError(f"directory has {directory.shape[0]} elements, expected 2^bits + 1")
    if number.shape[0] != m or out.shape[0] != hashes.shape[0]:
        raise ValueError("known and number need the same length, and hashes and out")
    check_starts(directory, m, "directory")
    memory_of(known, "known")
    memory_of(number, "number")
    memory_of(hashes, "hashes")
    parts[0] = memory_of(out, "out")
    parts[1] = memory_of(directory, "directory")
    check_apart(parts, 2, 1, "out and directory")
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
    cdef Memory parts[6]
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
    parts[0] = memory_of(lists, "lists")
    parts[1] = memory_of(postings, "postings")
    parts[2] = memory_of(elements, "elements")
    parts[3] = memory_of(numbers, "numbers")
    parts[4] = memory_of(begin, "begin")
    parts[5] = memory_of(start, "start")
    check_apart(parts, 6, 3, "lists, postings, elements and what is read")
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
