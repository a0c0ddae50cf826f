"""UTF-8 to code points, in memory of the size that is reckoned, against the obvious way."""

include "fuzz/native/drive.pxi"

from fastlsh._kernels.text._texts cimport Span
from fastlsh._kernels.text.decoding cimport decode_span, width_of
from fastlsh._kernels.text.squeeze cimport fill_squeezing

cdef extern from *:
    """
    /* Returns the number of code points, or -1: as RFC 3629 says, one byte after the other. */
    static Py_ssize_t fuzz_decode(const uint8_t *data, Py_ssize_t n, uint32_t *out)
    {
        static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
        Py_ssize_t i = 0, made = 0;
        while (i < n) {
            uint32_t c = data[i];
            int more = c < 0x80 ? 1 : c < 0xC0 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF8 ? 4 : 0;
            if (more == 0 || n - i < more)
                return -1;
            if (more > 1)
                c &= 0xFF >> (more + 1);
            for (int k = 1; k < more; k++) {
                if ((data[i + k] & 0xC0) != 0x80)
                    return -1;
                c = c << 6 | (data[i + k] & 0x3F);
            }
            if (c < least[more] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
                return -1;
            out[made++] = c;
            i += more;
        }
        return made;
    }

    /* Pieces of UTF-8, sound and not, for inputs of bytes that are mostly not. */
    static const char *fuzz_pieces[64] = {
        "\\xC2\\x80", "\\xC3\\xBF", "\\xC4\\x80", "\\xDF\\xBF", "\\xE0\\xA0\\x80",
        "\\xED\\x9F\\xBF",
        "\\xEE\\x80\\x80", "\\xEF\\xBF\\xBF", "\\xF0\\x90\\x80\\x80", "\\xF4\\x8F\\xBF\\xBF",
        "\\xE3\\x81\\x82", "\\xE4\\xB8\\xAD", "\\xC3\\xA9", "\\xD0\\x96", "abc", "0123456789abcdef",
        "\\xE2\\x82\\xAC", "\\xE5\\xA4\\xA7", "\\xF0\\x9F\\x98\\x80", "\\xC3\\xB6\\xC3\\xA4",
        "\\xE3\\x81\\x82\\xE3\\x81\\x84\\xE3\\x81\\x86\\xE3\\x81\\x88\\xE3\\x81\\x8A",
        "\\xD0\\x96\\xD0\\x97\\xD0\\x98\\xD0\\x99", "the quick brown fox", " ",
        "\\xC0\\x80", "\\xC1\\xBF", "\\xE0\\x9F\\xBF", "\\xED\\xA0\\x80", "\\xF0\\x8F\\xBF\\xBF",
        "\\xF4\\x90\\x80\\x80", "\\xF5\\x80\\x80\\x80", "\\xFF"};
    """
    Py_ssize_t right_decode "fuzz_decode"(
        const uint8_t* data, Py_ssize_t n, uint32_t* out) noexcept nogil
    const char** fuzz_pieces

cdef enum:
    MOST_BYTES = 1024


def prepare():
    fill_squeezing()


cdef Py_ssize_t write_bytes(Given* given, uint8_t* out) noexcept nogil:
    # Bytes as they are; with the first one odd, of each pair a piece and how often it comes.
    cdef bint pieces = byte(given) & 1
    cdef Py_ssize_t n = 0
    cdef const char* piece
    cdef int c, times, i
    while given.left > 0 and n < MOST_BYTES - 64:
        c = byte(given)
        if not pieces:
            out[n] = <uint8_t> c
            n += 1
            continue
        times = 1 + (c >> 6)
        piece = fuzz_pieces[c & 63]
        if piece == NULL:
            out[n] = byte(given)
            n += 1
            continue
        while times and n < MOST_BYTES - 64:
            i = 0
            while piece[i]:
                out[n] = <uint8_t> piece[i]
                n += 1
                i += 1
            times -= 1
    return n


cdef int one_input(const uint8_t* data, size_t size) noexcept nogil:
    cdef Given given = Given(data, <Py_ssize_t> size)
    cdef uint8_t written[MOST_BYTES]
    cdef uint32_t right[MOST_BYTES]
    cdef Py_ssize_t n = write_bytes(&given, written)
    cdef Py_ssize_t points = right_decode(written, n, right)
    cdef uint8_t* text = <uint8_t*> room(n)
    cdef uint32_t most = 0
    cdef Py_ssize_t found, i
    cdef void* out
    cdef Span span
    cdef int width
    memcpy(text, written, n)
    span.text = text
    span.length = n
    width = width_of(text, n)
    if points >= 0:
        for i in range(points):
            most = max(most, right[i])
        must(
            width == (0 if most < 0x80 else 1 if most < 0x100 else 2 if most < 0x10000 else 4),
            "the width of a text",
        )
    if width:
        out = room(n * width + 3)
        found = decode_span(&span, width, out)
        must(found == points, "the number of code points")
        for i in range(found):
            if width == 1:
                must((<uint8_t*> out)[i] == right[i], "a code point")
            elif width == 2:
                must((<uint16_t*> out)[i] == right[i], "a code point")
            else:
                must((<uint32_t*> out)[i] == right[i], "a code point")
        free(out)
    else:
        must(points == n, "ASCII")
    free(text)
    return 0
