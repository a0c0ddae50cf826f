# Shingles of words and of ready tokens.

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
