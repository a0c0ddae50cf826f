# The keep-or-drop step of an index: each document against those before it, then into the tables.
# What keep.pxi does with documents that are linked beforehand, to the same limits.
# While the limit cannot leave out a candidate, which of them is compared first does not matter,
# only whether one is alike: so each is compared once it is found, and most copies are known by
# the first. Where the first that is alike is asked for, all are found before. With lookups.pxi,
# slices.pxi, tables.pxi and walks.pxi.

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport qsort

from fastlsh._kernels.common.debug cimport check
from fastlsh._kernels.common.prefetch cimport AHEAD
from fastlsh._kernels.greedy.keeper cimport REMEMBERED
from fastlsh._kernels.greedy.ranks cimport Candidates, choose, compare_int32
from fastlsh._kernels.index.tables cimport Desk, Question, Stream, Tables
from fastlsh._kernels.loops._chosen cimport loops


cdef enum:
    KNOWN = 0
    FRESH = 1
    UNSURE = 2                  # fresh, but not compared with every candidate


cdef bint takes_all(const Tables* t, const Stream* stream) noexcept nogil:
    # Whether all candidates are compared, however many there are in the bands to come, and in any
    # order.
    cdef Py_ssize_t most = stream.n
    cdef Py_ssize_t b
    for b in range(stream.band, t.count):
        if stream.heads[b] != NO_CHAIN and stream.heads[b] != DAMAGED:
            most += REMEMBERED if stream.heads[b] & MORE else 1
    return stream.matches == NULL and most <= stream.candidates.limit


cdef inline bint is_gathered(
    const Tables* t, const uint32_t* row, uint32_t d, const Stream* stream
) noexcept nogil:
    # From a band before, where a full bucket may have left it out.
    cdef Py_ssize_t i
    if not in_earlier_bucket(t, row, t.signatures + d * t.k, stream.band):
        return False
    if not stream.limited:
        return True
    for i in range(stream.n):
        if stream.candidates.found[i] == <int32_t> d:
            return True
    return False


cdef void gather_band(
    const Tables* t, const uint32_t* row, uint32_t head, Stream* stream
) noexcept nogil:
    # The first documents of a bucket, as candidates: one more than REMEMBERED tells of more.
    cdef Py_ssize_t b = stream.band
    cdef int left = REMEMBERED
    cdef uint32_t d = head & ~MORE
    cdef uint32_t before
    if head == NO_CHAIN or head == DAMAGED:
        stream.spent.damaged |= head == DAMAGED
        return
    while True:
        stream.spent.budget -= 1
        if not t.live[d] and d < stream.own:
            stream.spent.dead += 1
        elif in_bucket(t, row, t.signatures + d * t.k, b):
            if left == 0:
                stream.limited = True
                return
            left -= 1
            check(stream.n < REMEMBERED * t.count and d < <uint64_t> t.n)
            if not (stream.eager and is_gathered(t, row, d, stream)):
                stream.candidates.found[stream.n] = <int32_t> d
                stream.n += 1
        if not head & MORE:
            return
        before = d
        d = t.bands[b].links[d]
        if d <= before or d >= <uint64_t> t.n:      # the last links to the first
            stream.spent.damaged |= d >= <uint64_t> t.n
            return


cdef void count_shared(Stream* stream) noexcept nogil:
    # Each candidate once, ascending, and in how many buckets it was met.
    cdef Candidates* candidates = &stream.candidates
    cdef int32_t* found = candidates.found
    cdef Py_ssize_t i
    cdef Py_ssize_t n = 0
    if stream.n > 1:
        qsort(found, stream.n, sizeof(int32_t), compare_int32)
    for i in range(stream.n):
        if n and found[n - 1] == found[i]:
            candidates.shared[n - 1] += 1
        else:
            found[n] = found[i]
            candidates.shared[n] = 1
            n += 1
    stream.n = n
    for i in range(1, n):
        check(found[i - 1] < found[i] and candidates.shared[i] <= stream.band)


