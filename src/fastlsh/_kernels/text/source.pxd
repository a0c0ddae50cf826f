# A Source yields the 64-bit shingle hashes of one document, a block at a time.

from libc.stdint cimport uint32_t, uint64_t

from fastlsh._kernels.common.hash_table cimport HashTable, number_of_hash
from fastlsh._kernels.common.mixing cimport (
    CHARACTER_BASE, WORD_BASE, Mixer, mix_code_point, public_mixer,
)
from fastlsh._kernels.text.keyed cimport Keyed

cdef enum:
    BLOCK = 512         # shingle hashes in a block: they stay in the L1 cache until used
    STEP = 128          # the share of each of the four interleaved streams
    # Units:
    CHARACTERS = 0
    WORDS = 1                   # cut at whitespace
    ALPHANUMERIC = 2            # words of letters, numbers and underscores
    ASCII_ALPHANUMERIC = 3      # of those in ASCII
    WITH_EMPTY = 4              # with the last two: two separators in a row enclose a word
    TOKEN_IDS = 8               # numbers, each a word of its decimal digits
    UNICODE_WORDS = 16          # of letters, marks, numbers and underscores, some letters apart
    KIND_OF_WORDS = 19

ctypedef fused element:         # a ready hash
    uint32_t
    uint64_t

cdef struct HashList:
    HashTable table             # of words before they are finished, or of shingles; spread
    bint keeps                  # what is in it stays; or goes

cdef struct Hashing:
    # What does not change from document to document.
    int unit
    Py_ssize_t size
    Mixer mixer                 # finishes the hashes of words and shingles
    const Keyed* keyed          # what a key changes; NULL: there is none, and so it is
    const HashList* words       # which words are left out; NULL: none
    const HashList* ignored     # which shingles belong to no document; NULL: none
    uint64_t power              # CHARACTER_BASE or WORD_BASE to the power size - 1
    uint64_t entering[256]      # each Latin-1 code point, mixed
    uint64_t leaving[256]       # the same times power

cdef struct Source:
    Py_ssize_t (*next)(Source*, uint64_t*) noexcept nogil
    Py_ssize_t (*next_all)(Source*, uint64_t*) noexcept nogil   # also the ignored shingles
    const Hashing* plan
    const void* text
    int kind
    Py_ssize_t length           # code points
    # characters: four streams, each with its own part of the shingles
    Py_ssize_t steps            # left for every stream
    Py_ssize_t tail             # left for the last stream when the others are through
    Py_ssize_t at[4]
    uint64_t state[4]
    # words and tokens: one stream
    const uint64_t* tokens      # their polynomials
    Py_ssize_t position         # of the next chunk or token
    bint inside                 # the chunk before ended within a word
    bint apart                  # and that word is a letter that is written apart
    Py_ssize_t begin            # of that word
    Py_ssize_t roomy            # of words that end here or later, SHORT units before may be read
    Py_ssize_t words
    uint64_t latest             # shingle, before it was finished, once there was one
    bint begun
    uint64_t* window            # word hashes, at least the last `size`: room for twice as many
    Py_ssize_t filled           # and a block, of which so many are taken


cdef inline uint64_t spread(uint64_t h) noexcept nogil:
    # Another number for each hash, whose leading bits depend on all of its bits.
    return h * <uint64_t> 0x9E3779B97F4A7C15


cdef inline bint has_hash(const HashList* hashes, uint64_t h) noexcept nogil:
    return number_of_hash(&hashes.table, spread(h)) != 0


cdef inline Py_ssize_t room_for_window(Py_ssize_t size, Py_ssize_t longest) noexcept nogil:
    # Twice the size: what is kept is moved to the front when as much is done with.
    return 2 * min(size, longest + 1) + BLOCK


cdef inline void make_plan(Hashing* plan, int unit, Py_ssize_t size) noexcept nogil:
    cdef uint64_t base = CHARACTER_BASE if unit == CHARACTERS else WORD_BASE
    cdef Py_ssize_t exponent = size - 1
    cdef int c
    plan.unit = unit
    plan.size = size
    plan.mixer = public_mixer()
    plan.keyed = NULL
    plan.words = NULL
    plan.ignored = NULL
    plan.power = 1
    while exponent:
        if exponent & 1:
            plan.power *= base
        base *= base
        exponent >>= 1
    for c in range(256):
        plan.entering[c] = mix_code_point(c)
        plan.leaving[c] = plan.entering[c] * plan.power
