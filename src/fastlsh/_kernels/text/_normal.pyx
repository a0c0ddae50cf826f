"""Texts normalised by pinned tables of Unicode, without the GIL.

docs/signature-spec.md, section 9, defines each step.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

import numpy as np

from fastlsh._kernels.common.checks cimport check_array
from fastlsh._kernels.text import unicode_tables
from fastlsh._kernels.text._texts cimport ROOM, Span, Spans, code_unit, new_spans
from fastlsh._kernels.text.squeeze cimport fill_squeezing, squeeze
from fastlsh._kernels.text.unicode_data cimport (
    COMBINING, IS_CASED, IS_DIGIT, IS_IGNORABLE, IS_MARK, IS_PUNCTUATION, IS_SPACE, NFC, NFD, NFKC,
    NFKD, NO_FORM, QUICK, Form, apart, lowercase_of, properties_of, together,
)


# ---- What is to be done with a text, and how far it is done.

cdef enum:
    TABLE = 1 << 17             # planes 0 and 1: the entries of others are found when needed
    WINDOW = 64                 # code units that are changed at once if all are ASCII
    PIECE = 1 << 22             # and before Ctrl-C is listened to: a tenth of a second

    # An entry: the code point that one becomes, and
    POINT = 0x1FFFFF
    BLANK = 1 << 24             # a space, of which one is kept of several
    DROPPED = 1 << 25
    SPECIAL = 1 << 26           # none of these, but
    DIGIT = SPECIAL                 # the beginning of a number,
    SIGMA = SPECIAL | 1 << 27       # a capital sigma,
    SEVERAL = SPECIAL | 2 << 27     # or what may become several code points
    KIND = SPECIAL | 3 << 27
    SEPARATOR = 1 << 29         # one between two digits belongs to a number

cdef enum Marks:
    MARKS_STAY, MARKS_TO_SPACE, MARKS_REMOVED

cdef enum Blanks:
    BLANKS_STAY, BLANKS_REMOVED, BLANKS_COLLAPSED

cdef struct Ascii:
    # Which of the code points below 128 ... : bit h of byte l says it of 16 * h + l.
    uint8_t blank[16]           # become a space
    uint8_t dropped[16]
    uint8_t separator[16]
    uint8_t case                # 0x20: capitals become small letters

cdef struct Steps:
    Form form
    bint lowercase
    bint numbers
    Marks marks
    bint accents                # are stripped
    Blanks blanks
    const uint32_t* chosen      # code points that count as punctuation, ascending; or NULL
    Py_ssize_t n_chosen
    bint rewrites               # does anything besides the form
    bint plain_ascii            # `ascii` says all of the code points below 128
    Ascii ascii
    uint32_t zero               # the entry of a number's 0
    uint32_t sigma[2]           # the entries of small sigma, within a word and at its end
    uint32_t* entry             # TABLE entries
    uint8_t* loose              # a bit of each code point: no starter that the form leaves alone

cdef struct Work:
    Py_ssize_t at               # code units that are done
    Py_ssize_t made             # code points written
    bint blank                  # the last one is a space, or there is none
    bint narrow                 # one did not fit
    int64_t* origin             # where each came from, begin and end; or NULL
    uint32_t* spare             # room for as many code points as are written

cdef struct Walk:
    # How far a batch is.
    Py_ssize_t text             # the one that is worked on
    char* out                   # where it is written
    bint begun                  # this is said of it:
    const void* units
    Py_ssize_t length
    int kind
    bint apart                  # it is decomposed, and this many code points long
    Py_ssize_t points
    Py_ssize_t run              # where its last starter, or what follows it, was written
    uint32_t last               # the class of what was written last
    Work work


# ---- The pinned tables of Unicode, read when the module is imported and constant from then on.

def _read_tables():
    start = 0
    for name, (form, count) in unicode_tables.SECTIONS.items():
        values = np.frombuffer(unicode_tables.DATA, "<u2" if form == "H" else "<u4", count, start)
        yield name, values.astype(np.uint16 if form == "H" else np.uint32)
        start += values.nbytes


cdef dict _tables = dict(_read_tables())


cdef const uint16_t* _words(name) except NULL:
    cdef uint16_t[::1] values = _tables[name]
    return &values[0]


cdef const uint32_t* _points(name) except NULL:
    cdef uint32_t[::1] values = _tables[name]
    return &values[0]


properties_index = _words("properties_index")
properties = _points("properties")
lowercase_index = _words("lowercase_index")
lowercase = _points("lowercase")
canonical_index = _words("canonical_index")
canonical = _words("canonical")
compatible_index = _words("compatible_index")
compatible = _words("compatible")
pool = _points("pool")
composites = _points("composites")
n_composites = len(_tables["composites"]) // 3


# ---- What each code point becomes by all steps after the form, as one table.

cdef enum:
    CAPITAL_SIGMA = 0x3A3
    SMALL_SIGMA = 0x3C3
    FINAL_SIGMA = 0x3C2
    DOTTED_I = 0x130            # the only capital that becomes two code points
    DOT = 0x307


cdef inline bint separates(uint32_t c) noexcept nogil:
    # Full stop, comma; Arabic comma and decimal separator; raised and dotted decimal separators.
    return c == 0x2E or c == 0x2C or c == 0x60C or c == 0x66B or 0x2396 <= c <= 0x2398


cdef bint is_punctuation(const Steps* plan, uint32_t c) noexcept nogil:
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


cdef uint32_t of_blanks(const Steps* plan, uint32_t c) noexcept nogil:
    # The last step.
    if plan.blanks != BLANKS_STAY and properties_of(c) & IS_SPACE:
        return DROPPED if plan.blanks == BLANKS_REMOVED else BLANK | 32
    return c


cdef uint32_t of_marks(const Steps* plan, uint32_t c) noexcept nogil:
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


cdef uint32_t of_numbers(const Steps* plan, uint32_t c) noexcept nogil:
    if plan.numbers:
        if properties_of(c) & IS_DIGIT:
            return DIGIT
        if separates(c):
            return of_marks(plan, c) | SEPARATOR
    return of_marks(plan, c)


cdef uint32_t entry_of(const Steps* plan, uint32_t c) noexcept nogil:
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


cdef void fill_ascii(Steps* plan) noexcept nogil:
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


cdef void fill_plan(Steps* plan) noexcept nogil:
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


# ---- The four normalisation forms of Unicode (UAX 15).

cdef enum:
    FEW = 24                    # marks that are sorted by insertion


cdef inline bint compatible_form(const Steps* plan) noexcept nogil:
    return plan.form == NFKC or plan.form == NFKD


cdef inline bint in_order(
    const Steps* plan, const code_unit* text, Py_ssize_t n, uint32_t* last
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
    const Steps* plan, const code_unit* text, Py_ssize_t n
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
    const Steps* plan, const code_unit* text, Py_ssize_t n
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
    const Steps* plan, const code_unit* text, Walk* walk, uint32_t* out, uint32_t* spare
) noexcept nogil:
    # Another piece of the full decomposition, in canonical order; True: it was the last one.
    cdef Py_ssize_t stop = min(walk.length, walk.work.at + PIECE)
    cdef Py_ssize_t made = walk.work.made
    cdef Py_ssize_t run = walk.run
    cdef int64_t* origin = walk.work.origin
    cdef Py_ssize_t i
    cdef int _k, m
    for i in range(walk.work.at, stop):
        m = apart(text[i], compatible_form(plan), out + made)
        for _k in range(m):
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


cdef bint form(const Steps* plan, const Span* span, Walk* walk, uint32_t* spare) noexcept nogil:
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


# ---- A window of ASCII changed at once: sets of bytes are masks, and what is dropped is squeezed
# out.

cdef struct Masks:
    uint64_t blank              # bit i is of byte i
    uint64_t dropped
    uint64_t digit
    uint64_t separator

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #include <intrin.h>
    static __inline int fastlsh_lowest(uint64_t word)
    {
        unsigned long place;
        _BitScanForward64(&place, word);
        return (int) place;
    }
    static __inline int fastlsh_highest(uint64_t word)
    {
        unsigned long place;
        _BitScanReverse64(&place, word);
        return (int) place;
    }
    #endif
    #if !defined(_MSC_VER)
    #define fastlsh_lowest(word) __builtin_ctzll(word)
    #define fastlsh_highest(word) (63 - __builtin_clzll(word))
    #endif

    #if FASTLSH_SHUFFLES
    static CYTHON_INLINE __m128i fastlsh_in(const uint8_t *set, __m128i low, __m128i high)
    {
        __m128i row = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *) set), low);
        return _mm_cmpeq_epi8(_mm_and_si128(row, high), high);
    }

    /* Changes 64 bytes of ASCII, and says which are in each set: blank, dropped, digit and
       separator (where there are digits). */
    static CYTHON_INLINE void fastlsh_change(
        const void *ascii, int numbers, uint8_t *bytes, uint64_t *masks)
    {
        const uint8_t *sets = (const uint8_t *) ascii;
        const __m128i bits = _mm_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0);
        const __m128i nibble = _mm_set1_epi8(15), space = _mm_set1_epi8(32);
        const __m128i zero = _mm_set1_epi8('0'), small = _mm_set1_epi8((char) sets[48]);
        __m128i before[4];
        int i;
        for (i = 0; i < 4; i++) {
            __m128i c = before[i] = _mm_loadu_si128((const __m128i *) (bytes + 16 * i));
            __m128i low = _mm_and_si128(c, nibble);
            __m128i high = _mm_shuffle_epi8(bits, _mm_and_si128(_mm_srli_epi16(c, 4), nibble));
            __m128i blank = fastlsh_in(sets, low, high);
            __m128i dropped = fastlsh_in(sets + 16, low, high);
            __m128i capital = _mm_and_si128(
                _mm_cmpgt_epi8(c, _mm_set1_epi8('A' - 1)),
                _mm_cmplt_epi8(c, _mm_set1_epi8('Z' + 1)));
            c = _mm_or_si128(c, _mm_and_si128(capital, small));
            c = _mm_or_si128(_mm_andnot_si128(blank, c), _mm_and_si128(blank, space));
            masks[0] |= (uint64_t) (uint32_t) _mm_movemask_epi8(blank) << (16 * i);
            masks[1] |= (uint64_t) (uint32_t) _mm_movemask_epi8(dropped) << (16 * i);
            if (numbers) {
                __m128i value = _mm_sub_epi8(before[i], zero);
                __m128i digit = _mm_cmpeq_epi8(_mm_min_epu8(value, _mm_set1_epi8(9)), value);
                c = _mm_blendv_epi8(c, zero, digit);
                masks[2] |= (uint64_t) (uint32_t) _mm_movemask_epi8(digit) << (16 * i);
            }
            _mm_storeu_si128((__m128i *) (bytes + 16 * i), c);
        }
        if (masks[2] == 0)                      /* most often */
            return;
        for (i = 0; i < 4; i++) {
            __m128i c = before[i];
            __m128i high = _mm_shuffle_epi8(bits, _mm_and_si128(_mm_srli_epi16(c, 4), nibble));
            __m128i separator = fastlsh_in(sets + 32, _mm_and_si128(c, nibble), high);
            masks[3] |= (uint64_t) (uint32_t) _mm_movemask_epi8(separator) << (16 * i);
        }
    }
    #else
    static CYTHON_INLINE void fastlsh_change(
        const void *ascii, int numbers, uint8_t *bytes, uint64_t *masks)
    {
        const uint8_t *sets = (const uint8_t *) ascii;
        int i;
        for (i = 0; i < 64; i++) {
            uint8_t c = bytes[i], low = c & 15, high = (uint8_t) (1 << (c >> 4));
            if (c >= 'A' && c <= 'Z')
                bytes[i] = c | sets[48];
            masks[0] |= (uint64_t) ((sets[low] & high) != 0) << i;
            masks[1] |= (uint64_t) ((sets[16 + low] & high) != 0) << i;
            if (numbers) {
                masks[2] |= (uint64_t) (c >= '0' && c <= '9') << i;
                masks[3] |= (uint64_t) ((sets[32 + low] & high) != 0) << i;
            }
            if (masks[0] >> i & 1)
                bytes[i] = ' ';
            else if (masks[2] >> i & 1)
                bytes[i] = '0';
        }
    }
    #endif
    """
    void change "fastlsh_change"(
        const void* ascii, int numbers, uint8_t* bytes, uint64_t* masks
    ) noexcept nogil
    int lowest "fastlsh_lowest"(uint64_t word) noexcept nogil       # bit of a word not 0
    int highest "fastlsh_highest"(uint64_t word) noexcept nogil


