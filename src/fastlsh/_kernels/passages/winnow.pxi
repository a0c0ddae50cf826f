# Winnowing (Schleimer, Wilkerson and Aiken 2003): of the hashes of all grams in a window, the
# smallest is its key. Equal windows have the same key at the same place, so none is missed.

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from fastlsh._kernels.common.checks cimport memory_of, memory_of_rows
from fastlsh._kernels.common.mixing cimport fmix64
from fastlsh._kernels.passages.symbols cimport power_of, pushed, rolled, symbol
from fastlsh._kernels.text._texts cimport Span, Spans


cdef struct Winnowing:
    Py_ssize_t length       # units of a window
    Py_ssize_t gram         # units of a gram
    Py_ssize_t width        # grams of a window
    uint64_t power
    # Of the block of `width` grams that is being read, and of the block before it: the smallest
    # hash from each place to the end, and where it is.
    uint64_t* hashes
    uint64_t* smallest
    Py_ssize_t* where
    # What has been found; behind `room` it is only counted.
    uint64_t* keys
    int64_t* rows
    Py_ssize_t room
    Py_ssize_t count


def winnow(
    Spans texts not None, Py_ssize_t length, Py_ssize_t gram, uint64_t[::1] keys not None,
    int64_t[:, ::1] rows not None,
):
    """Find the keys of all windows of texts.

    Of equal hashes in a window, the last counts. Consecutive windows with the same key at the same
    place are one row.

    Parameters
    ----------
    texts
        Code points, bytes or token ids.
    length, gram
        Units of a window and of a gram, 1 <= gram <= length.
    keys
        uint64 (room,), written.
    rows
        int64 (room, 3), written: the text, where the gram begins, and where the first window
        begins; the last one begins before the first window of the next row.

    Returns
    -------
    int
        How many rows there are. If they are more than `room`, the others are not written.
    """
    cdef Winnowing state
    if not 1 <= gram <= length:
        raise ValueError(f"a gram must have 1 to {length} units, got {gram}")
    if rows.shape[1] != 3 or rows.shape[0] != keys.shape[0]:
        raise ValueError("rows must have 3 columns, and as many rows as there are keys")
    memory_of(keys, "keys")
    memory_of_rows(rows, "rows")
    state.length, state.gram, state.width = length, gram, length - gram + 1
    state.power = power_of(gram)
    state.room, state.count = keys.shape[0], 0
    state.keys = &keys[0] if state.room else NULL
    state.rows = &rows[0, 0] if state.room else NULL
    cdef size_t width = <size_t> state.width
    state.hashes = <uint64_t*> malloc(width * sizeof(uint64_t))
    state.smallest = <uint64_t*> malloc(width * sizeof(uint64_t))
    state.where = <Py_ssize_t*> malloc(width * sizeof(Py_ssize_t))
    try:
        if state.hashes == NULL or state.smallest == NULL or state.where == NULL:
            raise MemoryError()
        with nogil:
            winnow_texts(texts.at, texts.n, &state)
    finally:
        free(state.hashes)
        free(state.smallest)
        free(state.where)
    return state.count


cdef void winnow_texts(const Span* at, Py_ssize_t n, Winnowing* state) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if at[i].length < state.length:
            continue
        if at[i].kind == 1:
            winnow_text(<const uint8_t*> at[i].text, at[i].length, i, state)
        elif at[i].kind == 2:
            winnow_text(<const uint16_t*> at[i].text, at[i].length, i, state)
        elif at[i].kind == 4:
            winnow_text(<const uint32_t*> at[i].text, at[i].length, i, state)
        else:
            winnow_text(<const uint64_t*> at[i].text, at[i].length, i, state)


cdef void winnow_text(
    const symbol* text, Py_ssize_t n, Py_ssize_t number, Winnowing* state
) noexcept nogil:
    # The smallest of a window is the smaller of two: of the end of one block of `width` grams,
    # and of the beginning of the next (van Herk 1992).
    cdef Py_ssize_t gram = state.gram
    cdef Py_ssize_t width = state.width
    cdef Py_ssize_t last = -1
    cdef Py_ssize_t inside = 0          # which gram of its block
    cdef Py_ssize_t i, first, found
    cdef uint64_t h = 0
    cdef uint64_t value, key
    cdef uint64_t smallest = 0
    cdef Py_ssize_t where = 0
    for i in range(gram):
        h = pushed(h, text[i])
    for first in range(n - gram + 1):
        if first > 0:
            h = rolled(h, text[first - 1], text[first + gram - 1], state.power)
        value = fmix64(h)
        state.hashes[inside] = value
        if inside == 0 or value <= smallest:
            smallest, where = value, first
        if first >= width - 1:
            key, found = smallest, where
            if inside + 1 < width and state.smallest[inside + 1] < smallest:
                key, found = state.smallest[inside + 1], state.where[inside + 1]
            if found != last:
                last = found
                add_anchor(state, key, number, found, first - width + 1)
        inside += 1
        if inside == width:
            finish_block(state, first)
            inside = 0


cdef inline void finish_block(Winnowing* state, Py_ssize_t last) noexcept nogil:
    # `last` is where the last gram of the block begins.
    cdef Py_ssize_t width = state.width
    cdef Py_ssize_t i = width - 1
    cdef uint64_t smallest = state.hashes[i]
    cdef Py_ssize_t where = last
    while True:
        state.smallest[i], state.where[i] = smallest, where
        i -= 1
        if i < 0:
            return
        if state.hashes[i] < smallest:
            smallest, where = state.hashes[i], last - (width - 1 - i)


cdef inline void add_anchor(
    Winnowing* state, uint64_t key, Py_ssize_t text, Py_ssize_t position, Py_ssize_t first
) noexcept nogil:
    cdef int64_t* row
    if state.count < state.room:
        row = state.rows + 3 * state.count
        state.keys[state.count] = key
        row[0], row[1], row[2] = text, position, first
    state.count += 1
