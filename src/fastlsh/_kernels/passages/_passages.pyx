"""Repeated passages, and the n-grams of some texts in others: the keys or the table that find
them, the comparison, and where each cut unit stays.
"""

from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memmove, memset

import numpy as np

from fastlsh._kernels.common.checks cimport check_array, check_matrix, check_offsets, check_starts
from fastlsh._kernels.common.hash_table cimport (
    HashTable, first_slot, forget_numbers, free_table, given_number, make_room, make_table,
    new_number, next_slot, number_at, number_of_hash, put_number,
)
from fastlsh._kernels.common.mixing cimport (
    CHARACTER_BASE, UNITS, WORD_BASE, fmix64, mix_code_point, power_of,
)
from fastlsh._kernels.common.prefetch cimport prefetch
from fastlsh._kernels.common._common cimport loops
from fastlsh._kernels.text._plans cimport ShinglePlan, check_documents, longest_of, plan_of
from fastlsh._kernels.text._texts cimport Span, Spans, code_unit, id_at
from fastlsh._kernels.text.source cimport (
    CHARACTERS, TOKEN_IDS, UNICODE_WORDS, WITH_EMPTY, Hashing,
)


# ---- Units of a text as numbers: polynomials over them, and how far two texts are equal.

ctypedef fused symbol:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


cdef inline uint64_t pushed(uint64_t h, uint64_t unit) noexcept nogil:
    return h * CHARACTER_BASE + mix_code_point(unit)


cdef inline Py_ssize_t equal_units(
    const Span* a, Py_ssize_t i, const Span* b, Py_ssize_t j, Py_ssize_t longest
) noexcept nogil:
    # How many units are equal from there on.
    cdef Py_ssize_t n = 0
    cdef Py_ssize_t kind = a.kind
    cdef const char* left = <const char*> a.text + i * kind
    cdef const char* right = <const char*> b.text + j * kind
    if kind == b.kind:
        while n + 64 <= longest and memcmp(left + n * kind, right + n * kind, 64 * kind) == 0:
            n += 64
    while n < longest and id_at(a.text, a.kind, i + n) == id_at(b.text, b.kind, j + n):
        n += 1
    return n


cdef inline Py_ssize_t equal_before(
    const Span* a, Py_ssize_t i, const Span* b, Py_ssize_t j, Py_ssize_t longest
) noexcept nogil:
    # How many units are equal in front of there.
    cdef Py_ssize_t n = 0
    cdef Py_ssize_t kind = a.kind
    cdef const char* left = <const char*> a.text + i * kind
    cdef const char* right = <const char*> b.text + j * kind
    if kind == b.kind:
        while n + 64 <= longest and memcmp(
            left - (n + 64) * kind, right - (n + 64) * kind, 64 * kind
        ) == 0:
            n += 64
    while n < longest and id_at(a.text, a.kind, i - n - 1) == id_at(b.text, b.kind, j - n - 1):
        n += 1
    return n


# ---- Winnowing (Schleimer, Wilkerson and Aiken 2003): of the hashes of all grams in a window, the
# smallest is its key. Equal windows have the same key at the same place, so none is missed.
#
# In a stretch with a short period, each gram is as small as the one a period before, and nearly
# every window would have a key at another place. What lies behind its beginning is an echo: it
# occurred before, in the same text, which needs no key to be known.

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
    check_array(keys, "keys")
    check_matrix(rows, "rows")
    check_matrix(echoes, "echoes")
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


# ---- Rests: the windows of one key that do not equal those of its first occurrence, among each
# other. Matches are put down as for repeats.

cdef void compare_rest(Repeats* state, const Occurrence* occurrences) noexcept nogil:
    # Offset by offset, each window is compared with its own first occurrence.
    cdef Py_ssize_t n = state.count_rest
    cdef Py_ssize_t i, j, offset, begin
    cdef Py_ssize_t active = 0
    cdef Stretch* own
    sort_rest(state, occurrences)
    for offset in range(-state.length, 1):
        active = joined_active(state, occurrences, active, offset)
        if active == 0:
            if state.starts[offset + state.length + 1] == n:
                return
            continue
        clear_table(&state.table, active)
        for j in range(active):
            i = state.active[j]
            own = &state.rest[i]
            begin = occurrences[own.occurrence].position + offset
            if own.source >= 0 and own.apart and begin <= own.until:
                continue                # known to be a repeat, so an earlier one is in the table
            hash_window(state, occurrences, i, begin)
            look_up(state, occurrences, i, begin)


cdef void sort_rest(Repeats* state, const Occurrence* occurrences) noexcept nogil:
    # By the offset of the first window; those of an offset ascend.
    cdef Py_ssize_t i, bucket
    cdef Py_ssize_t length = state.length
    memset(state.starts, 0, (<size_t> length + 3) * sizeof(Py_ssize_t))
    for i in range(state.count_rest):
        state.starts[bucket_of(state, occurrences, i) + 2] += 1
    for bucket in range(2, length + 3):
        state.starts[bucket] += state.starts[bucket - 1]
    for i in range(state.count_rest):
        bucket = bucket_of(state, occurrences, i)
        state.order[state.starts[bucket + 1]] = <int32_t> i
        state.starts[bucket + 1] += 1


cdef inline Py_ssize_t bucket_of(
    const Repeats* state, const Occurrence* occurrences, Py_ssize_t i
) noexcept nogil:
    cdef const Stretch* stretch = &state.rest[i]
    return stretch.first - occurrences[stretch.occurrence].position + state.length


cdef inline Py_ssize_t joined_active(
    Repeats* state, const Occurrence* occurrences, Py_ssize_t active, Py_ssize_t offset
) noexcept nogil:
    # Without the stretches that have ended, and with those that begin; returns how many.
    cdef Py_ssize_t i, j
    cdef Py_ssize_t left = 0
    cdef Py_ssize_t first = state.starts[offset + state.length]
    cdef Py_ssize_t behind = state.starts[offset + state.length + 1]
    for j in range(active):
        i = state.active[j]
        if state.rest[i].last - occurrences[state.rest[i].occurrence].position >= offset:
            state.active[left] = <int32_t> i
            left += 1
    active = left + behind - first
    j = active - 1
    while behind > first:               # two ascending lists, merged from their ends
        if left > 0 and state.active[left - 1] > state.order[behind - 1]:
            left -= 1
            state.active[j] = state.active[left]
        else:
            behind -= 1
            state.active[j] = state.order[behind]
        j -= 1
    return active


cdef inline void hash_window(
    Repeats* state, const Occurrence* occurrences, Py_ssize_t i, Py_ssize_t begin
) noexcept nogil:
    # Of the units by which it may differ from the first occurrence; from the window before it.
    cdef Stretch* own = &state.rest[i]
    cdef const Edge* edge = &state.edges[2 * own.occurrence]
    cdef const Occurrence* occurrence = &occurrences[own.occurrence]
    cdef const Span* text = &state.texts[occurrence.text]
    cdef Py_ssize_t length = state.length
    cdef Py_ssize_t front = occurrence.position - edge[0].equal       # ends here
    cdef Py_ssize_t behind = occurrence.position + edge[1].equal
    cdef Py_ssize_t j
    if own.at < 0:
        own.front, own.behind = 0, 0
        for j in range(front - 1, begin - 1, -1):
            own.front = pushed(own.front, id_at(text.text, text.kind, j))
        for j in range(behind, begin + length):
            own.behind = pushed(own.behind, id_at(text.text, text.kind, j))
    else:
        for j in range(own.at, begin):
            if j < front:
                own.front -= mix_code_point(id_at(text.text, text.kind, j))
                own.front *= state.inverse
            if j + length >= behind:
                own.behind = pushed(own.behind, id_at(text.text, text.kind, j + length))
    own.at, own.hash = begin, 0
    if begin < front:
        own.hash = fmix64(own.front + <uint64_t> edge[0].equal * UNITS)
    if begin + length > behind:
        own.hash += own.behind + <uint64_t> edge[1].equal * UNITS
    own.hash = fmix64(own.hash)


