# Hash tables of band keys, one for each band: open addressing, and chains of documents.
#
# A slot is 0 (empty) or tag << 32 | more << 31 | (number of a chain's last document + 1). The tag
# is the upper half of the key and decides on the place, too, so that a table grows without a look
# at the signatures. The documents of a tag are a chain in ascending order, closed to a ring: the
# last links to the first. While `more` is 0, the document is alone, and its link not set: most are,
# and the link would be one more place in memory to wait for. What two documents in a chain have
# in common is seen by comparing rows.
#
# A table may come from a file: each number in it is checked before it is used. Every walk ends,
# because a chain only ascends. With slices.pxi.

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from fastlsh._kernels.candidates.bandkeys cimport four_band_keys, is_empty_row
from fastlsh._kernels.common.debug cimport check
from fastlsh._kernels.common.prefetch cimport AHEAD, prefetch
from fastlsh._kernels.index.tables cimport Band, Desk, Tables

cdef enum:
    MOST_TOGETHER = 4096        # documents that are looked up in one band before the next
    TAGS_TOGETHER = 1 << 17
    WORK = 1 << 20              # steps between two looks for Ctrl-C

cdef uint32_t MORE = 0x80000000
cdef uint32_t NO_CHAIN = 0x7FFFFFFF     # no number of a document
cdef uint32_t PAUSED = 0xFFFFFFFE       # no number of a document: the walk will be continued
cdef uint32_t DAMAGED = 0xFFFFFFFF


cdef inline void put_tags_of(
    const Tables* t, const uint32_t* row, uint32_t* tags, bint asked
) noexcept nogil:
    cdef Py_ssize_t b = 0
    cdef Py_ssize_t i
    cdef uint64_t keys[4]
    while b + 4 <= t.count and t.slices == NULL:
        four_band_keys(row + b * t.rows, t.rows, b, keys, 1)
        for i in range(4):
            tags[b + i] = <uint32_t> (keys[i] >> 32)
        b += 4
    for b in range(b, t.count):
        tags[b] = tag_in(t, row, b, asked)


cdef inline uint64_t place_of(uint32_t tag, uint64_t size) noexcept nogil:
    return (<uint64_t> tag * size) >> 32


cdef inline uint32_t tail_of(const Band* band, uint32_t tag, Py_ssize_t n) noexcept nogil:
    cdef uint64_t at = place_of(tag, band.size)
    cdef uint64_t slot, probe
    cdef uint32_t tail
    for probe in range(band.size):
        slot = band.slots[at]
        if slot == 0:
            return NO_CHAIN
        if <uint32_t> (slot >> 32) == tag:
            tail = <uint32_t> slot - 1
            return tail if (tail & ~MORE) < <uint64_t> n else DAMAGED
        at += 1
        if at == band.size:
            at = 0
    return NO_CHAIN


cdef inline bint append_to_chain(Band* band, uint32_t tag, uint32_t d) noexcept nogil:
    # The caller guarantees an empty slot. False: the table is damaged.
    cdef uint64_t at = place_of(tag, band.size)
    cdef uint64_t slot, probe
    cdef uint32_t tail
    for probe in range(band.size):
        slot = band.slots[at]
        if slot == 0:
            band.used += 1
            check(band.used < <int64_t> band.size)      # a slot is empty, so each search ends
            band.slots[at] = <uint64_t> tag << 32 | (d + 1)
            return True
        if <uint32_t> (slot >> 32) == tag:
            tail = (<uint32_t> slot & ~MORE) - 1
            if tail >= d:
                return False
            band.links[d] = band.links[tail] if <uint32_t> slot & MORE else tail
            band.links[tail] = d
            band.slots[at] = <uint64_t> tag << 32 | MORE | (d + 1)
            return True
        at += 1
        if at == band.size:
            at = 0
    return False


cdef Py_ssize_t move_slots_to(
    const uint64_t* old, Py_ssize_t n, uint64_t* slots, Py_ssize_t size
) noexcept nogil:
    # Returns the number of slots moved; the caller checked that a slot stays empty.
    cdef Py_ssize_t i
    cdef Py_ssize_t moved = 0
    cdef uint64_t at
    for i in range(n):
        if old[i] == 0:
            continue
        at = place_of(<uint32_t> (old[i] >> 32), size)
        while slots[at] != 0:
            at += 1
            if at == <uint64_t> size:
                at = 0
        slots[at] = old[i]
        moved += 1
        check(moved < size)
    return moved


cdef Py_ssize_t desk_room(const Tables* t, Py_ssize_t documents) noexcept nogil:
    cdef Py_ssize_t most = min(<Py_ssize_t> MOST_TOGETHER, TAGS_TOGETHER // t.count)
    return min(documents, max(<Py_ssize_t> AHEAD, most))


cdef void put_tags(
    const Tables* t, const uint32_t* signatures, Py_ssize_t n, bint asked, Desk* desk
) noexcept nogil:
    cdef Py_ssize_t i
    cdef const uint32_t* row = signatures
    for i in range(n):
        desk.filled[i] = not is_empty_row(row, t.minima)
        if desk.filled[i]:
            put_tags_of(t, row, desk.tags + i * t.count, asked)
        row += t.k


cdef inline void fetch_slot(
    const Tables* t, const Desk* desk, Py_ssize_t i, Py_ssize_t b
) noexcept nogil:
    prefetch(
        &t.bands[b].slots[place_of(desk.tags[i * t.count + b], t.bands[b].size)]
    )


cdef inline uint32_t head_of(const Tables* t, Py_ssize_t b, uint32_t tag) noexcept nogil:
    # The first document of a chain, with MORE.
    cdef uint32_t d = tail_of(&t.bands[b], tag, t.n)
    if d & MORE and d != DAMAGED:
        d = t.bands[b].links[d & ~MORE]
        return d | MORE if d < <uint64_t> t.n else DAMAGED
    return d


cdef void find_heads(const Tables* t, Py_ssize_t n, Desk* desk) noexcept nogil:
    cdef Py_ssize_t i, b
    cdef uint32_t* tag
    for b in range(t.count):
        for i in range(n):
            if i + AHEAD < n and desk.filled[i + AHEAD]:
                fetch_slot(t, desk, i + AHEAD, b)
            if desk.filled[i]:
                tag = &desk.tags[i * t.count + b]
                tag[0] = head_of(t, b, tag[0])


cdef bint link_documents(
    Tables* t, Py_ssize_t first, Py_ssize_t last, Desk* desk
) noexcept nogil:
    # False: the tables are damaged.
    cdef Py_ssize_t n, i, b
    cdef bint sound = True
    while first < last:
        n = min(desk.room, last - first)
        put_tags(t, t.signatures + first * t.k, n, False, desk)
        for b in range(t.count):
            memset(t.bands[b].links + first, 0, n * sizeof(uint32_t))   # a file shows no old memory
            for i in range(n):
                if i + AHEAD < n and desk.filled[i + AHEAD]:
                    fetch_slot(t, desk, i + AHEAD, b)
                if desk.filled[i]:
                    sound &= append_to_chain(
                        &t.bands[b], desk.tags[i * t.count + b], <uint32_t> (first + i)
                    )
        first += n
    t.n = last
    return sound
