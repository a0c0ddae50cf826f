# Words and tokens as the units of passages: hashes of them, by which passages are found, and
# numbers, by which they are compared.

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp

from fastlsh._kernels.common.checks cimport (
    Memory, check_apart, check_offsets, memory_of, memory_of_rows,
)
from fastlsh._kernels.common.mixing cimport CHARACTER_BASE, fmix64
from fastlsh._kernels.text._texts cimport Span, Spans, code_unit
from fastlsh._kernels.text.ids cimport id_at


cdef struct Word:
    uint64_t hash
    const void* text
    Py_ssize_t length
    int kind


cdef struct WordTable:
    Word* words                 # the first one of each number
    Py_ssize_t count
    Py_ssize_t room
    uint32_t* slots             # 1 + the number of a word, by its hash; 0: free
    size_t mask
    bint collided               # whether different words have the same hash


def word_hashes(
    Spans texts not None, const int64_t[::1] starts not None,
    const int64_t[:, ::1] bounds not None, uint64_t bits, uint64_t[::1] out not None,
):
    """Hash the words of texts: equal words have the same hash, in any text.

    Parameters
    ----------
    texts
        Of characters.
    starts
        int64 (n + 1,): where the words of each text begin in `bounds`.
    bounds
        int64 (m, 2): where each word begins and ends in its text.
    bits
        Which bits of a hash are used; fewer of them make different words collide.
    out
        uint64 (m,), written.
    """
    cdef Memory parts[3]
    check_words(texts, starts, bounds, out.shape[0])
    parts[0], parts[1] = memory_of(out, "out"), memory_of(starts, "starts")
    parts[2] = memory_of_rows(bounds, "bounds")
    check_apart(parts, 3, 1, "out, starts and bounds")
    if out.shape[0] == 0:
        return
    with nogil:
        hash_all(texts.at, texts.n, &starts[0], &bounds[0, 0], bits, &out[0])


def word_numbers(
    Spans texts not None, const int64_t[::1] starts not None,
    const int64_t[:, ::1] bounds not None, const uint64_t[::1] hashes not None,
    uint32_t[::1] out not None,
):
    """Number the words of texts, from 0 on: equal words, and only these, have the same number.

    Parameters
    ----------
    texts, starts, bounds
        As in `word_hashes`.
    hashes
        uint64 (m,): as it has written them.
    out
        uint32 (m,), written.

    Returns
    -------
    bool
        Whether different words have different hashes.
    """
    cdef WordTable table
    cdef Memory parts[4]
    cdef bint done
    check_words(texts, starts, bounds, out.shape[0])
    if hashes.shape[0] != out.shape[0]:
        raise ValueError(f"hashes has {hashes.shape[0]} elements, expected {out.shape[0]}")
    parts[0], parts[1] = memory_of(out, "out"), memory_of(starts, "starts")
    parts[2], parts[3] = memory_of_rows(bounds, "bounds"), memory_of(hashes, "hashes")
    check_apart(parts, 4, 1, "out, starts, bounds and hashes")
    if out.shape[0] == 0:
        return True
    table.count, table.room, table.mask, table.collided = 0, 1 << 10, (1 << 11) - 1, False
    table.words = <Word*> malloc(<size_t> table.room * sizeof(Word))
    table.slots = <uint32_t*> calloc(table.mask + 1, sizeof(uint32_t))
    try:
        if table.words == NULL or table.slots == NULL:
            raise MemoryError()
        with nogil:
            done = number_all(
                &table, texts.at, texts.n, &starts[0], &bounds[0, 0], &hashes[0], &out[0]
            )
        if not done:
            raise MemoryError()
    finally:
        free(table.words)
        free(table.slots)
    return not table.collided


cdef int check_words(
    Spans texts, const int64_t[::1] starts, const int64_t[:, ::1] bounds, Py_ssize_t n
) except -1:
    cdef Py_ssize_t i, j
    if texts.tokens:
        raise TypeError("token ids are no texts")
    if bounds.shape[1] != 2 or bounds.shape[0] != n:
        raise ValueError("bounds need two columns, and out as many elements as there are words")
    memory_of_rows(bounds, "bounds")
    check_offsets(starts, texts.n, n, "starts")
    for i in range(texts.n):
        for j in range(starts[i], starts[i + 1]):
            if not 0 <= bounds[j, 0] <= bounds[j, 1] <= texts.at[i].length:
                raise IndexError(
                    f"word {j} has the code points {bounds[j, 0]} to {bounds[j, 1]} of "
                    f"{texts.at[i].length}"
                )
    return 0


