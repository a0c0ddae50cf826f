# Cuts: the units that go, each with the place where it stays.

from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

from fastlsh._kernels.common.checks cimport Memory, check_apart, memory_of_rows


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
    cdef Memory parts[2]
    parts[0], parts[1] = memory_of_rows(out, "out"), memory_of_rows(matches, "matches")
    check_apart(parts, 2, 1, "out and matches")
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
