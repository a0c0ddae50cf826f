# Shingles of words and of ready tokens.
# With polynomials.pxi and characters.pxi.

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastlsh._kernels.common.compiler cimport noinline_void, popcount
from fastlsh._kernels.common.mixing cimport WORD_BASE, finish, fmix64
from fastlsh._kernels.text._texts cimport Span, code_unit
from fastlsh._kernels.text.source cimport BLOCK, WORDS, Plan, Source

cdef enum:
    CHUNK = 64              # code units whose whitespace makes one mask
    EDGES = BLOCK           # beginnings and ends of words that are found before they are used

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #include <intrin.h>
    static __inline Py_ssize_t fastlsh_lowest_bit(uint64_t word)
    {
        unsigned long place;
        _BitScanForward64(&place, word);
        return (Py_ssize_t) place;
    }
    #else
    #define fastlsh_lowest_bit(word) ((Py_ssize_t) __builtin_ctzll(word))
    #endif
    """
    Py_ssize_t lowest_bit "fastlsh_lowest_bit"(uint64_t word) noexcept nogil    # of a word not 0


cdef inline code_unit splits(code_unit c) noexcept nogil:
    # Whether str.split() splits here (Unicode 3.0 to 16). Single code points by the least
    # difference from one: compilers make jumps of a chain of comparisons, and vectors of this.
    cdef code_unit least = c ^ 0x85
    least = min(least, <code_unit> (c ^ 0xA0))
    if code_unit is not uint8_t:
        least = min(least, <code_unit> (c ^ 0x1680))
        least = min(least, <code_unit> ((c ^ 0x2028) >> 1))
        least = min(least, <code_unit> (c ^ 0x202F))
        least = min(least, <code_unit> (c ^ 0x205F))
        least = min(least, <code_unit> (c ^ 0x3000))
        if <code_unit> (c - 0x2000) <= 10:
            least = 0
    return (least == 0) | (<code_unit> (c - 9) <= 4) | (<code_unit> (c - 28) <= 4)


cdef noinline_void mask_spaces(const code_unit* text, uint64_t* mask) noexcept nogil:
    # Of CHUNK code units: bit i tells whether unit i splits words.
    cdef code_unit wide[CHUNK]
    cdef uint8_t flag[CHUNK]
    cdef Py_ssize_t i
    for i in range(CHUNK):                      # in two loops, for compilers to make vectors of
        wide[i] = splits(text[i])
    for i in range(CHUNK):
        flag[i] = <uint8_t> wide[i]
    mask[0] = 0
    for i in range(8):
        # The multiplication gathers the lowest bits of eight bytes in the uppermost.
        mask[0] |= (load_bytes(flag + 8 * i) * <uint64_t> 0x0102040810204080 >> 56) << (8 * i)


cdef void mask_chunk(Source* s, const code_unit* text, uint64_t* mask) noexcept nogil:
    # Behind the text there is whitespace.
    cdef code_unit last[CHUNK]
    cdef Py_ssize_t left = s.length - s.position
    cdef Py_ssize_t i
    if left >= CHUNK:
        mask_spaces(text + s.position, mask)
        return
    for i in range(CHUNK):
        last[i] = 32
    for i in range(left):
        last[i] = text[s.position + i]
    mask_spaces(last, mask)


cdef inline Py_ssize_t write_places(
    uint64_t bits, Py_ssize_t base, Py_ssize_t* place
) noexcept nogil:
    # Eight at a time, wanted or not, as their number is hard to predict.
    cdef Py_ssize_t count = <Py_ssize_t> popcount(bits)
    cdef Py_ssize_t done = 0
    cdef int i
    while done < count:
        for i in range(8):
            place[done + i] = base + lowest_bit(bits | <uint64_t> 1 << 63)
            bits &= bits - 1
        done += 8
    return count


cdef Py_ssize_t find_words(Source* s, const code_unit* text, Py_ssize_t* edge) noexcept nogil:
    # Writes where words begin and end, in turn; returns how many words.
    cdef Py_ssize_t n = 0
    cdef uint64_t spaces = 0
    cdef uint64_t changes
    if s.inside:
        edge[0] = s.begin                       # of the word that was not finished before
        n = 1
    while n < EDGES and s.position <= s.length:
        mask_chunk(s, text, &spaces)
        changes = spaces ^ (spaces << 1 | (not s.inside))
        s.inside = not spaces >> 63
        n += write_places(changes, s.position, edge + n)
        s.position += CHUNK
    if s.inside:
        s.begin = edge[n - 1]
    return n // 2


cdef noinline_void hash_words(
    const code_unit* text, const Py_ssize_t* edge, Py_ssize_t n, Py_ssize_t roomy, uint64_t* word
) noexcept nogil:
    cdef Py_ssize_t i, begin, end
    for i in range(n):
        begin = edge[2 * i]
        end = edge[2 * i + 1]
        word[i] = polynomial(text + begin, end - begin, end >= roomy)


cdef Py_ssize_t read_words(Source* s, const code_unit* text, uint64_t* word) noexcept nogil:
    cdef Py_ssize_t edge[EDGES + CHUNK + 8]
    cdef Py_ssize_t n = find_words(s, text, edge)
    hash_words(text, edge, n, s.roomy, word)
    return n


cdef Py_ssize_t read_tokens(Source* s, uint64_t* word) noexcept nogil:
    cdef Py_ssize_t n = min(s.length - s.position, <Py_ssize_t> BLOCK)
    if n:
        memcpy(word, s.tokens + s.position, n * sizeof(uint64_t))
    s.position += n
    return n


cdef noinline_void mix_block(uint64_t* block, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        block[i] = fmix64(block[i])


cdef inline Py_ssize_t read_units(Source* s, uint64_t* word) noexcept nogil:
    # Writes the hashes of the next words or tokens.
    cdef Py_ssize_t n
    if s.tokens != NULL:
        n = read_tokens(s, word)
    elif s.kind == 1:
        n = read_words(s, <const uint8_t*> s.text, word)
    elif s.kind == 2:
        n = read_words(s, <const uint16_t*> s.text, word)
    else:
        n = read_words(s, <const uint32_t*> s.text, word)
    mix_block(word, n)
    return n


cdef Py_ssize_t roll_words(Source* s, uint64_t* block, Py_ssize_t n) noexcept nogil:
    # Makes shingles of words, in place; the words before are in the ring.
    cdef Py_ssize_t size = s.plan.size
    cdef uint64_t beyond = s.plan.power * WORD_BASE
    cdef uint64_t h = s.state[0]
    cdef uint64_t word
    cdef Py_ssize_t slot = s.slot
    cdef Py_ssize_t made = 0
    cdef Py_ssize_t i
    for i in range(n):
        word = block[i]
        if s.words >= size:
            h = h * WORD_BASE + (word - s.ring[slot] * beyond)
        else:
            h = h * WORD_BASE + word
            s.words += 1
        s.ring[slot] = word
        slot = 0 if slot + 1 == size else slot + 1
        block[made] = h
        made += s.words >= size
    s.slot = slot
    s.state[0] = h
    return made


cdef Py_ssize_t next_words(Source* s, uint64_t* block) noexcept nogil:
    cdef Py_ssize_t size = s.plan.size
    cdef Py_ssize_t n = read_units(s, block)
    if size > 1:
        while n:
            n = roll_words(s, block, n)
            if n:
                break
            n = read_units(s, block)
        if n == 0 and 0 < s.words < size:       # a short document is its own only shingle
            block[0] = finish(s.state[0], s.words)
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
        s.roomy = max(SHORT - span.before, 0)
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
    Source* s, const Plan* plan, const uint64_t* tokens, Py_ssize_t n, uint64_t* ring
) noexcept nogil:
    memset(s, 0, sizeof(Source))
    s.plan = plan
    s.tokens = tokens
    s.length = n
    s.ring = ring
    s.next = next_words
