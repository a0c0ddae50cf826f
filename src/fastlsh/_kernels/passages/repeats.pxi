# Repeats: the windows of occurrences of one key that occurred before, compared in full. Those that
# differ from the first occurrence are compared among each other in rests.pxi.

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from fastlsh._kernels.common.checks cimport (
    Memory, check_apart, check_starts, memory_of, memory_of_rows,
)
from fastlsh._kernels.common.mixing cimport CHARACTER_BASE, UNITS, fmix64
from fastlsh._kernels.passages.symbols cimport equal_before, equal_units, pushed
from fastlsh._kernels.text._texts cimport Span, Spans
from fastlsh._kernels.text.ids cimport id_at


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
    int32_t* table          # 1 + a stretch, by the hash of its window; or 1 + an edge
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
    state.texts, state.length, state.inverse = texts.at, length, CHARACTER_BASE
    for i in range(5):                  # each time, twice as many bits are right
        state.inverse *= 2 - CHARACTER_BASE * state.inverse
    state.room, state.count = out.shape[0], 0
    state.out = &out[0, 0] if state.room else NULL
    state.edges = <Edge*> malloc(<size_t> largest * sizeof(Edge))
    state.rest = <Stretch*> malloc(<size_t> largest * sizeof(Stretch))
    state.order = <int32_t*> malloc(<size_t> largest * sizeof(int32_t))
    state.active = <int32_t*> malloc(<size_t> largest * sizeof(int32_t))
    state.starts = <Py_ssize_t*> malloc((<size_t> length + 3) * sizeof(Py_ssize_t))
    state.table = <int32_t*> malloc(size * sizeof(int32_t))
    try:
        if (
            state.edges == NULL or state.rest == NULL or state.order == NULL or state.active == NULL
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
        free(state.edges)
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
        state.mask = table_size(count) - 1
        memset(state.table, 0, (state.mask + 1) * sizeof(int32_t))
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
    cdef size_t slot = fmix64(
        own.hash + <uint64_t> (2 * own.equal + own.behind) * UNITS
    ) & state.mask
    cdef Edge* other
    own.alone = True
    while state.table[slot]:
        other = &state.edges[state.table[slot] - 1]
        if (
            other.hash == own.hash and other.equal == own.equal and other.behind == own.behind
        ):
            own.alone, other.alone = False, False
            return
        slot = (slot + 1) & state.mask
    state.table[slot] = <int32_t> (i + 1)


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
