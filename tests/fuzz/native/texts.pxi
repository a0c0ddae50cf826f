# Texts of an input: code points in code units of 1, 2 or 4 bytes, in memory of exactly that size.
# With drive.pxi.

from libc.string cimport strlen

from fastlsh._kernels.text._texts cimport ROOM, Span

cdef extern from *:
    """
    /* What whitespace, words, letters, numbers and forms of Unicode go wrong with, at one byte. */
    static const uint32_t fuzz_points[32] = {
        0x0000, 0x0085, 0x00A0, 0x1680, 0x2003, 0x2028, 0x202F, 0x3000, 0x1C, 0x0009, 0x000A,
        0x0130, 0x03A3, 0x00AD, 0x0301, 0x0323, 0x0345, 0x0660, 0x066B, 0x1E9B, 0x00DF, 0xFB01,
        0x1100, 0x1161, 0x11A8, 0xAC00, 0x2126, 0xFDFA, 0x1D15F, 0x1F600, 0xD800, 0x10FFFF};

    /* Returns the number of code points, or -1: as RFC 3629 says, one byte after the other. */
    FUZZ_OBVIOUS static Py_ssize_t fuzz_decode(const uint8_t *data, Py_ssize_t n, uint32_t *out)
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
    """
    const uint32_t* fuzz_points
    Py_ssize_t right_decode "fuzz_decode"(
        const uint8_t* data, Py_ssize_t n, uint32_t* out) noexcept nogil


cdef inline uint32_t code_point(Given* given, int kind) noexcept nogil:
    # Mostly one byte for one code point; as wide as the kind allows.
    cdef uint32_t c = byte(given)
    if kind == 1:
        return c
    if c < 32:
        c = fuzz_points[c]
    elif c >= 0xE0 and kind == 2:
        c = (c & 0x1F) << 11 | <uint32_t> byte(given) << 3
        c = c & 0xFFFF | byte(given) & 7
    elif c >= 0xE0:
        c = (c & 0x1F) << 16 | <uint32_t> byte(given) << 8
        c = (c | byte(given)) % 0x110000
    return c if kind == 4 else c & 0xFFFF


cdef inline void put_unit(void* text, int kind, Py_ssize_t i, uint64_t c) noexcept nogil:
    if kind == 1:
        (<uint8_t*> text)[i] = <uint8_t> c
    elif kind == 2:
        (<uint16_t*> text)[i] = <uint16_t> c
    elif kind == 4:
        (<uint32_t*> text)[i] = <uint32_t> c
    else:
        (<uint64_t*> text)[i] = c


cdef inline uint64_t unit_of(const Span* span, Py_ssize_t i) noexcept nogil:
    if span.kind == 1:
        return (<const uint8_t*> span.text)[i]
    if span.kind == 2:
        return (<const uint16_t*> span.text)[i]
    if span.kind == 4:
        return (<const uint32_t*> span.text)[i]
    return (<const uint64_t*> span.text)[i]


cdef void make_text(Given* given, int kind, Span* span, Py_ssize_t most) noexcept nogil:
    # All that is left, as often as a byte says, at most so many.
    cdef Py_ssize_t before = ROOM * number(given, 2)
    cdef uint8_t how_often = byte(given)
    cdef Py_ssize_t times = 1 if how_often < 240 else 2 << (how_often & 7)
    cdef Py_ssize_t n = 0
    cdef Py_ssize_t i, k
    cdef uint32_t points[512]
    cdef char* memory
    while given.left > 0 and n < 512:
        points[n] = code_point(given, kind)
        n += 1
    times = max(min(times, most // max(n, <Py_ssize_t> 1)), <Py_ssize_t> 1)
    memory = <char*> room(before + times * n * kind)
    for k in range(times):
        for i in range(n):
            put_unit(memory + before, kind, k * n + i, points[i])
    memset(memory, 0x20, before)
    span.text = memory + before
    span.length = times * n
    span.kind = kind
    span.before = <int> before


cdef Py_ssize_t write_pieces(
    Given* given, const char** pieces, uint8_t* out, Py_ssize_t most
) noexcept nogil:
    # Bytes as they are; with the first one odd, of 64 pieces, each up to four times.
    cdef bint whole = byte(given) & 1
    cdef Py_ssize_t n = 0
    cdef const char* piece
    cdef int c, times
    while given.left > 0 and n < most - 64:
        c = byte(given)
        piece = pieces[c & 63] if whole else NULL
        if piece == NULL:
            out[n] = byte(given) if whole else <uint8_t> c
            n += 1
            continue
        times = 1 + (c >> 6)
        while times and n < most - 64:
            memcpy(out + n, piece, strlen(piece))
            n += strlen(piece)
            times -= 1
    return n
