# The sets of the texts that an index keeps. They are made when they are compared.

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcmp

from fastlsh._kernels.common.debug cimport check
from fastlsh._kernels.index.tables cimport SETS_HELD, Question, Reader, Spent
from fastlsh._kernels.loops._chosen cimport loops
from fastlsh._kernels.text._texts cimport Span
from fastlsh._kernels.text.packed cimport read_head
from fastlsh._kernels.text.source cimport TOKEN_IDS

cdef enum:
    HASHING = 64                # steps for a word of eight characters, as the budgets count


cdef int64_t longest_words(
    const int64_t* offsets, Py_ssize_t first, Py_ssize_t last, int64_t total
) noexcept nogil:
    # Texts that lie outside of the words are skipped; a comparison will report them.
    cdef Py_ssize_t d
    cdef int64_t longest = 0
    for d in range(first, last):
        if 0 <= offsets[d] <= offsets[d + 1] <= total:
            longest = max(longest, offsets[d + 1] - offsets[d])
    return longest


cdef inline Py_ssize_t most_hashes(Py_ssize_t words) noexcept nogil:
    # The most hashes of a text of so many words: one for each character, and one more.
    return 8 * words + 1


cdef void forget_sets(Reader* reader) noexcept nogil:
    cdef Py_ssize_t i
    reader.document = -1
    reader.end = most_hashes(reader.longest)
    for i in range(SETS_HELD):
        reader.number[i] = -1


cdef Py_ssize_t make_set(
    Reader* reader, const uint64_t* words, Py_ssize_t n, uint64_t* out, Spent* spent
) noexcept nogil:
    # Returns the number of hashes; -1 if the tables are damaged.
    cdef Span span
    cdef int64_t[2] start = [0, most_hashes(n)]
    cdef int64_t count
    if n == 0:
        return 0
    if n > reader.longest or not read_head(words, n, reader.plan.unit == TOKEN_IDS, &span):
        spent.damaged = True
        return -1
    spent.budget -= n * HASHING
    loops.sets_of_texts(
        &span, 1, reader.plan, reader.window, out, start, &count, False, reader.bench
    )
    spent.damaged |= count < 0
    return count


cdef Py_ssize_t hold_set(
    Reader* reader, uint32_t c, const uint64_t* words, Py_ssize_t n, Spent* spent
) noexcept nogil:
    # Makes the set of a document, unless it is held already. Returns its place; -1: damaged.
    cdef Py_ssize_t place = c & (SETS_HELD - 1)
    cdef Py_ssize_t document
    if reader.number[place] == c:
        return place
    if n > reader.longest:
        spent.damaged = True
        return -1
    if reader.room - reader.end < most_hashes(n):
        document = reader.document
        forget_sets(reader)
        reader.document = document
    check(reader.end + most_hashes(n) <= reader.room)
    reader.number[place] = -1
    reader.start[place] = reader.end
    reader.size[place] = make_set(reader, words, n, reader.sets + reader.end, spent)
    if reader.size[place] < 0:
        return -1
    reader.end += reader.size[place]
    reader.number[place] = c
    return place


cdef inline double similarity_of_sets(
    const Question* question, const uint64_t* a, Py_ssize_t na, const uint64_t* b, Py_ssize_t nb
) noexcept nogil:
    # Of the set that is asked about, a, to one in the tables; -1 where it is below the threshold.
    if question.contained:
        return loops.containment_of_sets(a, na, b, nb, question.threshold)
    return loops.jaccard_of_sets(a, na, b, nb, question.threshold)


cdef double similarity_of_texts(
    const Question* question, Py_ssize_t d, uint32_t c, const uint64_t* words, Py_ssize_t n,
    Spent* spent
) noexcept nogil:
    # Of the document d that is asked about, to document c in the tables with these words.
    cdef Reader* reader = question.reader
    cdef const uint64_t* asked = question.hashes + question.offsets[d]
    cdef Py_ssize_t m = question.offsets[d + 1] - question.offsets[d]
    cdef Py_ssize_t place
    spent.budget -= 1 + (n >> 3)
    if n == m and n and memcmp(asked, words, n * sizeof(uint64_t)) == 0:
        return 1.0                      # a candidate is not empty: it has a set, and this is it
    if reader.document != d:
        reader.document = -1
        reader.count = make_set(reader, asked, m, reader.sets, spent)
        if reader.count < 0:
            return -1.0
        reader.document = d
    place = hold_set(reader, c, words, n, spent)
    if place < 0:
        return -1.0
    spent.budget -= (reader.count + reader.size[place]) >> 2
    return similarity_of_sets(
        question, reader.sets, reader.count, reader.sets + reader.start[place], reader.size[place]
    )