cdef inline void look_up(
    Repeats* state, const Occurrence* occurrences, Py_ssize_t i, Py_ssize_t begin
) noexcept nogil:
    # Find the first stretch with the same window, or be it.
    cdef Stretch* own = &state.rest[i]
    cdef Py_ssize_t slot = first_slot(&state.table, own.hash)
    cdef Py_ssize_t offset = begin - occurrences[own.occurrence].position
    cdef Py_ssize_t j = number_at(&state.table, own.hash, &slot)
    while j:
        if (own.source == j - 1 and begin <= own.until) or extend(
            state, occurrences, i, begin, j - 1,
            occurrences[state.rest[j - 1].occurrence].position + offset,
        ):
            return
        slot = next_slot(&state.table, slot)
        j = number_at(&state.table, own.hash, &slot)
    put_number(&state.table, own.hash, slot, i + 1)


cdef bint extend(
    Repeats* state, const Occurrence* occurrences, Py_ssize_t i, Py_ssize_t begin, Py_ssize_t j,
    Py_ssize_t there,
) noexcept nogil:
    # Whether the windows are equal; if so, up to which one those that follow are equal, too.
    cdef Stretch* own = &state.rest[i]
    cdef const Occurrence* this = &occurrences[own.occurrence]
    cdef const Occurrence* other = &occurrences[state.rest[j].occurrence]
    cdef Py_ssize_t longest = min(
        own.last - begin, state.rest[j].last - there
    ) + state.length
    cdef Py_ssize_t equal = equal_units(
        &state.texts[this.text], begin, &state.texts[other.text], there, longest
    )
    if equal < state.length:
        return False
    own.source = j
    own.until = begin + equal - state.length
    own.apart = are_apart(state, this, begin, other, there)
    if own.apart:
        put_match(state, this, begin, equal, other, there)
    return True


# ---- Repeats: the windows of occurrences of one key that occurred before, compared in full. Those
# that differ from the first occurrence are compared among each other as rests.

cdef struct Occurrence:
    int64_t text
    int64_t position        # of the gram
    int64_t first           # where the first window with this gram begins
    int64_t last
    int64_t document        # of which the text is a part ...
    int64_t shift           # that begins here


cdef struct Edge:
    # Where an occurrence ends to equal the first one, on one side of the gram.
    Py_ssize_t occurrence
    bint behind             # the gram, or in front of it
    Py_ssize_t equal        # units from the gram on
    Py_ssize_t room         # units from there to the end of the last window
    Py_ssize_t shared       # so many of them, at most, equal those of another edge
    uint64_t hash           # of those that have been looked at
    bint alone


cdef struct Stretch:
    # Consecutive windows of an occurrence that do not equal those of the first occurrence.
    Py_ssize_t occurrence
    Py_ssize_t first
    Py_ssize_t last
    uint64_t front          # of the units of the window at `at` in front of those that equal ...
    uint64_t behind         # and behind them
    uint64_t hash           # of the window
    Py_ssize_t at           # -1: there is none yet
    Py_ssize_t source       # the earlier occurrence that equals this one ...
    Py_ssize_t until        # ... up to the window that begins here
    bint apart              # and does not overlap it


cdef struct Repeats:
    const Span* texts
    Py_ssize_t length
    uint64_t inverse        # of the base of the hashes
    Edge* edges             # two of each occurrence: in front of the gram, and behind it
    Stretch* rest
    Py_ssize_t count_rest
    int32_t* order          # of the stretches, by how far before the gram they begin; or edges
    int32_t* active         # the stretches with a window at the offset, ascending
    Py_ssize_t* starts      # by offset: where those that begin there stand in `order`
    HashTable table         # 1 + a stretch, by the hash of its window; or 1 + an edge
    int64_t* out
    Py_ssize_t room
    Py_ssize_t count


def repeats(
    Spans texts not None, const int64_t[:, ::1] occurrences not None,
    const int64_t[::1] groups not None, Py_ssize_t length, int64_t[:, ::1] out not None,
):
    """Find which windows occurred before, in an earlier document or wholly before themselves.

    Time is linear in the windows of the occurrences, however many occurrences a group has; memory
    in the occurrences of the largest group and in `length`.

    Parameters
    ----------
    texts
        In order.
    occurrences
        int64 (n, 6): text, where the gram begins, and where its first and its last window begin;
        the document that the text is a part of, and where it begins there. Those of a group are in
        the order of documents and grams.
    groups
        int64 (m + 1,): where the occurrences of each key begin.
    length
        Units of a window.
    out
        int64 (room, 5), written: a stretch of whole windows, by document, begin and end, and the
        document and the begin of an equal stretch of windows, each of which is earlier.

    Returns
    -------
    int
        How many stretches there are. If they are more than `room`, the others are not written.
    """
    cdef Repeats state
    cdef Py_ssize_t n = occurrences.shape[0]
    cdef Py_ssize_t i, _i
    cdef Py_ssize_t largest = 1
    if length < 1 or occurrences.shape[1] != 6 or out.shape[1] != 5:
        raise ValueError("occurrences need 6 columns, out 5, and windows a unit")
    check_matrix(out, "out")
    check_matrix(occurrences, "occurrences")
    check_array(groups, "groups")
    check_starts(groups, n, "groups")
    check_occurrences(texts, occurrences, groups, length)
    if n == 0:                          # otherwise a text has `length` units
        return 0
    for i in range(groups.shape[0] - 1):
        largest = max(largest, <Py_ssize_t> (groups[i + 1] - groups[i]))
    if largest > 1 << 29:
        raise ValueError(f"{largest} occurrences of one key are too many")
    largest *= 2                        # an occurrence has two stretches at most
    state.texts, state.length, state.inverse = texts.at, length, CHARACTER_BASE
    for _i in range(5):                 # each time, twice as many bits are right
        state.inverse *= 2 - CHARACTER_BASE * state.inverse
    state.room, state.count = out.shape[0], 0
    state.out = &out[0, 0] if state.room else NULL
    state.edges = <Edge*> malloc(<size_t> largest * sizeof(Edge))
    state.rest = <Stretch*> malloc(<size_t> largest * sizeof(Stretch))
    state.order = <int32_t*> malloc(<size_t> largest * sizeof(int32_t))
    state.active = <int32_t*> malloc(<size_t> largest * sizeof(int32_t))
    state.starts = <Py_ssize_t*> malloc((<size_t> length + 3) * sizeof(Py_ssize_t))
    try:
        if (
            state.edges == NULL or state.rest == NULL or state.order == NULL or state.active == NULL
            or state.starts == NULL or not make_table(&state.table, largest)
        ):
            raise MemoryError()
        with nogil:
            compare_groups(
                &state, <const Occurrence*> &occurrences[0, 0], &groups[0], groups.shape[0] - 1
            )
    finally:
        free(state.edges)
        free(state.rest)
        free(state.order)
        free(state.active)
        free(state.starts)
        free_table(&state.table)
    return state.count


