# From links to pairs: each once, in the first band that it shares.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

from fastlsh._kernels.candidates.same_band cimport same_band, same_earlier
from fastlsh._kernels.common.checks cimport (
    Memory, check_apart, check_band_rows, memory_of, memory_of_rows,
)
from fastlsh._kernels.common.debug cimport check
from fastlsh._kernels.common.prefetch cimport prefetch

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
    cdef Memory parts[4]
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
        memory_of(asks, "asks")
        if linked.n:
            linked.asks = &asks[0]
    if previous.shape[1] != linked.n or at.shape[0] != 3:
        raise ValueError("previous needs one column per document, at needs three elements")
    if linked.bands < 1:
        raise ValueError("previous has no band")
    check_band_rows(0, linked.bands, rows, linked.k)
    memory_of_rows(signatures, "signatures")
    memory_of_rows(previous, "previous")
    parts[0] = memory_of(at, "at")
    parts[1] = memory_of(left, "left")
    parts[2] = memory_of(right, "right")
    parts[3] = memory_of(documents, "documents")
    check_apart(parts, 4, 3, "at, left, right and documents")
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
    cdef Memory parts[5]
    cdef Py_ssize_t pairs = left.shape[0]
    cdef Py_ssize_t done
    if right.shape[0] != pairs or band.shape[0] != pairs or first.shape[0] != pairs:
        raise ValueError("left, right, band and first need the same length")
    if bands < 1:
        raise ValueError(f"bands must be at least 1, got {bands}")
    check_band_rows(0, bands, rows, signatures.shape[1])
    memory_of_rows(signatures, "signatures")
    parts[0] = memory_of(first, "first")
    parts[1] = memory_of(left, "left")
    parts[2] = memory_of(right, "right")
    parts[3] = memory_of(band, "band")
    parts[4] = memory_of(documents, "documents")
    check_apart(parts, 5, 1, "first, left, right, band and documents")
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
