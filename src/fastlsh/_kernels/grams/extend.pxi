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
    int64_t[::1] run_of not None,
):
    """Compare grams of texts with grams of other texts, and extend the equal ones to both sides.

    Parameters
    ----------
    texts, others
        The texts.
    bounds, starts, other_bounds, other_starts
        int64 (units, 2): where each unit begins and ends; int64 (texts + 1,): which units a text
        has.
    rows
        int64 (n, 5): text, other text, the first unit in each, and how many units; sorted by the
        texts, by the difference of the first units, and by the first unit.
    runs
        int64 (n, 5), written: the longest runs of equal units that contain an equal gram, in the
        same columns.
    run_of
        int64 (n,), written: the run of each row, or -1 if its grams are not equal.

    Returns
    -------
    int
        How many runs there are.
    """
    cdef Py_ssize_t n = rows.shape[0]
    cdef Py_ssize_t count
    if rows.shape[1] != 5 or runs.shape[1] != 5 or runs.shape[0] != n or run_of.shape[0] != n:
        raise ValueError("rows and runs need five columns, and runs and run_of as many rows")
    cdef Memory parts[7]
    parts[0], parts[1] = memory_of_rows(runs, "runs"), memory_of(run_of, "run_of")
    parts[2], parts[3] = memory_of_rows(rows, "rows"), memory_of_rows(bounds, "bounds")
    parts[4] = memory_of_rows(other_bounds, "other_bounds")
    parts[5], parts[6] = memory_of(starts, "starts"), memory_of(other_starts, "other_starts")
    check_apart(parts, 7, 2, "runs, run_of and what is read")
    cdef UnitTexts one = unit_texts(texts, bounds, starts, "texts")
    cdef UnitTexts other = unit_texts(others, other_bounds, other_starts, "others")
    if n == 0:
        return 0
    with nogil:
        count = missing_row(&one, texts.n, &other, others.n, &rows[0, 0], n)
    if count >= 0:
        raise IndexError(f"row {count} names a text or units that are not there")
    with nogil:
        count = extend_all(&one, &other, &rows[0, 0], n, &runs[0, 0], &run_of[0])
    return count


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
    const UnitTexts* one, const UnitTexts* other, const int64_t* rows, Py_ssize_t n, int64_t* runs,
    int64_t* run_of
) noexcept nogil:
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t i
    cdef const int64_t* row
    cdef int64_t* run = NULL
    for i in range(n):
        row = rows + 5 * i
        run_of[i] = -1
        if (
            run != NULL and run[0] == row[0] and run[1] == row[1]
            and run[2] - run[3] == row[2] - row[3] and run[2] <= row[2] < run[2] + run[4]
        ):
            if row[4] <= run[2] + run[4] - row[2]:
                run_of[i] = count - 1
            continue
        if extended(one, other, row, runs + 5 * count):
            run = runs + 5 * count
            run_of[i] = count
            count += 1
    return count


cdef bint extended(
    const UnitTexts* one, const UnitTexts* other, const int64_t* row, int64_t* run
) noexcept nogil:
    # Whether the grams of a row are equal; then writes the run.
    cdef const Span* text = one.texts + row[0]
    cdef const Span* other_text = other.texts + row[1]
    cdef const int64_t* unit = one.bounds + 2 * (one.starts[row[0]] + row[2])
    cdef const int64_t* other_unit = other.bounds + 2 * (other.starts[row[1]] + row[3])
    cdef int64_t after = min(
        one.starts[row[0] + 1] - one.starts[row[0]] - row[2],
        other.starts[row[1] + 1] - other.starts[row[1]] - row[3],
    )
    cdef int64_t before = min(row[2], row[3])
    cdef int64_t ahead = 0
    cdef int64_t back = 0
    while ahead < after and are_equal(text, unit + 2 * ahead, other_text, other_unit + 2 * ahead):
        ahead += 1
    if ahead < row[4]:
        return False
    while back < before and are_equal(
        text, unit - 2 * (back + 1), other_text, other_unit - 2 * (back + 1)
    ):
        back += 1
    run[0], run[1], run[2], run[3] = row[0], row[1], row[2] - back, row[3] - back
    run[4] = back + ahead
    return True


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