cdef void hash_all(
    const Span* at, Py_ssize_t n, const int64_t* starts, const int64_t* bounds, uint64_t bits,
    uint64_t* out
) noexcept nogil:
    cdef Py_ssize_t i, j
    for i in range(n):
        for j in range(starts[i], starts[i + 1]):
            out[j] = hash_of(at + i, bounds[2 * j], bounds[2 * j + 1]) & bits


cdef inline uint64_t hash_of(const Span* text, int64_t begin, int64_t end) noexcept nogil:
    # The same one however wide the code points are stored.
    if text.kind == 1:
        return hash_units(<const uint8_t*> text.text + begin, end - begin)
    if text.kind == 2:
        return hash_units(<const uint16_t*> text.text + begin, end - begin)
    return hash_units(<const uint32_t*> text.text + begin, end - begin)


cdef inline uint64_t hash_units(const code_unit* text, Py_ssize_t n) noexcept nogil:
    # A polynomial, by fours: a shorter chain of multiplications.
    cdef uint64_t base = CHARACTER_BASE
    cdef uint64_t square = base * base
    cdef uint64_t h = <uint64_t> n
    cdef Py_ssize_t i = 0
    while i + 4 <= n:
        h = h * (square * square) + (
            (text[i] * base + text[i + 1]) * square + (text[i + 2] * base + text[i + 3])
        )
        i += 4
    while i < n:
        h = h * base + text[i]
        i += 1
    return fmix64(h)


cdef bint number_all(
    WordTable* table, const Span* at, Py_ssize_t n, const int64_t* starts, const int64_t* bounds,
    const uint64_t* hashes, uint32_t* out
) noexcept nogil:
    # Returns whether there was enough memory.
    cdef Word word
    cdef Py_ssize_t i, j, number
    for i in range(n):
        for j in range(starts[i], starts[i + 1]):
            word.hash = hashes[j]
            word.text = <const char*> at[i].text + bounds[2 * j] * at[i].kind
            word.length, word.kind = bounds[2 * j + 1] - bounds[2 * j], at[i].kind
            number = number_of_word(table, &word)
            if number < 0:
                return False
            out[j] = <uint32_t> number
    return True


cdef inline Py_ssize_t number_of_word(WordTable* table, const Word* word) noexcept nogil:
    # Returns -1 if there is not enough memory.
    cdef size_t slot = fmix64(word.hash) & table.mask
    cdef const Word* other
    while table.slots[slot]:
        other = &table.words[table.slots[slot] - 1]
        if other.hash == word.hash:
            if are_equal_words(word, other):
                return table.slots[slot] - 1
            table.collided = True
        slot = (slot + 1) & table.mask
    if table.count == table.room:
        if not enlarge(table):
            return -1
        slot = free_slot(table, word.hash)
    table.words[table.count] = word[0]
    table.count += 1
    table.slots[slot] = <uint32_t> table.count
    return table.count - 1


cdef bint are_equal_words(const Word* a, const Word* b) noexcept nogil:
    cdef Py_ssize_t i
    if a.length != b.length:
        return False
    if a.kind == b.kind:
        return memcmp(a.text, b.text, <size_t> (a.length * a.kind)) == 0
    for i in range(a.length):
        if id_at(a.text, a.kind, i) != id_at(b.text, b.kind, i):
            return False
    return True


cdef size_t free_slot(const WordTable* table, uint64_t h) noexcept nogil:
    cdef size_t slot = fmix64(h) & table.mask
    while table.slots[slot]:
        slot = (slot + 1) & table.mask
    return slot


cdef bint enlarge(WordTable* table) noexcept nogil:
    # Twice the room; half of the slots stay free. Numbers have 32 bits.
    cdef size_t room = 2 * <size_t> table.room
    cdef Word* words
    cdef uint32_t* slots
    cdef Py_ssize_t i
    if room > <size_t> 1 << 31:
        return False
    words = <Word*> realloc(table.words, room * sizeof(Word))
    if words == NULL:
        return False
    table.words, table.room = words, <Py_ssize_t> room
    slots = <uint32_t*> calloc(2 * room, sizeof(uint32_t))
    if slots == NULL:
        return False
    free(table.slots)
    table.slots, table.mask = slots, 2 * room - 1
    for i in range(table.count):
        table.slots[free_slot(table, table.words[i].hash)] = <uint32_t> (i + 1)
    return True
