# Pairs of equal grams of two texts, compared as text and extended as far as the texts agree.

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcmp

from fastlsh._kernels.common.checks cimport (
    Memory, check_apart, check_starts, memory_of, memory_of_rows,
)
from fastlsh._kernels.text._texts cimport Span, Spans


cdef struct UnitTexts:
    const Span* texts
    const int64_t* bounds   # where each unit begins and ends, text by text
    const int64_t* starts   # the first unit of each text


cdef UnitTexts unit_texts(
    Spans texts, const int64_t[:, ::1] bounds, const int64_t[::1] starts, str name
) except *:
    cdef UnitTexts units
    cdef Py_ssize_t bad
    if texts.tokens:
        raise TypeError("token ids have no units that are compared")
    if bounds.shape[1] != 2:
        raise ValueError(f"bounds of {name} have {bounds.shape[1]} columns, expected 2")
    if starts.shape[0] != texts.n + 1:
        raise ValueError(f"starts of {name} has {starts.shape[0]} elements, not {texts.n + 1}")
    check_starts(starts, bounds.shape[0], f"starts of {name}")
    units.texts = texts.at
    units.bounds = &bounds[0, 0] if bounds.shape[0] else NULL
    units.starts = &starts[0]
    with nogil:
        bad = misplaced(&units, texts.n)
    if bad >= 0:
        raise IndexError(f"unit {bad} of {name} is not within its text")
    return units


cdef Py_ssize_t misplaced(const UnitTexts* units, Py_ssize_t n) noexcept nogil:
    # The first unit that is not within its text, or -1.
    cdef Py_ssize_t i, unit
    cdef const int64_t* bounds
    for i in range(n):
        for unit in range(units.starts[i], units.starts[i + 1]):
            bounds = units.bounds + 2 * unit
            if bounds[0] < 0 or bounds[1] < bounds[0] or bounds[1] > units.texts[i].length:
                return unit
    return -1


def extend_grams(
    Spans texts not None, const int64_t[:, ::1] bounds not None,
    const int64_t[::1] starts not None, Spans others not None,
    const int64_t[:, ::1] other_bounds not None, const int64_t[::1] other_starts not None,
    const int64_t[:, ::1] rows not None, int64_t[:, ::1] runs not None,
    int64_t[::1] run_of not None, const int64_t[::1] other_first = None,
    const int64_t[::1] other_ahead = None,
):
    """Compare grams of texts with grams of other texts, and extend the equal ones to both sides.

    Time is linear in the rows and the texts if `other_first` is given and few grams of the other
    texts are the first of their kind behind one that is not.

    Parameters
    ----------
    texts, others
        The texts.
    bounds, starts, other_bounds, other_starts
        int64 (units, 2): where each unit begins and ends; int64 (texts + 1,): which units a text
        has.
    rows
        int64 (n, 5): text, other text, the first unit in each, and how many units; sorted by the
        texts, and by the first unit in the text.
    runs
        int64 (n, 5), written: the longest runs of equal units that contain an equal gram, in the
        same columns; without `other_first` no more than what shows that grams are equal.
    run_of
        int64 (n,), written: the run of each row, or -1 if its grams are not equal.
    other_first, other_ahead
        int64 (other units,): what `repeat_grams` takes and writes. Rows name no gram of the other
        texts that is not the first one of its text.

    Returns
    -------
    int
        How many runs there are.
    """
    cdef Py_ssize_t n = rows.shape[0]
    cdef Py_ssize_t count
    if rows.shape[1] != 5 or runs.shape[1] != 5 or runs.shape[0] != n or run_of.shape[0] != n:
        raise ValueError("rows and runs need five columns, and runs and run_of as many rows")
    cdef Memory parts[9]
    cdef int read = 7
    parts[0], parts[1] = memory_of_rows(runs, "runs"), memory_of(run_of, "run_of")
    parts[2], parts[3] = memory_of_rows(rows, "rows"), memory_of_rows(bounds, "bounds")
    parts[4] = memory_of_rows(other_bounds, "other_bounds")
    parts[5], parts[6] = memory_of(starts, "starts"), memory_of(other_starts, "other_starts")
    if other_first is not None:
        check_repeats(other_first, other_ahead, other_bounds.shape[0])
        parts[7] = memory_of(other_first, "other_first")
        parts[8] = memory_of(other_ahead, "other_ahead")
        read = 9
    check_apart(parts, read, 2, "runs, run_of and what is read")
    cdef UnitTexts one = unit_texts(texts, bounds, starts, "texts")
    cdef UnitTexts other = unit_texts(others, other_bounds, other_starts, "others")
    cdef const int64_t* first = NULL
    cdef const int64_t* reach = NULL
    if n == 0:
        return 0
    if other_first is not None:
        first, reach = &other_first[0], &other_ahead[0]
    with nogil:
        count = missing_row(&one, texts.n, &other, others.n, &rows[0, 0], n)
    if count >= 0:
        raise IndexError(f"row {count} names a text or units that are not there")
    with nogil:
        count = extend_all(&one, &other, first, reach, &rows[0, 0], n, &runs[0, 0], &run_of[0])
    return count


