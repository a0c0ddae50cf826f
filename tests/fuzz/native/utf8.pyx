"""UTF-8 to code points, in memory of the size that is reckoned, against the obvious way."""

include "fuzz/native/drive.pxi"
include "fuzz/native/texts.pxi"

from fastlsh._kernels.text._texts cimport Span
from fastlsh._kernels.text.decoding cimport decode_span, width_of
from fastlsh._kernels.text.squeeze cimport fill_squeezing

cdef extern from *:
    """
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
    const char** fuzz_pieces

cdef enum:
    MOST_BYTES = 1024


def prepare():
    fill_squeezing()


cdef int one_input(const uint8_t* data, size_t size) noexcept nogil:
    cdef Given given = Given(data, <Py_ssize_t> size)
    cdef uint8_t written[MOST_BYTES]
    cdef uint32_t right[MOST_BYTES]
    cdef Py_ssize_t n = write_pieces(&given, fuzz_pieces, written, MOST_BYTES)
    cdef Py_ssize_t points = right_decode(written, n, right)
    cdef uint8_t* text = <uint8_t*> room(n)
    cdef uint32_t most = 0
    cdef Py_ssize_t found, i
    cdef void* out
    cdef Span span, decoded
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
        decoded.text = out
        decoded.kind = width
        must(found == points, "the number of code points")
        for i in range(found):
            must(unit_of(&decoded, i) == right[i], "a code point")
    else:
        must(points == n, "ASCII")
    return 0
