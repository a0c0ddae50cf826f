# Repeats: the windows of occurrences of one key that occurred before, compared in full.

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from fastlsh._kernels.common.checks cimport (
    Memory, check_apart, check_starts, memory_of, memory_of_rows,
)
from fastlsh._kernels.common.mixing cimport CHARACTER_BASE, fmix64, power_of
from fastlsh._kernels.passages.symbols cimport (
    equal_before, equal_units, pushed, rolled,
)
from fastlsh._kernels.text._texts cimport Span, Spans
from fastlsh._kernels.text.ids cimport id_at


cdef struct Occurrence:
    int64_t text
    int64_t position        # of the gram
    int64_t first           # where the first window with this gram begins
    int64_t last
    int64_t document        # of which the text is a part ...
    int64_t shift           # that begins here


cdef struct Stretch:
    # Consecutive windows of an occurrence that do not equal those of the first occurrence.
    Py_ssize_t occurrence
    Py_ssize_t first
    Py_ssize_t last
    uint64_t hash           # of the window at `at`
    Py_ssize_t at           # -1: there is none yet
    Py_ssize_t source       # the earlier occurrence that equals this one ...
    Py_ssize_t until        # ... up to the window that begins here
    bint apart              # and does not overlap it


cdef struct Repeats:
    const Span* texts
    Py_ssize_t length
    uint64_t power
    Stretch* rest
    Py_ssize_t count_rest
    int32_t* order          # of the stretches, by how far before the gram they begin
    int32_t* active         # the stretches with a window at the offset, ascending
    Py_ssize_t* starts      # by offset: where those that begin there stand in `order`
    int32_t* table          # 1 + a stretch, by the hash of its window
    size_t mask
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
    cdef Py_ssize_t i
    cdef Py_ssize_t largest = 1
    if length < 1 or occurrences.shape[1] != 6 or out.shape[1] != 5:
        raise ValueError("occurrences need 6 columns, out 5, and windows a unit")
    cdef Memory parts[3]
    parts[0], parts[1] = memory_of_rows(out, "out"), memory_of_rows(occurrences, "occurrences")
    parts[2] = memory_of(groups, "groups")
    check_apart(parts, 3, 1, "out, occurrences and groups")
    check_starts(groups, n, "groups")
    check_occurrences(texts, occurrences, groups, length)
    if n == 0:                          # otherwise a text has `length` units
        return 0
    for i in range(groups.shape[0] - 1):
        largest = max(largest, <Py_ssize_t> (groups[i + 1] - groups[i]))
    if largest > 1 << 29:
        raise ValueError(f"{largest} occurrences of one key are too many")
    largest *= 2                        # an occurrence has two stretches at most
    cdef size_t size = table_size(largest)
    state.texts, state.length, state.power = texts.at, length, power_of(CHARACTER_BASE, length)
    state.room, state.count = out.shape[0], 0
    state.out = &out[0, 0] if state.room else NULL
    state.rest = <Stretch*> malloc(<size_t> largest * sizeof(Stretch))
    state.order = <int32_t*> malloc(<size_t> largest * sizeof(int32_t))
    state.active = <int32_t*> malloc(<size_t> largest * sizeof(int32_t))
    state.starts = <Py_ssize_t*> malloc((<size_t> length + 3) * sizeof(Py_ssize_t))
    state.table = <int32_t*> malloc(size * sizeof(int32_t))
    try:
        if (
            state.rest == NULL or state.order == NULL or state.active == NULL
            or state.starts == NULL or state.table == NULL
        ):
            raise MemoryError()
        with nogil:
            for i in range(groups.shape[0] - 1):
                compare_group(
                    &state, <const Occurrence*> &occurrences[0, 0] + groups[i],
                    <Py_ssize_t> (groups[i + 1] - groups[i]),
                )
    finally:
        free(state.rest)
        free(state.order)
        free(state.active)
        free(state.starts)
        free(state.table)
    return state.count


cdef inline size_t table_size(Py_ssize_t entries) noexcept nogil:
    cdef size_t size = 4
    while size < 2 * <size_t> entries:
        size *= 2
    return size


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


cdef void compare_group(
    Repeats* state, const Occurrence* occurrences, Py_ssize_t n
) noexcept nogil:
    # Windows are equal only if they begin equally far from their gram. Most equal those of the
    # first occurrence, whose text is compared from the gram outwards; the others are hashed.
    cdef Py_ssize_t i
    state.count_rest = 0
    for i in range(1, n):
        compare_with_first(state, occurrences, i)
    if state.count_rest > 1:
        compare_rest(state, occurrences)


cdef inline void compare_with_first(
    Repeats* state, const Occurrence* occurrences, Py_ssize_t i
) noexcept nogil:
    cdef const Occurrence* own = &occurrences[i]
    cdef const Occurrence* head = &occurrences[0]
    cdef const Span* text = &state.texts[own.text]
    cdef const Span* source = &state.texts[head.text]
    # Offsets of windows from their gram.
    cdef Py_ssize_t low = max(own.first - own.position, head.first - head.position)
    cdef Py_ssize_t high = min(own.last - own.position, head.last - head.position)
    if low <= high:
        low = max(low, -equal_before(text, own.position, source, head.position, -low))
        high = min(
            high,
            equal_units(text, own.position, source, head.position, high + state.length)
            - state.length,
        )
    if low > high:
        put_rest(state, i, own.first, own.last)
        return
    if are_apart(state, own, own.position + low, head, head.position + low):
        put_match(
            state, own, own.position + low, high - low + state.length, head, head.position + low
        )
    put_rest(state, i, own.first, own.position + low - 1)
    put_rest(state, i, own.position + high + 1, own.last)


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
    # From the window before it, or from that of the stretch before, if they overlap.
    cdef Stretch* own = &state.rest[i]
    cdef Py_ssize_t number = occurrences[own.occurrence].text
    cdef const Span* text = &state.texts[number]
    cdef Py_ssize_t length = state.length
    cdef Py_ssize_t at = own.at
    cdef Py_ssize_t j
    cdef uint64_t h = own.hash
    if at < 0 or begin - at > length:
        at = -1
        if i > 0 and occurrences[state.rest[i - 1].occurrence].text == number:
            at = state.rest[i - 1].at
            h = state.rest[i - 1].hash
            if begin < at or begin - at > length:
                at = -1
    if at < 0:
        h = 0
        for j in range(begin, begin + length):
            h = pushed(h, id_at(text.text, text.kind, j))
    else:
        for j in range(at, begin):
            h = rolled(
                h, id_at(text.text, text.kind, j), id_at(text.text, text.kind, j + length),
                state.power,
            )
    own.hash, own.at = h, begin


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
