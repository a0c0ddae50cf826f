# A Source yields the 64-bit shingle hashes of one document, a block at a time.

cdef enum:
    BLOCK = 512         # shingle hashes in a block: they stay in the L1 cache until used
    STEP = 128          # the share of each of the four interleaved streams
    CHARACTERS = 0
    WORDS = 1

# The first 64 bits after the point of pi and of e, with the low three bits set to 5: powers of such
# a base repeat as late as any.
cdef uint64_t CHARACTER_BASE = 0x243F6A8885A308D5
cdef uint64_t WORD_BASE = 0xB7E151628AED2A6D

ctypedef fused code_unit:
    uint8_t
    uint16_t
    uint32_t

cdef struct Plan:
    # What does not change from document to document.
    int unit
    Py_ssize_t size
    uint64_t power              # CHARACTER_BASE or WORD_BASE to the power size - 1
    uint64_t entering[256]      # each Latin-1 code point, mixed
    uint64_t leaving[256]       # the same times power
    bint space[256]

cdef struct Source:
    Py_ssize_t (*next)(Source*, uint64_t*) noexcept nogil
    const Plan* plan
    const void* text
    int kind
    Py_ssize_t length           # code points
    # characters: four streams, each with its own part of the shingles
    Py_ssize_t steps            # left for every stream
    Py_ssize_t tail             # left for the last stream when the others are through
    Py_ssize_t at[4]
    uint64_t state[4]
    # words and tokens: one stream
    const Span* tokens
    Py_ssize_t position
    Py_ssize_t words
    Py_ssize_t slot
    uint64_t* ring              # the last `size` word hashes


cdef void make_plan(Plan* plan, int unit, Py_ssize_t size) noexcept nogil:
    cdef uint64_t base = CHARACTER_BASE if unit == CHARACTERS else WORD_BASE
    cdef Py_ssize_t exponent = size - 1
    cdef int c
    plan.unit = unit
    plan.size = size
    plan.power = 1
    while exponent:
        if exponent & 1:
            plan.power *= base
        base *= base
        exponent >>= 1
    for c in range(256):
        plan.entering[c] = mix_code_point(c)
        plan.leaving[c] = plan.entering[c] * plan.power
        plan.space[c] = is_space(c)


cdef inline bint is_space(uint32_t c) noexcept nogil:
    # The characters at which str.split() splits (Unicode 3.0 to 16).
    return (
        c == 32 or 9 <= c <= 13 or 28 <= c <= 31 or c == 0x85 or c == 0xA0 or c == 0x1680
        or 0x2000 <= c <= 0x200A or c == 0x2028 or c == 0x2029 or c == 0x202F
        or c == 0x205F or c == 0x3000
    )


cdef inline uint64_t entering(const Plan* plan, code_unit c) noexcept nogil:
    if code_unit is uint8_t:
        return plan.entering[c]
    else:
        return mix_code_point(c)


cdef inline uint64_t leaving(const Plan* plan, code_unit c) noexcept nogil:
    if code_unit is uint8_t:
        return plan.leaving[c]
    else:
        return mix_code_point(c) * plan.power


# ---- characters

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
            h = h * CHARACTER_BASE + entering(s.plan, text[i])
        s.state[stream] = h


cdef void roll(
    const Plan* plan, const code_unit* text, uint64_t* state, Py_ssize_t n, uint64_t* out
) noexcept nogil:
    cdef const code_unit* head = text + (plan.size - 1)
    cdef uint64_t h = state[0]
    cdef Py_ssize_t i
    for i in range(n):
        h = h * CHARACTER_BASE + entering(plan, head[i])
        out[i] = h
        h -= leaving(plan, text[i])
    state[0] = h


cdef void roll_four(
    const Plan* plan, const code_unit* text, Source* s, Py_ssize_t n, uint64_t* out
) noexcept nogil:
    # Four chains hide the latency of the multiplication.
    cdef const code_unit* t0 = text + s.at[0]
    cdef const code_unit* t1 = text + s.at[1]
    cdef const code_unit* t2 = text + s.at[2]
    cdef const code_unit* t3 = text + s.at[3]
    cdef Py_ssize_t last = plan.size - 1
    cdef uint64_t h0 = s.state[0]
    cdef uint64_t h1 = s.state[1]
    cdef uint64_t h2 = s.state[2]
    cdef uint64_t h3 = s.state[3]
    cdef Py_ssize_t i
    for i in range(n):
        h0 = h0 * CHARACTER_BASE + entering(plan, t0[i + last])
        h1 = h1 * CHARACTER_BASE + entering(plan, t1[i + last])
        h2 = h2 * CHARACTER_BASE + entering(plan, t2[i + last])
        h3 = h3 * CHARACTER_BASE + entering(plan, t3[i + last])
        out[i] = h0
        out[i + n] = h1
        out[i + 2 * n] = h2
        out[i + 3 * n] = h3
        h0 -= leaving(plan, t0[i])
        h1 -= leaving(plan, t1[i])
        h2 -= leaving(plan, t2[i])
        h3 -= leaving(plan, t3[i])
    s.state[0] = h0
    s.state[1] = h1
    s.state[2] = h2
    s.state[3] = h3
    for i in range(4):
        s.at[i] += n


