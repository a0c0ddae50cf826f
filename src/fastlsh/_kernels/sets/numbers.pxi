# Dense numbers for the hashes of documents that are compared with each other.
#
# Equal hashes get the same number, each new hash the next one. Documents that are alike share most
# of their numbers, and these lie close together: as bits, a set takes a few words, and common
# elements are counted 64 at a time (numbered.pxi).
# With bitmap.pxi.

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

import threading

from fastlsh._kernels.common.checks cimport Memory, check_apart, check_starts, memory_of
from fastlsh._kernels.common.compiler cimport noinline_void
from fastlsh._kernels.common.prefetch cimport prefetch

cdef enum:
    FIRST_ROOM = 1 << 12
    HASHES_AHEAD = 32           # slots are fetched for so many hashes before their turn

cdef struct Table:
    uint64_t* hashes            # by number; the number 0 is not given
    uint32_t* slots             # numbers, by the leading bits of their hash; 0: free
    int bits                    # 2^bits slots, of which at most three quarters are taken
    int most_bits               # for so many there is memory
    Py_ssize_t used             # the next number
    Py_ssize_t room             # for so many numbers


cdef inline Py_ssize_t slot_of(const Table* t, uint64_t value) noexcept nogil:
    cdef Py_ssize_t slot = value >> (64 - t.bits)
    while t.slots[slot] and t.hashes[t.slots[slot]] != value:
        slot = (slot + 1) & ((<Py_ssize_t> 1 << t.bits) - 1)
    return slot


cdef noinline_void replace(Table* t, uint64_t* values, Py_ssize_t n) noexcept nogil:
    # There is room for n more numbers.
    cdef Py_ssize_t i, slot
    cdef uint32_t number
    for i in range(n):
        if i + HASHES_AHEAD < n:
            prefetch(t.slots + (values[i + HASHES_AHEAD] >> (64 - t.bits)))
        slot = slot_of(t, values[i])
        number = t.slots[slot]
        if number == 0:
            number = <uint32_t> t.used
            t.hashes[number] = values[i]
            t.slots[slot] = number
            t.used += 1
        values[i] = number