fill_squeezing()


cdef inline bint take_ascii(const code_unit* text, Py_ssize_t n, uint8_t* bytes) noexcept nogil:
    # WINDOW code units as bytes; those behind the n first are letters. False: not all are ASCII.
    cdef code_unit units[WINDOW]
    cdef code_unit seen = 0
    cdef int i
    if n < WINDOW:
        for i in range(WINDOW):
            units[i] = 97
        memcpy(units, text, n * sizeof(code_unit))
        text = units
    for i in range(WINDOW):
        seen |= text[i]
    if seen >= 128:
        return False
    for i in range(WINDOW):
        bytes[i] = <uint8_t> text[i]
    return True


cdef uint64_t numbers_in(Masks* masks) noexcept nogil:
    # Of each number but the first digit all is dropped; returns which bytes they are.
    cdef uint64_t digit = masks.digit
    cdef uint64_t inner = masks.separator & digit << 1 & digit >> 1
    cdef uint64_t joining = 0
    cdef uint64_t before, one
    while inner:
        # A separator joins the digits before it, unless they were joined to others already.
        one = inner & (~inner + 1)
        before = ~digit & (one - 1)             # what is no digit before it: the nearest is
        if not before or not joining >> highest(before) & 1:
            joining |= one
        inner ^= one
    return joining | (digit & (digit << 1 | joining << 1))