def repeat_grams(
    Spans texts not None, const int64_t[:, ::1] bounds not None,
    const int64_t[::1] starts not None, const int64_t[::1] first not None, Py_ssize_t size,
    int64_t[::1] ahead not None,
):
    """Write how far texts agree from each gram and from the first equal one on, in linear time.

    Parameters
    ----------
    texts, bounds, starts
        As in `extend_grams`.
    first
        int64 (units,): for each unit, the first unit of the text's first gram that equals the one
        here, or -1.
    size
        Units of a gram.
    ahead
        int64 (units,), written: how many units agree; 0 at the first gram itself.
    """
    cdef UnitTexts units = unit_texts(texts, bounds, starts, "texts")
    cdef Py_ssize_t i
    check_repeats(first, ahead, bounds.shape[0])
    cdef Memory parts[4]
    parts[0], parts[1] = memory_of(ahead, "ahead"), memory_of(first, "first")
    parts[2], parts[3] = memory_of_rows(bounds, "bounds"), memory_of(starts, "starts")
    check_apart(parts, 4, 1, "ahead and what is read")
    if size < 1:
        raise ValueError(f"size must be at least 1, not {size}")
    size = min(size, bounds.shape[0] + 1)
    if bounds.shape[0]:
        with nogil:
            for i in range(texts.n):
                repeat_all(&units, i, &first[0], size, &ahead[0])


cdef int check_repeats(
    const int64_t[::1] first, const int64_t[::1] ahead, Py_ssize_t units
) except -1:
    if ahead is None or first.shape[0] != units or ahead.shape[0] != units:
        raise ValueError(f"the repeats need {units} elements, one for each unit")
    return 0


cdef void repeat_all(
    const UnitTexts* units, Py_ssize_t text, const int64_t* first, int64_t size, int64_t* ahead
) noexcept nogil:
    # The Z algorithm: the agreement that reaches furthest, with a gram `lag` units before, tells
    # how far those within it go, but for what lies behind its end.
    cdef int64_t start = units.starts[text]
    cdef int64_t n = units.starts[text + 1] - start
    cdef int64_t end = 0
    cdef int64_t lag = 0
    cdef int64_t i, back, found
    for i in range(n):
        back = first[start + i]
        ahead[start + i] = 0
        if not 0 <= back < i:
            continue
        found = 0
        if i + size <= end:
            if i - lag == back:
                found = end - i
            elif first[start + i - lag] == back:
                found = min(ahead[start + i - lag], end - i)
        if i + found >= end or found == 0:
            found = agreeing(units, text, i, units, text, back, found)
        ahead[start + i] = found
        if i + found >= end:
            end, lag = i + found, i - back


cdef int64_t agreeing(
    const UnitTexts* one, int64_t text, int64_t i, const UnitTexts* other, int64_t other_text,
    int64_t j, int64_t found
) noexcept nogil:
    # How many units agree from two units on, of which `found` are known to.
    cdef int64_t start = one.starts[text] + i
    cdef int64_t other_start = other.starts[other_text] + j
    cdef int64_t most = min(
        one.starts[text + 1] - start, other.starts[other_text + 1] - other_start
    )
    while found < most and are_equal(
        one.texts + text, one.bounds + 2 * (start + found),
        other.texts + other_text, other.bounds + 2 * (other_start + found),
    ):
        found += 1
    return found


