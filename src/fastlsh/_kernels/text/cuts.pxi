# Where the words of a text begin and end.

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from fastlsh._kernels.common.compiler cimport noinline_void, popcount
from fastlsh._kernels.text._texts cimport code_unit
from fastlsh._kernels.text.polynomials cimport load_bytes
from fastlsh._kernels.text.source cimport (
    ALPHANUMERIC, ASCII_ALPHANUMERIC, BLOCK, KIND_OF_WORDS, UNICODE_WORDS, WITH_EMPTY, Source,
)
from fastlsh._kernels.text.unicode_data cimport (
    IS_ANY_MARK, IS_APART, IS_WORD, properties_of,
)

cdef enum:
    CHUNK = 64              # code units whose whitespace makes one mask
    EDGES = BLOCK           # beginnings and ends of words that are found before they are used
    ROOM_FOR_EDGES = EDGES + 2 * CHUNK + 8

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


cdef inline code_unit is_no_word(code_unit c) noexcept nogil:
    # Whether c is none of a-z, A-Z, 0-9 and _.
    return not (
        (<code_unit> ((c | 0x20) - 97) <= 25) | (<code_unit> (c - 48) <= 9) | (c == 95)
    )


cdef inline uint64_t bits_of(const uint8_t* flag) noexcept nogil:
    cdef uint64_t mask = 0
    cdef Py_ssize_t i
    for i in range(8):
        # The multiplication gathers the lowest bits of eight bytes in the uppermost.
        mask |= (load_bytes(flag + 8 * i) * <uint64_t> 0x0102040810204080 >> 56) << (8 * i)
    return mask


cdef noinline_void mask_spaces(const code_unit* text, uint64_t* mask) noexcept nogil:
    # Of CHUNK code units: bit i tells whether unit i splits words.
    cdef code_unit wide[CHUNK]
    cdef uint8_t flag[CHUNK]
    cdef Py_ssize_t i
    for i in range(CHUNK):                      # in two loops, for compilers to make vectors of
        wide[i] = splits(text[i])
    for i in range(CHUNK):
        flag[i] = <uint8_t> wide[i]
    mask[0] = bits_of(flag)


cdef noinline_void mask_others(const code_unit* text, uint64_t* mask) noexcept nogil:
    # The same where words are of ASCII letters, digits and underscores.
    cdef code_unit wide[CHUNK]
    cdef uint8_t flag[CHUNK]
    cdef Py_ssize_t i
    for i in range(CHUNK):
        wide[i] = is_no_word(text[i])
    for i in range(CHUNK):
        flag[i] = <uint8_t> wide[i]
    mask[0] = bits_of(flag)


cdef noinline_void mask_unicode(const code_unit* text, uint64_t* mask) noexcept nogil:
    # And of all letters, numbers and underscores.
    cdef uint8_t flag[CHUNK]
    cdef code_unit seen = 0
    cdef Py_ssize_t i
    for i in range(CHUNK):
        seen |= text[i]
    if seen < 128:
        mask_others(text, mask)
        return
    for i in range(CHUNK):
        flag[i] = not properties_of(text[i]) & IS_WORD
    mask[0] = bits_of(flag)


cdef noinline_void mask_scripts(
    Source* s, const code_unit* text, uint64_t* mask, uint64_t* joints
) noexcept nogil:
    # And of all letters, marks, numbers and underscores; bit i of `joints` tells whether one word
    # ends and another one begins before unit i, as letters that are written apart are words.
    cdef code_unit seen = 0
    cdef uint64_t others = 0
    cdef uint64_t marks = 0
    cdef uint64_t letters = 0
    cdef uint64_t apart, behind
    cdef uint32_t properties
    cdef Py_ssize_t i
    for i in range(CHUNK):
        seen |= text[i]
    if seen < 128:
        mask_others(text, &others)
    else:
        for i in range(CHUNK):
            properties = properties_of(text[i])
            others |= <uint64_t> (not properties & (IS_WORD | IS_ANY_MARK)) << i
            marks |= <uint64_t> (properties & IS_ANY_MARK != 0) << i
            letters |= <uint64_t> (properties & IS_APART != 0) << i
    # The sum clears the runs of marks that begin right behind such a letter.
    behind = (letters << 1 | s.apart) & marks
    apart = letters | (marks & ~(marks + behind))
    joints[0] = ~(others | others << 1 | (not s.inside))
    joints[0] &= letters | (~marks & (apart << 1 | s.apart))
    mask[0] = others
    s.apart = apart >> 63


