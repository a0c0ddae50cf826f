# A window of ASCII changed at once: sets of bytes are masks, and what is dropped is squeezed out.

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy, memset

from fastlsh._kernels.text._texts cimport code_unit
from fastlsh._kernels.text.squeeze cimport fill_squeezing, squeeze
from fastlsh._kernels.text.steps cimport BLANKS_COLLAPSED, WINDOW, Plan, Work

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
    const Plan* plan, const code_unit* text, Py_ssize_t n, code_unit* out, Work* work
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
