# The four normalisation forms of Unicode (UAX 15).
# With unicode_data.pxi.

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy, memset

from fastlsh._kernels.text._texts cimport Span, code_unit
from fastlsh._kernels.text.steps cimport PIECE, WINDOW, Plan, Walk
from fastlsh._kernels.text.unicode_data cimport (
    COMBINING, NFC, NFD, NFKC, NFKD, QUICK, apart, properties_of, together,
)

cdef enum:
    FEW = 24                    # marks that are sorted by insertion


cdef inline bint compatible_form(const Plan* plan) noexcept nogil:
    return plan.form == NFKC or plan.form == NFKD


cdef inline bint in_order(
    const Plan* plan, const code_unit* text, Py_ssize_t n, uint32_t* last
) noexcept nogil:
    # Whether every code point may stand in the form, after a mark of the class `last`.
    cdef uint32_t props
    cdef Py_ssize_t i
    for i in range(n):
        props = properties_of(text[i])
        if not props >> (QUICK + plan.form) & 1:
            return False
        if props & COMBINING and props & COMBINING < last[0]:
            return False
        last[0] = props & COMBINING
    return True


cdef inline bint is_formed(
    const Plan* plan, const code_unit* text, Py_ssize_t n
) noexcept nogil:
    """Tell whether a text is in the form for sure."""
    cdef code_unit safe = 0xA0 if compatible_form(plan) else 0xC0
    cdef code_unit greatest
    cdef uint32_t last = 0
    cdef uint8_t loose
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t j, m
    if plan.form == NFC:
        if code_unit is uint8_t:
            return True
        else:
            safe = 0x300
    while i < n:
        m = min(n - i, <Py_ssize_t> WINDOW)
        greatest = 0
        if m == WINDOW:
            for j in range(WINDOW):
                greatest = max(greatest, text[i + j])
        else:
            for j in range(m):
                greatest = max(greatest, text[i + j])
        if greatest >= safe:
            loose = 0
            for j in range(m):
                loose |= plan.loose[text[i + j] >> 3] >> (text[i + j] & 7)
            if loose & 1:
                if not in_order(plan, text + i, m, &last):
                    return False
            else:
                last = 0
        else:
            last = 0
        i += m
    return True


cdef Py_ssize_t length_apart(
    const Plan* plan, const code_unit* text, Py_ssize_t n
) noexcept nogil:
    cdef uint32_t points[18]
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t i
    for i in range(n):
        total += apart(text[i], compatible_form(plan), points)
    return total


cdef inline void set_origin(
    int64_t* origin, Py_ssize_t i, int64_t begin, int64_t end
) noexcept nogil:
    if origin != NULL:
        origin[2 * i] = begin
        origin[2 * i + 1] = end


cdef void swap_back(code_unit* marks, int64_t* origin, Py_ssize_t i, uint32_t rank) noexcept nogil:
    cdef code_unit mark = marks[i]
    cdef int64_t begin = origin[2 * i] if origin != NULL else 0
    cdef int64_t end = origin[2 * i + 1] if origin != NULL else 0
    while i > 0 and properties_of(marks[i - 1]) & COMBINING > rank:
        marks[i] = marks[i - 1]
        if origin != NULL:
            set_origin(origin, i, origin[2 * i - 2], origin[2 * i - 1])
        i -= 1
    marks[i] = mark
    set_origin(origin, i, begin, end)


cdef void sort_marks(
    code_unit* marks, Py_ssize_t n, int64_t* origin, uint32_t* spare
) noexcept nogil:
    """Bring combining marks into canonical order: by their class, equal ones as they are.

    `spare` has room for n; many marks all come from where they are together.
    """
    cdef Py_ssize_t place[257]
    cdef Py_ssize_t i
    cdef uint32_t rank
    if n <= FEW:
        for i in range(1, n):
            swap_back(marks, origin, i, properties_of(marks[i]) & COMBINING)
        return
    memset(place, 0, sizeof(place))
    for i in range(n):
        place[(properties_of(marks[i]) & COMBINING) + 1] += 1
    for i in range(256):
        place[i + 1] += place[i]
    for i in range(n):
        rank = properties_of(marks[i]) & COMBINING
        spare[place[rank]] = marks[i]
        place[rank] += 1
    for i in range(n):
        marks[i] = <code_unit> spare[i]
        if origin != NULL:
            set_origin(origin, i, origin[0], origin[2 * n - 1])


