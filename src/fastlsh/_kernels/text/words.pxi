# Shingles of words and of ready tokens; documents as sources, without the ignored shingles.
# With characters.pxi, cuts.pxi, decimals.pxi and keyed.pxi.

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove, memset

from fastlsh._kernels.common.compiler cimport noinline_void
from fastlsh._kernels.common.mixing cimport WORD_BASE, Mixer, finish, mixed_by
from fastlsh._kernels.text._texts cimport Span, code_unit
from fastlsh._kernels.text.keyed cimport SHORT
from fastlsh._kernels.text.polynomials cimport polynomial
from fastlsh._kernels.text.source cimport (
    BLOCK, CHARACTERS, TOKEN_IDS, WITH_EMPTY, Hashing, HashList, Source, has_hash,
)

cdef noinline_void hash_words(
    const code_unit* text, const Py_ssize_t* edge, Py_ssize_t n, Py_ssize_t roomy, uint64_t* word
) noexcept nogil:
    cdef Py_ssize_t i, begin, end
    for i in range(n):
        begin = edge[2 * i]
        end = edge[2 * i + 1]
        word[i] = polynomial(text + begin, end - begin, end >= roomy)


cdef Py_ssize_t read_words(Source* s, const code_unit* text, uint64_t* word) noexcept nogil:
    cdef Py_ssize_t edge[ROOM_FOR_EDGES]
    cdef Py_ssize_t n, left
    while True:
        n = find_words(s, text, edge)
        if s.plan.keyed != NULL:
            hash_words_keyed(s.plan.keyed, text, edge, n, s.roomy, word)
        else:
            hash_words(text, edge, n, s.roomy, word)
        left = n if s.plan.words == NULL else leave_out(s.plan.words, word, n)
        if left or not n:
            return left


cdef Py_ssize_t leave_out(const HashList* listed, uint64_t* hashes, Py_ssize_t n) noexcept nogil:
    # Moves the hashes of words or shingles that stay together; returns how many.
    cdef Py_ssize_t left = 0
    cdef Py_ssize_t i
    cdef uint64_t h
    for i in range(n):
        h = hashes[i]
        hashes[left] = h
        left += has_hash(listed, h) == listed.keeps
    return left


cdef Py_ssize_t read_tokens(Source* s, uint64_t* word) noexcept nogil:
    cdef Py_ssize_t n = min(s.length - s.position, <Py_ssize_t> BLOCK)
    if n:
        memcpy(word, s.tokens + s.position, n * sizeof(uint64_t))
    s.position += n
    return n


cdef noinline_void mix_block(uint64_t* block, Py_ssize_t n, const Hashing* plan) noexcept nogil:
    cdef Mixer mixer = plan.mixer
    cdef Py_ssize_t i
    for i in range(n):
        block[i] = mixed_by(&mixer, block[i])


cdef inline Py_ssize_t read_units(Source* s, uint64_t* word) noexcept nogil:
    # Writes the hashes of the next words or tokens.
    cdef Py_ssize_t n
    if s.plan.unit == TOKEN_IDS:
        return read_ids(s, word)
    if s.tokens != NULL:
        n = read_tokens(s, word)
    elif s.kind == 1:
        n = read_words(s, <const uint8_t*> s.text, word)
    elif s.kind == 2:
        n = read_words(s, <const uint16_t*> s.text, word)
    else:
        n = read_words(s, <const uint32_t*> s.text, word)
    mix_block(word, n, s.plan)
    return n


cdef uint64_t* make_place(Source* s) noexcept nogil:
    # For a block of words behind those that the next shingles begin with.
    if s.filled - s.plan.size > s.plan.size:
        memmove(s.window, s.window + (s.filled - s.plan.size), s.plan.size * sizeof(uint64_t))
        s.filled = s.plan.size
    return s.window + s.filled


cdef Py_ssize_t roll_words(
    Source* s, const uint64_t* word, Py_ssize_t n, uint64_t* block
) noexcept nogil:
    # Makes the shingles that end with these words; those before them lie in front.
    cdef Py_ssize_t size = s.plan.size
    cdef uint64_t beyond = s.plan.power * WORD_BASE
    cdef uint64_t twice = <uint64_t> WORD_BASE * WORD_BASE
    cdef uint64_t h = s.state[0]
    cdef uint64_t change, next_change
    cdef Py_ssize_t made = 0
    cdef Py_ssize_t missing = size - s.words        # for the first shingle
    cdef Py_ssize_t i = 0
    while i < min(missing, n):
        h = h * WORD_BASE + word[i]
        i += 1
    if 0 < missing <= n:
        block[0] = h
        made = 1
    while i + 2 <= n:                               # by twos: a shorter chain of multiplications
        change = word[i] - word[i - size] * beyond
        next_change = word[i + 1] - word[i + 1 - size] * beyond
        block[made] = h * WORD_BASE + change
        h = h * twice + (change * WORD_BASE + next_change)
        block[made + 1] = h
        made += 2
        i += 2
    if i < n:
        h = h * WORD_BASE + (word[i] - word[i - size] * beyond)
        block[made] = h
        made += 1
    s.words = min(s.words + n, size)
    s.state[0] = h
    return made


