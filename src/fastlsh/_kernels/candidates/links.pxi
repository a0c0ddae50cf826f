# Buckets: which earlier document has the same band key. No sort.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

import numpy as np

from fastlsh._kernels.common.checks cimport (
    Memory, check_apart, check_range, memory_of, memory_of_rows,
)
from fastlsh._kernels.common.debug cimport check
from fastlsh._kernels.common.prefetch cimport AHEAD, prefetch

cdef inline size_t scaled(uint64_t half, size_t size) noexcept nogil:
    # Half a key, 32 bits, to a place in `size`.
    return <size_t> ((half * <uint64_t> size) >> 32)


cdef Py_ssize_t find_suspects(
    const uint64_t* keys, Py_ssize_t n, uint8_t* seen, int32_t* suspects, Py_ssize_t* empty
) noexcept nogil:
    # Most keys are alone. Four counters for each document, of two bits (none, one, more), lie in
    # the cache where a table of all documents does not; they leave a quarter of the lonely keys.
    cdef size_t counters = 4 * <size_t> n
    cdef size_t c
    cdef Py_ssize_t i
    cdef Py_ssize_t found = 0
    cdef int shift
    cdef uint8_t four
    memset(seen, 0, n)
    for i in range(n):
        if i + AHEAD < n:
            prefetch(&seen[scaled(keys[i + AHEAD] >> 32, counters) >> 2])
        c = scaled(keys[i] >> 32, counters)
        shift = 2 * <int> (c & 3)
        four = seen[c >> 2]
        seen[c >> 2] = <uint8_t> (four | (1 << shift) | (((four >> shift) & 1) << (shift + 1)))
    for i in range(n):
        if i + AHEAD < n:
            prefetch(&seen[scaled(keys[i + AHEAD] >> 32, counters) >> 2])
        c = scaled(keys[i] >> 32, counters)
        check(found <= i and c < counters)
        suspects[found] = <int32_t> i
        found += (seen[c >> 2] >> (2 * <int> (c & 3) + 1)) & (keys[i] != 0)
        empty[0] += keys[i] == 0
    return found


cdef Py_ssize_t link_suspects(
    const uint64_t* keys, Py_ssize_t suspects, int32_t* table, int32_t* later, int32_t* earlier
) noexcept nogil:
    # Open addressing; a slot holds the latest document of its key. `later` holds the suspects.
    cdef size_t slots = 2 * <size_t> suspects
    cdef size_t slot
    cdef Py_ssize_t s, i
    cdef Py_ssize_t found = 0
    cdef int32_t latest
    memset(table, 0xFF, slots * sizeof(int32_t))
    for s in range(suspects):
        if s + AHEAD < suspects:
            prefetch(&table[scaled(<uint32_t> keys[later[s + AHEAD]], slots)])
        i = later[s]
        slot = scaled(<uint32_t> keys[i], slots)
        latest = table[slot]
        while latest >= 0 and keys[latest] != keys[i]:
            slot = slot + 1 if slot + 1 < slots else 0
            latest = table[slot]
        check(found <= s and latest < i and slot < slots)
        table[slot] = <int32_t> i
        later[found] = <int32_t> i              # found <= s
        earlier[found] = latest
        found += latest >= 0
    return found


def link(
    const uint64_t[::1] keys not None, int32_t[::1] table not None,
    int32_t[::1] later not None, int32_t[::1] earlier not None,
):
    """Link each document to the latest earlier one with the same key.

    Parameters
    ----------
    keys
        uint64 (n,); 0 = in no bucket. Even in all bits: made by a mixer.
    table
        int32 scratch, at least 2 n.
    later, earlier
        int32 (n,), their beginnings written: who has an earlier one, ascending, and which.

    Returns
    -------
    tuple of int
        How many links there are, and how many keys are 0.
    """
    cdef Memory parts[4]
    cdef Py_ssize_t n = keys.shape[0]
    cdef Py_ssize_t found = 0
    cdef Py_ssize_t empty = 0
    if n > 0x7FFFFFFF:
        raise ValueError(f"{n} documents are too many")
    if table.shape[0] // 2 < n:
        raise ValueError(f"table of {table.shape[0]} slots does not suit {n} keys")
    if later.shape[0] != n or earlier.shape[0] != n:
        raise ValueError(f"later and earlier need {n} elements")
    parts[0] = memory_of(table, "table")
    parts[1] = memory_of(later, "later")
    parts[2] = memory_of(earlier, "earlier")
    parts[3] = memory_of(keys, "keys")
    check_apart(parts, 4, 3, "keys, table, later and earlier")
    if n:
        with nogil:
            found = find_suspects(&keys[0], n, <uint8_t*> &table[0], &later[0], &empty)
            found = link_suspects(&keys[0], found, &table[0], &later[0], &earlier[0])
    return found, empty


