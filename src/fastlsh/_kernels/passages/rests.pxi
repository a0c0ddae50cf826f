# Rests: the windows of one key that do not equal those of its first occurrence, among each other.
# Matches are put down as in repeats.pxi.

from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memset

from fastlsh._kernels.common.mixing cimport UNITS, fmix64, mix_code_point
from fastlsh._kernels.passages.symbols cimport equal_units, pushed
from fastlsh._kernels.text._texts cimport Span
from fastlsh._kernels.text.ids cimport id_at


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
        state.mask = table_size(active) - 1
        memset(state.table, 0, (state.mask + 1) * sizeof(int32_t))
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


cdef inline void look_up(
    Repeats* state, const Occurrence* occurrences, Py_ssize_t i, Py_ssize_t begin
) noexcept nogil:
    # Find the first stretch with the same window, or be it.
    cdef Stretch* own = &state.rest[i]
    cdef size_t slot = fmix64(own.hash) & state.mask
    cdef Py_ssize_t j, offset, other
    while state.table[slot]:
        j = state.table[slot] - 1
        if state.rest[j].hash == own.hash:
            offset = begin - occurrences[own.occurrence].position
            other = occurrences[state.rest[j].occurrence].position + offset
            if (own.source == j and begin <= own.until) or extend(
                state, occurrences, i, begin, j, other
            ):
                return
        slot = (slot + 1) & state.mask
    state.table[slot] = <int32_t> (i + 1)


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
