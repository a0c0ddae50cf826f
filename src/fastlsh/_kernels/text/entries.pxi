# What each code point becomes by all steps after the form, as one table.
# With unicode_data.pxi.

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memset

from fastlsh._kernels.text.steps cimport (
    BLANK, BLANKS_COLLAPSED, BLANKS_REMOVED, BLANKS_STAY, DIGIT, DROPPED, MARKS_REMOVED,
    MARKS_STAY, POINT, SEPARATOR, SEVERAL, SIGMA, SPECIAL, TABLE, Plan,
)
from fastlsh._kernels.text.unicode_data cimport (
    COMBINING, IS_DIGIT, IS_MARK, IS_PUNCTUATION, IS_SPACE, NO_FORM, QUICK, apart, lowercase_of,
    properties_of,
)

cdef enum:
    CAPITAL_SIGMA = 0x3A3
    SMALL_SIGMA = 0x3C3
    FINAL_SIGMA = 0x3C2
    DOTTED_I = 0x130            # the only capital that becomes two code points
    DOT = 0x307


cdef inline bint separates(uint32_t c) noexcept nogil:
    # Full stop, comma; Arabic comma and decimal separator; raised and dotted decimal separators.
    return c == 0x2E or c == 0x2C or c == 0x60C or c == 0x66B or 0x2396 <= c <= 0x2398


cdef bint is_punctuation(const Plan* plan, uint32_t c) noexcept nogil:
    cdef Py_ssize_t low = 0
    cdef Py_ssize_t high = plan.n_chosen
    cdef Py_ssize_t middle
    if plan.chosen == NULL:
        return (properties_of(c) & IS_PUNCTUATION) != 0
    while low < high:
        middle = (low + high) // 2
        if plan.chosen[middle] < c:
            low = middle + 1
        else:
            high = middle
    return low < plan.n_chosen and plan.chosen[low] == c


cdef uint32_t of_blanks(const Plan* plan, uint32_t c) noexcept nogil:
    # The last step.
    if plan.blanks != BLANKS_STAY and properties_of(c) & IS_SPACE:
        return DROPPED if plan.blanks == BLANKS_REMOVED else BLANK | 32
    return c


cdef uint32_t of_marks(const Plan* plan, uint32_t c) noexcept nogil:
    # From punctuation on.
    cdef uint32_t points[18]
    cdef uint32_t kept = 0
    cdef uint32_t props
    cdef int count = 0
    cdef int i, n
    if plan.marks != MARKS_STAY and is_punctuation(plan, c):
        if plan.marks == MARKS_REMOVED:
            return DROPPED
        return of_blanks(plan, 32)
    if not plan.accents:
        return of_blanks(plan, c)
    n = apart(c, False, points)
    for i in range(n):
        props = properties_of(points[i])
        if not props & IS_MARK:
            if props & COMBINING or points[i] >= 0x10000 > c:
                return SEVERAL
            kept = points[i]
            count += 1
    if count == 0:
        return DROPPED
    return of_blanks(plan, kept) if count == 1 else SEVERAL


cdef uint32_t of_numbers(const Plan* plan, uint32_t c) noexcept nogil:
    if plan.numbers:
        if properties_of(c) & IS_DIGIT:
            return DIGIT
        if separates(c):
            return of_marks(plan, c) | SEPARATOR
    return of_marks(plan, c)


cdef uint32_t entry_of(const Plan* plan, uint32_t c) noexcept nogil:
    """Return the entry of a code point."""
    if plan.lowercase:
        if c == CAPITAL_SIGMA:
            return SIGMA
        if c == DOTTED_I:
            return SEVERAL
        c = lowercase_of(c)
    return of_numbers(plan, c)


cdef inline void add(uint8_t* table, int c) noexcept nogil:
    table[c & 15] |= <uint8_t> (1 << (c >> 4))


cdef void fill_ascii(Plan* plan) noexcept nogil:
    cdef uint32_t e
    cdef int c
    memset(&plan.ascii, 0, sizeof(plan.ascii))
    plan.ascii.case = 0x20 if plan.lowercase else 0
    plan.plain_ascii = plan.zero == 48
    for c in range(128):
        e = plan.entry[c]
        if e & SEPARATOR:
            add(plan.ascii.separator, c)
            e &= ~<uint32_t> SEPARATOR
        if e == DIGIT:
            continue                            # 0 to 9, which need no set
        if e == DROPPED:
            add(plan.ascii.dropped, c)
        elif (e & POINT) == 32:
            add(plan.ascii.blank, c)
        elif e != (c + 32 if plan.lowercase and 65 <= c <= 90 else c):
            plan.plain_ascii = False


cdef void fill_plan(Plan* plan) noexcept nogil:
    cdef uint32_t c
    if plan.rewrites:
        for c in range(TABLE):
            plan.entry[c] = entry_of(plan, c)
        plan.zero = of_marks(plan, 48)
        plan.sigma[0] = of_numbers(plan, SMALL_SIGMA)
        plan.sigma[1] = of_numbers(plan, FINAL_SIGMA)
        fill_ascii(plan)
    if plan.form == NO_FORM:
        return
    for c in range(0x110000):
        if properties_of(c) & COMBINING or not properties_of(c) >> (QUICK + plan.form) & 1:
            plan.loose[c >> 3] |= <uint8_t> (1 << (c & 7))