cdef Py_ssize_t missing_row(
    const UnitTexts* one, Py_ssize_t texts, const UnitTexts* other, Py_ssize_t others,
    const int64_t* rows, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t i
    cdef const int64_t* row
    for i in range(n):
        row = rows + 5 * i
        if not 0 <= row[0] < texts or not 0 <= row[1] < others or row[4] < 1:
            return i
        if not has_units(one, row[0], row[2], row[4]):
            return i
        if not has_units(other, row[1], row[3], row[4]):
            return i
    return -1


cdef inline bint has_units(
    const UnitTexts* units, int64_t text, int64_t first, int64_t size
) noexcept nogil:
    cdef int64_t there = units.starts[text + 1] - units.starts[text]
    return 0 <= first <= there and size <= there - first


cdef Py_ssize_t extend_all(
    const UnitTexts* one, const UnitTexts* other, const int64_t* first, const int64_t* reach,
    const int64_t* rows, Py_ssize_t n, int64_t* runs, int64_t* run_of
) noexcept nogil:
    # A gram is in the run before, or within the run that reaches furthest, which tells how far it
    # goes, as in `repeat_all`. Backward, a run of the first gram of its kind ends before the
    # gram's last place in the text, as otherwise this would not be the first.
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t i
    cdef const int64_t* row
    cdef int64_t* run = NULL   # the latest
    cdef int64_t* far = NULL   # of the same texts, the one that reaches furthest
    cdef const int64_t* start
    cdef int64_t there, found, back
    for i in range(n):
        row = rows + 5 * i
        run_of[i] = -1
        if run != NULL and (run[0] != row[0] or run[1] != row[1]):
            run = far = NULL
        found = 0
        if (
            run != NULL and run[2] - run[3] == row[2] - row[3]
            and run[2] <= row[2] < run[2] + run[4]
        ):
            found = run[2] + run[4] - row[2]
            if first != NULL:
                if row[4] <= found:
                    run_of[i] = (run - runs) // 5
                continue
        elif (
            first != NULL and far != NULL and far[2] <= row[2]
            and row[2] + row[4] <= far[2] + far[4]
        ):
            there = row[2] - far[2] + far[3]
            start = first + other.starts[row[1]]
            if there == row[3]:
                run_of[i] = (far - runs) // 5
                run = far
                continue
            if start[there] >= 0:
                if start[there] != row[3]:
                    continue
                there = other.starts[row[1]] + there
                found = min(reach[there], far[2] + far[4] - row[2])
                found = min(found, other.starts[row[1] + 1] - other.starts[row[1]] - row[3])
                found = max(found, 0)   # the caller may have written other numbers
        if found == 0 or first == NULL or row[2] + found == far[2] + far[4]:
            found = agreeing_to(one, row, other, found, first == NULL)
        if found < row[4]:
            continue
        back = 0
        if first != NULL:
            back = agreeing_before(one, row, other)
        run = runs + 5 * count
        run[0], run[1], run[2], run[3] = row[0], row[1], row[2] - back, row[3] - back
        run[4] = back + found
        run_of[i] = count
        count += 1
        if far == NULL or run[2] + run[4] >= far[2] + far[4]:
            far = run
    return count


cdef int64_t agreeing_to(
    const UnitTexts* one, const int64_t* row, const UnitTexts* other, int64_t found, bint only_gram
) noexcept nogil:
    # How many units agree from a gram on, or only whether its own do.
    cdef int64_t start = one.starts[row[0]] + row[2]
    cdef int64_t other_start = other.starts[row[1]] + row[3]
    if not only_gram:
        return agreeing(one, row[0], row[2], other, row[1], row[3], found)
    while found < row[4] and are_equal(
        one.texts + row[0], one.bounds + 2 * (start + found),
        other.texts + row[1], other.bounds + 2 * (other_start + found),
    ):
        found += 1
    return found


cdef int64_t agreeing_before(
    const UnitTexts* one, const int64_t* row, const UnitTexts* other
) noexcept nogil:
    # How many units agree before a gram.
    cdef const int64_t* unit = one.bounds + 2 * (one.starts[row[0]] + row[2])
    cdef const int64_t* other_unit = other.bounds + 2 * (other.starts[row[1]] + row[3])
    cdef int64_t most = min(row[2], row[3])
    cdef int64_t back = 0
    while back < most and are_equal(
        one.texts + row[0], unit - 2 * (back + 1), other.texts + row[1], other_unit - 2 * (back + 1)
    ):
        back += 1
    return back


cdef bint are_equal(
    const Span* a, const int64_t* of_a, const Span* b, const int64_t* of_b
) noexcept nogil:
    cdef int64_t n = of_a[1] - of_a[0]
    cdef int64_t i
    if n != of_b[1] - of_b[0]:
        return False
    if a.kind == b.kind:
        return n == 0 or memcmp(
            <const char*> a.text + of_a[0] * a.kind, <const char*> b.text + of_b[0] * b.kind,
            <size_t> (n * a.kind),
        ) == 0
    for i in range(n):
        if point_at(a, of_a[0] + i) != point_at(b, of_b[0] + i):
            return False
    return True


cdef inline uint32_t point_at(const Span* text, int64_t i) noexcept nogil:
    if text.kind == 1:
        return (<const uint8_t*> text.text)[i]
    if text.kind == 2:
        return (<const uint16_t*> text.text)[i]
    return (<const uint32_t*> text.text)[i]
