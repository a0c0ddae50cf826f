# Winnowing (Schleimer, Wilkerson and Aiken 2003): of the hashes of all grams in a window, the
# smallest is its key. Equal windows have the same key at the same place, so none is missed.
#
# In a stretch with a short period, each gram is as small as the one a period before, and nearly
# every window would have a key at another place. What lies behind its beginning is an echo: it
# occurred before, in the same text, which needs no key to be known.

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memmove

from fastlsh._kernels.common.checks cimport memory_of, memory_of_rows
from fastlsh._kernels.common.mixing cimport (
    CHARACTER_BASE, UNITS, fmix64, mix_code_point, power_of,
)
from fastlsh._kernels.passages.symbols cimport symbol
from fastlsh._kernels.text._texts cimport Span, Spans


cdef enum:
    NARROW = 256            # units below have their share of a hash in a table
    ROOM = 4096             # hashes, at least, for which there is room beside those of a window


cdef struct Winnowing:
    Py_ssize_t length       # units of a window
    Py_ssize_t gram         # units of a gram
    Py_ssize_t width        # grams of a window
    uint64_t power
    uint64_t entering[NARROW]
    uint64_t leaving[NARROW]
    # The hashes of the last grams, of a window at least.
    uint64_t* hashes
    Py_ssize_t hash_room
    # Where each hash is, from the last one back, that is smaller than all behind it.
    Py_ssize_t* minima
    Py_ssize_t minima_count
    # What has been found; behind the room for it, it is only counted.
    uint64_t* keys
    int64_t* rows
    Py_ssize_t room
    Py_ssize_t count
    int64_t* echoes
    bint echoing
    Py_ssize_t echo_room
    Py_ssize_t echo_count


cdef struct Rolling:
    uint64_t hash           # of the last gram; before the first one, of all units but its last
    uint64_t left           # the share of the unit that leaves with the next one


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
    state.hash_room = state.width + max(state.width, <Py_ssize_t> ROOM)
    state.hashes = <uint64_t*> malloc(<size_t> state.hash_room * sizeof(uint64_t))
    state.minima = <Py_ssize_t*> malloc(<size_t> state.width * sizeof(Py_ssize_t))
    try:
        if state.hashes == NULL or state.minima == NULL:
            raise MemoryError()
        with nogil:
            winnow_texts(texts.at, texts.n, &state)
    finally:
        free(state.hashes)
        free(state.minima)
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
    # next one is found among the minima from each gram on, which are renewed once in `width` grams
    # at most, and the smallest of those that came behind. So most grams are only compared with it.
    cdef Py_ssize_t width = state.width
    cdef Py_ssize_t grams = n - state.gram + 1
    cdef Py_ssize_t base = 0            # the gram of the first hash that is kept
    cdef Py_ssize_t first = 0           # the next gram, the last one of its window
    cdef Py_ssize_t renewed = -1        # the last gram that the minima are of
    cdef Py_ssize_t stop, begin
    cdef uint64_t smallest = <uint64_t> -1
    cdef uint64_t behind = <uint64_t> -1
    cdef uint64_t value
    cdef Py_ssize_t where = -1
    cdef Py_ssize_t where_behind = -1
    cdef Rolling rolling
    cdef Chain chain
    chain.key, chain.start, chain.period = 0, 0, 0
    chain.last = -1
    chain.known = -1
    begin_rolling(state, text, &rolling)
    while first < grams:
        if first == base + state.hash_room:
            memmove(
                state.hashes, state.hashes + state.hash_room - (width - 1),
                <size_t> (width - 1) * sizeof(uint64_t),
            )
            base = first - (width - 1)
        # Unless a hash is as small as those behind, nothing changes until the smallest leaves, or
        # windows are no echo any more; before the first window, `known` is -1, so it stops there.
        stop = where + width
        if first <= chain.known + width:
            stop = min(stop, chain.known + width)
        stop = min(min(stop + 1, base + state.hash_room), grams)
        first = roll(state, text, &rolling, base, first, stop, behind)
        value = state.hashes[first - base]
        if value <= behind:
            behind, where_behind = value, first
            if value <= smallest:
                smallest, where = value, first
        begin = first - width + 1
        first += 1
        if begin < 0:
            continue
        if where < begin:
            if begin > renewed:
                renewed = first - 1
                find_minima(state, base, begin, renewed)
                behind = <uint64_t> -1
            while state.minima[state.minima_count - 1] < begin:
                state.minima_count -= 1
            where = state.minima[state.minima_count - 1]
            smallest = state.hashes[where - base]
            if behind <= smallest and where_behind > renewed:
                smallest, where = behind, where_behind
        if where != chain.last and begin > chain.known:
            add_anchor(state, text, n, number, &chain, smallest, where, begin)
    if chain.last >= 0:
        close_row(state, n - state.length)


cdef inline void begin_rolling(
    const Winnowing* state, const symbol* text, Rolling* rolling
) noexcept nogil:
    cdef Py_ssize_t i
    rolling.hash, rolling.left = 0, 0
    for i in range(state.gram - 1):
        rolling.hash = rolling.hash * CHARACTER_BASE + entering_of(state, text[i])


cdef inline Py_ssize_t roll(
    const Winnowing* state, const symbol* text, Rolling* rolling, Py_ssize_t base,
    Py_ssize_t start, Py_ssize_t stop, uint64_t most
) noexcept nogil:
    # Hash the grams from `start` on, until a hash is at most `most`, or that before `stop`; return
    # the last one. Two at a time: one product waits for the hash of the two before.
    cdef const symbol* entering = text + state.gram - 1
    cdef uint64_t* hashes = state.hashes
    cdef uint64_t h = rolling.hash
    cdef uint64_t left = rolling.left
    cdef uint64_t change, next_change, value
    cdef Py_ssize_t i = start
    while True:
        change = entering_of(state, entering[i]) - left
        left = leaving_of(state, text[i])
        value = h * CHARACTER_BASE + change
        value = (value ^ (value >> 32)) * UNITS
        hashes[i - base] = value
        if value <= most or i + 1 == stop:
            h = h * CHARACTER_BASE + change
            break
        i += 1
        next_change = entering_of(state, entering[i]) - left
        left = leaving_of(state, text[i])
        h = h * (CHARACTER_BASE * CHARACTER_BASE) + (change * CHARACTER_BASE + next_change)
        value = (h ^ (h >> 32)) * UNITS
        hashes[i - base] = value
        if value <= most or i + 1 == stop:
            break
        i += 1
    rolling.hash, rolling.left = h, left
    return i


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


cdef void find_minima(
    Winnowing* state, Py_ssize_t base, Py_ssize_t begin, Py_ssize_t last
) noexcept nogil:
    # Of the grams from `begin` to `last`.
    cdef uint64_t smallest = state.hashes[last - base]
    cdef Py_ssize_t i
    state.minima[0], state.minima_count = last, 1
    for i in range(last - 1, begin - 1, -1):
        if state.hashes[i - base] < smallest:
            smallest = state.hashes[i - base]
            state.minima[state.minima_count] = i
            state.minima_count += 1


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