cdef inline bint is_earlier(Py_ssize_t j, Py_ssize_t i) noexcept nogil:
    return -1 <= j < i


cdef bint count_chains(
    const int32_t* previous, Py_ssize_t n, int32_t* depth, int64_t* totals
) noexcept nogil:
    # Pairs, largest bucket, its last document. False: a link does not point to an earlier one.
    cdef Py_ssize_t i
    totals[0] = 0
    totals[1] = 1
    totals[2] = -1
    for i in range(n):
        if not is_earlier(previous[i], i):
            return False
        depth[i] = depth[previous[i]] + 1 if previous[i] >= 0 else 0
        totals[0] += depth[i]
        check(0 <= depth[i] <= i)
        if depth[i] >= totals[1]:
            totals[1] = depth[i] + 1
            totals[2] = i
    return True


cdef bint find_roots(
    const int32_t* previous, Py_ssize_t n, Py_ssize_t bands, Py_ssize_t first, Py_ssize_t last,
    int32_t* root
) noexcept nogil:
    cdef Py_ssize_t i, b
    cdef int32_t before
    for i in range(first, last):
        for b in range(bands):
            before = previous[b * n + i]
            root[i * bands + b] = -1
            if before == -1:
                continue
            if not first <= before < i:
                return False
            if root[before * bands + b] < 0:        # it has company now
                root[before * bands + b] = before
            root[i * bands + b] = root[before * bands + b]
    return True


def chain_depths(const int32_t[::1] previous not None, int64_t[::1] totals not None):
    """Write (pairs, largest bucket, its last document) of a band into `totals`, int64 (3,)."""
    cdef Py_ssize_t n = previous.shape[0]
    cdef int32_t[::1] depth = np.empty(n, np.int32)
    cdef int64_t found[3]
    cdef bint sound
    memory_of(previous, "previous")
    memory_of(totals, "totals")
    if totals.shape[0] != 3:
        raise ValueError("totals needs three elements")
    with nogil:
        sound = count_chains(&previous[0] if n else NULL, n, &depth[0] if n else NULL, found)
    if not sound:
        raise ValueError("previous must point to earlier documents")
    totals[0] = found[0]
    totals[1] = found[1]
    totals[2] = found[2]


def roots(
    const int32_t[:, ::1] previous not None, Py_ssize_t first, Py_ssize_t last,
    int32_t[:, ::1] root not None,
):
    """Write the first document of each one's buckets into `root`; -1 where it is alone.

    Parameters
    ----------
    previous
        int32 (bands, n): the document before it in the same bucket, -1: none.
    first, last
        Only these documents, among which are the ones before them.
    root
        int32 (n, bands), written.
    """
    cdef Py_ssize_t bands = previous.shape[0], n = previous.shape[1]
    cdef bint sound
    cdef Memory parts[2]
    parts[0] = memory_of_rows(root, "root")
    parts[1] = memory_of_rows(previous, "previous")
    check_apart(parts, 2, 1, "root and previous")
    if root.shape[0] != n or root.shape[1] != bands:
        raise ValueError(f"root has shape ({root.shape[0]}, {root.shape[1]}), not ({n}, {bands})")
    check_range(first, last, n)
    if first == last or bands == 0:
        return
    with nogil:
        sound = find_roots(&previous[0, 0], n, bands, first, last, &root[0, 0])
    if not sound:
        raise ValueError("previous must point to earlier documents")
