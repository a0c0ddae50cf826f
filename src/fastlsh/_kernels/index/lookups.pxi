# Asking the tables, and making them anew without what was removed.
# With tables.pxi, walks.pxi and answers.pxi.

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove, memset

from fastlsh._kernels.common.prefetch cimport AHEAD
from fastlsh._kernels.index.tables cimport Answer, Answers, Desk, Question, Tables, Walk


cdef bint answer_one(
    const Tables* t, const Question* question, Py_ssize_t d, const uint32_t* heads,
    Answers* answers, int64_t* count
) noexcept nogil:
    # False: there is no room for its answers.
    cdef Walk walk
    cdef Answer answer
    cdef Answer* heap = answers.out + answers.end
    cdef Py_ssize_t most = min(answers.room - answers.end, answers.limit)
    cdef Py_ssize_t n = 0
    cdef uint32_t c
    memset(&walk, 0, sizeof(Walk))
    start_walk(&walk, t, question.signatures + d * t.k, heads)
    c = next_candidate(&walk, t)
    while c != NO_CHAIN:
        answer.similarity = similarity_to(t, question, d, c, &walk)
        answer.number = c
        if answer.similarity >= 0.0:
            if n == most and most < answers.limit:
                return False
            offer(heap, &n, most, answer)
            # Of equally similar documents the earlier come first: later ones are not wanted.
            if n == answers.limit and heap.similarity >= 1.0:
                walk.bound = <uint32_t> heap.number
        c = next_candidate(&walk, t)
    best_first(heap, n)
    count[0] = n
    answers.end += n
    answers.dead += walk.dead
    answers.damaged |= walk.damaged
    return True


cdef Py_ssize_t answer_all(
    const Tables* t, const Question* question, Py_ssize_t first, Py_ssize_t last, Desk* desk,
    Answers* answers
) noexcept nogil:
    # Returns the first document that is not done.
    cdef Py_ssize_t n, i
    cdef int64_t* count = answers.counts
    while first < last:
        n = min(desk.room, last - first)
        put_tags(t, question.signatures + first * t.k, n, desk)
        find_heads(t, n, desk)
        for i in range(n):
            count[0] = 0
            if i + 8 < n and desk.filled[i + 8]:
                fetch_links(t, desk.tags + (i + 8) * t.count)
            if i + 4 < n and desk.filled[i + 4]:
                fetch_rows(t, desk.tags + (i + 4) * t.count)
            if desk.filled[i] and not answer_one(
                t, question, first + i, desk.tags + i * t.count, answers, count
            ):
                return first + i
            count += 1
        first += n
    return last


cdef bint is_known(
    const Tables* t, const Question* question, Py_ssize_t d, const uint32_t* tags,
    uint32_t* heads, int64_t* dead, bint* damaged
) noexcept nogil:
    # Whether a document in the tables reaches the threshold.
    cdef Walk walk
    cdef Py_ssize_t b
    cdef uint32_t c
    cdef bint found = False
    memset(&walk, 0, sizeof(Walk))
    for b in range(t.count):
        heads[b] = head_of(t, b, tags[b])
    start_walk(&walk, t, question.signatures + d * t.k, heads)
    c = next_candidate(&walk, t)
    while c != NO_CHAIN and not found:
        found = similarity_to(t, question, d, c, &walk) >= 0.0
        if not found:
            c = next_candidate(&walk, t)
    dead[0] += walk.dead
    damaged[0] |= walk.damaged
    return found


cdef void take_in(Tables* t, const Question* question, Py_ssize_t d) noexcept nogil:
    # Copies a document behind the last one; the caller saw to it that there is room.
    cdef Py_ssize_t n = t.n
    cdef int64_t words
    memmove(t.signatures + n * t.k, question.signatures + d * t.k, t.k * sizeof(uint32_t))
    t.live[n] = 1
    if t.offsets != NULL:
        words = question.offsets[d + 1] - question.offsets[d]
        if words:
            memmove(
                t.hashes + t.offsets[n], question.hashes + question.offsets[d],
                words * sizeof(uint64_t),
            )
        t.offsets[n + 1] = t.offsets[n] + words
    t.n = n + 1


cdef void insert_new(
    Tables* t, const Question* question, Py_ssize_t first, Py_ssize_t last, Desk* desk,
    uint32_t* heads, uint8_t* fresh, int64_t* dead, bint* damaged
) noexcept nogil:
    # In order; fresh[d] says whether document d was new. An empty one is.
    cdef Py_ssize_t n, i, b
    while first < last:
        n = min(<Py_ssize_t> AHEAD, last - first)
        put_tags(t, question.signatures + first * t.k, n, desk)
        for i in range(n):
            for b in range(t.count if desk.filled[i] else 0):
                fetch_slot(t, desk, i, b)
        for i in range(n):
            fresh[first + i] = not (desk.filled[i] and is_known(
                t, question, first + i, desk.tags + i * t.count, heads, dead, damaged
            ))
            if not fresh[first + i]:
                continue
            take_in(t, question, first + i)
            for b in range(t.count if desk.filled[i] else 0):
                damaged[0] |= not append_to_chain(
                    &t.bands[b], desk.tags[i * t.count + b], <uint32_t> (t.n - 1)
                )
        first += n


cdef Py_ssize_t sets_within(const Tables* t) noexcept nogil:
    # How many documents have sets that lie in the hashes, up to the first that has not: all, if
    # there are no sets. What lies behind the last document is not looked at.
    cdef Py_ssize_t d
    if t.offsets != NULL:
        for d in range(t.n):
            if not 0 <= t.offsets[d] <= t.offsets[d + 1] <= t.total:
                return d
    return t.n


cdef Py_ssize_t drop_dead(Tables* t) noexcept nogil:
    # Moves what is alive together and empties the tables; returns how many documents are left.
    cdef Py_ssize_t d, b, words
    cdef Py_ssize_t n = 0
    cdef int64_t end = 0
    cdef int64_t start
    for d in range(t.n):
        if not t.live[d]:
            continue
        if d != n:
            memcpy(t.signatures + n * t.k, t.signatures + d * t.k, t.k * sizeof(uint32_t))
        if t.offsets != NULL:
            start = t.offsets[d]
            words = t.offsets[d + 1] - start
            if words and start != end:
                memmove(t.hashes + end, t.hashes + start, words * sizeof(uint64_t))
            # Read before it is written: n <= d.
            t.offsets[n] = end
            end += words
        n += 1
    if t.offsets != NULL:
        t.offsets[n] = end
    memset(t.live, 1, n)
    for b in range(t.count):
        memset(t.bands[b].slots, 0, t.bands[b].size * sizeof(uint64_t))
        t.bands[b].used[0] = 0
    t.n = 0
    return n
