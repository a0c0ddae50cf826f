# The texts of a batch through all steps.
# With ascii.pxi, changes.pxi and forms.pxi.

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t

from fastlsh._kernels.text._texts cimport ROOM, Span, code_unit
from fastlsh._kernels.text.steps cimport (
    BLANKS_COLLAPSED, KIND, PIECE, SEVERAL, WINDOW, Plan, Walk, Work,
)

cdef enum:
    MOST = 3                    # code points that one becomes, marks left out
    LONG = 1 << 16              # for longer texts it pays to look how much room they need


cdef void begin_rewriting(const Plan* plan, Work* work) noexcept nogil:
    work.at = 0
    work.made = 0
    work.blank = plan.blanks == BLANKS_COLLAPSED        # no space begins a text
    work.narrow = False


cdef bint rewrite_units(
    const Plan* plan, const code_unit* text, Py_ssize_t n, code_unit* out, Work* work
) noexcept nogil:
    # Another piece; True: it was the last one.
    cdef Py_ssize_t stop = min(n, work.at + PIECE)
    cdef Py_ssize_t i = work.at
    cdef Py_ssize_t taken
    while i < stop:
        if plan.plain_ascii and work.origin == NULL:
            taken = change_ascii(plan, text + i, n - i, out + work.made, work)
            i += taken
            if taken:
                continue
        i = change_some(plan, text, n, i, min(i + WINDOW, n), out, work)
    work.at = i
    if i < n:
        return False
    if plan.blanks == BLANKS_COLLAPSED and work.blank and work.made:
        work.made -= 1                                  # nor ends one
    return True


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


cdef bint rewrite(const Plan* plan, Span* span, Walk* walk, uint32_t* spare) noexcept nogil:
    """Write another piece of a text; True: it was the last, and `span` says where the text is."""
    cdef Work* work = &walk.work
    cdef char* out = walk.out
    cdef bint done
    if not walk.begun:
        begin_rewriting(plan, work)
        work.spare = spare + span.length
        walk.begun = True
        walk.units = span.text
        walk.length = span.length
        walk.kind = span.kind
    if walk.kind == 1:
        done = rewrite_units(
            plan, <const uint8_t*> walk.units, walk.length, <uint8_t*> out, work
        )
    elif walk.kind == 2:
        done = rewrite_units(
            plan, <const uint16_t*> walk.units, walk.length, <uint16_t*> out, work
        )
        if work.narrow:                         # begin again
            widen(<const uint16_t*> walk.units, walk.length, spare)
            begin_rewriting(plan, work)
            walk.units = spare
            walk.kind = 4
            return False
    else:
        done = rewrite_units(
            plan, <const uint32_t*> walk.units, walk.length, <uint32_t*> out, work
        )
    if done:
        put_text(span, walk, work.made)
    return done


cdef void put_text(Span* span, Walk* walk, Py_ssize_t length) noexcept nogil:
    # It is written, in code units of the walk's kind; goes on to the next one.
    cdef Py_ssize_t size
    if walk.kind == 1:
        size = pack(<uint8_t*> walk.out, length, &span.kind)
    elif walk.kind == 2:
        size = pack(<uint16_t*> walk.out, length, &span.kind)
    else:
        size = pack(<uint32_t*> walk.out, length, &span.kind)
    span.text = walk.out
    span.length = length
    span.before = ROOM
    walk.out += (size + 3) & ~<Py_ssize_t> 3
    walk.begun = False


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


cdef bint rewrite_more(
    const Plan* plan, Span* at, Py_ssize_t n, Walk* walk, uint32_t* spare
) noexcept nogil:
    """Rewrite texts up to the end of a piece; False: there is more."""
    while walk.text < n:
        while not rewrite(plan, at + walk.text, walk, spare):
            if walk.work.at:
                return False
        walk.text += 1
    return True


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


cdef bint form_more(
    const Plan* plan, Span* at, Py_ssize_t n, Walk* walk, uint32_t* spare
) noexcept nogil:
    """Bring texts into the form up to the end of a piece; False: there is more."""
    while walk.text < n:
        if at[walk.text].kind < 0 or walk.begun:
            at[walk.text].kind = max(at[walk.text].kind, -at[walk.text].kind)
            if not form(plan, at + walk.text, walk, spare):
                return False
            put_text(at + walk.text, walk, walk.work.made)
        walk.text += 1
    return True