cdef inline uint64_t repeated(uint64_t blank, uint64_t dropped, bint* last) noexcept nogil:
    # The blanks before which there is another one, or only what is dropped in between.
    cdef uint64_t begin = blank << 1 | last[0]
    cdef uint64_t passed = dropped + (begin & dropped)      # carried through what is dropped
    cdef bint out = passed < dropped
    if blank >> 63:
        out = True
    last[0] = out
    return blank & (begin | passed) & ~dropped


cdef inline Py_ssize_t change_ascii(
    const Steps* plan, const code_unit* text, Py_ssize_t n, code_unit* out, Work* work
) noexcept nogil:
    """Change up to WINDOW code units if all are ASCII, and return how many; 0 if not."""
    cdef uint8_t bytes[WINDOW + 8]
    cdef uint8_t few[WINDOW + 8]
    cdef Masks masks
    cdef uint64_t dropped, tail
    cdef Py_ssize_t made
    cdef Py_ssize_t taken = min(n, <Py_ssize_t> WINDOW)
    cdef int i
    if not take_ascii(text, taken, bytes):
        return 0
    memset(&masks, 0, sizeof(masks))
    change(&plan.ascii, plan.numbers, bytes, &masks.blank)
    if masks.digit:
        # A number that may go on behind the window is left to the next one.
        tail = ~(masks.digit | masks.separator)
        if tail == 0:
            return 0
        if highest(tail) < 63 and masks.digit >> highest(tail) >> 1:
            taken = highest(tail) + 1
        dropped = numbers_in(&masks)
        masks.blank &= ~dropped
        masks.dropped |= dropped
    if taken < WINDOW:
        masks.dropped |= ~<uint64_t> 0 << taken
        masks.blank &= ~masks.dropped
    dropped = masks.dropped
    if plan.blanks == BLANKS_COLLAPSED:
        dropped |= repeated(masks.blank, dropped, &work.blank)
    if dropped == 0:
        for i in range(WINDOW):
            out[i] = bytes[i]
        made = WINDOW
    elif code_unit is uint8_t:
        made = squeeze(bytes, ~dropped, out)
    else:
        made = squeeze(bytes, ~dropped, few)
        for i in range(WINDOW):
            out[i] = few[i]
    work.made += made
    return taken


