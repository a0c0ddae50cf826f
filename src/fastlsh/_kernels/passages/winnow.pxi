# Winnowing (Schleimer, Wilkerson and Aiken 2003): of the hashes of all grams in a window, the
# smallest is its key. Equal windows have the same key at the same place, so none is missed.
#
# In a stretch with a short period, each gram is as small as the one a period before, and nearly
# every window would have a key at another place. What lies behind its beginning is an echo: it
# occurred before, in the same text, which needs no key to be known.

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from fastlsh._kernels.common.checks cimport memory_of, memory_of_rows
from fastlsh._kernels.common.mixing cimport (
    CHARACTER_BASE, UNITS, fmix64, mix_code_point, power_of,
)
from fastlsh._kernels.passages.symbols cimport symbol
from fastlsh._kernels.text._texts cimport Span, Spans


cdef enum:
    NARROW = 256            # units below have their share of a hash in a table


cdef struct Winnowing:
    Py_ssize_t length       # units of a window
    Py_ssize_t gram         # units of a gram
    Py_ssize_t width        # grams of a window
    uint64_t power
    uint64_t entering[NARROW]
    uint64_t leaving[NARROW]
    # Of the last `width` grams, in a ring: their hashes and, up to one of them, the smallest hash
    # from each on, and where it is.
    uint64_t* hashes
    uint64_t* smallest
    Py_ssize_t* where
    # What has been found; behind the room for it, it is only counted.
    uint64_t* keys
    int64_t* rows
    Py_ssize_t room
    Py_ssize_t count
    int64_t* echoes
    bint echoing
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
    int64_t[:, ::1] rows not None, int64_t[:, ::1] echoes not None, bint echoing=True,
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
    echoing
        Whether windows may be an echo.

    Returns
    -------
    rows, echoes : int
        How many there are. If they are more than there is room for, the others are not written.
    """
    cdef Winnowing state
    cdef Py_ssize_t i
    cdef Py_ssize_t longest = 0
    if not 1 <= gram <= length:
        raise ValueError(f"a gram must have 1 to {length} units, got {gram}")
    if rows.shape[1] != 4 or rows.shape[0] != keys.shape[0] or echoes.shape[1] != 5:
        raise ValueError("rows need 4 columns and as many rows as keys, echoes 5 columns")
    memory_of(keys, "keys")
    memory_of_rows(rows, "rows")
    memory_of_rows(echoes, "echoes")
    for i in range(texts.n):
        longest = max(longest, texts.at[i].length)
    if longest < length:
        return 0, 0
    state.length, state.gram, state.width = length, gram, length - gram + 1
    state.power = power_of(CHARACTER_BASE, gram)
    for i in range(NARROW):
        state.entering[i] = mix_code_point(i)
        state.leaving[i] = state.entering[i] * state.power
    state.room, state.count = keys.shape[0], 0
    state.keys = &keys[0] if state.room else NULL
    state.rows = &rows[0, 0] if state.room else NULL
    state.echoing, state.echo_room, state.echo_count = echoing, echoes.shape[0], 0
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
    # The smallest of a window stays until a gram is no larger, or it leaves the window. Then the
    # next one is found among the smallest from each gram on, which are renewed once in `width`
    # grams at most, and those that came behind.
    cdef Py_ssize_t gram = state.gram
    cdef Py_ssize_t width = state.width
    cdef Py_ssize_t slot = 0            # of the gram in the ring; the next one is the oldest
    cdef Py_ssize_t renewed = -1        # the last gram of which the smallest is known from it on
    cdef Py_ssize_t i, first, begin
    cdef uint64_t h = 0
    cdef uint64_t left = 0              # the share of the unit that leaves with the next one
    cdef uint64_t value
    cdef uint64_t smallest = <uint64_t> -1
    cdef uint64_t behind = <uint64_t> -1
    cdef Py_ssize_t where = -1
    cdef Py_ssize_t where_behind = -1
    cdef Chain chain
    chain.key, chain.start, chain.period = 0, 0, 0
    chain.last = -1
    chain.known = -1
    for i in range(gram - 1):
        h = h * CHARACTER_BASE + entering_of(state, text[i])
    for first in range(n - gram + 1):
        # Only one product and one sum wait for the hash before.
        h = h * CHARACTER_BASE + (entering_of(state, text[first + gram - 1]) - left)
        left = leaving_of(state, text[first])
        value = (h ^ (h >> 32)) * UNITS
        state.hashes[slot] = value
        if value <= behind:
            behind, where_behind = value, first
            if value <= smallest:
                smallest, where = value, first
        slot += 1
        if slot == width:
            slot = 0
        begin = first - width + 1
        if begin < 0:
            continue
        if where < begin:
            if begin > renewed:
                renew(state, slot, first)
                renewed = first
                behind = <uint64_t> -1
                smallest, where = state.smallest[slot], state.where[slot]
            else:
                smallest, where = state.smallest[slot], state.where[slot]
                if behind <= smallest:
                    smallest, where = behind, where_behind
        if where != chain.last and begin > chain.known:
            add_anchor(state, text, n, number, &chain, smallest, where, begin)
    if chain.last >= 0:
        close_row(state, n - state.length)


cdef inline uint64_t entering_of(const Winnowing* state, symbol unit) noexcept nogil:
    if symbol is uint8_t:
        return state.entering[unit]
    else:
        return state.entering[unit] if unit < NARROW else mix_code_point(unit)


cdef inline uint64_t leaving_of(const Winnowing* state, symbol unit) noexcept nogil:
    # When the next unit has entered.
    if symbol is uint8_t:
        return state.leaving[unit]
    else:
        return state.leaving[unit] if unit < NARROW else mix_code_point(unit) * state.power


cdef void renew(Winnowing* state, Py_ssize_t slot, Py_ssize_t first) noexcept nogil:
    # `first` is the last gram, and `slot` that of the oldest one.
    cdef Py_ssize_t at = slot
    cdef Py_ssize_t i
    cdef Py_ssize_t where = first
    cdef uint64_t smallest = <uint64_t> -1
    for i in range(state.width):
        at = (at if at else state.width) - 1
        if state.hashes[at] < smallest or i == 0:
            smallest, where = state.hashes[at], first - i
        state.smallest[at], state.where[at] = smallest, where


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
            if state.echoing and echoed(state, text, n, number, chain, begin):
                chain.last = -1         # the first window behind the echo begins a row
                return
    else:
        chain.start, chain.period = found, 0
    chain.key, chain.last = key, found
    if state.count < state.room:
        row = state.rows + 4 * state.count
        # The smallest of many hashes have zeros in front; keys on disk are cut, and divided evenly.
        state.keys[state.count] = max(fmix64(key), <uint64_t> 1)
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
