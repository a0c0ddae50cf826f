# The set of a document's shingle hashes, as a sorted array without repetitions.
# With words.pxi.

from libc.stdint cimport int64_t, uint16_t, uint64_t
from libc.string cimport memcpy, memmove, memset

from fastlsh._kernels.common.compiler cimport noinline_void
from fastlsh._kernels.sets.sets cimport RECENT, SORT_LIMIT, Workbench
from fastlsh._kernels.text._texts cimport Span
from fastlsh._kernels.text.source cimport BLOCK, Hashing, Source


cdef Py_ssize_t sort_small(
    uint64_t* values, Py_ssize_t n, int skip, Workbench* bench
) noexcept nogil:
    # All values agree in their `skip` leading bits. Returns the number of distinct ones.
    # The hashes are evenly spread: counting by the leading bits of each, with two counters for
    # a hash, puts nearly all in place, and an insertion sort has few left to move.
    cdef int bits = 1
    cdef Py_ssize_t count = 1
    cdef Py_ssize_t i, k
    cdef uint64_t value, last
    cdef uint16_t total = 0
    cdef uint16_t here
    while (<Py_ssize_t> 1 << bits) < n + n // 2:
        bits += 1
    memset(bench.place, 0, (<size_t> 1 << bits) * sizeof(uint16_t))
    for i in range(n):
        bench.place[(values[i] << skip) >> (64 - bits)] += 1
    for i in range(<Py_ssize_t> 1 << bits):
        here = bench.place[i]
        bench.place[i] = total
        total += here
    for i in range(n):
        value = values[i]
        k = (value << skip) >> (64 - bits)
        bench.values[bench.place[k]] = value
        bench.place[k] += 1
    last = bench.values[0]
    values[0] = last
    for i in range(1, n):
        value = bench.values[i]
        if value >= last:                       # most are; equal ones are not counted
            values[count] = value
            count += value != last
            last = value
            continue
        k = count
        while k > 0 and values[k - 1] > value:
            k -= 1
        if k > 0 and values[k - 1] == value:
            continue
        memmove(values + k + 1, values + k, (count - k) * sizeof(uint64_t))
        values[k] = value
        count += 1
    return count


cdef Py_ssize_t sort_unique(
    uint64_t* values, Py_ssize_t n, int skip, Workbench* bench
) noexcept nogil:
    # Splits by the next eight bits, in place, until a part is small.
    cdef Py_ssize_t start[257]
    cdef Py_ssize_t free[256]
    cdef Py_ssize_t part, i, m
    cdef Py_ssize_t count = 0
    cdef uint64_t value, other
    cdef int digit
    if skip == 64 or n < 2:                     # all bits agree
        return min(n, 1)
    if n <= SORT_LIMIT:
        return sort_small(values, n, skip, bench)
    memset(start, 0, sizeof(start))
    for i in range(n):
        start[((values[i] << skip) >> 56) + 1] += 1
    for part in range(256):
        start[part + 1] += start[part]
        free[part] = start[part]
    for part in range(256):
        while free[part] < start[part + 1]:
            value = values[free[part]]
            digit = <int> ((value << skip) >> 56)
            if digit != part:
                other = values[free[digit]]
                values[free[digit]] = value
                values[free[part]] = other
            free[digit] += 1
    for part in range(256):
        m = start[part + 1] - start[part]
        if m:
            m = sort_unique(values + start[part], m, skip + 8, bench)
            for i in range(m):
                values[count + i] = values[start[part] + i]
            count += m
    return count


cdef noinline_void append_unseen(
    const uint64_t* values, Py_ssize_t n, uint64_t* recent, Py_ssize_t slots, uint64_t** end
) noexcept nogil:
    # Half of a text's shingles repeat, mostly what was seen not long ago: leaving those out here
    # costs a tenth of sorting them. Not all are found.
    cdef uint64_t* out = end[0]
    cdef Py_ssize_t i, slot
    cdef uint64_t value
    for i in range(n):
        value = values[i]
        slot = value & (slots - 1)
        out[0] = value
        out += recent[slot] != value
        recent[slot] = value
    end[0] = out


cdef Py_ssize_t collect(
    Source* s, uint64_t* out, Py_ssize_t room, uint64_t* recent
) noexcept nogil:
    # Writes the shingle hashes in order; returns their number, or -1 if there are more than there
    # is room for. With `recent`, uint64[RECENT], many of those that repeat are left out.
    cdef uint64_t block[BLOCK]
    cdef uint64_t* end = out
    cdef Py_ssize_t slots = 64
    cdef Py_ssize_t i, n
    if recent != NULL:
        while slots < RECENT and slots < room:
            slots *= 2
        for i in range(slots):
            recent[i] = ~<uint64_t> i           # a value that does not belong there
    while True:
        n = s.next(s, block)
        if n == 0:
            return end - out
        if n > room - (end - out):
            return -1
        if recent != NULL:
            append_unseen(block, n, recent, slots, &end)
        else:
            memcpy(end, block, n * sizeof(uint64_t))
            end += n


cdef Py_ssize_t write_set(
    Source* s, uint64_t* out, Py_ssize_t room, bint thinned, Workbench* bench
) noexcept nogil:
    # Returns how many hashes there are, or -1 if there is no room for them: sorted; in the order of
    # the windows with `thinned`, or without a workbench, and then with all repetitions.
    cdef Py_ssize_t n
    if bench == NULL:
        return collect(s, out, room, NULL)
    n = collect(s, out, room, bench.recent)
    return n if thinned or n < 0 else sort_unique(out, n, 0, bench)


cdef Py_ssize_t sets_of_texts(
    const Span* at, Py_ssize_t n, const Hashing* plan, uint64_t* window, uint64_t* out,
    const int64_t* start, int64_t* count, bint thinned, Workbench* bench
) noexcept nogil:
    # Returns how many documents are done: a document without enough room is the last.
    cdef Source source
    cdef Py_ssize_t i
    for i in range(n):
        open_text(&source, plan, at + i, window)
        count[i] = write_set(&source, out + start[i], start[i + 1] - start[i], thinned, bench)
        if count[i] < 0:
            return i
    return n


cdef Py_ssize_t sets_of_tokens(
    const uint64_t* tokens, const int64_t* offsets, Py_ssize_t n, const Hashing* plan,
    uint64_t* window, uint64_t* out, const int64_t* start, int64_t* count, bint thinned,
    Workbench* bench
) noexcept nogil:
    cdef Source source
    cdef Py_ssize_t i
    for i in range(n):
        open_tokens(&source, plan, tokens + offsets[i], offsets[i + 1] - offsets[i], window)
        count[i] = write_set(&source, out + start[i], start[i + 1] - start[i], thinned, bench)
        if count[i] < 0:
            return i
    return n