# ---- Code points changed one by one: what is not ASCII, and what depends on its neighbours.

cdef inline uint32_t entry(const Steps* plan, code_unit c) noexcept nogil:
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
    const Steps* plan, const code_unit* text, Py_ssize_t n, Py_ssize_t i, Py_ssize_t stop,
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
    const Steps* plan, const code_unit* text, Py_ssize_t n, Py_ssize_t i, uint32_t kind,
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
    const Steps* plan, const code_unit* text, Py_ssize_t n, Py_ssize_t i
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
    const Steps* plan, const code_unit* text, Py_ssize_t n, Py_ssize_t i, code_unit* out, Work* work
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
    const Steps* plan, const code_unit* text, Py_ssize_t n, Py_ssize_t i, uint32_t kind
) noexcept nogil:
    # Whether a number or a sigma counts as punctuation that is removed.
    if kind == DIGIT:
        return plan.zero & DROPPED != 0
    return kind == SIGMA and plan.sigma[ends_word(text, n, i)] & DROPPED != 0


cdef Py_ssize_t change_one(
    const Steps* plan, uint32_t c, Py_ssize_t i, Py_ssize_t run, code_unit* out, Work* work
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
    const Steps* plan, const uint32_t* points, int m, Py_ssize_t i, Py_ssize_t run, code_unit* out,
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


# ---- The texts of a batch through all steps.

cdef enum:
    MOST = 3                    # code points that one becomes, marks left out
    LONG = 1 << 16              # for longer texts it pays to look how much room they need


cdef void begin_rewriting(const Steps* plan, Work* work) noexcept nogil:
    work.at = 0
    work.made = 0
    work.blank = plan.blanks == BLANKS_COLLAPSED        # no space begins a text
    work.narrow = False


cdef bint rewrite_units(
    const Steps* plan, const code_unit* text, Py_ssize_t n, code_unit* out, Work* work
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


cdef bint rewrite(const Steps* plan, Span* span, Walk* walk, uint32_t* spare) noexcept nogil:
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
    const Steps* plan, const code_unit* text, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t i
    for i in range(n):
        count += entry(plan, text[i]) & KIND == SEVERAL
    return count


cdef Py_ssize_t points_for(const Steps* plan, const Span* span) noexcept nogil:
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
    const Steps* plan, const Span* at, Py_ssize_t n, Py_ssize_t* longest
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
    const Steps* plan, Span* at, Py_ssize_t n, Walk* walk, uint32_t* spare
) noexcept nogil:
    """Rewrite texts up to the end of a piece; False: there is more."""
    while walk.text < n:
        while not rewrite(plan, at + walk.text, walk, spare):
            if walk.work.at:
                return False
        walk.text += 1
    return True


cdef Py_ssize_t room_to_form(
    const Steps* plan, Span* at, Py_ssize_t n, Py_ssize_t* longest
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
    const Steps* plan, Span* at, Py_ssize_t n, Walk* walk, uint32_t* spare
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


# ---- Called from Python: texts normalised.

FORMS = (None, "NFC", "NFD", "NFKC", "NFKD")
MARKS = (None, "space", "remove")
BLANKS = (None, "remove", "collapse")


cdef class Normaliser:
    """The steps of a normalisation, in this order; made once, used by any thread.

    Parameters
    ----------
    form
        One of `FORMS`.
    lowercase, numbers
        Whether to do these.
    punctuation
        One of `MARKS`.
    characters
        uint32, ascending: what counts as punctuation; None: what the specification says.
    accents
        Whether to strip them.
    blanks
        One of `BLANKS`: what becomes of whitespace.
    """

    cdef Steps plan
    cdef object chosen

    def __cinit__(
        self, form=None, bint lowercase=False, bint numbers=False, punctuation=None,
        const uint32_t[::1] characters=None, bint accents=False, blanks=None,
    ):
        cdef Py_ssize_t i
        memset(&self.plan, 0, sizeof(Steps))
        self.plan.form = <Form> (<int> FORMS.index(form) - 1)
        self.plan.lowercase = lowercase
        self.plan.numbers = numbers
        self.plan.marks = <Marks> <int> MARKS.index(punctuation)
        self.plan.accents = accents
        self.plan.blanks = <Blanks> <int> BLANKS.index(blanks)
        if characters is not None:
            check_array(characters, "characters")
            for i in range(characters.shape[0] - 1):
                if characters[i] >= characters[i + 1]:
                    raise ValueError("characters must ascend")
            self.chosen = characters
            self.plan.chosen = &characters[0] if characters.shape[0] else &nothing
            self.plan.n_chosen = characters.shape[0]
        self.plan.rewrites = (
            lowercase or numbers or accents or self.plan.marks != MARKS_STAY
            or self.plan.blanks != BLANKS_STAY
        )
        if self.plan.rewrites:
            self.plan.entry = <uint32_t*> PyMem_Malloc(TABLE * sizeof(uint32_t))
            if self.plan.entry == NULL:
                raise MemoryError()
        if self.plan.form != NO_FORM:
            self.plan.loose = <uint8_t*> PyMem_Calloc(0x110000 >> 3, 1)
            if self.plan.loose == NULL:
                raise MemoryError()
        with nogil:
            fill_plan(&self.plan)

    def __dealloc__(self):
        PyMem_Free(self.plan.entry)
        PyMem_Free(self.plan.loose)

    def normalised(self, Spans spans not None):
        """Return the texts of a batch normalised, each in the width that Python would take."""
        return self._normalised(spans, None, None)

    def traced(self, Spans spans not None):
        """Return the only text of a batch normalised, and where each code point comes from.

        Returns
        -------
        Spans, ndarray of int64, shape (m, 2)
            The text; where each of its code points begins and ends in the one given. Both ascend:
            code points that changed places come from all of these places.
        """
        if spans.n != 1:
            raise ValueError(f"expected one text, got {spans.n}")
        if spans.tokens:
            raise TypeError("token ids are not normalised: texts are")
        points = max(self._points(spans), spans.at[0].length)
        formed = own_places(points)
        rewritten = own_places(3 * points) if self.plan.rewrites else formed
        result = self._normalised(spans, formed, rewritten)
        begins, ends = rewritten[: (<Spans> result).at[0].length].T
        if self.plan.rewrites and self.plan.form != NO_FORM:
            begins, ends = formed[begins, 0], formed[ends - 1, 1]
        begins = np.minimum.accumulate(begins[::-1])[::-1]
        return result, np.stack([begins, np.maximum.accumulate(ends)], 1)

    cdef Py_ssize_t _points(self, Spans spans):
        # Of the only text in the form, at most.
        cdef Span copy = spans.at[0]
        cdef Py_ssize_t longest = 0
        if self.plan.form == NO_FORM:
            return 0
        with nogil:
            room_to_form(&self.plan, &copy, 1, &longest)
        return longest

    cdef Spans _normalised(self, Spans spans, int64_t[:, ::1] formed, int64_t[:, ::1] rewritten):
        cdef Spans result = new_spans(spans.n)
        cdef Py_ssize_t longest = 0
        cdef Py_ssize_t total = 0
        cdef bint done = False
        cdef uint32_t* spare
        cdef Walk walk
        if spans.tokens:
            raise TypeError("token ids are not normalised: texts are")
        if spans.n:
            memcpy(result.at, spans.at, spans.n * sizeof(Span))
        result.owners.append(spans)
        if self.plan.form != NO_FORM:
            with nogil:
                total = room_to_form(&self.plan, result.at, result.n, &longest)
        if total:
            memset(&walk, 0, sizeof(Walk))
            walk.out = new_room(result, total, longest)
            spare = <uint32_t*> (walk.out + total)
            if formed is not None and formed.shape[0]:
                walk.work.origin = &formed[0, 0]
            while not done:
                PyErr_CheckSignals()
                with nogil:
                    done = form_more(&self.plan, result.at, result.n, &walk, spare)
        if not self.plan.rewrites:
            return result
        longest = 0
        with nogil:
            total = room_to_rewrite(&self.plan, result.at, result.n, &longest)
        total = (total + 3) // 4 * 4 + 4 * (WINDOW + 8)     # windows are written as a whole
        memset(&walk, 0, sizeof(Walk))
        walk.out = new_room(result, total, longest)
        spare = <uint32_t*> (walk.out + total)
        if rewritten is not None and rewritten.shape[0]:
            walk.work.origin = &rewritten[0, 0]
        done = False
        while not done:
            PyErr_CheckSignals()
            with nogil:
                done = rewrite_more(&self.plan, result.at, result.n, &walk, spare)
        return result


cdef const uint32_t nothing = 0


cdef object own_places(Py_ssize_t points):
    # Of code points that stay what and where they are.
    places = np.empty((points, 2), np.int64)
    cdef int64_t[:, ::1] view = places
    cdef Py_ssize_t i
    for i in range(points):
        view[i, 0], view[i, 1] = i, i + 1
    return places


cdef char* new_room(Spans spans, Py_ssize_t total, Py_ssize_t spare) except NULL:
    # What is not written costs nothing.
    cdef bytes buffer = PyBytes_FromStringAndSize(NULL, ROOM + total + 4 * spare)
    spans.owners.append(buffer)
    return PyBytes_AS_STRING(buffer) + ROOM