cdef bint take_apart(
    const Plan* plan, const code_unit* text, Walk* walk, uint32_t* out, uint32_t* spare
) noexcept nogil:
    # Another piece of the full decomposition, in canonical order; True: it was the last one.
    cdef Py_ssize_t stop = min(walk.length, walk.work.at + PIECE)
    cdef Py_ssize_t made = walk.work.made
    cdef Py_ssize_t run = walk.run
    cdef int64_t* origin = walk.work.origin
    cdef Py_ssize_t i
    cdef int k, m
    for i in range(walk.work.at, stop):
        m = apart(text[i], compatible_form(plan), out + made)
        for k in range(m):
            set_origin(origin, made, i, i + 1)
            if not properties_of(out[made]) & COMBINING:
                if made - run > 1:
                    sort_marks(out + run, made - run, origin + 2 * run if origin else NULL, spare)
                run = made + 1
            made += 1
    walk.work.at = stop
    walk.work.made = made
    walk.run = run
    if stop < walk.length:
        return False
    sort_marks(out + run, made - run, origin + 2 * run if origin else NULL, spare)
    return True


cdef bint put_together(Walk* walk, uint32_t* text) noexcept nogil:
    # Another piece of canonical composition, in place; True: it was the last one.
    cdef Py_ssize_t stop = min(walk.points, walk.work.at + PIECE)
    cdef Py_ssize_t made = walk.work.made
    cdef Py_ssize_t starter = walk.run
    cdef int64_t* origin = walk.work.origin
    cdef Py_ssize_t i
    cdef uint32_t c, props, one
    cdef uint32_t last = walk.last
    for i in range(walk.work.at, stop):
        c = text[i]
        props = properties_of(c)
        if starter >= 0 and not props >> (QUICK + NFC) & 1 and (
            made - 1 == starter or last < props & COMBINING
        ):
            one = together(text[starter], c)
            if one:
                text[starter] = one
                if origin != NULL:
                    origin[2 * starter + 1] = max(origin[2 * starter + 1], origin[2 * i + 1])
                continue
        last = props & COMBINING
        if last == 0:
            starter = made
        if origin != NULL:
            set_origin(origin, made, origin[2 * i], origin[2 * i + 1])
        text[made] = c
        made += 1
    walk.work.at = stop
    walk.work.made = made
    walk.run = starter
    walk.last = last
    return stop == walk.points


cdef bint form(const Plan* plan, const Span* span, Walk* walk, uint32_t* spare) noexcept nogil:
    """Write another piece of a text in the form, as 32-bit code points; True: the last one."""
    cdef uint32_t* out = <uint32_t*> walk.out
    cdef bint done
    if not walk.begun:
        walk.begun = True
        walk.apart = False
        walk.length = span.length
        walk.kind = 4                           # of what is written
        walk.run = 0
        walk.work.at = 0
        walk.work.made = 0
    if walk.apart:
        return put_together(walk, out)
    if span.kind == 1:
        done = take_apart(plan, <const uint8_t*> span.text, walk, out, spare)
    elif span.kind == 2:
        done = take_apart(plan, <const uint16_t*> span.text, walk, out, spare)
    else:
        done = take_apart(plan, <const uint32_t*> span.text, walk, out, spare)
    if not done or plan.form == NFD or plan.form == NFKD:
        return done
    walk.apart = True
    walk.points = walk.work.made
    walk.run = -1                               # no starter yet
    walk.last = 0
    walk.work.at = 0
    walk.work.made = 0
    return put_together(walk, out)
