# Look-ups in the hash tables of a KeyBuckets, without a Python object.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from fastlsh._kernels.common.prefetch cimport prefetch
from fastlsh._kernels.compat.key_table cimport CHUNK, CHUNK_BITS, Table

cdef uint32_t DEAD = 0xFFFFFFFF             # the mark of a removed row


cdef inline uint32_t* record_of(const Table* t, Py_ssize_t row) noexcept nogil:
    return t.chunks[row >> CHUNK_BITS] + (row & (CHUNK - 1)) * t.record


cdef inline int32_t* next_of(const Table* t, Py_ssize_t row) noexcept nogil:
    return <int32_t*> (record_of(t, row) + t.bands * t.width)


cdef inline uint32_t* key_hash_of(const Table* t, Py_ssize_t row) noexcept nogil:
    return record_of(t, row) + t.record - 2


cdef inline uint32_t* mark_of(const Table* t, Py_ssize_t row) noexcept nogil:
    return record_of(t, row) + t.record - 1


cdef inline uint64_t hash_words(const uint32_t* words, Py_ssize_t n) noexcept nogil:
    cdef uint64_t h = <uint64_t> n
    cdef uint64_t pair
    cdef Py_ssize_t i = 0
    while i + 1 < n:
        memcpy(&pair, words + i, 8)
        h = (h ^ pair) * <uint64_t> 0x9E3779B97F4A7C15
        h ^= h >> 32
        i += 2
    if i < n:
        h = (h ^ words[i]) * <uint64_t> 0x9E3779B97F4A7C15
        h ^= h >> 32
    return h * <uint64_t> 0xD6E8FEB86659FD93


cdef inline uint64_t hash_key(uint32_t h) noexcept nogil:
    # Python hashes integers to themselves.
    cdef uint64_t x = (h + <uint64_t> 1) * <uint64_t> 0x9E3779B97F4A7C15
    return (x ^ (x >> 32)) * <uint64_t> 0xD6E8FEB86659FD93


cdef inline uint8_t tag_of(uint64_t h) noexcept nogil:
    return <uint8_t> ((h & 0x7F) | 0x80)


cdef inline size_t home_of(const Table* t, uint64_t h) noexcept nogil:
    return <size_t> (h >> (64 - t.bits))


cdef void hash_bands(Table* t, const uint32_t* words, Py_ssize_t bands) noexcept nogil:
    # Ahead of the look-ups, so that the caches fetch for all bands at once.
    cdef Py_ssize_t b
    cdef size_t at
    for b in range(bands):
        t.hashes[b] = hash_words(words + b * t.width, t.width)
        at = (<size_t> b << t.bits) + home_of(t, t.hashes[b])
        prefetch(t.tags + at)
        prefetch(t.heads + at)


cdef size_t find_slot(
    const Table* t, Py_ssize_t band, const uint32_t* words, uint64_t h
) noexcept nogil:
    # The slot of a bucket in `tags` and `heads`, or the free one where it belongs.
    cdef size_t base = <size_t> band << t.bits
    cdef size_t mask = (<size_t> 1 << t.bits) - 1
    cdef size_t slot = home_of(t, h)
    cdef uint8_t tag = tag_of(h)
    cdef size_t width = t.width * sizeof(uint32_t)
    while t.tags[base + slot]:
        if t.tags[base + slot] == tag and memcmp(
            record_of(t, t.heads[base + slot]) + band * t.width, words, width
        ) == 0:
            break
        slot = (slot + 1) & mask
    return base + slot


cdef void link_row(Table* t, int32_t row) noexcept nogil:
    # Enters a row into all tables.
    cdef const uint32_t* words = record_of(t, row)
    cdef int32_t* next_row = next_of(t, row)
    cdef uint64_t h
    cdef size_t slot, base, mask
    cdef Py_ssize_t b
    hash_bands(t, words, t.bands)
    for b in range(t.bands):
        slot = find_slot(t, b, words + b * t.width, t.hashes[b])
        next_row[b] = t.heads[slot] if t.tags[slot] else -1
        t.tags[slot] = tag_of(t.hashes[b])
        t.heads[slot] = row
    # Rows of one key lie one after the other in the order of their insertion.
    h = hash_key(key_hash_of(t, row)[0])
    base = <size_t> t.bands << t.bits
    mask = (<size_t> 1 << t.bits) - 1
    slot = home_of(t, h)
    while t.tags[base + slot]:
        slot = (slot + 1) & mask
    t.tags[base + slot] = tag_of(h)
    t.heads[base + slot] = row


cdef inline int32_t next_alive(Table* t, Py_ssize_t band, size_t slot, int32_t row) noexcept nogil:
    # The first row after `row` (-1: from the slot on) that is not removed, or -1. Removed ones on
    # the way are unlinked: each is met once. A bucket of removed rows alone keeps its head, by
    # whose words the slot is known.
    cdef int32_t* link = &t.heads[slot] if row < 0 else &next_of(t, row)[band]
    cdef int32_t following
    if row < 0 and not t.tags[slot]:
        return -1
    while link[0] >= 0 and mark_of(t, link[0])[0] == DEAD:
        following = next_of(t, link[0])[band]
        if row < 0 and following < 0:
            return -1
        link[0] = following
    return link[0]


cdef void start_query(Table* t) noexcept nogil:
    cdef Py_ssize_t row
    t.query += 1
    if t.query == DEAD:
        for row in range(t.n):
            if mark_of(t, row)[0] != DEAD:
                mark_of(t, row)[0] = 0
        t.query = 1


cdef Py_ssize_t drop_dead(Table* t) noexcept nogil:
    # Moves the living rows together, in order; the tables must be linked anew.
    cdef Py_ssize_t row
    cdef Py_ssize_t kept = 0
    for row in range(t.n):
        if mark_of(t, row)[0] != DEAD:
            if kept != row:
                memcpy(record_of(t, kept), record_of(t, row), t.record * sizeof(uint32_t))
            kept += 1
    t.n = kept
    return kept


cdef void link_all(Table* t) noexcept nogil:
    cdef Py_ssize_t row
    memset(t.tags, 0, <size_t> (t.bands + 1) << t.bits)
    for row in range(t.n):
        link_row(t, <int32_t> row)


cdef void read_signature(
    Table* t, const char* values, bint is_signed, Py_ssize_t bands
) noexcept nogil:
    # Writes the first bands into `words`, and into `fits` which of them these words give back.
    cdef Py_ssize_t b, i
    cdef uint32_t* words = t.words
    cdef uint64_t value, rest
    if not t.narrow:
        memcpy(words, values, bands * t.width * sizeof(uint32_t))
        memset(t.fits, 1, bands)
        return
    for b in range(bands):
        rest = 0
        for i in range(t.width):
            memcpy(&value, values, 8)
            values += 8
            words[i] = <uint32_t> value
            rest |= value ^ (<uint64_t> <int64_t> <int32_t> words[i] if is_signed else words[i])
        t.fits[b] = rest == 0
        words += t.width
