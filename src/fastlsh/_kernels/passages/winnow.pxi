# Winnowing (Schleimer, Wilkerson and Aiken 2003): of the hashes of all grams in a window, the
# smallest is its key. Equal windows have the same key at the same place, so none is missed.
#
# In a stretch with a short period, each gram is as small as the one a period before, and nearly
# every window would have a key at another place. What lies behind its beginning is an echo: it
# occurred before, in the same text, which needs no key to be known.

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
    # What has been found; behind the room for it, it is only counted.
    uint64_t* keys
    int64_t* rows
    Py_ssize_t room
    Py_ssize_t count
    int64_t* echoes
    Py_ssize_t echo_room
    Py_ssize_t echo_count


cdef struct Chain:
    # Equal keys at equal distances: perhaps a stretch with this period.
    uint64_t key
    Py_ssize_t start        # the first gram, or where the stretch begins
    Py_ssize_t last         # the last one; -1: there is none
    Py_ssize_t period       # 0: there is only one gram
    Py_ssize_t known        # windows up to the one that begins here are echoes


def winnow(
    Spans texts not None, Py_ssize_t length, Py_ssize_t gram, uint64_t[::1] keys not None,
    int64_t[:, ::1] rows not None, int64_t[:, ::1] echoes not None,
):
    """Find the keys of all windows of texts.

    Of equal hashes in a window, the last counts. Consecutive windows with the same key at the same
    place are one row. Windows that equal one at least `length` units before, in the same text, may
    be an echo instead.

    Parameters
    ----------
    texts
        Code points, bytes or token ids.
    length, gram
        Units of a window and of a gram, 1 <= gram <= length.
    keys
        uint64 (room,), written.
    rows
        int64 (room, 4), written: the text, where the gram begins, and where the first and the last
        window begin.
    echoes
        int64 (echo room, 5), written: the text, where a stretch begins and ends, the text again,
        and where the equal stretch begins.

    Returns
    -------
    rows, echoes : int
        How many there are. If they are more than there is room for, the others are not written.
    """
    cdef Winnowing state
    if not 1 <= gram <= length:
        raise ValueError(f"a gram must have 1 to {length} units, got {gram}")
    if rows.shape[1] != 4 or rows.shape[0] != keys.shape[0] or echoes.shape[1] != 5:
        raise ValueError("rows need 4 columns and as many rows as keys, echoes 5 columns")
    memory_of(keys, "keys")
    memory_of_rows(rows, "rows")
    memory_of_rows(echoes, "echoes")
    state.length, state.gram, state.width = length, gram, length - gram + 1
    state.power = power_of(gram)
    state.room, state.count = keys.shape[0], 0
    state.keys = &keys[0] if state.room else NULL
    state.rows = &rows[0, 0] if state.room else NULL
    state.echo_room, state.echo_count = echoes.shape[0], 0
    state.echoes = &echoes[0, 0] if state.echo_room else NULL
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
    return state.count, state.echo_count


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
    cdef Py_ssize_t inside = 0          # which gram of its block
    cdef Py_ssize_t i, first, found
    cdef uint64_t h = 0
    cdef uint64_t value, key
    cdef uint64_t smallest = 0
    cdef Py_ssize_t where = 0
    cdef Chain chain
    chain.last = -1
    chain.known = -1
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
            if found != chain.last and first - width + 1 > chain.known:
                add_anchor(state, text, n, number, &chain, key, found, first - width + 1)
        inside += 1
        if inside == width:
            finish_block(state, first)
            inside = 0
    if chain.last >= 0:
        close_row(state, n - state.length)


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


cdef void add_anchor(
    Winnowing* state, const symbol* text, Py_ssize_t n, Py_ssize_t number, Chain* chain,
    uint64_t key, Py_ssize_t found, Py_ssize_t begin
) noexcept nogil:
    # The window at `begin` is the first one with this gram.
    cdef int64_t* row
    if chain.last >= 0:
        close_row(state, begin - 1)
        if key != chain.key or (chain.period and found - chain.last != chain.period):
            chain.start, chain.period = found, 0
        else:
            chain.period = found - chain.last
            if echoed(state, text, n, number, chain, begin):
                chain.last = -1         # the first window behind the echo begins a row
                return
    else:
        chain.start, chain.period = found, 0
    chain.key, chain.last = key, found
    if state.count < state.room:
        row = state.rows + 4 * state.count
        state.keys[state.count] = key
        row[0], row[1], row[2] = number, found, begin
    state.count += 1


cdef inline void close_row(Winnowing* state, Py_ssize_t last) noexcept nogil:
    if 0 < state.count <= state.room:
        state.rows[4 * state.count - 1] = last


cdef bint echoed(
    Winnowing* state, const symbol* text, Py_ssize_t n, Py_ssize_t number, Chain* chain,
    Py_ssize_t begin
) noexcept nogil:
    # Whether the windows from `begin` on equal earlier ones that do not overlap them.
    cdef Py_ssize_t period = chain.period
    cdef Py_ssize_t back = (state.length + period - 1) // period * period
    cdef Py_ssize_t end = chain.start + period
    cdef int64_t* echo
    if begin + state.width < chain.start + back:
        return False
    while chain.start > 0 and text[chain.start - 1] == text[chain.start - 1 + period]:
        chain.start -= 1
    if begin - back < chain.start:
        return False
    while end < n and text[end] == text[end - period]:
        end += 1
    if end - begin < state.length:      # the grams repeat, but what is between them does not
        chain.start = chain.last
        return False
    if state.echo_count < state.echo_room:
        echo = state.echoes + 5 * state.echo_count
        echo[0], echo[1], echo[2], echo[3], echo[4] = number, begin, end, number, begin - back
    state.echo_count += 1
    chain.known = end - state.length
    return True