cdef inline void clear_table(HashTable* table, Py_ssize_t entries) noexcept nogil:
    # There is memory for so many.
    forget_numbers(table)
    make_room(table, entries)


cdef int check_occurrences(
    Spans texts, const int64_t[:, ::1] occurrences, const int64_t[::1] groups, Py_ssize_t length
) except -1:
    cdef Py_ssize_t i, j
    cdef int64_t text, position, first, last
    cdef int64_t limit = 1 << 60
    for j in range(groups.shape[0] - 1):
        for i in range(groups[j], groups[j + 1]):
            text, position = occurrences[i, 0], occurrences[i, 1]
            first, last = occurrences[i, 2], occurrences[i, 3]
            if not 0 <= text < texts.n:
                raise IndexError(f"text {text} of {texts.n}")
            if not 0 <= first <= last <= texts.at[text].length - length:
                raise IndexError(f"windows {first} to {last} of {texts.at[text].length} units")
            if not last <= position <= first + length:
                raise IndexError(f"a gram at {position} for windows {first} to {last}")
            if not (0 <= occurrences[i, 4] < limit and 0 <= occurrences[i, 5] < limit):
                raise IndexError(f"occurrence {i} lies in no document")
            if i > groups[j] and not is_behind(&occurrences[i, 0], &occurrences[i - 1, 0]):
                raise ValueError(f"occurrence {i} is not behind the one before it")
    return 0


cdef bint is_behind(const int64_t* row, const int64_t* before) noexcept nogil:
    cdef const Occurrence* this = <const Occurrence*> row
    cdef const Occurrence* other = <const Occurrence*> before
    if this.document != other.document:
        return this.document > other.document
    return this.shift + this.position > other.shift + other.position