cdef bint make_room(Table* t, Py_ssize_t more) noexcept nogil:
    # For so many more numbers; False: there is no memory, and nothing has changed.
    cdef Py_ssize_t wanted = t.used + more
    cdef Py_ssize_t number, room
    cdef int bits = t.bits
    cdef void* memory
    if wanted > t.room:
        room = max(wanted, t.room + t.room // 2)
        memory = realloc(t.hashes, room * sizeof(uint64_t))
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
            prefetch(t.slots + (t.hashes[number + HASHES_AHEAD] >> (64 - bits)))
        t.slots[slot_of(t, t.hashes[number])] = <uint32_t> number
    return True


cdef bint replace_lists(
    Table* t, uint64_t* lists, const int64_t* start, const int64_t* count, Py_ssize_t n
) noexcept nogil:
    # False: there is no memory; nothing has changed.
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t i
    for i in range(n):
        total += count[i]
    if t.used + total >= <Py_ssize_t> 1 << 32 or not make_room(t, total):
        return False
    for i in range(n):
        replace(t, lists + start[i], count[i])
    return True


cdef inline void forget(Table* t) noexcept nogil:
    t.used = 1
    t.bits = 0                  # so few slots as the next numbers need


cdef bint replace_families(
    Table* t, uint64_t* lists, const int64_t* start, const int64_t* count,
    const int64_t* begins, Py_ssize_t families
) noexcept nogil:
    # The table of a small family stays in the cache. False: there is no memory.
    cdef Py_ssize_t i, first
    for i in range(families):
        first = begins[i]
        forget(t)
        if not replace_lists(t, lists, start + first, count + first, begins[i + 1] - first):
            return False
    return True


cdef int check_lists(
    const uint64_t[::1] lists, const int64_t[::1] start, const int64_t[::1] count
) except -1:
    cdef Py_ssize_t i
    memory_of(lists, "lists")
    memory_of(start, "start")
    memory_of(count, "count")
    if start.shape[0] < count.shape[0]:
        raise ValueError("start and count need one element per list")
    for i in range(count.shape[0]):
        if not 0 <= start[i] <= lists.shape[0] or not 0 <= count[i] <= lists.shape[0] - start[i]:
            raise IndexError(f"list {i} lies outside the array")
    return 0


cdef class Numbers:
    """The numbers that have been given, from 1 on. Threads take turns."""

    cdef Table table
    cdef object lock

    def __cinit__(self):
        self.lock = threading.Lock()
        self.table.used = 1
        if not make_room(&self.table, FIRST_ROOM):
            raise MemoryError()

    def __dealloc__(self):
        free(self.table.hashes)
        free(self.table.slots)

    def __len__(self):
        return self.table.used - 1

    def clear(self):
        """Forget all numbers."""
        with self.lock:
            forget(&self.table)

    def replace(
        self, uint64_t[::1] lists not None, const int64_t[::1] start not None,
        const int64_t[::1] count not None, const int64_t[::1] families=None,
    ):
        """Put numbers in the place of hashes.

        Parameters
        ----------
        lists
            uint64, written.
        start, count
            int64 (n,): place and size of each list. `start` may have more elements.
        families
            int64 (m + 1,), from 0 to n: where families begin and end. Before each of them all
            numbers are forgotten. None: those that have been given stay.
        """
        cdef Memory parts[4]
        cdef Py_ssize_t read = 3
        cdef Py_ssize_t n = count.shape[0]
        cdef bint done
        check_lists(lists, start, count)
        parts[0] = memory_of(lists, "lists")
        parts[1] = memory_of(start, "start")
        parts[2] = memory_of(count, "count")
        if families is not None:
            check_starts(families, n, "families")
            parts[3] = memory_of(families, "families")
            read = 4
        check_apart(parts, read, 1, "lists, start, count and families")
        if n == 0 or lists.shape[0] == 0:
            return
        with self.lock:
            with nogil:
                if families is None:
                    done = replace_lists(&self.table, &lists[0], &start[0], &count[0], n)
                else:
                    done = replace_families(
                        &self.table, &lists[0], &start[0], &count[0], &families[0],
                        families.shape[0] - 1,
                    )
        if not done:
            raise MemoryError("no room for so many numbers")


def pack_numbers(
    const uint64_t[::1] lists not None, const int64_t[::1] start not None,
    const int64_t[::1] count not None, uint64_t[::1] out not None, int64_t[::1] place not None,
    int64_t[::1] size not None,
):
    """Write sets of numbers as words, one after the other; return where the last one ends.

    A set is the number of its words; then, for each of them in ascending order, its place and its
    64 bits: bit b of word w stands for the number 64 * w + b.

    Parameters
    ----------
    lists, start, count
        As `Numbers.replace` leaves them; repetitions do no harm.
    out
        uint64; 1 + 2 * count[i] elements for each set are enough.
    place, size
        int64 (n,), written: where each set begins, and how many elements it has.
    """
    cdef Memory parts[6]
    cdef Py_ssize_t n = count.shape[0]
    cdef Py_ssize_t end = 0
    cdef uint64_t all_bits
    cdef Bitmap map
    check_lists(lists, start, count)
    if place.shape[0] != n or size.shape[0] != n:
        raise ValueError("place and size need one element per list")
    parts[0] = memory_of(out, "out")
    parts[1] = memory_of(place, "place")
    parts[2] = memory_of(size, "size")
    parts[3] = memory_of(lists, "lists")
    parts[4] = memory_of(start, "start")
    parts[5] = memory_of(count, "count")
    check_apart(parts, 6, 3, "out, place, size and what is read")
    if n == 0:
        return 0
    cdef const uint64_t* first = &lists[0] if lists.shape[0] else NULL
    cdef uint64_t* to = &out[0] if out.shape[0] else NULL
    with nogil:
        all_bits = bits_of_lists(first, &start[0], &count[0], n)
    if all_bits >> 32:
        raise ValueError("numbers must be below 2^32")
    map.most = (all_bits >> 18) + 1
    map.words = <uint64_t*> calloc((64 * 64 + 64 + 1) * map.most, sizeof(uint64_t))
    if map.words == NULL:
        raise MemoryError()
    map.taken = map.words + 64 * 64 * map.most
    map.taken_taken = map.taken + 64 * map.most
    with nogil:
        end = pack_lists(
            &map, first, &start[0], &count[0], n, to, out.shape[0], &place[0], &size[0]
        )
    free(map.words)
    if end > out.shape[0]:
        raise ValueError(f"the sets need {end} words, out has {out.shape[0]}")
    return end
