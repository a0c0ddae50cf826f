# The texts of a batch through all steps.
# With ascii.pxi, changes.pxi and forms.pxi.

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t

from fastlsh._kernels.text._texts cimport ROOM, Span, code_unit
from fastlsh._kernels.text.steps cimport (
    BLANKS_COLLAPSED, KIND, SEVERAL, WINDOW, Plan, Work,
)

cdef enum:
    MOST = 3                    # code points that one becomes, marks left out
    LONG = 1 << 16              # for longer texts it pays to look how much room they need


cdef Py_ssize_t rewrite_units(
    const Plan* plan, const code_unit* text, Py_ssize_t n, code_unit* out, Work* work
) noexcept nogil:
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t taken
    work.made = 0
    work.blank = plan.blanks == BLANKS_COLLAPSED        # no space begins a text
    work.narrow = False
    while i < n:
        if plan.plain_ascii and work.origin == NULL:
            taken = change_ascii(plan, text + i, n - i, out + work.made, work)
            i += taken
            if taken:
                continue
        i = change_some(plan, text, n, i, min(i + WINDOW, n), out, work)
    if plan.blanks == BLANKS_COLLAPSED and work.blank and work.made:
        work.made -= 1                                  # nor ends one
    return work.made


cdef Py_ssize_t pack(code_unit* text, Py_ssize_t n, int* kind) noexcept nogil:
    # In place, to the width in which Python would store it. Returns the bytes that it takes.
    cdef uint8_t* bytes = <uint8_t*> text
    cdef uint16_t* pairs = <uint16_t*> text
    cdef uint32_t seen = 0
    cdef Py_ssize_t i
    kind[0] = sizeof(code_unit)
    if code_unit is not uint8_t:
        for i in range(n):
            seen |= text[i]
        if seen < 0x100:
            kind[0] = 1
            for i in range(n):
                bytes[i] = <uint8_t> text[i]
        elif code_unit is uint32_t and seen < 0x10000:
            kind[0] = 2
            for i in range(n):
                pairs[i] = <uint16_t> text[i]
    return n * kind[0]


cdef void widen(const uint16_t* text, Py_ssize_t n, uint32_t* out) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = text[i]


cdef Py_ssize_t rewrite(
    const Plan* plan, Span* span, void* out, int64_t* origin, uint32_t* spare
) noexcept nogil:
    """Write the text anew, and say in `span` where it is; return how many bytes it takes."""
    cdef const void* text = span.text
    cdef Py_ssize_t n = span.length
    cdef Py_ssize_t size
    cdef int kind = span.kind
    cdef Work work
    work.origin = origin
    work.spare = spare + n
    if kind == 2:
        span.length = rewrite_units(plan, <const uint16_t*> text, n, <uint16_t*> out, &work)
        if work.narrow:
            widen(<const uint16_t*> text, n, spare)
            text = spare
            kind = 4
    if kind == 1:
        span.length = rewrite_units(plan, <const uint8_t*> text, n, <uint8_t*> out, &work)
        size = pack(<uint8_t*> out, span.length, &span.kind)
    elif kind == 2:
        size = pack(<uint16_t*> out, span.length, &span.kind)
    else:
        span.length = rewrite_units(plan, <const uint32_t*> text, n, <uint32_t*> out, &work)
        size = pack(<uint32_t*> out, span.length, &span.kind)
    span.text = out
    span.before = ROOM
    return size


cdef Py_ssize_t count_several(
    const Plan* plan, const code_unit* text, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t i
    for i in range(n):
        count += entry(plan, text[i]) & KIND == SEVERAL
    return count


cdef Py_ssize_t points_for(const Plan* plan, const Span* span) noexcept nogil:
    # How many code points there may be afterwards.
    if span.kind == 1:
        return span.length
    if span.length < LONG:
        return MOST * span.length
    if span.kind == 2:
        return span.length + (MOST - 1) * count_several(
            plan, <const uint16_t*> span.text, span.length
        )
    return span.length + (MOST - 1) * count_several(
        plan, <const uint32_t*> span.text, span.length
    )


cdef Py_ssize_t room_to_rewrite(
    const Plan* plan, const Span* at, Py_ssize_t n, Py_ssize_t* longest
) noexcept nogil:
    # In bytes; a text of two bytes may come to need four.
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t i, points
    for i in range(n):
        points = points_for(plan, at + i)
        total += points * (1 if at[i].kind == 1 else 4) + 4
        if at[i].kind != 1:
            longest[0] = max(longest[0], points + at[i].length)
    return total


cdef void rewrite_all(
    const Plan* plan, Span* at, Py_ssize_t n, char* out, int64_t* origin, uint32_t* spare
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out += (rewrite(plan, at + i, out, origin, spare) + 3) & ~<Py_ssize_t> 3


cdef Py_ssize_t room_to_form(
    const Plan* plan, Span* at, Py_ssize_t n, Py_ssize_t* longest
) noexcept nogil:
    # In bytes, for the texts that are not in the form yet: their kind becomes negative.
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t i, points
    cdef bint formed
    for i in range(n):
        points = at[i].length
        if at[i].kind == 1:
            formed = is_formed(plan, <const uint8_t*> at[i].text, points)
        elif at[i].kind == 2:
            formed = is_formed(plan, <const uint16_t*> at[i].text, points)
        else:
            formed = is_formed(plan, <const uint32_t*> at[i].text, points)
        if formed:
            continue
        if at[i].kind == 1:
            points = length_apart(plan, <const uint8_t*> at[i].text, points)
        elif at[i].kind == 2:
            points = length_apart(plan, <const uint16_t*> at[i].text, points)
        else:
            points = length_apart(plan, <const uint32_t*> at[i].text, points)
        at[i].kind = -at[i].kind
        total += 4 * points + 4
        longest[0] = max(longest[0], points)
    return total


cdef void form_all(
    const Plan* plan, Span* at, Py_ssize_t n, char* out, int64_t* origin, uint32_t* spare
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if at[i].kind < 0:
            at[i].kind = -at[i].kind
            at[i].length = form(plan, at + i, <uint32_t*> out, origin, spare)
            at[i].text = out
            at[i].before = ROOM
            out += (pack(<uint32_t*> out, at[i].length, &at[i].kind) + 3) & ~<Py_ssize_t> 3
