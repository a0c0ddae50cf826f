# Repeats: the windows of occurrences of one key that occurred before, compared in full.

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memset

from fastlsh._kernels.common.checks cimport check_starts, memory_of_rows
from fastlsh._kernels.common.mixing cimport fmix64
from fastlsh._kernels.passages.symbols cimport power_of, pushed, rolled
from fastlsh._kernels.text._texts cimport Span, Spans
from fastlsh._kernels.text.ids cimport id_at


cdef struct Occurrence:
    int64_t text
    int64_t position        # of the gram
    int64_t first           # where the first window with this gram begins
    int64_t last
    int64_t document        # of which the text is a part ...
    int64_t shift           # that begins here


cdef struct Progress:
    uint64_t hash           # of the window at `at`
    Py_ssize_t at           # -1: there is none yet
    Py_ssize_t source       # the earlier occurrence that equals this one ...
    Py_ssize_t until        # ... up to the window that begins here
    bint apart              # and does not overlap it


cdef struct Repeats:
    const Span* texts
    Py_ssize_t length
    uint64_t power
    Progress* progress
    int32_t* table          # 1 + an occurrence of the group, by the hash of its window
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
    in the occurrences of the largest group.

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
    memory_of_rows(occurrences, "occurrences")
    memory_of_rows(out, "out")
    check_starts(groups, n, "groups")
    check_occurrences(texts, occurrences, groups, length)
    for i in range(groups.shape[0] - 1):
        largest = max(largest, <Py_ssize_t> (groups[i + 1] - groups[i]))
    if largest > 1 << 30:
        raise ValueError(f"{largest} occurrences of one key are too many")
    cdef size_t size = 4
    while size < 2 * <size_t> largest:
        size *= 2
    state.texts, state.length, state.power = texts.at, length, power_of(length)
    state.room, state.count = out.shape[0], 0
    state.out = &out[0, 0] if state.room else NULL
    state.progress = <Progress*> malloc(<size_t> largest * sizeof(Progress))
    state.table = <int32_t*> malloc(size * sizeof(int32_t))
    try:
        if state.progress == NULL or state.table == NULL:
            raise MemoryError()
        if n:
            with nogil:
                for i in range(groups.shape[0] - 1):
                    compare_group(
                        &state, <const Occurrence*> &occurrences[0, 0] + groups[i],
                        <Py_ssize_t> (groups[i + 1] - groups[i]),
                    )
    finally:
        free(state.progress)
        free(state.table)
    return state.count


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
            if not first <= position <= last + length:
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
    # Windows are equal only if they begin equally far from their gram: offset by offset.
    cdef Py_ssize_t i, offset, begin
    cdef Py_ssize_t low = occurrences[0].first - occurrences[0].position
    cdef Py_ssize_t high = occurrences[0].last - occurrences[0].position
    cdef Progress* own
    cdef size_t size = 4
    while size < 2 * <size_t> n:
        size *= 2
    state.mask = size - 1
    for i in range(n):
        low = min(low, occurrences[i].first - occurrences[i].position)
        high = max(high, occurrences[i].last - occurrences[i].position)
        state.progress[i].at = -1
        state.progress[i].source = -1
    for offset in range(low, high + 1):
        memset(state.table, 0, size * sizeof(int32_t))
        for i in range(n):
            own = &state.progress[i]
            begin = occurrences[i].position + offset
            if not occurrences[i].first <= begin <= occurrences[i].last:
                continue
            if own.source >= 0 and own.apart and begin <= own.until:
                continue                # known to be a repeat, so an earlier one is in the table
            hash_window(state, occurrences, i, begin)
            look_up(state, occurrences, i, begin)


cdef inline void hash_window(
    Repeats* state, const Occurrence* occurrences, Py_ssize_t i, Py_ssize_t begin
) noexcept nogil:
    # From the window before it, or from that of the occurrence before, if they overlap.
    cdef const Span* text = &state.texts[occurrences[i].text]
    cdef Progress* own = &state.progress[i]
    cdef Py_ssize_t length = state.length
    cdef Py_ssize_t at = own.at
    cdef Py_ssize_t j
    cdef uint64_t h = own.hash
    if at < 0 or begin - at > length:
        at = -1
        if i > 0 and occurrences[i - 1].text == occurrences[i].text:
            at = state.progress[i - 1].at
            h = state.progress[i - 1].hash
            if begin - at > length:
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
    # Find the first occurrence with the same window, or be it.
    cdef Progress* own = &state.progress[i]
    cdef size_t slot = fmix64(own.hash) & state.mask
    cdef Py_ssize_t j, other
    while state.table[slot]:
        j = state.table[slot] - 1
        if state.progress[j].hash == own.hash:
            other = occurrences[j].position + begin - occurrences[i].position
            if (own.source == j and begin <= own.until) or extend(
                state, occurrences, i, begin, j, other
            ):
                return
        slot = (slot + 1) & state.mask
    state.table[slot] = <int32_t> (i + 1)


cdef bint extend(
    Repeats* state, const Occurrence* occurrences, Py_ssize_t i, Py_ssize_t begin, Py_ssize_t j,
    Py_ssize_t other,
) noexcept nogil:
    # Whether the windows are equal; if so, up to which one those that follow are equal, too.
    cdef const Span* text = &state.texts[occurrences[i].text]
    cdef const Span* source = &state.texts[occurrences[j].text]
    cdef Progress* own = &state.progress[i]
    cdef Py_ssize_t length = state.length
    cdef Py_ssize_t longest = min(
        occurrences[i].last - begin + length, source.length - other
    )
    cdef Py_ssize_t equal = equal_units(text, begin, source, other, longest)
    cdef Py_ssize_t shift = <Py_ssize_t> occurrences[i].shift
    cdef Py_ssize_t back = <Py_ssize_t> occurrences[j].shift
    cdef int64_t* row
    if equal < length:
        return False
    own.source = j
    own.until = begin + equal - length
    own.apart = (
        occurrences[j].document != occurrences[i].document
        or begin + shift - other - back >= length
    )
    if not own.apart:
        return True
    if state.count < state.room:
        row = state.out + 5 * state.count
        row[0], row[1], row[2] = occurrences[i].document, begin + shift, begin + shift + equal
        row[3], row[4] = occurrences[j].document, other + back
    state.count += 1
    return True


cdef Py_ssize_t equal_units(
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
