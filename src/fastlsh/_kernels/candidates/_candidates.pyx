"""Documents linked by their band keys, the pairs and the families that the links make, and the
keep-or-drop step in these.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

import numpy as np

from fastlsh._kernels.candidates.same_band cimport same_band, same_earlier
from fastlsh._kernels.common.checks cimport (
    check_array, check_band_rows, check_matrix, check_offsets, check_range, check_threshold,
)
from fastlsh._kernels.common.debug cimport check
from fastlsh._kernels.common.prefetch cimport AHEAD, prefetch
from fastlsh._kernels.candidates.keeper cimport (
    ASKS, KEEP_STEPS, OFFERS, PER_CANDIDATE, REMEMBERED, Buckets,
)
from fastlsh._kernels.candidates.ranks cimport Candidates, Rank, choose
from fastlsh._kernels.common._common cimport loops
from fastlsh._kernels.sets._sets cimport containment_of_numbers, has_numbers, jaccard_of_numbers
from fastlsh._kernels.sets.checks cimport check_mode, sets_of
from fastlsh._kernels.sets.modes cimport BY_CONTAINMENT, BY_SETS, BY_SIGNATURE
from fastlsh._kernels.sets.sets cimport Sets


# ---- Buckets: which earlier document has the same band key. No sort.

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
    cdef Py_ssize_t n = keys.shape[0]
    cdef Py_ssize_t found = 0
    cdef Py_ssize_t empty = 0
    if n > 0x7FFFFFFF:
        raise ValueError(f"{n} documents are too many")
    if table.shape[0] // 2 < n:
        raise ValueError(f"table of {table.shape[0]} slots does not suit {n} keys")
    if later.shape[0] != n or earlier.shape[0] != n:
        raise ValueError(f"later and earlier need {n} elements")
    check_array(table, "table")
    check_array(later, "later")
    check_array(earlier, "earlier")
    check_array(keys, "keys")
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
    check_array(previous, "previous")
    check_array(totals, "totals")
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
    check_matrix(root, "root")
    check_matrix(previous, "previous")
    if root.shape[0] != n or root.shape[1] != bands:
        raise ValueError(f"root has shape ({root.shape[0]}, {root.shape[1]}), not ({n}, {bands})")
    check_range(first, last, n)
    if first == last or bands == 0:
        return
    with nogil:
        sound = find_roots(&previous[0, 0], n, bands, first, last, &root[0, 0])
    if not sound:
        raise ValueError("previous must point to earlier documents")


# ---- Families: what is connected by shared buckets, by union and find.

cdef inline int32_t find(int32_t* parent, int32_t i) noexcept nogil:
    # The first document of the family; -1 where a parent is a later document.
    cdef int32_t up = parent[i]
    cdef int32_t top
    while up != i:
        if not 0 <= up < i:
            return -1
        top = parent[up]
        if not 0 <= top <= up:
            return -1
        parent[i] = top                         # halve the path
        i = top
        up = parent[i]
    return i


cdef Py_ssize_t unite_pairs(
    int32_t* parent, Py_ssize_t n, const int32_t* left, const int32_t* right, Py_ssize_t pairs
) noexcept nogil:
    # Returns how many pairs were united: all, unless one or a parent lies outside.
    cdef Py_ssize_t i
    cdef int32_t x, y, a, b
    for i in range(pairs):
        if i + AHEAD < pairs and 0 <= left[i + AHEAD] < n:
            prefetch(parent + left[i + AHEAD])
        x = left[i]
        y = right[i]
        if not (0 <= x < n and 0 <= y < n):
            return i
        a = find(parent, x)
        b = find(parent, y)
        if a < 0 or b < 0:
            return i
        check(a <= x and parent[a] == a and b <= y and parent[b] == b)
        parent[max(a, b)] = min(a, b)
    return pairs


cdef Py_ssize_t find_all(int32_t* parent, Py_ssize_t n) noexcept nogil:
    # Returns how many found their family: all, or the place of the first with a bad parent.
    cdef Py_ssize_t i
    cdef int32_t root
    for i in range(n):
        root = find(parent, <int32_t> i)
        if root < 0:
            return i
        check(root <= i and parent[root] == root)
        parent[i] = root
    return n


def unite(
    int32_t[::1] parent not None, const int32_t[::1] left not None,
    const int32_t[::1] right not None,
):
    """Join the families of each pair of documents.

    Parameters
    ----------
    parent
        int32 (n,), written; numpy.arange(n) to begin.
    left, right
        int32 (m,): the pairs.
    """
    cdef Py_ssize_t n = parent.shape[0]
    cdef Py_ssize_t pairs = left.shape[0]
    cdef Py_ssize_t done
    if right.shape[0] != pairs:
        raise ValueError("left and right need the same length")
    check_parents(parent)
    check_array(left, "left")
    check_array(right, "right")
    if pairs == 0:
        return
    if n == 0:
        raise IndexError("pairs of no documents")
    with nogil:
        done = unite_pairs(&parent[0], n, &left[0], &right[0], pairs)
    if done < pairs:
        if 0 <= left[done] < n and 0 <= right[done] < n:
            raise ValueError("parent must point to documents that are not later")
        raise IndexError(f"pair ({left[done]}, {right[done]}) points outside {n} documents")


def families(int32_t[::1] parent not None):
    """Make each entry of `parent` the first document of its family."""
    cdef Py_ssize_t n = parent.shape[0]
    cdef Py_ssize_t done
    check_parents(parent)
    if n == 0:
        return
    with nogil:
        done = find_all(&parent[0], n)
    if done < n:
        raise ValueError("parent must point to documents that are not later")


cdef int check_parents(int32_t[::1] parent) except -1:
    check_array(parent, "parent")
    if parent.shape[0] > 0x7FFFFFFF:
        raise ValueError(f"{parent.shape[0]} documents are too many")
    return 0


# ---- From links to pairs: each once, in the first band that it shares.

cdef enum:
    PAIRS_AHEAD = 16
    EMIT_STEPS = 1 << 26        # bands compared in one call: about a tenth of a second


cdef struct Bands:
    # Linked documents, and what they are linked by.
    const uint32_t* signatures
    Py_ssize_t signed           # rows of the signatures
    Py_ssize_t k
    Py_ssize_t rows
    Py_ssize_t bands
    const int32_t* previous
    const int64_t* documents
    Py_ssize_t n
    Py_ssize_t stop             # before this document
    const uint8_t* asks         # whether a document is the right one of pairs; NULL: all are


cdef inline const uint32_t* row_of(const Bands* linked, Py_ssize_t i) noexcept nogil:
    cdef int64_t d = linked.documents[i]
    return linked.signatures + d * linked.k if 0 <= d < linked.signed else NULL


cdef inline void prefetch_row(const Bands* linked, Py_ssize_t i) noexcept nogil:
    cdef const uint32_t* row = row_of(linked, i)
    cdef Py_ssize_t value
    if row == NULL:
        return
    for value in range(0, linked.bands * linked.rows, 16):
        prefetch(row + value)


cdef Py_ssize_t walk(
    const Bands* linked, int64_t* at, int32_t* left, int32_t* right, Py_ssize_t room,
    Py_ssize_t steps
) noexcept nogil:
    # Resumes at (right, band, left) = at; without `left` it only counts. Returns -1 if a link
    # does not point to an earlier document, or a document to no signature. Every call gets
    # further, for `steps` is looked at before anything is taken from it.
    cdef Py_ssize_t n = linked.n
    cdef Py_ssize_t i = at[0]
    cdef Py_ssize_t b = at[1]
    cdef Py_ssize_t j = at[2]
    cdef Py_ssize_t before
    cdef Py_ssize_t found = 0
    cdef const uint32_t* ours
    cdef const uint32_t* theirs
    while i < linked.stop and steps > 0:
        if i + PAIRS_AHEAD < n:
            prefetch_row(linked, i + PAIRS_AHEAD)   # each is soon compared with one before it
        if linked.asks != NULL and not linked.asks[i]:
            i += 1
            steps -= 1
            continue
        while b < linked.bands:
            before = i
            if j < 0:
                j = linked.previous[b * n + i]
            while j >= 0:
                if j >= before:
                    return -1
                if steps <= 0:
                    at[0] = i
                    at[1] = b
                    at[2] = j
                    return found
                steps -= b + 1
                ours = row_of(linked, i)
                theirs = row_of(linked, j)
                if ours == NULL or theirs == NULL:
                    return -1
                # Of equal keys almost all are of equal bands: the earlier ones tell more.
                if not same_earlier(ours, theirs, linked.rows, b) and same_band(
                    ours, theirs, linked.rows, b
                ):
                    if found == room:
                        at[0] = i
                        at[1] = b
                        at[2] = j
                        return found
                    check(found < room and j < i)
                    if left != NULL:
                        left[found] = <int32_t> j
                        right[found] = <int32_t> i
                    found += 1
                before = j
                j = linked.previous[b * n + j]
            if j < -1:
                return -1
            b += 1
        b = 0
        i += 1
        steps -= linked.bands
    at[0] = i
    at[1] = 0
    at[2] = -1
    return found


def emit_pairs(
    const uint32_t[:, ::1] signatures not None, Py_ssize_t rows,
    const int64_t[::1] documents not None, const int32_t[:, ::1] previous not None,
    int64_t[::1] at not None, Py_ssize_t stop, int32_t[::1] left, int32_t[::1] right,
    Py_ssize_t room=0, Py_ssize_t steps=EMIT_STEPS, const uint8_t[::1] asks=None,
):
    """Write the pairs that share a band, each once; return how many.

    Where documents share many bands, most of the time goes into pairs that were given before. So
    this returns when there is no room, and also after about `steps` comparisons, for Ctrl-C.

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
        int64 (3,): where to go on, (first, 0, -1) to begin; written. At the end at[0] is `stop`.
    stop
        Only the pairs whose right one is before this place.
    left, right
        int32 arrays to fill with places, left < right, by right; None counts only, up to `room`.
    steps
        At least 1.
    asks
        uint8 (n,): whether a document is the right one of pairs; None: all are.
    """
    cdef Bands linked
    cdef Py_ssize_t found
    cdef int32_t* to_left = NULL
    cdef int32_t* to_right = NULL
    linked.signed = signatures.shape[0]
    linked.k = signatures.shape[1]
    linked.rows = rows
    linked.bands = previous.shape[0]
    linked.n = documents.shape[0]
    linked.stop = stop
    linked.asks = NULL
    if asks is not None:
        if asks.shape[0] != linked.n:
            raise ValueError("asks needs one element per document")
        if linked.n:
            linked.asks = &asks[0]
    if previous.shape[1] != linked.n or at.shape[0] != 3:
        raise ValueError("previous needs one column per document, at needs three elements")
    if linked.bands < 1:
        raise ValueError("previous has no band")
    check_band_rows(0, linked.bands, rows, linked.k)
    check_matrix(signatures, "signatures")
    check_matrix(previous, "previous")
    check_array(at, "at")
    check_array(left, "left")
    check_array(right, "right")
    check_array(documents, "documents")
    if not (0 <= at[0] <= stop <= linked.n and 0 <= at[1] < linked.bands and -1 <= at[2] < at[0]):
        raise ValueError("at does not point into the documents")
    if left is not None:
        room = left.shape[0]
        if right is None or right.shape[0] != room:
            raise ValueError("left and right need the same length")
        if room:
            to_left = &left[0]
            to_right = &right[0]
    if steps < 1:
        raise ValueError(f"steps must be at least 1, got {steps}")
    if at[0] == stop or room == 0:
        return 0
    if linked.signed == 0:
        raise IndexError("documents of no signatures")
    linked.signatures = &signatures[0, 0]
    linked.previous = &previous[0, 0]
    linked.documents = &documents[0]
    with nogil:
        found = walk(&linked, &at[0], to_left, to_right, room, steps)
    if found < 0:
        raise ValueError(
            "previous must point to earlier documents, documents to rows of the signatures"
        )
    return found


cdef Py_ssize_t mark_first(
    const Bands* linked, const int64_t* left, const int64_t* right, const int64_t* band,
    Py_ssize_t pairs, uint8_t* first
) noexcept nogil:
    # Returns how many were marked: all, or the place of the first that lies outside.
    cdef Py_ssize_t i
    cdef const uint32_t* ours
    cdef const uint32_t* theirs
    for i in range(pairs):
        if not (0 <= left[i] < linked.n and 0 <= right[i] < linked.n):
            return i
        if not 0 <= band[i] < linked.bands:
            return i
        ours = row_of(linked, left[i])
        theirs = row_of(linked, right[i])
        if ours == NULL or theirs == NULL:
            return i
        first[i] = same_band(ours, theirs, linked.rows, band[i]) and not same_earlier(
            ours, theirs, linked.rows, band[i]
        )
    return pairs


def share_first(
    const uint32_t[:, ::1] signatures not None, Py_ssize_t rows, Py_ssize_t bands,
    const int64_t[::1] documents not None, const int64_t[::1] left not None,
    const int64_t[::1] right not None, const int64_t[::1] band not None,
    uint8_t[::1] first not None,
):
    """Write whether a band is the first one in which the two documents of a pair are equal.

    Parameters
    ----------
    signatures, rows, documents
        As in `emit_pairs`.
    bands
        How many there are.
    left, right
        int64 (m,): places in `documents`.
    band
        int64 (m,): the band of each pair.
    first
        uint8 (m,), written: 0 or 1.
    """
    cdef Bands linked
    cdef Py_ssize_t pairs = left.shape[0]
    cdef Py_ssize_t done
    if right.shape[0] != pairs or band.shape[0] != pairs or first.shape[0] != pairs:
        raise ValueError("left, right, band and first need the same length")
    if bands < 1:
        raise ValueError(f"bands must be at least 1, got {bands}")
    check_band_rows(0, bands, rows, signatures.shape[1])
    check_matrix(signatures, "signatures")
    check_array(left, "left")
    check_array(right, "right")
    check_array(band, "band")
    check_array(documents, "documents")
    if pairs == 0:
        return
    linked.signed = signatures.shape[0]
    linked.k = signatures.shape[1]
    linked.rows = rows
    linked.bands = bands
    linked.n = documents.shape[0]
    if linked.signed == 0 or linked.n == 0:
        raise IndexError("pairs of no documents")
    linked.signatures = &signatures[0, 0]
    linked.documents = &documents[0]
    with nogil:
        done = mark_first(&linked, &left[0], &right[0], &band[0], pairs, &first[0])
    if done < pairs:
        raise IndexError(
            f"pair ({left[done]}, {right[done]}) in band {band[done]} lies outside the documents,"
            " the signatures or the bands"
        )


# ---- The keep-or-drop step: documents in priority order against the kept documents of their
# buckets.
#
# `root` and `document` belong to the caller, who may have written to them since they were checked:
# each number is compared with what it counts before it is used.

cdef Py_ssize_t check_roots(const Buckets* s) noexcept nogil:
    # The first document with a root that is none, or -1.
    cdef Py_ssize_t d, b
    cdef int32_t root
    for d in range(s.n):
        for b in range(s.bands):
            root = s.root[d * s.bands + b]
            if root != -1 and (
                <uint32_t> root >= <size_t> s.n or s.root[root * s.bands + b] != root
            ):
                return d
    return -1


cdef Py_ssize_t gather(Buckets* s, Py_ssize_t d) noexcept nogil:
    # The kept documents in the buckets of d, as candidates; sets `clipped`.
    cdef Candidates* candidates = &s.candidates
    cdef const int32_t* roots = s.root + d * s.bands
    cdef Py_ssize_t n = 0
    cdef Py_ssize_t b, i, root
    cdef int32_t c
    cdef int left
    s.clipped = False
    for b in range(s.bands):
        root = roots[b]
        if <size_t> root >= <size_t> s.n:       # alone
            continue
        if s.role != NULL and s.role[d * s.bands + b] == OFFERS:
            continue
        left = s.filled[root * s.bands + b]
        if left > REMEMBERED:
            s.clipped = True
            left = REMEMBERED
        c = s.chain[root * s.bands + b]
        s.steps -= PER_CANDIDATE * left
        while left and <size_t> c < <size_t> s.n:
            if s.position[c] < 0:
                s.position[c] = <int32_t> n
                candidates.found[n] = c
                candidates.shared[n] = 1
                n += 1
            else:
                candidates.shared[s.position[c]] += 1
            left -= 1
            c = s.chain[c * s.bands + b]
    check(n <= s.n and n <= REMEMBERED * s.bands)
    for i in range(n):
        s.position[candidates.found[i]] = -1
    if n > candidates.limit:
        s.clipped = True
    return n


cdef inline const uint32_t* signature_of(Buckets* s, Py_ssize_t d) noexcept nogil:
    cdef int64_t row = s.document[d]
    if <uint64_t> row >= <size_t> s.signed:
        s.changed = True
        row = 0
    return s.signatures + row * s.k


cdef Py_ssize_t chosen(Buckets* s, Py_ssize_t d, Py_ssize_t n) noexcept nogil:
    # Cuts the candidates down to the limit and sorts them by priority.
    cdef Candidates* candidates = &s.candidates
    cdef Py_ssize_t i, equal
    if n > candidates.limit:
        s.steps -= n * (s.k // 16 + 8 * PER_CANDIDATE)
        for i in range(n):
            loops.count_equal(signature_of(s, d), signature_of(s, candidates.found[i]), s.k, &equal)
            candidates.ranks[i].equal = <int32_t> equal
    return choose(candidates, n)


cdef inline bint by_sets(const Buckets* s) noexcept nogil:
    return s.mode == BY_SETS or s.mode == BY_CONTAINMENT


cdef double compare_sets(
    Buckets* s, Py_ssize_t d, Py_ssize_t c, const Sets* sets, double threshold
) noexcept nogil:
    # The similarity of two sets, or the share of d in c; -1 where that is below the threshold.
    if not (has_numbers(sets, d) and has_numbers(sets, c)):
        s.incomplete = True
        return -1.0
    if s.mode == BY_CONTAINMENT:
        return containment_of_numbers(
            sets.words + sets.start[d], sets.count[d],
            sets.words + sets.start[c], sets.count[c], threshold,
        )
    return jaccard_of_numbers(
        sets.words + sets.start[d], sets.count[d],
        sets.words + sets.start[c], sets.count[c], threshold,
    )


cdef double compare(Buckets* s, Py_ssize_t d, Py_ssize_t c, const Sets* sets) noexcept nogil:
    # What the rule asks for, a similarity or the share of d in c; -1 where that is too little, also
    # of the second sets.
    cdef double similarity = compare_first(s, d, c, sets)
    if similarity >= 0.0 and s.also_threshold > 0.0:
        if compare_sets(s, d, c, &s.also, s.also_threshold) < 0.0:
            return -1.0
    return similarity


cdef double compare_first(Buckets* s, Py_ssize_t d, Py_ssize_t c, const Sets* sets) noexcept nogil:
    cdef Py_ssize_t equal
    cdef double similarity
    if by_sets(s):
        return compare_sets(s, d, c, sets, s.threshold)
    if s.mode == BY_SIGNATURE:
        loops.count_equal(signature_of(s, d), signature_of(s, c), s.k, &equal)
        similarity = <double> equal / <double> s.k
        return similarity if similarity >= s.threshold else -1.0
    return 2.0                              # anything that is not refused


cdef void remember(Buckets* s, Py_ssize_t d) noexcept nogil:
    cdef const int32_t* roots = s.root + d * s.bands
    cdef Py_ssize_t b, root, at
    for b in range(s.bands):
        root = roots[b]
        if <size_t> root >= <size_t> s.n:
            continue
        if s.role != NULL and s.role[d * s.bands + b] == ASKS:
            continue
        at = root * s.bands + b
        if s.filled[at] >= REMEMBERED:
            s.filled[at] = REMEMBERED + 1
            continue
        s.filled[at] += 1
        if d != root:
            s.chain[d * s.bands + b] = s.chain[at]
        s.chain[at] = <int32_t> d


cdef Py_ssize_t put_candidates(
    Buckets* s, Py_ssize_t first, Py_ssize_t last, int32_t* out, Py_ssize_t room, Py_ssize_t most,
    int64_t* offsets
) noexcept nogil:
    # Returns the first document whose candidates, at most `most`, might not fit.
    cdef Py_ssize_t d = first
    cdef Py_ssize_t end = 0
    cdef Py_ssize_t i, n
    offsets[0] = 0
    while d < last and most <= room - end and (s.steps > 0 or d == first):
        n = 0 if s.fixed[d] else chosen(s, d, gather(s, d))
        check(n <= most)
        for i in range(n):
            out[end + i] = s.candidates.found[i]
        end += n
        d += 1
        offsets[d - first] = end
    return d


cdef void find_hits(
    Buckets* s, Py_ssize_t first, Py_ssize_t last, const int32_t* candidates,
    const int64_t* offsets, const Sets* sets, int32_t* hit, double* similarity
) noexcept nogil:
    cdef Py_ssize_t d, i
    cdef double found
    for d in range(last - first):
        hit[d] = -1
        similarity[d] = 0.0
        for i in range(offsets[d], offsets[d + 1]):
            found = compare(s, first + d, candidates[i], sets)
            if found >= 0.0:
                hit[d] = candidates[i]
                similarity[d] = found
                break


cdef inline Py_ssize_t steps_to_compare(
    const Buckets* s, Py_ssize_t d, Py_ssize_t c, const Sets* sets
) noexcept nogil:
    cdef Py_ssize_t steps = s.k // 16 + 1
    if by_sets(s):
        steps = sets.count[d] + sets.count[c]
    if s.also_threshold > 0.0:
        steps += s.also.count[d] + s.also.count[c]
    return steps


cdef Py_ssize_t decide(
    Buckets* s, Py_ssize_t first, Py_ssize_t last, Py_ssize_t done, const Sets* sets,
    int32_t* hit, double* similarity, uint8_t* unsure
) noexcept nogil:
    # Returns on how many, `done` included: at least on one more.
    cdef Py_ssize_t d = first + done
    cdef Py_ssize_t i, n
    cdef int32_t c
    cdef double found
    cdef bint cut, over
    while d < last and (s.steps > 0 or d == first + done):
        unsure[d - first] = 0
        if s.fixed[d]:
            remember(s, d)
            d += 1
            continue
        n = gather(s, d)
        cut = s.clipped
        over = n > s.candidates.limit
        if over:                        # others may be among the compared ones now
            hit[d - first] = -1
        if hit[d - first] < 0:
            n = chosen(s, d, n)
            for i in range(n):
                c = s.candidates.found[i]
                if c < first and not over:
                    continue            # compared before, in vain
                s.steps -= steps_to_compare(s, d, c, sets)
                found = compare(s, d, c, sets)
                if found >= 0.0:
                    hit[d - first] = c
                    similarity[d - first] = found
                    break
        if hit[d - first] < 0:
            remember(s, d)
            unsure[d - first] = cut
        d += 1
    return d - first


# ---- Called from Python: the keep-or-drop step.

globals().update(REMEMBERED=REMEMBERED)         # for callers


cdef int check_rule(int mode) except -1:
    return 0 if mode == BY_CONTAINMENT else check_mode(mode)


cdef int check_input(
    const int32_t[:, ::1] root, const uint32_t[:, ::1] signatures,
    const int64_t[::1] document, const uint8_t[::1] fixed, const uint8_t[:, ::1] role,
) except -1:
    if not root.shape[0] == document.shape[0] == fixed.shape[0] or root.shape[0] > 0x7FFFFFFF:
        raise ValueError("root, document and fixed need the same number of documents")
    check_matrix(root, "root")
    check_matrix(signatures, "signatures")
    check_array(document, "document")
    if role is not None:
        if role.shape[0] != root.shape[0] or role.shape[1] != root.shape[1]:
            raise ValueError("role needs one number for each one in root")
    return 0


cdef int check_state(
    int32_t[:, ::1] chain, uint8_t[:, ::1] filled, Py_ssize_t bands,
    const int64_t[::1] document, Py_ssize_t signed_rows,
) except -1:
    # Checks the documents and what a Keeper writes, made by others; empties the buckets.
    cdef Py_ssize_t i, n = document.shape[0]
    if not chain.shape[0] == filled.shape[0] == n or not chain.shape[1] == filled.shape[1] == bands:
        raise ValueError(f"empty made an array of another shape than ({n}, {bands})")
    check_matrix(chain, "chain")
    for i in range(n):
        if not 0 <= document[i] < signed_rows:
            raise ValueError("document points outside the signatures")
    filled[:] = 0
    return 0


cdef int check_outcome(const Buckets* s) except -1:
    if s.changed:
        raise ValueError("document was changed: it points outside the signatures")
    if s.incomplete:
        raise ValueError("a set that is needed has not been made")
    return 0


cdef class Keeper:
    """State of the buckets while documents are decided on, in priority order.

    Parameters
    ----------
    root
        int32 (n, bands): the first document of each one's bucket, -1 where it is alone.
    signatures
        uint32 (m, num_perm).
    document
        int64 (n,): each one's row in `signatures`. The sets are by place here.
    fixed
        uint8 (n,): 1 = kept without being asked.
    threshold
        The least similarity of a duplicate, or its least share in the kept document.
    mode
        `BY_SETS` of shingle hashes, `BY_CONTAINMENT`, `BY_SIGNATURE` or `NOT_VERIFIED`.
    limit
        At most so many candidates are compared with a document.
    role
        uint8 (n, bands), or None: 1 where a document only asks in its bucket, and is no candidate;
        2 where it only is one, and does not ask; other numbers: both.
    empty
        As `numpy.empty`: makes what has a value for each document and band.
    """

    cdef Buckets s
    cdef object owners, owners_of_also

    def __cinit__(
        self, const int32_t[:, ::1] root not None, const uint32_t[:, ::1] signatures not None,
        const int64_t[::1] document not None, const uint8_t[::1] fixed not None,
        double threshold, int mode, Py_ssize_t limit, const uint8_t[:, ::1] role=None,
        empty=np.empty,
    ):
        cdef Buckets* s = &self.s
        cdef Py_ssize_t wrong, n = document.shape[0]
        cdef int32_t[:, ::1] chain
        cdef uint8_t[:, ::1] filled
        cdef int32_t[::1] position
        check_rule(mode)
        check_threshold(threshold)
        if limit < 1:
            raise ValueError(f"limit must be at least 1, got {limit}")
        check_input(root, signatures, document, fixed, role)
        s.n = n
        s.signed, s.k = signatures.shape[0], signatures.shape[1]
        s.threshold = threshold
        s.mode = mode
        s.candidates.limit = limit
        if n == 0:
            return
        s.bands = root.shape[1]
        if s.bands < 1 or s.k < 1:
            raise ValueError(f"root has {s.bands} bands and signatures have {s.k} values")
        s.root = &root[0, 0]
        with nogil:
            wrong = check_roots(s)
        if wrong >= 0:
            raise ValueError(f"root points outside the documents, or to no root, at {wrong}")
        chain = empty((n, s.bands), np.int32)
        filled = empty((n, s.bands), np.uint8)
        check_state(chain, filled, s.bands, document, s.signed)
        position = np.full(n, -1, np.int32)
        self.owners = root, signatures, document, fixed, role, chain, filled, position
        s.chain = &chain[0, 0]
        s.filled = &filled[0, 0]
        s.signatures = &signatures[0, 0]
        s.document = &document[0]
        s.fixed = &fixed[0]
        if role is not None:  # NULL until then
            s.role = &role[0, 0]
        s.position = &position[0]

    cdef Buckets begin(self, Py_ssize_t steps) except *:
        # A call's own view, so that several threads can decide on different families: with room for
        # all candidates that `gather` can find, whatever the arrays contain by now.
        cdef Buckets s = self.s
        cdef size_t room = <size_t> (REMEMBERED * s.bands)
        s.steps = steps
        s.candidates.ranks = <Rank*> malloc(room * (sizeof(Rank) + 2 * sizeof(int32_t)) + 1)
        if s.candidates.ranks == NULL:
            raise MemoryError()
        s.candidates.found = <int32_t*> (s.candidates.ranks + room)
        s.candidates.shared = s.candidates.found + room
        return s

    cdef Sets sets(
        self, const uint64_t[::1] words, const int64_t[::1] start, const int64_t[::1] count
    ) except *:
        cdef Sets none
        memset(&none, 0, sizeof(Sets))
        if self.s.n == 0 or not by_sets(&self.s):
            return none
        return sets_of(words, start, count, self.s.n)

    def require(
        self, const uint64_t[::1] words not None, const int64_t[::1] start not None,
        const int64_t[::1] count not None, double threshold,
    ):
        """Require of duplicates from now on that second sets are similar, too.

        Parameters
        ----------
        words, start, count
            The second sets, as in `number_jaccard`.
        threshold
            Their least similarity, or with `BY_CONTAINMENT` their least share.
        """
        check_threshold(threshold)
        self.s.also = sets_of(words, start, count, self.s.n)
        self.s.also_threshold = threshold
        self.owners_of_also = words, start, count

    def candidates(
        self, Py_ssize_t first, Py_ssize_t last,
        int32_t[::1] out not None, int64_t[::1] offsets not None, Py_ssize_t steps=KEEP_STEPS,
    ):
        """Collect the candidates of documents first ... as they stand now, by priority.

        Stops before a document whose candidates might not fit, and after about `steps`, for
        Ctrl-C; returns the first not done.

        Parameters
        ----------
        out
            int32, written; at least as long as one document's candidates can be.
        offsets
            int64 (last - first + 1,), written: where each one's candidates begin and end.
        """
        cdef Py_ssize_t most = min(REMEMBERED * self.s.bands, self.s.n, self.s.candidates.limit)
        cdef Py_ssize_t done
        check_range(first, last, self.s.n)
        if offsets.shape[0] != last - first + 1 or out.shape[0] < most:
            raise ValueError("out or offsets too short")
        check_array(out, "out")
        check_array(offsets, "offsets")
        cdef Buckets s = self.begin(steps)
        with nogil:
            done = put_candidates(
                &s, first, last, &out[0] if out.shape[0] else NULL, out.shape[0], most, &offsets[0],
            )
            free(s.candidates.ranks)
        check_outcome(&s)
        return done

    def first_hits(
        self, Py_ssize_t first, Py_ssize_t last,
        const int32_t[::1] candidates not None, const int64_t[::1] offsets not None,
        const uint64_t[::1] words not None, const int64_t[::1] start not None,
        const int64_t[::1] count not None,
        int32_t[::1] hit not None, double[::1] similarity not None,
    ):
        """Find each document's first candidate that reaches the threshold (-1: none).

        Parameters
        ----------
        candidates, offsets
            From `candidates`: int32 (total,), int64 (last - first + 1,).
        words, start, count
            The sets, as in `number_jaccard`.
        hit, similarity
            int32 and float64 (last - first,), written.
        """
        cdef Py_ssize_t i
        check_range(first, last, self.s.n)
        check_offsets(offsets, last - first, candidates.shape[0], "offsets")
        if hit.shape[0] != last - first or similarity.shape[0] != last - first:
            raise ValueError("hit and similarity need one element per document")
        check_array(hit, "hit")
        check_array(similarity, "similarity")
        check_array(candidates, "candidates")
        for i in range(offsets[0], offsets[last - first]):
            if not 0 <= candidates[i] < self.s.n:
                raise ValueError("candidates point outside the documents")
        cdef Sets sets = self.sets(words, start, count)
        cdef Buckets s = self.s
        cdef object _kept = self.owners_of_also  # another call may replace them
        if first == last:
            return
        with nogil:
            find_hits(
                &s, first, last, &candidates[0] if candidates.shape[0] else NULL, &offsets[0],
                &sets, &hit[0], &similarity[0],
            )
        check_outcome(&s)

    def settle(
        self, Py_ssize_t first, Py_ssize_t last,
        const uint64_t[::1] words not None, const int64_t[::1] start not None,
        const int64_t[::1] count not None,
        int32_t[::1] hit not None, double[::1] similarity not None,
        uint8_t[::1] unsure not None, Py_ssize_t done=0, Py_ssize_t steps=KEEP_STEPS,
    ):
        """Decide on documents first ... last - 1 in order; return on how many.

        Not on all after about `steps`, for Ctrl-C: `done` tells on how many it was before. Several
        threads may settle documents of different buckets at the same time.

        `hit` and `similarity` come from `first_hits`, made when none of these documents was
        decided on; here they become final: -1 = kept. `unsure`, uint8 (last - first,), is
        written: 1 where a document was kept that could not be compared with every candidate.
        """
        check_range(first, last, self.s.n)
        if not hit.shape[0] == similarity.shape[0] == unsure.shape[0] == last - first:
            raise ValueError("hit, similarity and unsure need one element per document")
        check_array(hit, "hit")
        check_array(similarity, "similarity")
        cdef Sets sets = self.sets(words, start, count)
        if not 0 <= done <= last - first:
            raise ValueError(f"done must lie between 0 and {last - first}, got {done}")
        if done == last - first:
            return done
        cdef Buckets s = self.begin(steps)
        cdef object _kept = self.owners_of_also  # another call may replace them
        with nogil:
            done = decide(&s, first, last, done, &sets, &hit[0], &similarity[0], &unsure[0])
            free(s.candidates.ranks)
        check_outcome(&s)
        return done
