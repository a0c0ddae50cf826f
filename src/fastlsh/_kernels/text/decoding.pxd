# UTF-8 to code points, in the width in which Python would store them. Strict: no overlong form,
# no surrogate, nothing above U+10FFFF, nothing cut off.
#
# 16 bytes at a time: each place is decoded as if a code point began there, and those where one does
# are moved together. Masks of leading bytes say which bytes must continue one: exactly these may.
# The caller has called `fill_squeezing`.

from libc.stdint cimport uint8_t, uint16_t, uint32_t

from fastlsh._kernels.text._texts cimport Span, code_unit
from fastlsh._kernels.text.squeeze cimport fill_squeezing

cdef extern from *:
    """
    #if FASTLSH_SHUFFLES
    #define FASTLSH_BYTES(value) _mm_set1_epi8((char) (value))
    #define FASTLSH_MASK(vector) ((uint32_t) _mm_movemask_epi8(vector))

    static CYTHON_INLINE __m128i fastlsh_from(__m128i bytes, int least)
    {
        return _mm_cmpeq_epi8(_mm_max_epu8(bytes, FASTLSH_BYTES(least)), bytes);
    }

    /* Whether a second byte makes a form overlong, a surrogate or too large. */
    static CYTHON_INLINE uint32_t fastlsh_wrong_second(__m128i first, __m128i second)
    {
        __m128i low = fastlsh_from(second, 0x90), high = fastlsh_from(second, 0xA0);
        __m128i e0 = _mm_andnot_si128(high, _mm_cmpeq_epi8(first, FASTLSH_BYTES(0xE0)));
        __m128i ed = _mm_and_si128(high, _mm_cmpeq_epi8(first, FASTLSH_BYTES(0xED)));
        __m128i f0 = _mm_andnot_si128(low, _mm_cmpeq_epi8(first, FASTLSH_BYTES(0xF0)));
        __m128i f4 = _mm_and_si128(low, _mm_cmpeq_epi8(first, FASTLSH_BYTES(0xF4)));
        return FASTLSH_MASK(_mm_or_si128(_mm_or_si128(e0, ed), _mm_or_si128(f0, f4)));
    }

    /* Eight places as 16-bit code points. */
    static CYTHON_INLINE __m128i fastlsh_eight(__m128i first, __m128i second, __m128i third)
    {
        const __m128i six = _mm_set1_epi16(0x3F);
        __m128i a = _mm_cvtepu8_epi16(first);
        __m128i b = _mm_and_si128(_mm_cvtepu8_epi16(second), six);
        __m128i c = _mm_and_si128(_mm_cvtepu8_epi16(third), six);
        __m128i two = _mm_or_si128(
            _mm_slli_epi16(_mm_and_si128(a, _mm_set1_epi16(0x1F)), 6), b);
        __m128i three = _mm_or_si128(
            _mm_or_si128(_mm_slli_epi16(a, 12), _mm_slli_epi16(b, 6)), c);
        two = _mm_blendv_epi8(a, two, _mm_cmpgt_epi16(a, _mm_set1_epi16(0x7F)));
        return _mm_blendv_epi8(two, three, _mm_cmpgt_epi16(a, _mm_set1_epi16(0xDF)));
    }

    static CYTHON_INLINE Py_ssize_t fastlsh_put_eight(
        __m128i points, uint32_t starts, char *out, int width)
    {
        __m128i how = _mm_loadu_si128((const __m128i *) fastlsh_pairs_of[starts]);
        points = _mm_shuffle_epi8(points, how);
        if (width == 2) {
            _mm_storeu_si128((__m128i *) out, points);
        } else {
            _mm_storeu_si128((__m128i *) out, _mm_cvtepu16_epi32(points));
            _mm_storeu_si128(
                (__m128i *) (out + 16), _mm_cvtepu16_epi32(_mm_srli_si128(points, 8)));
        }
        return fastlsh_count_of[starts] * (Py_ssize_t) width;
    }

    /* Four code points of three bytes each, as 32 bits; what is not of this form comes out too. */
    static CYTHON_INLINE __m128i fastlsh_four_triples(__m128i bytes)
    {
        const __m128i how = _mm_setr_epi8(2, 1, 0, -1, 5, 4, 3, -1, 8, 7, 6, -1, 11, 10, 9, -1);
        __m128i c = _mm_shuffle_epi8(bytes, how);
        __m128i last = _mm_and_si128(c, _mm_set1_epi32(0x3F));
        __m128i middle = _mm_srli_epi32(_mm_and_si128(c, _mm_set1_epi32(0x3F00)), 2);
        __m128i top = _mm_srli_epi32(_mm_and_si128(c, _mm_set1_epi32(0x0F0000)), 4);
        return _mm_or_si128(_mm_or_si128(last, middle), top);
    }

    /* Whether the first 12 bytes are four of them by their leading bits. */
    static CYTHON_INLINE int fastlsh_are_triples(__m128i bytes)
    {
        const __m128i bits = _mm_setr_epi8(
            -16, -64, -64, -16, -64, -64, -16, -64, -64, -16, -64, -64, 0, 0, 0, 0);
        const __m128i form = _mm_setr_epi8(
            -32, -128, -128, -32, -128, -128, -32, -128, -128, -32, -128, -128, 0, 0, 0, 0);
        __m128i other = _mm_xor_si128(_mm_and_si128(bytes, bits), form);
        return _mm_testz_si128(other, other);
    }

    /* Decodes code points of three bytes, eight at a time, as long as there are only such. Returns
       how many bytes it took, or -1 if they are not valid. */
    static CYTHON_INLINE Py_ssize_t fastlsh_decode_triples(
        const uint8_t *data, Py_ssize_t n, char *out, int width)
    {
        Py_ssize_t p = 0;
        for (; p + 28 <= n; p += 24) {
            __m128i a = _mm_loadu_si128((const __m128i *) (data + p)), above;
            __m128i b = _mm_loadu_si128((const __m128i *) (data + p + 12));
            if (!fastlsh_are_triples(a) || !fastlsh_are_triples(b))
                break;
            a = fastlsh_four_triples(a);
            b = fastlsh_four_triples(b);
            if (width == 4) {
                _mm_storeu_si128((__m128i *) out, a);
                _mm_storeu_si128((__m128i *) (out + 16), b);
            }
            a = _mm_packus_epi32(a, b);
            above = _mm_srli_epi16(a, 11);      /* 0: overlong; 27: a surrogate */
            if (FASTLSH_MASK(_mm_or_si128(
                    _mm_cmpeq_epi16(above, _mm_setzero_si128()),
                    _mm_cmpeq_epi16(above, _mm_set1_epi16(27)))))
                return -1;
            if (width == 2)
                _mm_storeu_si128((__m128i *) out, a);
            out += 8 * width;
        }
        return p;
    }

    /* Decodes up to a place from which on it has to go on byte by byte: the end, or 4 bytes that
       are one code point. Returns the bytes written, or -1 if the text is not valid. */
    static CYTHON_INLINE Py_ssize_t fastlsh_decode_some(
        const uint8_t *data, Py_ssize_t n, char *out, int width, Py_ssize_t *taken)
    {
        char *begin = out;
        uint32_t carry = 0;         /* bytes that continue what began before */
        Py_ssize_t p = 0, triples;
        for (; p + 18 <= n; p += 16) {
            __m128i first, second, third;
            uint32_t high, inner, three, four, next;
            if (carry == 0 && width != 1 && data[p] >= 0xE0) {
                triples = fastlsh_decode_triples(data + p, n - p, out, width);
                if (triples < 0)
                    return -1;
                p += triples;
                out += triples / 3 * width;
                if (p + 18 > n)
                    break;
            }
            first = _mm_loadu_si128((const __m128i *) (data + p));
            high = FASTLSH_MASK(first);
            if (high == 0 && carry == 0) {
                if (width == 1) {
                    _mm_storeu_si128((__m128i *) out, first);
                    out += 16;
                } else {
                    const __m128i none = _mm_setzero_si128();
                    out += fastlsh_put_eight(_mm_unpacklo_epi8(first, none), 255, out, width);
                    out += fastlsh_put_eight(_mm_unpackhi_epi8(first, none), 255, out, width);
                }
                continue;
            }
            second = _mm_loadu_si128((const __m128i *) (data + p + 1));
            inner = FASTLSH_MASK(_mm_cmplt_epi8(first, FASTLSH_BYTES(0xC0)));
            three = FASTLSH_MASK(fastlsh_from(first, 0xE0));
            four = FASTLSH_MASK(fastlsh_from(first, 0xF0));
            next = (high & ~inner) << 1 | three << 2 | four << 3 | carry;
            if ((next & 0xFFFF) != inner)
                return -1;
            if (FASTLSH_MASK(_mm_cmpeq_epi8(
                    _mm_and_si128(first, FASTLSH_BYTES(0xFE)), FASTLSH_BYTES(0xC0))))
                return -1;
            if (three && (fastlsh_wrong_second(first, second)
                          || FASTLSH_MASK(fastlsh_from(first, 0xF5))))
                return -1;
            if (four)
                break;
            carry = next >> 16;
            inner = ~inner & 0xFFFF;
            if (width == 1) {
                __m128i how, both = _mm_or_si128(
                    _mm_slli_epi16(_mm_and_si128(first, FASTLSH_BYTES(3)), 6),
                    _mm_and_si128(second, FASTLSH_BYTES(0x3F)));
                both = _mm_blendv_epi8(first, both, first);
                how = _mm_loadl_epi64((const __m128i *) fastlsh_bytes_of[inner & 255]);
                _mm_storel_epi64((__m128i *) out, _mm_shuffle_epi8(both, how));
                out += fastlsh_count_of[inner & 255];
                how = _mm_loadl_epi64((const __m128i *) fastlsh_bytes_of[inner >> 8]);
                both = _mm_srli_si128(both, 8);
                _mm_storel_epi64((__m128i *) out, _mm_shuffle_epi8(both, how));
                out += fastlsh_count_of[inner >> 8];
                continue;
            }
            third = _mm_loadu_si128((const __m128i *) (data + p + 2));
            out += fastlsh_put_eight(
                fastlsh_eight(first, second, third), inner & 255, out, width);
            out += fastlsh_put_eight(
                fastlsh_eight(_mm_srli_si128(first, 8), _mm_srli_si128(second, 8),
                              _mm_srli_si128(third, 8)), inner >> 8, out, width);
            if (three & (three >> 3))           /* in a row: on from where the next one begins */
                for (; carry; carry >>= 1)
                    if ((data[16 + p++] & 0xC0) != 0x80)
                        return -1;
        }
        for (; carry; carry >>= 1)
            if ((data[p++] & 0xC0) != 0x80)
                return -1;
        *taken = p;
        return out - begin;
    }
    #else
    static CYTHON_INLINE Py_ssize_t fastlsh_decode_some(
        const uint8_t *data, Py_ssize_t n, char *out, int width, Py_ssize_t *taken)
    {
        *taken = 0;
        return 0;
    }
    #endif
    """
    Py_ssize_t decode_some "fastlsh_decode_some"(
        const uint8_t* data, Py_ssize_t n, char* out, int width, Py_ssize_t* taken
    ) noexcept nogil