cdef noinline_void finish_block(uint64_t* block, Py_ssize_t n, uint64_t units) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        block[i] = finish(block[i], units)


cdef Py_ssize_t next_characters(Source* s, uint64_t* block, code_unit* tag) noexcept nogil:
    cdef const code_unit* text = <const code_unit*> s.text
    cdef Py_ssize_t n
    cdef uint64_t h = 0
    if s.steps:
        n = min(s.steps, <Py_ssize_t> STEP)
        roll_four(s.plan, text, s, n, block)
        s.steps -= n
        n *= 4
    elif s.tail:
        n = s.tail
        roll(s.plan, text + s.at[3], &s.state[3], n, block)
        s.tail = 0
    elif 0 < s.length < s.plan.size:        # a short document is its own only shingle
        for n in range(s.length):
            h = h * CHARACTER_BASE + entering(s.plan, text[n])
        block[0] = finish(h, s.length)
        s.length = 0
        return 1
    else:
        return 0
    finish_block(block, n, s.plan.size)
    return n


cdef Py_ssize_t next_characters_1(Source* s, uint64_t* block) noexcept nogil:
    return next_characters(s, block, <uint8_t*> NULL)


cdef Py_ssize_t next_characters_2(Source* s, uint64_t* block) noexcept nogil:
    return next_characters(s, block, <uint16_t*> NULL)


cdef Py_ssize_t next_characters_4(Source* s, uint64_t* block) noexcept nogil:
    return next_characters(s, block, <uint32_t*> NULL)


# ---- words and tokens

cdef inline bint splits(const Plan* plan, code_unit c) noexcept nogil:
    if code_unit is uint8_t:
        return plan.space[c]
    else:
        return plan.space[c] if c < 256 else is_space(c)


cdef uint64_t run_hash(const Plan* plan, const code_unit* text, Py_ssize_t n) noexcept nogil:
    cdef uint64_t h = 0
    cdef Py_ssize_t i
    for i in range(n):
        h = h * CHARACTER_BASE + entering(plan, text[i])
    return finish(h, n)


cdef uint64_t span_hash(const Plan* plan, const Span* span) noexcept nogil:
    if span.kind == 1:
        return run_hash(plan, <const uint8_t*> span.text, span.length)
    if span.kind == 2:
        return run_hash(plan, <const uint16_t*> span.text, span.length)
    return run_hash(plan, <const uint32_t*> span.text, span.length)


cdef bint read_word(Source* s, const code_unit* text, uint64_t* word) noexcept nogil:
    cdef Py_ssize_t start = s.position
    cdef Py_ssize_t end
    while start < s.length and splits(s.plan, text[start]):
        start += 1
    end = start
    while end < s.length and not splits(s.plan, text[end]):
        end += 1
    s.position = end
    if start == end:
        return False
    word[0] = run_hash(s.plan, text + start, end - start)
    return True


cdef bint read_token(Source* s, uint64_t* word) noexcept nogil:
    if s.position == s.length:
        return False
    word[0] = span_hash(s.plan, s.tokens + s.position)
    s.position += 1
    return True


cdef inline bint read_unit(Source* s, uint64_t* word) noexcept nogil:
    if s.tokens != NULL:
        return read_token(s, word)
    if s.kind == 1:
        return read_word(s, <const uint8_t*> s.text, word)
    if s.kind == 2:
        return read_word(s, <const uint16_t*> s.text, word)
    return read_word(s, <const uint32_t*> s.text, word)


cdef Py_ssize_t next_words(Source* s, uint64_t* block) noexcept nogil:
    cdef Py_ssize_t size = s.plan.size
    cdef Py_ssize_t n = 0
    cdef uint64_t h = s.state[0]
    cdef uint64_t word = 0
    while n < BLOCK and read_unit(s, &word):
        h = h * WORD_BASE + word
        s.ring[s.slot] = word
        s.slot = 0 if s.slot + 1 == size else s.slot + 1
        s.words += 1
        if s.words >= size:
            block[n] = h
            n += 1
            h -= s.ring[s.slot] * s.plan.power      # the oldest word
    s.state[0] = h
    if n == 0 and 0 < s.words < size:
        block[0] = finish(h, s.words)
        s.words = 0
        return 1
    finish_block(block, n, size)
    return n


# ---- opening

cdef void open_text(
    Source* s, const Plan* plan, const Span* span, uint64_t* ring
) noexcept nogil:
    memset(s, 0, sizeof(Source))
    s.plan = plan
    s.text = span.text
    s.length = span.length
    s.kind = span.kind
    s.ring = ring
    if plan.unit == WORDS:
        s.next = next_words
    elif span.kind == 1:
        open_characters(s, <uint8_t*> NULL)
        s.next = next_characters_1
    elif span.kind == 2:
        open_characters(s, <uint16_t*> NULL)
        s.next = next_characters_2
    else:
        open_characters(s, <uint32_t*> NULL)
        s.next = next_characters_4


cdef void open_tokens(
    Source* s, const Plan* plan, const Span* tokens, Py_ssize_t n, uint64_t* ring
) noexcept nogil:
    memset(s, 0, sizeof(Source))
    s.plan = plan
    s.tokens = tokens
    s.length = n
    s.ring = ring
    s.next = next_words