cdef void compare_groups(
    Repeats* state, const Occurrence* occurrences, const int64_t* groups, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        compare_group(state, occurrences + groups[i], <Py_ssize_t> (groups[i + 1] - groups[i]))


cdef void compare_group(
    Repeats* state, const Occurrence* occurrences, Py_ssize_t n
) noexcept nogil:
    # Windows are equal only if they begin equally far from their gram. Most equal those of the
    # first occurrence, whose text is compared from the gram outwards. Two of the others are equal
    # only if both occurrences part from the first one at the same place, with the same units behind
    # it (or in front of it, to the left of the gram): what has these alone is dropped, and of the
    # rest, only these units are hashed.
    cdef Py_ssize_t i
    for i in range(1, n):
        compare_with_first(state, occurrences, i)
    if n < 3:
        return
    bound_edges(state, occurrences, n)
    state.count_rest = 0
    for i in range(1, n):
        put_rests(state, occurrences, i)
    if state.count_rest > 1:
        compare_rest(state, occurrences)


cdef inline void compare_with_first(
    Repeats* state, const Occurrence* occurrences, Py_ssize_t i
) noexcept nogil:
    cdef const Occurrence* own = &occurrences[i]
    cdef const Occurrence* head = &occurrences[0]
    cdef const Span* text = &state.texts[own.text]
    cdef const Span* source = &state.texts[head.text]
    cdef Py_ssize_t length = state.length
    # Offsets of windows from their gram.
    cdef Py_ssize_t low = max(own.first - own.position, head.first - head.position)
    cdef Py_ssize_t high = min(own.last - own.position, head.last - head.position)
    cdef Py_ssize_t before = equal_before(text, own.position, source, head.position, -low)
    cdef Py_ssize_t after = equal_units(text, own.position, source, head.position, high + length)
    if before + after >= length and are_apart(
        state, own, own.position - before, head, head.position - before
    ):
        put_match(
            state, own, own.position - before, before + after, head, head.position - before
        )
    put_edge(&state.edges[2 * i], i, False, before, own.position - own.first - before)
    put_edge(&state.edges[2 * i + 1], i, True, after, own.last - own.position + length - after)


cdef inline void put_edge(
    Edge* edge, Py_ssize_t i, bint behind, Py_ssize_t equal, Py_ssize_t room
) noexcept nogil:
    edge.occurrence, edge.behind, edge.equal, edge.room = i, behind, equal, room
    edge.shared, edge.hash = 0, 0


cdef void bound_edges(Repeats* state, const Occurrence* occurrences, Py_ssize_t n) noexcept nogil:
    # Of each edge, look at twice as many units as before until no other one has the same.
    cdef Py_ssize_t i, j, left
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t done = 0
    cdef Py_ssize_t units = 1
    cdef Edge* edge
    for i in range(2, 2 * n):
        if state.edges[i].room > 0:
            state.order[count] = <int32_t> i
            count += 1
    while count > 1:
        clear_table(&state.table, count)
        for j in range(count):
            edge = &state.edges[state.order[j]]
            if edge.room >= units:
                hash_edge(state, occurrences, edge, done, units)
                look_up_edge(state, state.order[j])
        left = 0
        for j in range(count):
            edge = &state.edges[state.order[j]]
            if edge.room < units:
                edge.shared = edge.room
            elif edge.alone:
                edge.shared = units - 1
            else:
                state.order[left] = state.order[j]
                left += 1
        count, done, units = left, units, 2 * units


cdef inline void hash_edge(
    Repeats* state, const Occurrence* occurrences, Edge* edge, Py_ssize_t done, Py_ssize_t units
) noexcept nogil:
    cdef const Occurrence* own = &occurrences[edge.occurrence]
    cdef const Span* text = &state.texts[own.text]
    cdef Py_ssize_t j
    if edge.behind:
        for j in range(own.position + edge.equal + done, own.position + edge.equal + units):
            edge.hash = pushed(edge.hash, id_at(text.text, text.kind, j))
    else:
        for j in range(done, units):
            edge.hash = pushed(
                edge.hash, id_at(text.text, text.kind, own.position - edge.equal - 1 - j)
            )


cdef inline void look_up_edge(Repeats* state, Py_ssize_t i) noexcept nogil:
    cdef Edge* own = &state.edges[i]
    cdef uint64_t h = fmix64(own.hash + <uint64_t> (2 * own.equal + own.behind) * UNITS)
    cdef Py_ssize_t slot = first_slot(&state.table, h)
    cdef Py_ssize_t j = number_at(&state.table, h, &slot)
    own.alone = j == 0
    if j:
        state.edges[j - 1].alone = False
    else:
        put_number(&state.table, h, slot, i + 1)


cdef inline void put_rests(
    Repeats* state, const Occurrence* occurrences, Py_ssize_t i
) noexcept nogil:
    # The windows that may equal those of other occurrences than the first one.
    cdef const Occurrence* own = &occurrences[i]
    cdef const Edge* edge = &state.edges[2 * i]
    cdef Py_ssize_t begin = own.position - edge[0].equal
    cdef Py_ssize_t end = own.position + edge[1].equal - state.length + 1
    cdef Py_ssize_t first = max(own.first, begin - edge[0].shared)
    cdef Py_ssize_t last = min(own.last, end - 1 + edge[1].shared)
    if begin < end:
        put_rest(state, i, first, begin - 1)
        put_rest(state, i, end, last)
    else:
        put_rest(state, i, first, last)


cdef inline void put_rest(
    Repeats* state, Py_ssize_t i, Py_ssize_t first, Py_ssize_t last
) noexcept nogil:
    cdef Stretch* stretch = &state.rest[state.count_rest]
    if first <= last:
        stretch.occurrence, stretch.first, stretch.last = i, first, last
        stretch.at, stretch.source = -1, -1
        state.count_rest += 1


cdef inline bint are_apart(
    const Repeats* state, const Occurrence* own, Py_ssize_t begin, const Occurrence* other,
    Py_ssize_t there,
) noexcept nogil:
    return (
        other.document != own.document
        or begin + own.shift - there - other.shift >= state.length
    )


cdef inline void put_match(
    Repeats* state, const Occurrence* own, Py_ssize_t begin, Py_ssize_t units,
    const Occurrence* other, Py_ssize_t there,
) noexcept nogil:
    cdef int64_t* row
    if state.count < state.room:
        row = state.out + 5 * state.count
        row[0], row[1] = own.document, begin + own.shift
        row[2] = row[1] + units
        row[3], row[4] = other.document, there + other.shift
    state.count += 1


# ---- Cuts: the units that go, each with the place where it stays.

cdef struct Cut:
    int64_t text
    int64_t begin
    int64_t end
    int64_t kept_text
    int64_t kept_begin


cdef struct Cuts:
    Cut* rows
    Py_ssize_t room
    Py_ssize_t count
    Py_ssize_t* starts      # by text: its first row


def cuts(
    const int64_t[:, ::1] matches not None, Py_ssize_t texts, int64_t[:, ::1] out not None
):
    """Unite stretches that go, and follow each unit back to the place where it stays.

    A stretch may equal one that goes itself, whose units stay still earlier.

    Parameters
    ----------
    matches
        int64 (n, 5), as `repeats` finds them, ascending.
    texts
        How many there are.
    out
        int64 (room, 5), written: text, begin, end, and the text and the begin of where it stays,
        ascending.

    Returns
    -------
    int
        How many rows there are; -1: more than `room`.
    """
    cdef Cuts state
    cdef Py_ssize_t n = matches.shape[0]
    cdef bint fits = True
    if matches.shape[1] != 5 or out.shape[1] != 5:
        raise ValueError("matches and out need 5 columns")
    check_matrix(out, "out")
    check_matrix(matches, "matches")
    check_matches(matches, texts)
    state.room, state.count = out.shape[0], 0
    state.rows = <Cut*> &out[0, 0] if state.room else NULL
    state.starts = <Py_ssize_t*> malloc((<size_t> texts + 1) * sizeof(Py_ssize_t))
    if state.starts == NULL:
        raise MemoryError()
    try:
        if n:
            with nogil:
                fits = cut_all(&state, <const Cut*> &matches[0, 0], n, texts)
    finally:
        free(state.starts)
    return state.count if fits else -1


cdef int check_matches(const int64_t[:, ::1] matches, Py_ssize_t texts) except -1:
    cdef Py_ssize_t i
    cdef int64_t text, begin, end, kept, at
    if not 0 <= texts < <int64_t> 1 << 60:       # a place is kept of each
        raise ValueError(f"{texts} texts")
    for i in range(matches.shape[0]):
        text, begin, end = matches[i, 0], matches[i, 1], matches[i, 2]
        kept, at = matches[i, 3], matches[i, 4]
        if not (0 <= kept <= text < texts and 0 <= begin < end and at >= 0):
            raise IndexError(f"match {i} lies outside of {texts} texts")
        if kept == text and at >= begin:
            raise ValueError(f"match {i} is not behind its source")
        if i and (matches[i - 1, 0], matches[i - 1, 1]) > (text, begin):
            raise ValueError(f"match {i} is not behind the one before it")
    return 0


cdef bint cut_all(Cuts* state, const Cut* matches, Py_ssize_t n, Py_ssize_t texts) noexcept nogil:
    # False: there is no room.
    cdef Py_ssize_t i
    cdef Py_ssize_t text = -1
    cdef int64_t begin
    cdef int64_t done = 0
    for i in range(n):
        while text < matches[i].text:
            text += 1
            state.starts[text] = state.count
            done = 0
        begin = max(matches[i].begin, done)
        if begin >= matches[i].end:
            continue
        if not follow(
            state, text, begin, matches[i].end, matches[i].kept_text,
            matches[i].kept_begin + begin - matches[i].begin,
        ):
            return False
        done = matches[i].end
    return True


cdef bint follow(
    Cuts* state, int64_t text, int64_t begin, int64_t end, int64_t source, int64_t at
) noexcept nogil:
    cdef int64_t stop, units
    cdef Cut* row
    cdef Py_ssize_t low, high, middle
    while begin < end:
        units = end - begin
        if source == text:
            units = min(units, begin - at)      # what is behind has not been followed yet
        # The first row of the source that ends behind this unit.
        low = state.starts[source]
        high = state.count if source == text else state.starts[source + 1]
        stop = high
        while low < high:
            middle = (low + high) // 2
            if state.rows[middle].end > at:
                high = middle
            else:
                low = middle + 1
        if low == stop:
            if not put_cut(state, text, begin, begin + units, source, at):
                return False
        else:
            row = &state.rows[low]
            if row.begin > at:
                units = min(units, row.begin - at)
                if not put_cut(state, text, begin, begin + units, source, at):
                    return False
            else:
                units = min(units, row.end - at)
                if not put_cut(
                    state, text, begin, begin + units, row.kept_text,
                    row.kept_begin + at - row.begin,
                ):
                    return False
        begin += units
        at += units
    return True


cdef inline bint put_cut(
    Cuts* state, int64_t text, int64_t begin, int64_t end, int64_t kept, int64_t at
) noexcept nogil:
    cdef Cut* row
    if state.count > state.starts[text]:
        row = &state.rows[state.count - 1]
        if row.end == begin and row.kept_text == kept and row.kept_begin + begin - row.begin == at:
            row.end = end
            return True
    if state.count == state.room:
        return False
    row = &state.rows[state.count]
    row.text, row.begin, row.end, row.kept_text, row.kept_begin = text, begin, end, kept, at
    state.count += 1
    return True


# ---- Words and tokens as units: hashes of them, by which passages are found, and numbers, by which
# passages and n-grams are compared.

cdef struct Word:
    uint64_t hash
    const void* text
    Py_ssize_t length
    int kind


def word_hashes(
    Spans texts not None, const int64_t[::1] starts not None,
    const int64_t[:, ::1] bounds not None, uint64_t bits, uint64_t[::1] out not None,
):
    """Hash the words of texts: equal words have the same hash, in any text.

    Parameters
    ----------
    texts
        Of characters.
    starts
        int64 (n + 1,): where the words of each text begin in `bounds`.
    bounds
        int64 (m, 2): where each word begins and ends in its text.
    bits
        Which bits of a hash are used; fewer of them make different words collide.
    out
        uint64 (m,), written.
    """
    check_words(texts, starts, bounds, out.shape[0])
    check_array(out, "out")
    check_array(starts, "starts")
    check_matrix(bounds, "bounds")
    if out.shape[0] == 0:
        return
    with nogil:
        hash_all(texts.at, texts.n, &starts[0], &bounds[0, 0], bits, &out[0])


cdef class WordNumbers:
    """Numbers of the words of some texts, from 1 on: equal words, and only these, have the same.

    Parameters
    ----------
    texts, starts, bounds, bits
        As in `word_hashes`.
    out
        uint32 (m,), written: the number of each word.

    Attributes
    ----------
    have_unique_hashes
        Whether different words have different hashes.
    """

    cdef HashTable table
    cdef uint64_t bits
    cdef Word* words            # by number: the first one of equal words
    cdef Py_ssize_t room        # for so many of them
    cdef readonly bint have_unique_hashes
    cdef Spans texts            # keeps the words alive

    def __cinit__(
        self, Spans texts not None, const int64_t[::1] starts not None,
        const int64_t[:, ::1] bounds not None, uint64_t bits, uint32_t[::1] out not None,
    ):
        self.texts, self.bits, self.have_unique_hashes = texts, bits, True
        if not make_table(&self.table, 1 << 10):
            raise MemoryError()
        self.write(texts, starts, bounds, True, out)

    def __dealloc__(self):
        free_table(&self.table)
        free(self.words)

    def find(
        self, Spans texts not None, const int64_t[::1] starts not None,
        const int64_t[:, ::1] bounds not None, uint32_t[::1] out not None,
    ):
        """Write the numbers of the words of other texts, as above; 0: a word has no number."""
        self.write(texts, starts, bounds, False, out)

    cdef int write(
        self, Spans texts, const int64_t[::1] starts, const int64_t[:, ::1] bounds, bint adding,
        uint32_t[::1] out
    ) except -1:
        cdef uint64_t[::1] hashes = np.empty(out.shape[0], np.uint64)
        cdef bint done
        word_hashes(texts, starts, bounds, self.bits, hashes)     # which checks them
        check_array(out, "out")
        if out.shape[0] == 0:
            return 0
        with nogil:
            done = number_all(
                self, texts.at, texts.n, &starts[0], &bounds[0, 0], &hashes[0], adding, &out[0]
            )
        if not done:
            raise MemoryError()
        return 0


cdef int check_words(
    Spans texts, const int64_t[::1] starts, const int64_t[:, ::1] bounds, Py_ssize_t n
) except -1:
    cdef Py_ssize_t i, j
    cdef const int64_t* at
    if texts.tokens:
        raise TypeError("token ids are no texts")
    if bounds.shape[1] != 2 or bounds.shape[0] != n:
        raise ValueError("bounds need two columns, and out as many elements as there are words")
    check_matrix(bounds, "bounds")
    check_offsets(starts, texts.n, n, "starts")
    if n == 0:
        return 0
    at = &bounds[0, 0]
    for i in range(texts.n):
        for j in range(starts[i], starts[i + 1]):
            if not 0 <= at[2 * j] <= at[2 * j + 1] <= texts.at[i].length:
                raise IndexError(
                    f"word {j} has the code points {at[2 * j]} to {at[2 * j + 1]} of "
                    f"{texts.at[i].length}"
                )
    return 0


cdef void hash_all(
    const Span* at, Py_ssize_t n, const int64_t* starts, const int64_t* bounds, uint64_t bits,
    uint64_t* out
) noexcept nogil:
    cdef Py_ssize_t i, j
    for i in range(n):
        for j in range(starts[i], starts[i + 1]):
            out[j] = hash_of(at + i, bounds[2 * j], bounds[2 * j + 1]) & bits


cdef inline uint64_t hash_of(const Span* text, int64_t begin, int64_t end) noexcept nogil:
    # The same one however wide the code points are stored.
    if text.kind == 1:
        return hash_units(<const uint8_t*> text.text + begin, end - begin)
    if text.kind == 2:
        return hash_units(<const uint16_t*> text.text + begin, end - begin)
    return hash_units(<const uint32_t*> text.text + begin, end - begin)


cdef inline uint64_t hash_units(const code_unit* text, Py_ssize_t n) noexcept nogil:
    # A polynomial, by fours: a shorter chain of multiplications.
    cdef uint64_t base = CHARACTER_BASE
    cdef uint64_t square = base * base
    cdef uint64_t h = <uint64_t> n
    cdef Py_ssize_t i = 0
    while i + 4 <= n:
        h = h * (square * square) + (
            (text[i] * base + text[i + 1]) * square + (text[i + 2] * base + text[i + 3])
        )
        i += 4
    while i < n:
        h = h * base + text[i]
        i += 1
    return fmix64(h)


cdef bint number_all(
    WordNumbers self, const Span* at, Py_ssize_t n, const int64_t* starts, const int64_t* bounds,
    const uint64_t* hashes, bint adding, uint32_t* out
) noexcept nogil:
    # Returns whether there was enough memory.
    cdef Word word
    cdef Py_ssize_t i, j
    for i in range(n):
        word.kind = at[i].kind
        for j in range(starts[i], starts[i + 1]):
            word.hash = hashes[j]
            word.text = <const char*> at[i].text + bounds[2 * j] * word.kind
            word.length = bounds[2 * j + 1] - bounds[2 * j]
            out[j] = number_of_word(self, &word)
            if adding and out[j] == 0:
                out[j] = new_word(self, &word)
                if out[j] == 0:
                    return False
    return True


cdef inline uint32_t number_of_word(WordNumbers self, const Word* word) noexcept nogil:
    # 0: it has none.
    cdef Py_ssize_t slot = first_slot(&self.table, word.hash)
    cdef uint32_t number = number_at(&self.table, word.hash, &slot)
    while number and not are_equal_words(word, &self.words[number]):
        slot = next_slot(&self.table, slot)
        number = number_at(&self.table, word.hash, &slot)
    return number


cdef uint32_t new_word(WordNumbers self, const Word* word) noexcept nogil:
    # 0: there is no memory.
    cdef Word* words
    cdef uint32_t number
    if number_of_hash(&self.table, word.hash):
        self.have_unique_hashes = False
    number = new_number(&self.table, word.hash)
    if number >= self.room:
        words = <Word*> realloc(self.words, <size_t> self.table.room * sizeof(Word))
        if words == NULL:
            return 0
        self.words, self.room = words, self.table.room
    self.words[number] = word[0]
    return number


cdef inline bint are_equal_words(const Word* a, const Word* b) noexcept nogil:
    cdef Py_ssize_t i
    if a.length != b.length:
        return False
    if a.kind == b.kind:
        return memcmp(a.text, b.text, <size_t> (a.length * a.kind)) == 0
    for i in range(a.length):
        if id_at(a.text, a.kind, i) != id_at(b.text, b.kind, i):
            return False
    return True


# ---- What finds n-grams: their hashes in a table, and a filter before it.

cdef enum:
    WINDOWS = 256           # n-grams whose words of the filter are fetched together


cdef struct Filter:
    const uint64_t* words   # of each key, two bits of one word
    int shift               # 64 - the binary logarithm of the number of words


cdef struct Finder:
    Py_ssize_t size         # units of an n-gram
    Py_ssize_t least        # units of the shortest gram
    uint64_t power          # WORD_BASE to the power size - 1
    uint64_t least_power
    uint64_t mask           # of a hash, these bits are used
    Filter grams            # of all n-grams of `size` units
    Filter beginnings       # of the first `least` units of shorter grams
    const int64_t* shorter  # the sizes of these, ascending
    Py_ssize_t n_shorter
    HashTable table         # of all grams
    int64_t* names          # by the number in the table: what a gram is called in the answers


cdef inline uint64_t finished(uint64_t h, Py_ssize_t units, uint64_t mask) noexcept nogil:
    return fmix64(h + <uint64_t> units * UNITS) & mask


cdef inline uint64_t gram_hash(
    const uint64_t* unit, Py_ssize_t units, uint64_t mask
) noexcept nogil:
    cdef uint64_t h = 0
    cdef Py_ssize_t i
    for i in range(units):
        h = h * WORD_BASE + unit[i]
    return finished(h, units, mask)


cdef inline uint64_t filter_bits(uint64_t h) noexcept nogil:
    return <uint64_t> 1 << (h & 63) | <uint64_t> 1 << (h >> 6 & 63)


cdef inline uint64_t filter_word(const Filter* keys, uint64_t h) noexcept nogil:
    return h * <uint64_t> 0x9E3779B97F4A7C15 >> keys.shift


cdef inline bint passes(const Filter* keys, uint64_t h) noexcept nogil:
    cdef uint64_t bits = filter_bits(h)
    return keys.words[filter_word(keys, h)] & bits == bits


# ---- The hashes of the units of texts, and of grams of these.

cdef const Hashing* plan_of_units(
    Hashing* own, Spans texts, int unit, ShinglePlan prepared
) except NULL:
    cdef const Hashing* plan = plan_of(own, unit, 1, prepared)
    if unit == TOKEN_IDS or unit & WITH_EMPTY:
        raise ValueError("grams are of characters or of words that are not empty")
    check_documents(texts, unit)
    return plan


cdef uint64_t[::1] room_for_units(Spans texts, int unit):
    cdef Py_ssize_t longest = longest_of(texts)
    cdef bint adjoin = unit == CHARACTERS or unit == UNICODE_WORDS      # without separators
    return np.empty(longest + 1 if adjoin else longest // 2 + 2, np.uint64)


cdef void mix_points(const code_unit* text, Py_ssize_t n, uint64_t* out) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = mix_code_point(text[i])


cdef Py_ssize_t units_of(const Hashing* plan, const Span* text, uint64_t* out) noexcept nogil:
    if plan.unit != CHARACTERS:
        return loops.write_hashes(plan, text, out)
    if text.kind == 1:
        mix_points(<const uint8_t*> text.text, text.length, out)
    elif text.kind == 2:
        mix_points(<const uint16_t*> text.text, text.length, out)
    else:
        mix_points(<const uint32_t*> text.text, text.length, out)
    return text.length


def hash_grams(
    Spans texts not None, int unit, const int64_t[:, ::1] grams not None, uint64_t mask,
    uint64_t[::1] out not None, ShinglePlan prepared=None,
):
    """Hash grams of texts.

    Parameters
    ----------
    texts
        Of characters or words.
    unit, prepared
        As in `signatures`, for shingles of one unit; words are not empty.
    grams
        int64 (n, 3): text, ascending; the first unit, and how many units there are.
    mask
        Which bits of a hash are used; fewer of them make different grams collide.
    out
        uint64 (n,), written.
    """
    cdef Hashing own
    cdef const Hashing* plan = plan_of_units(&own, texts, unit, prepared)
    cdef Py_ssize_t n = grams.shape[0]
    cdef Py_ssize_t bad
    if grams.shape[1] != 3 or out.shape[0] != n:
        raise ValueError("grams need three columns, and out as many elements as there are grams")
    check_array(out, "out")
    check_matrix(grams, "grams")
    cdef uint64_t[::1] room = room_for_units(texts, unit)
    if n == 0:
        return
    with nogil:
        bad = hash_in_all(plan, texts.at, texts.n, &grams[0, 0], n, mask, &room[0], &out[0])
    if bad >= 0:
        raise IndexError(f"gram {bad} is in no text, or not behind the one before it")


cdef Py_ssize_t hash_in_all(
    const Hashing* plan, const Span* at, Py_ssize_t texts, const int64_t* grams, Py_ssize_t n,
    uint64_t mask, uint64_t* room, uint64_t* out
) noexcept nogil:
    # Returns the first gram that is not there, or -1.
    cdef int64_t text = -1
    cdef int64_t units = 0
    cdef int64_t first, size
    cdef Py_ssize_t i
    for i in range(n):
        if grams[3 * i] < max(text, <int64_t> 0) or grams[3 * i] >= texts:
            return i
        if grams[3 * i] != text:
            text = grams[3 * i]
            units = units_of(plan, at + text, room)
        first, size = grams[3 * i + 1], grams[3 * i + 2]
        if first < 0 or first > units or size < 1 or size > units - first:
            return i
        out[i] = gram_hash(room + first, size, mask)
    return -1


# ---- Grams of a table, found in texts: a filter lets nearly all others go, and the table the rest.

cdef enum:
    BITS = 16               # of a filter, for each key


cdef struct GramRows:
    # Rows of (text, unit, number); what has no room is counted only.
    int64_t* rows
    Py_ssize_t room
    Py_ssize_t found


cdef class GramTable:
    """A table of grams, by their hashes; it never changes.

    Parameters
    ----------
    size
        Units of most grams.
    hashes
        uint64 (n,): different hashes of grams, as `hash_grams` makes them.
    numbers
        int64 (n,): what each is called in the answers.
    is_shorter
        uint8 (n,): whether a gram of less than `size` units has this hash, and none of `size`.
    least
        Units of the shortest of them, at least 1 and at most `size`.
    shorter
        int64: how many units the shorter ones have, ascending.
    beginnings
        uint64: the hashes of their first `least` units.
    mask
        As in `hash_grams`.
    """

    cdef Finder finder
    cdef uint64_t* words
    cdef uint64_t* beginning_words
    cdef object owner

    def __cinit__(
        self, Py_ssize_t size, const uint64_t[::1] hashes not None,
        const int64_t[::1] numbers not None, const uint8_t[::1] is_shorter not None,
        Py_ssize_t least, const int64_t[::1] shorter not None,
        const uint64_t[::1] beginnings not None, uint64_t mask,
    ):
        cdef Py_ssize_t n = hashes.shape[0]
        cdef Py_ssize_t i
        if not 1 <= least <= size:
            raise ValueError(f"least must be between 1 and {size}, got {least}")
        if numbers.shape[0] != n or is_shorter.shape[0] != n:
            raise ValueError("there must be as many numbers and flags as hashes")
        check_array(hashes, "hashes")
        check_array(numbers, "numbers")
        check_array(beginnings, "beginnings")
        check_array(shorter, "shorter")
        sizes = np.array(shorter, np.int64)
        for i in range(sizes.shape[0]):
            if not least <= sizes[i] < size or (i and sizes[i] <= sizes[i - 1]):
                raise ValueError(f"shorter must ascend from {least} to below {size}")
        cdef const int64_t[::1] own = sizes
        self.owner = sizes
        self.words = new_filter(&self.finder.grams, n)
        self.beginning_words = new_filter(&self.finder.beginnings, beginnings.shape[0])
        self.finder.names = <int64_t*> PyMem_Malloc((<size_t> n + 1) * sizeof(int64_t))
        if self.finder.names == NULL or not make_table(&self.finder.table, n):
            raise MemoryError()
        self.finder.size, self.finder.least = size, least
        self.finder.power = power_of(WORD_BASE, size - 1)
        self.finder.least_power = power_of(WORD_BASE, least - 1)
        self.finder.mask = mask
        self.finder.shorter = &own[0] if own.shape[0] else NULL
        self.finder.n_shorter = own.shape[0]
        for i in range(n):
            self.finder.names[given_number(&self.finder.table, hashes[i])] = numbers[i]
            if not is_shorter[i]:
                put_key(self.words, &self.finder.grams, hashes[i])
        for i in range(beginnings.shape[0]):
            put_key(self.beginning_words, &self.finder.beginnings, beginnings[i])

    def __dealloc__(self):
        PyMem_Free(self.words)
        PyMem_Free(self.beginning_words)
        PyMem_Free(self.finder.names)
        free_table(&self.finder.table)

    def find(
        self, Spans texts not None, int unit, int64_t[:, ::1] out not None,
        ShinglePlan prepared=None,
    ):
        """Find the grams in texts; return how many there are.

        Parameters
        ----------
        texts, unit, prepared
            As in `hash_grams`.
        out
            int64 (room, 3), written as far as it reaches: text, the first unit there, and the
            number of the gram. Grams with the same hash count as one.
        """
        cdef Hashing own
        cdef GramRows rows
        cdef const Hashing* plan = plan_of_units(&own, texts, unit, prepared)
        if out.shape[1] != 3:
            raise ValueError(f"out has {out.shape[1]} columns, expected 3")
        check_matrix(out, "out")
        cdef uint64_t[::1] units = room_for_units(texts, unit)
        rows.rows = &out[0, 0] if out.shape[0] else NULL
        rows.room, rows.found = out.shape[0], 0
        with nogil:
            find_all(&self.finder, plan, texts.at, texts.n, &units[0], &rows)
        return rows.found


cdef uint64_t* new_filter(Filter* keys, Py_ssize_t n) except NULL:
    cdef int bits = 1
    while (<Py_ssize_t> 64 << bits) < BITS * n:
        bits += 1
    cdef uint64_t* words = <uint64_t*> PyMem_Calloc(<size_t> 1 << bits, sizeof(uint64_t))
    if words == NULL:
        raise MemoryError()
    keys.words, keys.shift = words, 64 - bits
    return words


cdef inline void put_key(uint64_t* words, const Filter* keys, uint64_t h) noexcept nogil:
    words[filter_word(keys, h)] |= filter_bits(h)


cdef void find_all(
    const Finder* finder, const Hashing* plan, const Span* at, Py_ssize_t n, uint64_t* units,
    GramRows* rows
) noexcept nogil:
    cdef Py_ssize_t i, count
    for i in range(n):
        count = units_of(plan, at + i, units)
        if count >= finder.size:
            find_grams(finder, units, count - finder.size + 1, i, rows)
        if finder.n_shorter and count >= finder.least:
            find_shorter(finder, units, count, i, rows)


cdef Py_ssize_t roll_grams(
    const uint64_t* unit, Py_ssize_t size, uint64_t power, uint64_t mask, const Filter* keys,
    Py_ssize_t n, uint64_t* state, uint64_t* block
) noexcept nogil:
    # Hashes the next grams, and asks for their words of the filter.
    cdef uint64_t h = state[0]
    cdef Py_ssize_t i
    for i in range(n):
        h = h * WORD_BASE + unit[i + size - 1]
        block[i] = finished(h, size, mask)
        prefetch(keys.words + filter_word(keys, block[i]))
        h -= unit[i] * power
    state[0] = h
    return n


cdef inline uint64_t beginning(const uint64_t* unit, Py_ssize_t units) noexcept nogil:
    cdef uint64_t h = 0
    cdef Py_ssize_t i
    for i in range(units):
        h = h * WORD_BASE + unit[i]
    return h


cdef void find_grams(
    const Finder* finder, const uint64_t* unit, Py_ssize_t n, Py_ssize_t text, GramRows* rows
) noexcept nogil:
    cdef uint64_t block[WINDOWS]
    cdef uint64_t state = beginning(unit, finder.size - 1)
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t i, count
    while start < n:
        count = roll_grams(
            unit + start, finder.size, finder.power, finder.mask, &finder.grams,
            min(n - start, <Py_ssize_t> WINDOWS), &state, block,
        )
        for i in range(count):
            if passes(&finder.grams, block[i]):
                look_up_gram(finder, block[i], text, start + i, rows)
        start += count


cdef void find_shorter(
    const Finder* finder, const uint64_t* unit, Py_ssize_t units, Py_ssize_t text, GramRows* rows
) noexcept nogil:
    # By their beginnings; then there are few places at which to try all their sizes.
    cdef uint64_t block[WINDOWS]
    cdef uint64_t state = beginning(unit, finder.least - 1)
    cdef uint64_t h
    cdef Py_ssize_t n = units - finder.least + 1
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t i, j, count, size
    while start < n:
        count = roll_grams(
            unit + start, finder.least, finder.least_power, finder.mask, &finder.beginnings,
            min(n - start, <Py_ssize_t> WINDOWS), &state, block,
        )
        for i in range(count):
            if not passes(&finder.beginnings, block[i]):
                continue
            h, size = 0, 0
            for j in range(finder.n_shorter):
                if start + i + finder.shorter[j] > units:
                    break
                while size < finder.shorter[j]:
                    h = h * WORD_BASE + unit[start + i + size]
                    size += 1
                look_up_gram(finder, finished(h, size, finder.mask), text, start + i, rows)
        start += count


cdef void look_up_gram(
    const Finder* finder, uint64_t h, Py_ssize_t text, Py_ssize_t place, GramRows* rows
) noexcept nogil:
    cdef uint32_t number = number_of_hash(&finder.table, h)
    cdef int64_t* row
    if number == 0:
        return
    if rows.found < rows.room:
        row = rows.rows + 3 * rows.found
        row[0], row[1], row[2] = text, place, finder.names[number]
    rows.found += 1


# ---- Pairs of equal grams of two texts, compared unit by unit and extended as far as the texts
# agree. Characters are their own numbers; those of words are of `WordNumbers`.

def extend_grams(
    Spans texts not None, Spans others not None, const int64_t[:, ::1] rows not None,
    int64_t[:, ::1] runs not None, int64_t[::1] run_of not None,
    const int64_t[::1] other_starts = None, const int64_t[::1] other_first = None,
    const int64_t[::1] other_ahead = None,
):
    """Compare grams of texts with grams of other texts, and extend the equal ones to both sides.

    Time is linear in the rows and the texts if `other_first` is given and few grams of the other
    texts are the first of their kind behind one that is not.

    Parameters
    ----------
    texts, others
        Texts as numbers of their units: characters, or what `WordNumbers` gives.
    rows
        int64 (n, 5): text, other text, the first unit in each, and how many units; sorted by the
        texts, and by the first unit in the text.
    runs
        int64 (n, 5), written: the longest runs of equal units that contain an equal gram, in the
        same columns; without `other_first` no more than what shows that grams are equal.
    run_of
        int64 (n,), written: the run of each row, or -1 if its grams are not equal.
    other_starts, other_first, other_ahead
        What `repeat_grams` takes and writes for the other texts. Rows name no gram of these that is
        not the first one of its text.

    Returns
    -------
    int
        How many runs there are.
    """
    cdef Py_ssize_t n = rows.shape[0]
    cdef Py_ssize_t count
    if rows.shape[1] != 5 or runs.shape[1] != 5 or runs.shape[0] != n or run_of.shape[0] != n:
        raise ValueError("rows and runs need five columns, and runs and run_of as many rows")
    check_matrix(runs, "runs")
    check_array(run_of, "run_of")
    check_matrix(rows, "rows")
    if other_first is not None:
        check_repeats(others, other_starts, other_first, other_ahead)
        check_array(other_starts, "starts")
        check_array(other_first, "first")
        check_array(other_ahead, "ahead")
    cdef Extension state
    if n == 0:
        return 0
    state.texts, state.others = texts.at, others.at
    state.starts = state.first = state.ahead = NULL
    if other_first is not None:
        state.starts = &other_starts[0]
        if other_first.shape[0]:
            state.first, state.ahead = &other_first[0], &other_ahead[0]
    with nogil:
        count = missing_row(&state, texts.n, others.n, &rows[0, 0], n)
    if count >= 0:
        raise IndexError(f"row {count} names a text or units that are not there")
    with nogil:
        count = extend_all(&state, &rows[0, 0], n, &runs[0, 0], &run_of[0])
    return count


def repeat_grams(
    Spans texts not None, const int64_t[::1] starts not None, const int64_t[::1] first not None,
    Py_ssize_t size, int64_t[::1] ahead not None,
):
    """Write how far texts agree from each gram and from the first equal one on, in linear time.

    Parameters
    ----------
    texts
        As in `extend_grams`.
    starts
        int64 (texts + 1,): where the units of each text begin in `first` and `ahead`.
    first
        int64 (units,): for each unit, the first unit of the text's first gram that equals the one
        here, or -1.
    size
        Units of a gram.
    ahead
        int64 (units,), written: how many units agree; 0 at the first gram itself.
    """
    check_repeats(texts, starts, first, ahead)
    check_array(ahead, "ahead")
    check_array(first, "first")
    check_array(starts, "starts")
    if size < 1:
        raise ValueError(f"size must be at least 1, not {size}")
    size = min(size, first.shape[0] + 1)
    if first.shape[0]:
        with nogil:
            repeat_all(texts.at, texts.n, &starts[0], &first[0], size, &ahead[0])


cdef int check_repeats(
    Spans texts, const int64_t[::1] starts, const int64_t[::1] first, const int64_t[::1] ahead
) except -1:
    cdef Py_ssize_t i
    if starts is None or ahead is None or ahead.shape[0] != first.shape[0]:
        raise ValueError(f"the repeats need starts, and {first.shape[0]} elements for the units")
    check_array(first, "first")
    check_array(ahead, "ahead")
    check_offsets(starts, texts.n, first.shape[0], "starts")
    for i in range(texts.n):
        if starts[i + 1] - starts[i] != texts.at[i].length:
            raise ValueError(
                f"text {i} has {texts.at[i].length} units, not {starts[i + 1] - starts[i]}"
            )
    return 0


cdef struct Extension:
    const Span* texts
    const Span* others
    # Of the others, as `repeat_grams` has them; or NULL: only grams are compared.
    const int64_t* starts
    const int64_t* first
    const int64_t* ahead


cdef void repeat_all(
    const Span* at, Py_ssize_t n, const int64_t* starts, const int64_t* first, int64_t size,
    int64_t* ahead
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        repeat_in(at + i, first + starts[i], size, ahead + starts[i])


cdef void repeat_in(
    const Span* text, const int64_t* first, int64_t size, int64_t* ahead
) noexcept nogil:
    # The Z algorithm: the agreement that reaches furthest, with a gram `lag` units before, tells
    # how far those within it go, but for what lies behind its end.
    cdef int64_t end = 0
    cdef int64_t lag = 0
    cdef int64_t i, back, found
    for i in range(text.length):
        back = first[i]
        ahead[i] = 0
        if not 0 <= back < i:
            continue
        found = 0
        if i + size <= end:
            if i - lag == back:
                found = end - i
            elif first[i - lag] == back:
                found = min(ahead[i - lag], end - i)
        if i + found >= end or found == 0:
            found = agreeing(text, i, text, back, found)
        ahead[i] = found
        if i + found >= end:
            end, lag = i + found, i - back


cdef int64_t agreeing(
    const Span* text, int64_t i, const Span* other, int64_t j, int64_t found
) noexcept nogil:
    # How many units agree from two units on, of which `found` are known to.
    cdef int64_t most = min(text.length - i, other.length - j)
    return found + equal_units(text, i + found, other, j + found, most - found)


cdef Py_ssize_t missing_row(
    const Extension* state, Py_ssize_t texts, Py_ssize_t others, const int64_t* rows, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t i
    cdef const int64_t* row
    for i in range(n):
        row = rows + 5 * i
        if not 0 <= row[0] < texts or not 0 <= row[1] < others or row[4] < 1:
            return i
        if not has_units(state.texts + row[0], row[2], row[4]):
            return i
        if not has_units(state.others + row[1], row[3], row[4]):
            return i
    return -1


cdef inline bint has_units(const Span* text, int64_t first, int64_t size) noexcept nogil:
    return 0 <= first <= text.length and size <= text.length - first


cdef Py_ssize_t extend_all(
    const Extension* state, const int64_t* rows, Py_ssize_t n, int64_t* runs, int64_t* run_of
) noexcept nogil:
    # A gram is in the run before, or within the run that reaches furthest, which tells how far it
    # goes, as in `repeat_in`. Backward, a run of the first gram of its kind ends before the
    # gram's last place in the text, as otherwise this would not be the first.
    cdef bint extending = state.first != NULL
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t i
    cdef const int64_t* row
    cdef int64_t* run = NULL   # the latest
    cdef int64_t* far = NULL   # of the same texts, the one that reaches furthest
    cdef const Span* text
    cdef const Span* other
    cdef int64_t there, first, found, back
    for i in range(n):
        row = rows + 5 * i
        text, other = state.texts + row[0], state.others + row[1]
        run_of[i] = -1
        if run != NULL and (run[0] != row[0] or run[1] != row[1]):
            run = far = NULL
        found = 0
        if (
            run != NULL and run[2] - run[3] == row[2] - row[3]
            and run[2] <= row[2] < run[2] + run[4]
        ):
            found = run[2] + run[4] - row[2]
            if extending:
                if row[4] <= found:
                    run_of[i] = (run - runs) // 5
                continue
        elif (
            extending and far != NULL and far[2] <= row[2]
            and row[2] + row[4] <= far[2] + far[4]
        ):
            there = row[2] - far[2] + far[3]
            if there == row[3]:
                run_of[i] = (far - runs) // 5
                run = far
                continue
            there += state.starts[row[1]]
            first = state.first[there]
            if first >= 0:
                if first != row[3]:
                    continue
                found = min(state.ahead[there], far[2] + far[4] - row[2])
                # The caller may have written other numbers.
                found = max(min(found, other.length - row[3]), <int64_t> 0)
        if not extending:
            if found < row[4]:
                found += equal_units(
                    text, row[2] + found, other, row[3] + found, row[4] - found
                )
        elif found == 0 or row[2] + found == far[2] + far[4]:
            found = agreeing(text, row[2], other, row[3], found)
        if found < row[4]:
            continue
        back = 0
        if extending:
            back = equal_before(text, row[2], other, row[3], min(row[2], row[3]))
        run = runs + 5 * count
        run[0], run[1], run[2], run[3] = row[0], row[1], row[2] - back, row[3] - back
        run[4] = back + found
        run_of[i] = count
        count += 1
        if far == NULL or run[2] + run[4] >= far[2] + far[4]:
            far = run
    return count
