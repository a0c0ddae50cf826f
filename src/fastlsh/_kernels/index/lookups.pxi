# Querying the tables, adding documents, and compacting them.
# With tables.pxi, walks.pxi and answers.pxi.

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove, memset

from fastlsh._kernels.common.debug cimport check
from fastlsh._kernels.common.prefetch cimport AHEAD
from fastlsh._kernels.index.tables cimport (
    Answer, Answers, Desk, Question, Sweep, Tables, Walk,
)


cdef enum:
    DONE = 0
    FULL = 1                    # no room for the answers of a document
    PAUSE = 2                   # the budget of this call is spent


cdef int answer_one(
    const Tables* t, const Question* question, const uint32_t* heads, Answers* answers
) noexcept nogil:
    cdef Walk walk
    cdef Answer answer
    cdef Answer* heap = answers.out + answers.end
    cdef Py_ssize_t d = answers.first
    cdef Py_ssize_t most = min(answers.room - answers.end, answers.limit)
    cdef Py_ssize_t n = 0
    cdef uint32_t c
    if answers.walking:
        walk = answers.walk
        n = answers.found
    else:
        walk.spent = answers.walk.spent
        start_walk(&walk, t, question.signatures + d * t.k, heads)
    c = next_candidate(&walk, t)
    while c != NO_CHAIN and c != PAUSED:
        answer.similarity = similarity_to(t, question, d, c, &walk.spent)
        answer.number = c
        if answer.similarity >= 0.0:
            if n == most and most < answers.limit:
                return FULL
            offer(heap, &n, most, answer)
            # Of equally similar documents, earlier ones come first: later ones can be skipped.
            if n == answers.limit and heap.similarity >= 1.0:
                walk.bound = <uint32_t> heap.number
        c = next_candidate(&walk, t)
    answers.walking = c == PAUSED
    if c == PAUSED:
        answers.walk = walk
        answers.found = n
        return PAUSE
    answers.walk.spent = walk.spent
    check(n <= most)
    best_first(heap, n)
    answers.counts[0] = n
    answers.end += n
    return DONE


cdef int answer_some(
    const Tables* t, const Question* question, Py_ssize_t last, Desk* desk, Answers* answers
) noexcept nogil:
    cdef Py_ssize_t i
    cdef int state
    answers.walk.spent.budget = WORK
    while answers.first < last:
        if answers.place == answers.held:
            if answers.walk.spent.budget <= 0:
                return PAUSE
            answers.place = 0
            answers.held = min(desk.room, last - answers.first)
            put_tags(t, question.signatures + answers.first * t.k, answers.held, True, desk)
            find_heads(t, answers.held, desk)
            answers.walk.spent.budget -= answers.held * t.count
        i = answers.place
        if i + 8 < answers.held and desk.filled[i + 8]:
            fetch_links(t, desk.tags + (i + 8) * t.count)
        if i + 4 < answers.held and desk.filled[i + 4]:
            fetch_rows(t, desk.tags + (i + 4) * t.count)
        answers.counts[0] = 0
        if desk.filled[i]:
            state = answer_one(t, question, desk.tags + i * t.count, answers)
            if state != DONE:
                return state
        answers.counts += 1
        answers.place += 1
        answers.first += 1
    return DONE


cdef void take_in(Tables* t, const Question* question, Py_ssize_t d) noexcept nogil:
    # Copies a document behind the last one; queries do not find it yet.
    cdef Py_ssize_t n = t.n
    cdef int64_t words
    memcpy(t.signatures + n * t.k, question.signatures + d * t.k, t.k * sizeof(uint32_t))
    t.live[n] = 0
    if t.offsets != NULL:
        words = question.offsets[d + 1] - question.offsets[d]
        check(0 <= words <= t.total - t.offsets[n])
        if words:
            memcpy(
                t.hashes + t.offsets[n], question.hashes + question.offsets[d],
                words * sizeof(uint64_t),
            )
        t.offsets[n + 1] = t.offsets[n] + words
        if t.longest >= 0:
            t.longest = max(t.longest, words)
    t.n = n + 1


cdef bint append_all(
    Tables* t, const Question* question, Py_ssize_t first, Py_ssize_t last, Desk* desk
) noexcept nogil:
    # False: the tables are damaged.
    cdef Py_ssize_t n = t.n
    cdef Py_ssize_t d
    for d in range(first, last):
        take_in(t, question, d)
    return link_documents(t, n, t.n, desk)


cdef Py_ssize_t sets_within(const Tables* t) noexcept nogil:
    # The number of documents before the first whose set lies outside of the hashes; all documents,
    # if there are no sets. Nothing behind the last document is read.
    cdef Py_ssize_t d
    if t.offsets != NULL:
        for d in range(t.n):
            if not 0 <= t.offsets[d] <= t.offsets[d + 1] <= t.total:
                return d
    return t.n


cdef enum:
    MOVING = 1
    EMPTYING = 2
    LINKING = 3


cdef void move_some(Tables* t, Sweep* sweep) noexcept nogil:
    cdef Py_ssize_t d, words
    cdef int64_t start
    cdef int64_t budget = 4 * WORK
    while sweep.next < t.n and budget > 0:
        d = sweep.next
        sweep.next += 1
        budget -= 1
        if not t.live[d]:
            continue
        if d != sweep.kept:
            memcpy(
                t.signatures + sweep.kept * t.k, t.signatures + d * t.k, t.k * sizeof(uint32_t)
            )
            budget -= t.k
        if t.offsets != NULL:
            start = t.offsets[d]
            words = t.offsets[d + 1] - start
            if words and start != sweep.end:
                memmove(t.hashes + sweep.end, t.hashes + start, words * sizeof(uint64_t))
                budget -= words
            check(sweep.kept <= d and sweep.end <= start)
            # Read before it is written: kept <= d.
            t.offsets[sweep.kept] = sweep.end
            sweep.end += words
        sweep.kept += 1
    if sweep.next < t.n:
        return
    if t.offsets != NULL:
        t.offsets[sweep.kept] = sweep.end
    memset(t.live, 1, sweep.kept)
    t.n = 0
    sweep.next = 0
    sweep.phase = EMPTYING


cdef void sweep_some(Tables* t, Sweep* sweep) noexcept nogil:
    cdef Py_ssize_t last
    if sweep.phase == MOVING:
        move_some(t, sweep)
    elif sweep.phase == EMPTYING:
        memset(t.bands[sweep.next].slots, 0, t.bands[sweep.next].size * sizeof(uint64_t))
        t.bands[sweep.next].used = 0
        sweep.next += 1
        if sweep.next == t.count:
            sweep.phase = LINKING
    else:
        last = min(sweep.kept, t.n + max(<Py_ssize_t> WORK // t.count, <Py_ssize_t> AHEAD))
        sweep.damaged |= not link_documents(t, t.n, last, &sweep.desk)
        if last == sweep.kept:
            sweep.phase = 0
