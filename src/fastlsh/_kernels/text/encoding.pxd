# A code point as UTF-8, which is never longer than its escape in JSON.

from libc.stdint cimport uint8_t, uint32_t


cdef inline uint8_t* put_utf8_point(uint8_t* out, uint32_t c) noexcept nogil:
    if c < 0x80:
        out[0] = <uint8_t> c
        return out + 1
    if c < 0x800:
        out[0] = <uint8_t> (0xC0 | c >> 6)
    else:
        if c < 0x10000:
            out[0] = <uint8_t> (0xE0 | c >> 12)
        else:
            out[0] = <uint8_t> (0xF0 | c >> 18)
            out += 1
            out[0] = <uint8_t> (0x80 | (c >> 12 & 0x3F))
        out += 1
        out[0] = <uint8_t> (0x80 | (c >> 6 & 0x3F))
    out[1] = <uint8_t> (0x80 | (c & 0x3F))
    return out + 2
