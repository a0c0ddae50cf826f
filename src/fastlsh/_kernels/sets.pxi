# The set of a document's shingle hashes, as a sorted array without repetitions.

cdef enum:
    TABLE_LIMIT = 1 << 15                       # hashes sorted by one table
    TABLE_SLOTS = (1 << 16) + (1 << 15)         # its slots, with room to run over the end

# The hashes are evenly spread, so the leading bits of a hash tell its place: a table with
# linear probing that keeps its entries in order sorts and removes repetitions in one pass.
# Zero marks a free slot; the hash 0 is kept aside.

cdef Py_ssize_t sort_by_table(
    uint64_t* values, Py_ssize_t n, int skip, uint64_t* table
) noexcept nogil:
    # All values agree in their `skip` leading bits. Returns the number of distinct ones.
    cdef int bits = 4
    cdef Py_ssize_t slots, at, i
    cdef Py_ssize_t count = 0
    cdef uint64_t value, other
    cdef bint zero = False
    while (<Py_ssize_t> 1 << bits) < 2 * n:
        bits += 1
    slots = (<Py_ssize_t> 1 << bits) + n
    memset(table, 0, slots * sizeof(uint64_t))
    for i in range(n):
        value = values[i]
        if value == 0:
            zero = True
            continue
        at = <Py_ssize_t> ((value << skip) >> (64 - bits))
        while table[at] != 0 and table[at] < value:
            at += 1
        while table[at] != value:               # insert, moving what is greater
            other = table[at]
            table[at] = value
            if other == 0:
                break
            value = other
            at += 1
    if zero:
        values[0] = 0
        count = 1
    for i in range(slots):
        values[count] = table[i]
        count += table[i] != 0
        if count == n:                          # never writes beyond the values
            break
    return count


cdef Py_ssize_t sort_unique(
    uint64_t* values, Py_ssize_t n, int skip, uint64_t* table
) noexcept nogil:
    # Splits by the next eight bits, in place, until a part fits the table.
    cdef Py_ssize_t start[257]
    cdef Py_ssize_t free[256]
    cdef Py_ssize_t part, i, m
    cdef Py_ssize_t count = 0
    cdef uint64_t value, other
    cdef int digit
    if skip == 64 or n < 2:                     # all bits agree
        return min(n, 1)
    if n <= TABLE_LIMIT:
        return sort_by_table(values, n, skip, table)
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
            m = sort_unique(values + start[part], m, skip + 8, table)
            for i in range(m):
                values[count + i] = values[start[part] + i]
            count += m
    return count


cdef Py_ssize_t collect(Source* s, uint64_t* out, Py_ssize_t room) noexcept nogil:
    # Writes every shingle hash in order; returns their number, at most `room`.
    cdef uint64_t block[BLOCK]
    cdef Py_ssize_t n
    cdef Py_ssize_t total = 0
    while True:
        n = s.next(s, block)
        n = min(n, room - total)
        if n == 0:
            return total
        memcpy(out + total, block, n * sizeof(uint64_t))
        total += n
