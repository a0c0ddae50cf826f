"""Normalisation: of any width, traced or not, done twice; in memory of the size that is reckoned.

What is right the tests of the package say; here, that the quick ways give what the slow ones do:
tracing takes code points one by one, and wider texts than need be take another way, too.
"""

include "fuzz/native/drive.pxi"
include "fuzz/native/texts.pxi"
include "text/_normal.pxd"
include "text/_normal.pyx"

cdef enum:
    MOST_PLANS = 40

cdef const Steps* plans[MOST_PLANS]
cdef Py_ssize_t n_plans = 0
cdef list owners = []

cdef struct Made:
    # A normalised text and the memory that it lies in.
    Span span
    char* formed
    char* rewritten
    int64_t* origins[2]


def prepare():
    global n_plans
    cdef Normaliser normaliser
    characters = np.array([33, 46, 0x3A3, 0x1F600], np.uint32)
    for form in FORMS:
        for more in (
            {}, {"lowercase": True}, {"accents": True}, {"numbers": True, "blanks": "collapse"},
            {"punctuation": "space", "blanks": "remove", "characters": characters},
            {"lowercase": True, "punctuation": "remove", "accents": True},
            {"lowercase": True, "numbers": True, "punctuation": "space", "accents": True,
             "blanks": "collapse"},
        ):
            normaliser = Normaliser(form=form, **more)
            owners.append(normaliser)
            plans[n_plans] = &normaliser.plan
            n_plans += 1


cdef Made normalise(const Steps* plan, const Span* span, bint traced) noexcept nogil:
    # As `Normaliser` does.
    cdef Made made
    cdef Walk walk
    cdef Span copy = span[0]
    cdef Py_ssize_t longest = 0
    cdef Py_ssize_t points = span.length
    cdef Py_ssize_t total = 0
    memset(&made, 0, sizeof(made))
    made.span = span[0]
    if plan.form != NO_FORM:
        total = room_to_form(plan, &copy, 1, &longest)
        points = max(points, longest)
    if traced:
        made.origins[0] = <int64_t*> room(16 * points)
        made.origins[1] = <int64_t*> room(48 * points)
    if total:
        longest = 0
        total = room_to_form(plan, &made.span, 1, &longest)
        made.formed = <char*> room(ROOM + total + 4 * longest)
        memset(&walk, 0, sizeof(walk))
        walk.out = made.formed + ROOM
        walk.work.origin = made.origins[0]
        while not form_more(plan, &made.span, 1, &walk, <uint32_t*> (made.formed + ROOM + total)):
            pass
    if plan.rewrites:
        longest = 0
        total = room_to_rewrite(plan, &made.span, 1, &longest)
        total = (total + 3) // 4 * 4 + 4 * (WINDOW + 8)
        made.rewritten = <char*> room(ROOM + total + 4 * longest)
        memset(&walk, 0, sizeof(walk))
        walk.out = made.rewritten + ROOM
        walk.work.origin = made.origins[1]
        while not rewrite_more(
            plan, &made.span, 1, &walk, <uint32_t*> (made.rewritten + ROOM + total)
        ):
            pass
    return made


cdef void compare(const Span* a, const Span* b, const char* what) noexcept nogil:
    cdef Py_ssize_t i
    must(a.length == b.length, what)
    for i in range(a.length):
        must(unit_of(a, i) == unit_of(b, i), what)


cdef int one_input(const uint8_t* data, size_t size) noexcept nogil:
    cdef Given given = Given(data, <Py_ssize_t> size)
    cdef const Steps* plan = plans[number(&given, n_plans)]
    cdef int kind = 1 << number(&given, 3)
    cdef int way = <int> number(&given, 3)
    cdef Span span, wide
    cdef Made made, other
    cdef uint64_t most = 0
    cdef Py_ssize_t i
    make_text(&given, kind, &span, 700)
    made = normalise(plan, &span, False)
    for i in range(made.span.length):
        most = max(most, unit_of(&made.span, i))
    must(most < 0x110000, "no code point")
    if made.formed != NULL or made.rewritten != NULL:
        if made.span.text != span.text:
            must(
                made.span.kind == (1 if most < 0x100 else 2 if most < 0x10000 else 4),
                "the width of a text",
            )
    if way == 0:
        other = normalise(plan, &span, True)
        compare(&made.span, &other.span, "a traced text")
    elif way == 1:
        wide = span
        wide.kind = 4
        wide.before = 0
        wide.text = room(4 * span.length)
        for i in range(span.length):
            put_unit(<void*> wide.text, 4, i, unit_of(&span, i))
        other = normalise(plan, &wide, False)
        compare(&made.span, &other.span, "a wider text")
    elif not plan.rewrites:
        other = normalise(plan, &made.span, False)
        compare(&made.span, &other.span, "a text in the form already")
    return 0
