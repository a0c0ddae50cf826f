# Units of a text as numbers, and polynomials over them that roll from one place to the next.

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from fastlsh._kernels.common.mixing cimport CHARACTER_BASE, mix_code_point

ctypedef fused symbol:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


cdef inline uint64_t power_of(Py_ssize_t exponent) noexcept nogil:
    # CHARACTER_BASE to that power, modulo 2^64.
    cdef uint64_t result = 1
    cdef uint64_t square = CHARACTER_BASE
    while exponent > 0:
        if exponent & 1:
            result *= square
        square *= square
        exponent >>= 1
    return result


cdef inline uint64_t pushed(uint64_t h, uint64_t unit) noexcept nogil:
    return h * CHARACTER_BASE + mix_code_point(unit)


cdef inline uint64_t rolled(
    uint64_t h, uint64_t leaving, uint64_t entering, uint64_t power
) noexcept nogil:
    # From one run of units to the next; `power` is that of their number.
    return pushed(h, entering) - mix_code_point(leaving) * power
