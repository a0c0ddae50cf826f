# Shingles of characters, by a rolling polynomial in four interleaved streams.
# With keyed.pxi.

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memmove

from fastlsh._kernels.common.compiler cimport noinline_void
from fastlsh._kernels.common.mixing cimport CHARACTER_BASE, Mixer, finish
from fastlsh._kernels.text._texts cimport code_unit
from fastlsh._kernels.text.keyed cimport of_leaving, of_point, times_x
from fastlsh._kernels.text.polynomials cimport mixed_point
from fastlsh._kernels.text.source cimport Hashing, Source, STEP

cdef inline uint64_t entering(const Hashing* plan, code_unit c) noexcept nogil:
    if code_unit is uint8_t:
        return plan.entering[c]
    else:
        return mixed_point(c)


cdef inline uint64_t leaving(const Hashing* plan, code_unit c) noexcept nogil:
    if code_unit is uint8_t:
        return plan.leaving[c]
    else:
        return mixed_point(c) * plan.power


cdef inline uint64_t entered(const Hashing* plan, uint64_t h, code_unit c) noexcept nogil:
    # One more unit at the end of a shingle; outside of the loop where time goes.
    if plan.keyed != NULL:
        return times_x(h, plan.keyed.modulus) ^ of_point(plan.keyed, c)
    return h * CHARACTER_BASE + entering(plan, c)


cdef void open_characters(Source* s, code_unit* tag) noexcept nogil:
    # `tag` only chooses the code unit.
    cdef const code_unit* text = <const code_unit*> s.text
    cdef Py_ssize_t shingles = s.length - s.plan.size + 1
    cdef Py_ssize_t i, stream
    cdef uint64_t h
    if s.length < s.plan.size:
        return
    s.steps = shingles // 4
    s.tail = shingles - 4 * s.steps
    for stream in range(0 if s.steps else 3, 4):
        s.at[stream] = stream * s.steps
        h = 0
        for i in range(s.at[stream], s.at[stream] + s.plan.size - 1):
            h = entered(s.plan, h, text[i])
        s.state[stream] = h


cdef void roll(
    const Hashing* plan, const code_unit* text, uint64_t* state, Py_ssize_t n, uint64_t* out
) noexcept nogil:
    cdef const code_unit* head = text + (plan.size - 1)
    cdef uint64_t h = state[0]
    cdef Py_ssize_t i
    for i in range(n):
        h = entered(plan, h, head[i])
        out[i] = h
        if plan.keyed != NULL:
            h ^= of_leaving(plan.keyed, text[i])
        else:
            h -= leaving(plan, text[i])
    state[0] = h


cdef noinline_void roll_four(
    const Hashing* plan, const code_unit* text, Py_ssize_t apart, uint64_t* state, Py_ssize_t n,
    uint64_t* out
) noexcept nogil:
    # Four chains hide the latency of the multiplication. They are equally far apart, in the text
    # and in `out`, so that all addresses and chains together stay in registers.
    cdef const code_unit* head = text + (plan.size - 1)
    cdef Py_ssize_t far = 3 * apart
    cdef uint64_t h0 = state[0]
    cdef uint64_t h1 = state[1]
    cdef uint64_t h2 = state[2]
    cdef uint64_t h3 = state[3]
    cdef Py_ssize_t i
    for i in range(n):
        h0 = h0 * CHARACTER_BASE + entering(plan, head[0])
        h1 = h1 * CHARACTER_BASE + entering(plan, head[apart])
        h2 = h2 * CHARACTER_BASE + entering(plan, head[2 * apart])
        h3 = h3 * CHARACTER_BASE + entering(plan, head[far])
        out[0] = h0
        out[<int> STEP] = h1
        out[2 * <int> STEP] = h2
        out[3 * <int> STEP] = h3
        h0 -= leaving(plan, text[0])
        h1 -= leaving(plan, text[apart])
        h2 -= leaving(plan, text[2 * apart])
        h3 -= leaving(plan, text[far])
        head += 1
        text += 1
        out += 1
    state[0] = h0
    state[1] = h1
    state[2] = h2
    state[3] = h3


cdef noinline_void finish_block(
    uint64_t* block, Py_ssize_t n, const Hashing* plan, uint64_t units
) noexcept nogil:
    cdef Mixer mixer = plan.mixer
    cdef Py_ssize_t i
    for i in range(n):
        block[i] = finish(&mixer, block[i], units)


cdef Py_ssize_t next_characters(Source* s, uint64_t* block, code_unit* tag) noexcept nogil:
    cdef const code_unit* text = <const code_unit*> s.text
    cdef Py_ssize_t n, i
    cdef uint64_t h = 0
    if s.steps:
        n = min(s.steps, <Py_ssize_t> STEP)
        if s.plan.keyed != NULL:
            roll_four_keyed(s.plan, text, s, n, block)
        else:
            roll_four(s.plan, text + s.at[0], s.at[1] - s.at[0], s.state, n, block)
            # Chains that end early have left gaps between them in the block.
            for i in range(1, 4 if n < STEP else 0):
                memmove(block + i * n, block + i * STEP, n * sizeof(uint64_t))
        for i in range(4):
            s.at[i] += n
        s.steps -= n
        n *= 4
    elif s.tail:
        n = s.tail
        roll(s.plan, text + s.at[3], &s.state[3], n, block)
        s.tail = 0
    elif 0 < s.length < s.plan.size:        # a short document is its own only shingle
        for n in range(s.length):
            h = entered(s.plan, h, text[n])
        block[0] = finish(&s.plan.mixer, h, s.length)
        s.length = 0
        return 1
    else:
        return 0
    finish_block(block, n, s.plan, s.plan.size)
    return n


cdef Py_ssize_t next_characters_1(Source* s, uint64_t* block) noexcept nogil:
    return next_characters(s, block, <uint8_t*> NULL)


cdef Py_ssize_t next_characters_2(Source* s, uint64_t* block) noexcept nogil:
    return next_characters(s, block, <uint16_t*> NULL)


cdef Py_ssize_t next_characters_4(Source* s, uint64_t* block) noexcept nogil:
    return next_characters(s, block, <uint32_t*> NULL)