cdef void mask_chunk(
    Source* s, const code_unit* text, uint64_t* mask, uint64_t* joints
) noexcept nogil:
    # Behind the text there is whitespace.
    cdef code_unit last[CHUNK]
    cdef Py_ssize_t left = s.length - s.position
    cdef Py_ssize_t i
    text += s.position
    if left < CHUNK:
        for i in range(CHUNK):
            last[i] = 32
        for i in range(left):
            last[i] = text[i]
        text = last
    if s.plan.unit & KIND_OF_WORDS == UNICODE_WORDS:
        mask_scripts(s, text, mask, joints)
    elif s.plan.unit & KIND_OF_WORDS == ALPHANUMERIC:
        mask_unicode(text, mask)
    elif s.plan.unit & KIND_OF_WORDS == ASCII_ALPHANUMERIC:
        mask_others(text, mask)
    else:
        mask_spaces(text, mask)


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


cdef Py_ssize_t write_joints(
    uint64_t bits, uint64_t joints, Py_ssize_t base, Py_ssize_t* place
) noexcept nogil:
    # The same, those of `joints` twice: a word ends there, and one begins.
    cdef Py_ssize_t n = 0
    bits |= joints
    while bits:
        place[n] = base + lowest_bit(bits)
        place[n + 1] = place[n]
        n += 1 + (joints >> lowest_bit(bits) & 1)
        bits &= bits - 1
    return n


cdef Py_ssize_t find_words(Source* s, const code_unit* text, Py_ssize_t* edge) noexcept nogil:
    # Writes where words begin and end, in turn; returns how many words.
    cdef Py_ssize_t n = 0
    cdef uint64_t spaces = 0
    cdef uint64_t joints = 0
    cdef uint64_t changes
    if s.plan.unit & WITH_EMPTY:
        return find_all_words(s, text, edge)
    if s.inside:
        edge[0] = s.begin                       # of the word that was not finished before
        n = 1
    while n < EDGES and s.position <= s.length:
        mask_chunk(s, text, &spaces, &joints)
        changes = spaces ^ (spaces << 1 | (not s.inside))
        s.inside = not spaces >> 63
        if joints:
            n += write_joints(changes, joints, s.position, edge + n)
        else:
            n += write_places(changes, s.position, edge + n)
        s.position += CHUNK
    if s.inside:
        s.begin = edge[n - 1]
    return n // 2


cdef Py_ssize_t find_all_words(
    Source* s, const code_unit* text, Py_ssize_t* edge
) noexcept nogil:
    # Empty ones, too: every code point that splits ends a word, and so does the text.
    cdef Py_ssize_t n = 1
    cdef Py_ssize_t left
    cdef uint64_t spaces = 0
    cdef uint64_t joints = 0
    if s.length == 0:
        return 0
    edge[0] = s.begin
    while n < EDGES and s.position <= s.length:
        mask_chunk(s, text, &spaces, &joints)
        left = s.length - s.position
        if left < CHUNK:
            spaces &= (<uint64_t> 2 << left) - 1
        while spaces:
            edge[n] = s.position + lowest_bit(spaces)
            edge[n + 1] = edge[n] + 1
            spaces &= spaces - 1
            n += 2
        s.position += CHUNK
    s.begin = edge[n - 1]
    return n // 2
