# Code points changed one by one: what is not ASCII, and what depends on its neighbours.
# With entries.pxi, forms.pxi and unicode_data.pxi.

from libc.stdint cimport uint16_t, uint32_t, uint8_t

from fastlsh._kernels.text._texts cimport code_unit
from fastlsh._kernels.text.steps cimport (
    BLANK, DIGIT, DROPPED, KIND, MARKS_REMOVED, MARKS_STAY, POINT, SEPARATOR, SEVERAL, SIGMA,
    SPECIAL, TABLE, Plan, Work,
)
from fastlsh._kernels.text.unicode_data cimport (
    COMBINING, IS_CASED, IS_IGNORABLE, IS_MARK, apart, lowercase_of, properties_of,
)


cdef inline uint32_t entry(const Plan* plan, code_unit c) noexcept nogil:
    if code_unit is uint32_t:
        return plan.entry[c] if c < TABLE else entry_of(plan, c)
    else:
        return plan.entry[c]


cdef inline void emit(
    uint32_t e, Py_ssize_t begin, Py_ssize_t end, code_unit* out, Work* work
) noexcept nogil:
    # Write an entry that is not special, of the code units begin to end - 1.
    cdef bint blank = e >> 24 & 1
    cdef bint dropped = e >> 25 & 1
    cdef bint repeated = blank and work.blank
    out[work.made] = <code_unit> (e & POINT)
    if code_unit is not uint32_t:
        work.narrow |= (e & POINT) >> (8 * sizeof(code_unit)) != 0
    if work.origin != NULL and repeated:
        if work.made:
            work.origin[2 * work.made - 1] = end
    elif work.origin != NULL:
        work.origin[2 * work.made] = begin
        work.origin[2 * work.made + 1] = end
    work.made += not (dropped or repeated)
    work.blank = work.blank if dropped else blank


cdef Py_ssize_t change_some(
    const Plan* plan, const code_unit* text, Py_ssize_t n, Py_ssize_t i, Py_ssize_t stop,
    code_unit* out, Work* work
) noexcept nogil:
    """Change code units i to stop - 1, and what belongs to the last; return where it ends."""
    cdef Py_ssize_t made = work.made
    cdef bint before = work.blank
    cdef bint blank, dropped
    cdef uint32_t e
    while i < stop:
        e = entry(plan, text[i])
        if e & SPECIAL or work.origin != NULL:
            work.made = made
            work.blank = before
            if e & SPECIAL:
                i = change_special(plan, text, n, i, e & KIND, out, work)
            else:
                emit(e, i, i + 1, out, work)
                i += 1
            made = work.made
            before = work.blank
            continue
        blank = e >> 24 & 1
        dropped = e >> 25 & 1
        out[made] = <code_unit> (e & POINT)
        made += 1 - (dropped | (blank & before))
        before = before if dropped else blank
        i += 1
    work.made = made
    work.blank = before
    return i


cdef Py_ssize_t change_special(
    const Plan* plan, const code_unit* text, Py_ssize_t n, Py_ssize_t i, uint32_t kind,
    code_unit* out, Work* work
) noexcept nogil:
    cdef Py_ssize_t begin = i
    if kind == SIGMA:
        emit(plan.sigma[ends_word(text, n, i)], i, i + 1, out, work)
        return i + 1
    if kind == SEVERAL:
        return change_several(plan, text, n, i, out, work)
    i = behind_digits(plan, text, n, i)
    if i + 1 < n and entry(plan, text[i]) & SEPARATOR:
        if entry(plan, text[i + 1]) & KIND == DIGIT:
            i = behind_digits(plan, text, n, i + 1)
    emit(plan.zero, begin, i, out, work)
    return i


cdef Py_ssize_t behind_digits(
    const Plan* plan, const code_unit* text, Py_ssize_t n, Py_ssize_t i
) noexcept nogil:
    while i < n and entry(plan, text[i]) & KIND == DIGIT:
        i += 1
    return i


cdef bint ends_word(const code_unit* text, Py_ssize_t n, Py_ssize_t i) noexcept nogil:
    # Final_Sigma: a cased letter before and none behind, whatever is case-ignorable in between.
    cdef Py_ssize_t j = i - 1
    while j >= 0 and properties_of(text[j]) & IS_IGNORABLE:
        j -= 1
    if j < 0 or not properties_of(text[j]) & IS_CASED:
        return False
    j = i + 1
    while j < n and properties_of(text[j]) & IS_IGNORABLE:
        j += 1
    return j == n or not properties_of(text[j]) & IS_CASED


cdef Py_ssize_t change_several(
    const Plan* plan, const code_unit* text, Py_ssize_t n, Py_ssize_t i, code_unit* out, Work* work
) noexcept nogil:
    # What becomes several code points, with all that follows and may change places with them.
    cdef uint32_t e = SEVERAL
    cdef Py_ssize_t run = work.made             # combining marks that are kept, since a starter
    while True:
        if e & KIND == SEVERAL or (plan.accents and e & DROPPED):
            run = change_one(plan, text[i], i, run, out, work)
            i += 1
        elif plan.accents and vanishes(plan, text, n, i, e & KIND):
            i = change_special(plan, text, n, i, e & KIND, out, work)
        else:
            break
        if i == n:
            break
        e = entry(plan, text[i])
    sort_marks(
        out + run, work.made - run, work.origin + 2 * run if work.origin else NULL, work.spare
    )
    return i


cdef bint vanishes(
    const Plan* plan, const code_unit* text, Py_ssize_t n, Py_ssize_t i, uint32_t kind
) noexcept nogil:
    # Whether a number or a sigma counts as punctuation that is removed.
    if kind == DIGIT:
        return plan.zero & DROPPED != 0
    return kind == SIGMA and plan.sigma[ends_word(text, n, i)] & DROPPED != 0


cdef Py_ssize_t change_one(
    const Plan* plan, uint32_t c, Py_ssize_t i, Py_ssize_t run, code_unit* out, Work* work
) noexcept nogil:
    # Step by step. Returns where the run of combining marks begins that ends what is written.
    cdef uint32_t lower[2]
    cdef uint32_t points[18]
    cdef int count = 1
    cdef int k, m
    lower[0] = c
    lower[1] = DOT
    if plan.lowercase:
        count = 2 if c == DOTTED_I else 1
        lower[0] = 105 if c == DOTTED_I else lowercase_of(c)
    for k in range(count):
        points[0] = lower[k]
        m = 1
        if plan.marks != MARKS_STAY and is_punctuation(plan, lower[k]):
            if plan.marks == MARKS_REMOVED:
                continue
            points[0] = 32
        elif plan.accents:
            m = apart(lower[k], False, points)
        run = put_points(plan, points, m, i, run, out, work)
    return run


cdef Py_ssize_t put_points(
    const Plan* plan, const uint32_t* points, int m, Py_ssize_t i, Py_ssize_t run, code_unit* out,
    Work* work
) noexcept nogil:
    # Returns as `change_one` does.
    cdef uint32_t props
    cdef int k
    for k in range(m):
        props = properties_of(points[k])
        if plan.accents and not props & COMBINING:
            sort_marks(
                out + run, work.made - run, work.origin + 2 * run if work.origin else NULL,
                work.spare,
            )
        if not (plan.accents and props & IS_MARK):
            emit(of_blanks(plan, points[k]), i, i + 1, out, work)
        if not props & COMBINING:
            run = work.made
    return run