cdef enum:
    STRIDE = 18                 # bytes that are decoded one by one where vectors cannot


cdef inline int width_of(const uint8_t* data, Py_ssize_t n) noexcept nogil:
    # Of the widest code point, if the bytes are valid; 0 for ASCII: nothing to decode.
    cdef uint8_t most = 0
    cdef Py_ssize_t i
    for i in range(n):
        most = data[i] if data[i] > most else most
    return 0 if most < 0x80 else 1 if most < 0xC4 else 2 if most < 0xF0 else 4


cdef inline bint continues(uint8_t c) noexcept nogil:
    return (c & 0xC0) == 0x80


cdef inline Py_ssize_t decode_until(
    const uint8_t** place, const uint8_t* stop, const uint8_t* end, code_unit* out
) noexcept nogil:
    # The code points that begin before `stop`; moves the place behind them.
    cdef const uint8_t* data = place[0]
    cdef const code_unit* begin = out
    cdef uint32_t c
    while data < stop:
        c = data[0]
        if c < 0x80:
            out[0] = <code_unit> c
            data += 1
        elif c < 0xE0:
            if c < 0xC2 or end - data < 2 or not continues(data[1]):
                return -1
            out[0] = <code_unit> ((c & 0x1F) << 6 | (data[1] & 0x3F))
            data += 2
        elif c < 0xF0:
            if end - data < 3 or not (continues(data[1]) and continues(data[2])):
                return -1
            c = (c & 0x0F) << 12 | <uint32_t> (data[1] & 0x3F) << 6 | (data[2] & 0x3F)
            if c < 0x800 or c >> 11 == 0x1B:    # overlong, or a surrogate
                return -1
            out[0] = <code_unit> c
            data += 3
        else:
            if c > 0xF4 or end - data < 4 or not (
                continues(data[1]) and continues(data[2]) and continues(data[3])
            ):
                return -1
            c = (
                (c & 0x07) << 18 | <uint32_t> (data[1] & 0x3F) << 12
                | <uint32_t> (data[2] & 0x3F) << 6 | (data[3] & 0x3F)
            )
            if c < 0x10000 or c > 0x10FFFF:
                return -1
            out[0] = <code_unit> c
            data += 4
        out += 1
    place[0] = data
    return out - begin


cdef inline Py_ssize_t decode(const uint8_t* data, Py_ssize_t n, code_unit* out) noexcept nogil:
    # Returns how many code points there are, or -1 if the bytes are not valid.
    cdef const uint8_t* end = data + n
    cdef const code_unit* begin = out
    cdef const uint8_t* stop
    cdef Py_ssize_t written
    cdef Py_ssize_t taken = 0
    while data < end:
        written = decode_some(data, end - data, <char*> out, sizeof(code_unit), &taken)
        if written < 0:
            return -1
        data += taken
        out += written // <Py_ssize_t> sizeof(code_unit)
        # And byte by byte, what is 4 bytes long included.
        stop = min(data + STRIDE, end)
        written = decode_until(&data, stop, end, out)
        if written < 0:
            return -1
        out += written
    return out - begin


cdef inline Py_ssize_t decode_span(const Span* span, int width, void* out) noexcept nogil:
    cdef const uint8_t* data = <const uint8_t*> span.text
    if width == 1:
        return decode(data, span.length, <uint8_t*> out)
    if width == 2:
        return decode(data, span.length, <uint16_t*> out)
    return decode(data, span.length, <uint32_t*> out)
