# An open-addressing hash table: a number, from 1 on, for each thing, found by a hash of 64 bits.
#
# Slots hold numbers, and the hashes stand beside them, by number. Whether equal hashes mean equal
# things is decided by the caller: `number_at` finds one number with the hash after the other.
# The leading bits of a hash choose its slot, so these must be spread evenly.

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from fastlsh._kernels.common.prefetch cimport prefetch

cdef enum:
    HASHES_AHEAD = 32           # slots are fetched for so many hashes before their turn

cdef struct HashTable:
    uint64_t* hashes            # by number; the number 0 is not given
    uint32_t* slots             # numbers; 0: free
    int bits                    # 2^bits slots, of which at most three quarters are taken
    int most_bits               # for so many there is memory
    Py_ssize_t used             # the next number
    Py_ssize_t room             # for so many numbers


cdef inline Py_ssize_t first_slot(const HashTable* t, uint64_t h) noexcept nogil:
    return <Py_ssize_t> (h >> (64 - t.bits))


cdef inline Py_ssize_t next_slot(const HashTable* t, Py_ssize_t slot) noexcept nogil:
    return (slot + 1) & ((<Py_ssize_t> 1 << t.bits) - 1)


cdef inline uint32_t number_at(const HashTable* t, uint64_t h, Py_ssize_t* slot) noexcept nogil:
    # The first number with this hash from a slot on, where `slot` stays; 0: none, and it is free.
    cdef Py_ssize_t i = slot[0]
    while t.slots[i] and t.hashes[t.slots[i]] != h:
        i = next_slot(t, i)
    slot[0] = i
    return t.slots[i]


cdef inline uint32_t number_of_hash(const HashTable* t, uint64_t h) noexcept nogil:
    # Where equal hashes mean equal things; 0: there is no number.
    cdef Py_ssize_t slot = first_slot(t, h)
    return number_at(t, h, &slot)


cdef inline void put_number(
    HashTable* t, uint64_t h, Py_ssize_t slot, Py_ssize_t number
) noexcept nogil:
    t.hashes[number] = h
    t.slots[slot] = <uint32_t> number


cdef inline uint32_t given_number(HashTable* t, uint64_t h) noexcept nogil:
    # The number of a thing, or a new one, for which there is room.
    cdef Py_ssize_t slot = first_slot(t, h)
    cdef uint32_t number = number_at(t, h, &slot)
    if number == 0:
        number = <uint32_t> t.used
        put_number(t, h, slot, number)
        t.used += 1
    return number


cdef inline uint32_t new_number(HashTable* t, uint64_t h) noexcept nogil:
    # For a thing that has none. 0: there is no memory.
    cdef Py_ssize_t slot
    if not make_room(t, 1):
        return 0
    slot = first_slot(t, h)
    while t.slots[slot]:
        slot = next_slot(t, slot)
    put_number(t, h, slot, t.used)
    t.used += 1
    return <uint32_t> (t.used - 1)


cdef inline bint make_room(HashTable* t, Py_ssize_t more) noexcept nogil:
    # For so many more numbers. False: there is no memory, or they have more than 32 bits, and
    # nothing has changed.
    cdef Py_ssize_t wanted = t.used + more
    cdef Py_ssize_t number, room, slot
    cdef int bits = t.bits
    cdef void* memory
    if wanted > <Py_ssize_t> 1 << 32:
        return False
    if wanted > t.room:
        room = max(wanted, t.room + t.room // 2)
        memory = realloc(t.hashes, <size_t> room * sizeof(uint64_t))
        if memory == NULL:
            return False
        t.hashes = <uint64_t*> memory
        t.room = room
    while 3 * (<Py_ssize_t> 1 << bits) < 4 * wanted:
        bits += 1
    if bits == t.bits:
        return True
    if bits > t.most_bits:
        memory = realloc(t.slots, (<size_t> 1 << bits) * sizeof(uint32_t))
        if memory == NULL:
            return False
        t.slots = <uint32_t*> memory
        t.most_bits = bits
    t.bits = bits
    memset(t.slots, 0, (<size_t> 1 << bits) * sizeof(uint32_t))
    for number in range(1, t.used):
        if number + HASHES_AHEAD < t.used:
            prefetch(t.slots + first_slot(t, t.hashes[number + HASHES_AHEAD]))
        slot = first_slot(t, t.hashes[number])
        while t.slots[slot]:
            slot = next_slot(t, slot)
        t.slots[slot] = <uint32_t> number
    return True


cdef inline void forget_numbers(HashTable* t) noexcept nogil:
    t.used = 1
    t.bits = 0                  # so few slots as the next numbers need


cdef inline bint make_table(HashTable* t, Py_ssize_t n) noexcept nogil:
    # With room for n numbers; False: there is no memory. `free_table` may be called in any case.
    memset(t, 0, sizeof(HashTable))
    t.used = 1
    return make_room(t, n)


cdef inline void free_table(HashTable* t) noexcept nogil:
    free(t.hashes)
    free(t.slots)
