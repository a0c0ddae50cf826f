"""Buckets: which earlier document has the same band key. One pass, no sort."""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcmp, memset

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #include <intrin.h>
    #if defined(_M_ARM64)
    #define fastlsh_prefetch(p) __prefetch(p)
    #else
    #define fastlsh_prefetch(p) _mm_prefetch((const char*) (p), _MM_HINT_T0)
    #endif
    #else
    #define fastlsh_prefetch(p) __builtin_prefetch(p)
    #endif
    """
    void fastlsh_prefetch(const void* address) noexcept nogil

cdef enum:
    AHEAD = 16


cdef void link_keys(
    const uint64_t* keys, Py_ssize_t n, int32_t* table, int bits, int32_t* previous
) noexcept nogil:
    # Open addressing; a slot holds the latest document of its key.
    cdef size_t mask = (<size_t> 1 << bits) - 1
    cdef size_t slot
    cdef Py_ssize_t i
    cdef int32_t latest
    memset(table, 0xFF, (mask + 1) * sizeof(int32_t))
    for i in range(n):
        if i + AHEAD < n:
            fastlsh_prefetch(&table[keys[i + AHEAD] & mask])
        previous[i] = -1
        if keys[i] == 0:
            continue
        slot = keys[i] & mask
        latest = table[slot]
        while latest >= 0 and keys[latest] != keys[i]:
            slot = (slot + 1) & mask
            latest = table[slot]
        previous[i] = latest
        table[slot] = <int32_t> i


def link(
    const uint64_t[::1] keys not None, int32_t[::1] table not None,
    int32_t[::1] previous not None,
):
    """Link each document to the latest earlier one with the same key.

    Parameters
    ----------
    keys
        uint64 (n,); 0 = in no bucket. Even in all bits: made by a mixer.
    table
        int32 scratch, its size a power of two and at least 4 n / 3.
    previous
        int32 (n,), written: index of that document, or -1.
    """
    cdef Py_ssize_t n = keys.shape[0]
    cdef int bits = 0
    while (<Py_ssize_t> 1 << bits) < table.shape[0]:
        bits += 1
    if table.shape[0] != <Py_ssize_t> 1 << bits or 3 * table.shape[0] < 4 * n:
        raise ValueError(f"table of {table.shape[0]} slots does not suit {n} keys")
    if previous.shape[0] != n:
        raise ValueError(f"previous has {previous.shape[0]} elements, expected {n}")
    if n == 0:
        return
    with nogil:
        link_keys(&keys[0], n, &table[0], bits, &previous[0])


cdef bint meets_here_first(
    const uint32_t* a, const uint32_t* b, Py_ssize_t rows, Py_ssize_t band
) noexcept nogil:
    # Equal in this band and in none before: a pair is given once.
    cdef Py_ssize_t e
    cdef size_t width = rows * sizeof(uint32_t)
    if memcmp(a + band * rows, b + band * rows, width) != 0:
        return False
    for e in range(band):
        if a[e * rows] == b[e * rows] and memcmp(a + e * rows, b + e * rows, width) == 0:
            return False
    return True


cdef Py_ssize_t walk(
    const uint32_t* signatures, Py_ssize_t k, Py_ssize_t rows, const int64_t* documents,
    const int32_t* previous, Py_ssize_t bands, Py_ssize_t n, int64_t* at,
    int32_t* left, int32_t* right, Py_ssize_t room
) noexcept nogil:
    # Resumes at (right, band, left) = at; without `left` it only counts.
    cdef Py_ssize_t i = at[0]
    cdef Py_ssize_t band = at[1]
    cdef Py_ssize_t j = at[2]
    cdef Py_ssize_t found = 0
    while i < n:
        while band < bands:
            if j < 0:
                j = previous[band * n + i]
            while j >= 0:
                if meets_here_first(
                    signatures + documents[i] * k, signatures + documents[j] * k, rows, band
                ):
                    if found == room:
                        at[0] = i
                        at[1] = band
                        at[2] = j
                        return found
                    if left != NULL:
                        left[found] = <int32_t> j
                        right[found] = <int32_t> i
                    found += 1
                j = previous[band * n + j]
            band += 1
        band = 0
        i += 1
    at[0] = n
    at[1] = 0
    at[2] = -1
    return found


def emit_pairs(
    const uint32_t[:, ::1] signatures not None, Py_ssize_t rows,
    const int64_t[::1] documents not None, const int32_t[:, ::1] previous not None,
    int64_t[::1] at not None, int32_t[::1] left, int32_t[::1] right, Py_ssize_t room=0,
):
    """Write the pairs that share a band, each once; return how many.

    Parameters
    ----------
    signatures
        uint32 (m, num_perm).
    rows
        Rows in a band.
    documents
        int64 (n,): the rows of `signatures` that are compared.
    previous
        int32 (bands, n): place in `documents` of the latest earlier one in the same bucket, -1.
    at
        int64 (3,): where to go on, (0, 0, -1) to begin; written. At the end at[0] is n.
    left, right
        int32 arrays to fill with places, left < right, by right; None counts only, up to `room`.
    """
    cdef Py_ssize_t n = documents.shape[0]
    cdef Py_ssize_t bands = previous.shape[0]
    cdef Py_ssize_t k = signatures.shape[1]
    cdef Py_ssize_t i, b, found
    cdef int32_t* to_left = NULL
    cdef int32_t* to_right = NULL
    if previous.shape[1] != n or at.shape[0] != 3:
        raise ValueError("previous needs one column per document, at needs three elements")
    if rows < 1 or bands < 1 or bands * rows > k:
        raise ValueError(f"{bands} bands of {rows} rows do not lie in {k} values")
    if not 0 <= at[0] <= n or not 0 <= at[1] < bands or not -1 <= at[2] < n:
        raise ValueError("at does not point into the documents")
    if left is not None:
        room = left.shape[0]
        if right is None or right.shape[0] != room:
            raise ValueError("left and right need the same length")
        if room:
            to_left = &left[0]
            to_right = &right[0]
    if n == 0 or room == 0:
        return 0
    for i in range(n):
        if not 0 <= documents[i] < signatures.shape[0]:
            raise IndexError(f"document {documents[i]} of {signatures.shape[0]}")
    for b in range(bands):
        check_previous(previous[b])
    with nogil:
        found = walk(
            &signatures[0, 0], k, rows, &documents[0], &previous[0, 0], bands, n, &at[0],
            to_left, to_right, room,
        )
    return found


cdef int check_previous(const int32_t[::1] previous) except -1:
    cdef Py_ssize_t i
    for i in range(previous.shape[0]):
        if previous[i] >= i or previous[i] < -1:
            raise ValueError("previous must point to earlier documents")
    return 0


def chain_depths(const int32_t[::1] previous not None, int64_t[::1] totals not None):
    """Write (pairs, largest bucket, its last document) of a band into `totals`, int64 (3,)."""
    import numpy as np
    cdef Py_ssize_t n = previous.shape[0]
    cdef int32_t[::1] depth = np.empty(n, np.int32)
    cdef int64_t pairs = 0
    cdef int64_t largest = 0
    cdef int64_t last = -1
    cdef Py_ssize_t i
    if totals.shape[0] != 3:
        raise ValueError("totals needs three elements")
    check_previous(previous)
    for i in range(n):
        depth[i] = depth[previous[i]] + 1 if previous[i] >= 0 else 0
        pairs += depth[i]
        if depth[i] > largest:
            largest = depth[i]
            last = i
    totals[0] = pairs
    totals[1] = largest + 1
    totals[2] = last


def roots(const int32_t[::1] previous not None, int32_t[::1] root not None):
    """Write the first document of each one's bucket into `root`, int32 (n,); -1 if it is alone."""
    cdef Py_ssize_t n = previous.shape[0]
    cdef Py_ssize_t i
    if root.shape[0] != n:
        raise ValueError(f"root has {root.shape[0]} elements, expected {n}")
    check_previous(previous)
    for i in range(n):
        root[i] = -1
        if previous[i] >= 0:
            if root[previous[i]] < 0:           # it has company now
                root[previous[i]] = previous[i]
            root[i] = root[previous[i]]