cdef Py_ssize_t thin(Source* s, uint64_t* block, Py_ssize_t n) noexcept nogil:
    # Of equal shingles in a row leaves one: with empty words, most of what indents a line.
    cdef uint64_t h
    cdef uint64_t latest = s.latest
    cdef Py_ssize_t kept = 0
    cdef Py_ssize_t i
    if n and not s.begun:
        latest = ~block[0]
        s.begun = True
    for i in range(n):
        h = block[i]
        block[kept] = h
        kept += h != latest
        latest = h
    s.latest = latest
    return kept


cdef Py_ssize_t next_words(Source* s, uint64_t* block) noexcept nogil:
    cdef Py_ssize_t size = s.plan.size
    cdef uint64_t* word = block if size == 1 else make_place(s)
    cdef Py_ssize_t n = read_units(s, word)
    while n:
        if size > 1:
            s.filled += n
            if s.plan.keyed != NULL:
                n = roll_words_keyed(s, word, n, block)
            else:
                n = roll_words(s, word, n, block)
        if s.plan.unit & WITH_EMPTY:
            n = thin(s, block, n)
        if n:
            finish_block(block, n, s.plan, size)
            return n
        word = block if size == 1 else make_place(s)
        n = read_units(s, word)
    if 0 < s.words < size:                      # a short document is its own only shingle
        block[0] = finish(&s.plan.mixer, s.state[0], s.words)
        s.words = 0
        return 1
    return 0


cdef Py_ssize_t next_not_ignored(Source* s, uint64_t* block) noexcept nogil:
    # 0 only at the end: a block of ignored shingles is followed by the next one.
    cdef Py_ssize_t kept = 0
    cdef Py_ssize_t n = s.next_all(s, block)
    while n:
        kept = leave_out(s.plan.ignored, block, n)
        if kept:
            return kept
        n = s.next_all(s, block)
    return 0


cdef inline void leave_out_of(Source* s) noexcept nogil:
    if s.plan.ignored != NULL:
        s.next_all = s.next
        s.next = next_not_ignored


cdef void open_text(
    Source* s, const Hashing* plan, const Span* span, uint64_t* window
) noexcept nogil:
    memset(s, 0, sizeof(Source))
    s.plan = plan
    s.text = span.text
    s.length = span.length
    s.kind = span.kind
    s.window = window
    if plan.unit != CHARACTERS:
        s.roomy = max(SHORT - span.before // max(span.kind, 1), 0)
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
    leave_out_of(s)


cdef void open_tokens(
    Source* s, const Hashing* plan, const uint64_t* tokens, Py_ssize_t n, uint64_t* window
) noexcept nogil:
    memset(s, 0, sizeof(Source))
    s.plan = plan
    s.tokens = tokens
    s.length = n
    s.window = window
    s.next = next_words
    leave_out_of(s)


cdef Py_ssize_t write_words(const Hashing* plan, const Span* span, int64_t* out) noexcept nogil:
    cdef Py_ssize_t edge[ROOM_FOR_EDGES]
    cdef Source source
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t n, i
    open_text(&source, plan, span, NULL)
    while source.position <= source.length:
        if span.kind == 1:
            n = find_words(&source, <const uint8_t*> span.text, edge)
        elif span.kind == 2:
            n = find_words(&source, <const uint16_t*> span.text, edge)
        else:
            n = find_words(&source, <const uint32_t*> span.text, edge)
        for i in range(2 * n):
            out[2 * total + i] = edge[i]
        total += n
        if source.length == 0:
            break
    return total


cdef Py_ssize_t count_words(const Hashing* plan, const Span* span, Py_ssize_t most) noexcept nogil:
    # How many words there are, without those that are left out; stops soon after `most`, which
    # the beginning of a long text nearly always has, besides a last word that may be cut.
    cdef Span beginning = span[0]
    cdef Py_ssize_t total
    if most < span.length // 32:
        beginning.length = 16 * most + 16
        total = count_all_words(plan, &beginning, most + 1)
        if total > most:
            return total
    return count_all_words(plan, span, most)


cdef Py_ssize_t count_all_words(
    const Hashing* plan, const Span* span, Py_ssize_t most
) noexcept nogil:
    cdef uint64_t word[BLOCK]
    cdef Source source
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t n = 1
    open_text(&source, plan, span, NULL)
    while n and total < most:
        n = read_units(&source, word)
        total += n
    return total


cdef Py_ssize_t write_hashes(const Hashing* plan, const Span* span, uint64_t* out) noexcept nogil:
    # Of a plan for single words: writes the hash of each; returns how many there are.
    cdef Source source
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t n
    open_text(&source, plan, span, NULL)
    n = source.next(&source, out)
    while n:
        total += n
        n = source.next(&source, out + total)
    return total