cdef void choose_among(const Tables* t, const uint32_t* row, Stream* stream) noexcept nogil:
    cdef Candidates* candidates = &stream.candidates
    cdef Py_ssize_t i, equal
    count_shared(stream)
    if stream.n > candidates.limit:
        stream.limited = True
        stream.spent.budget -= stream.n * (t.minima >> 4)
        for i in range(stream.n):
            loops.count_equal(row, t.signatures + candidates.found[i] * t.k, t.minima, &equal)
            candidates.ranks[i].equal = <int32_t> equal
    stream.n = choose(candidates, stream.n)
    check(stream.n <= candidates.limit)


cdef uint32_t first_known(
    const Tables* t, const Question* question, const uint32_t* tags, Stream* stream
) noexcept nogil:
    # The first candidate that reaches the threshold; NO_CHAIN or PAUSED.
    cdef const uint32_t* row = question.signatures + stream.first * t.k
    cdef Py_ssize_t b
    cdef uint32_t c
    if stream.band == 0 and stream.n == 0:
        for b in range(t.count):
            stream.heads[b] = head_of(t, b, tags[b])
        stream.eager = takes_all(t, stream)
    while True:
        while stream.eager and stream.compared < stream.n:
            if stream.spent.budget <= 0:
                return PAUSED
            c = <uint32_t> stream.candidates.found[stream.compared]
            stream.compared += 1
            if similarity_to(t, question, stream.first, c, &stream.spent) >= 0.0:
                return c
        if stream.band == t.count:
            return NO_CHAIN
        if stream.spent.budget <= 0:
            return PAUSED
        gather_band(t, row, stream.heads[stream.band], stream)
        stream.band += 1
        if not stream.eager and stream.band == t.count:
            choose_among(t, row, stream)
            stream.eager = True
        elif not stream.eager and takes_all(t, stream):
            count_shared(stream)
            stream.eager = True


cdef void append_one(
    Tables* t, const Question* question, const uint32_t* tags, bint filled, Stream* stream
) noexcept nogil:
    cdef Py_ssize_t b
    cdef uint32_t tag
    take_in(t, question, stream.first)
    for b in range(t.count):
        t.bands[b].links[t.n - 1] = 0
        if filled:
            tag = tags[b]
            if t.slices != NULL:        # it is found by another tag than those that it asks for
                tag = tag_in(t, question.signatures + stream.first * t.k, b, False)
            stream.spent.damaged |= not append_to_chain(&t.bands[b], tag, <uint32_t> (t.n - 1))


cdef bint insert_some(
    Tables* t, const Question* question, Py_ssize_t last, Desk* desk, Stream* stream
) noexcept nogil:
    # In order; `fresh` says what became of each document. An empty one is fresh. Returns whether
    # all are done.
    cdef Py_ssize_t i, b
    cdef uint32_t known
    cdef const uint32_t* tags
    stream.spent.budget = WORK
    while stream.first < last:
        if stream.place == stream.held:
            if stream.spent.budget <= 0:
                return False
            stream.place = 0
            stream.held = min(<Py_ssize_t> AHEAD, last - stream.first)
            put_tags(t, question.signatures + stream.first * t.k, stream.held, True, desk)
            for i in range(stream.held):
                for b in range(t.count if desk.filled[i] else 0):
                    fetch_slot(t, desk, i, b)
            stream.spent.budget -= stream.held * t.count
        i = stream.place
        tags = desk.tags + i * t.count
        known = first_known(t, question, tags, stream) if desk.filled[i] else NO_CHAIN
        if known == PAUSED:
            return False
        if known == NO_CHAIN:
            append_one(t, question, tags, desk.filled[i], stream)
            stream.fresh[stream.first] = UNSURE if stream.limited else FRESH
        else:
            stream.fresh[stream.first] = KNOWN
        if stream.matches != NULL:
            stream.matches[stream.first] = -1 if known == NO_CHAIN else <int64_t> known
        stream.band = stream.n = stream.compared = 0
        stream.limited = False
        stream.place += 1
        stream.first += 1
    return True
