# The Mersenne Twister MT19937 (Matsumoto and Nishimura 1998).

from libc.stdint cimport uint32_t

from fastlsh._kernels.common.checks cimport memory_of

cdef enum:
    N = 624
    M = 397


cdef inline uint32_t twist(uint32_t here, uint32_t following) noexcept nogil:
    cdef uint32_t y = (here & <uint32_t> 0x80000000) | (following & 0x7FFFFFFF)
    return (y >> 1) ^ (<uint32_t> 0x9908B0DF if y & 1 else 0)


cdef void refill(uint32_t* state) noexcept nogil:
    cdef int i
    for i in range(N):
        state[i] = state[(i + M) % N] ^ twist(state[i], state[(i + 1) % N])


cdef void draw(uint32_t seed, uint32_t* out, Py_ssize_t n) noexcept nogil:
    cdef uint32_t state[N]
    cdef uint32_t y = seed
    cdef Py_ssize_t i
    for i in range(N):
        state[i] = y
        y = <uint32_t> 1812433253 * (y ^ (y >> 30)) + <uint32_t> (i + 1)
    for i in range(n):
        if i % N == 0:
            refill(state)
        y = state[i % N]
        y ^= y >> 11
        y ^= (y << 7) & <uint32_t> 0x9D2C5680
        y ^= (y << 15) & <uint32_t> 0xEFC60000
        out[i] = y ^ (y >> 18)


def mt19937(uint32_t seed, uint32_t[::1] out not None):
    """Write the first 32-bit numbers of the stream that an integer seeds into `out`, uint32."""
    memory_of(out, "out")
    if out.shape[0]:
        draw(seed, &out[0], out.shape[0])
