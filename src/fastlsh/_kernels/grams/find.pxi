# Grams of a table, found in texts: a filter lets nearly all others go, and the table the rest.
# With units.pxi.

import numpy as np

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int64_t, uint8_t, uint64_t

from fastlsh._kernels.common.checks cimport memory_of, memory_of_rows
from fastlsh._kernels.common.mixing cimport WORD_BASE, power_of
from fastlsh._kernels.common.prefetch cimport prefetch
from fastlsh._kernels.grams.finder cimport (
    WINDOWS, Filter, Finder, filter_bits, filter_word, finished, passes,
)
from fastlsh._kernels.text._plans cimport ShinglePlan
from fastlsh._kernels.text._texts cimport Span, Spans
from fastlsh._kernels.text.source cimport Plan, first_slot

cdef enum:
    BITS = 16               # of a filter, for each key


cdef struct GramRows:
    # Rows of (text, unit, number); what has no room is counted only.
    int64_t* rows
    Py_ssize_t room
    Py_ssize_t found


cdef class GramTable:
    """A table of grams, by their hashes; it never changes.

    Parameters
    ----------
    size
        Units of most grams.
    hashes
        uint64 (n,): different hashes of grams, as `hash_grams` makes them; none is 0.
    numbers
        int64 (n,): what each is called in the answers.
    is_shorter
        uint8 (n,): whether a gram of less than `size` units has this hash, and none of `size`.
    least
        Units of the shortest of them, at least 1 and at most `size`.
    shorter
        int64: how many units the shorter ones have, ascending.
    beginnings
        uint64: the hashes of their first `least` units.
    mask
        As in `hash_grams`.
    """

    cdef Finder finder
    cdef uint64_t* words
    cdef uint64_t* beginning_words
    cdef uint64_t* slots
    cdef int64_t* numbers
    cdef object owner

    def __cinit__(
        self, Py_ssize_t size, const uint64_t[::1] hashes not None,
        const int64_t[::1] numbers not None, const uint8_t[::1] is_shorter not None,
        Py_ssize_t least, const int64_t[::1] shorter not None,
        const uint64_t[::1] beginnings not None, uint64_t mask,
    ):
        cdef Py_ssize_t n = hashes.shape[0]
        cdef Py_ssize_t i
        cdef int bits = 1
        if not 1 <= least <= size:
            raise ValueError(f"least must be between 1 and {size}, got {least}")
        if numbers.shape[0] != n or is_shorter.shape[0] != n:
            raise ValueError("there must be as many numbers and flags as hashes")
        memory_of(hashes, "hashes")
        memory_of(numbers, "numbers")
        memory_of(beginnings, "beginnings")
        memory_of(shorter, "shorter")
        sizes = np.array(shorter, np.int64)
        for i in range(sizes.shape[0]):
            if not least <= sizes[i] < size or (i and sizes[i] <= sizes[i - 1]):
                raise ValueError(f"shorter must ascend from {least} to below {size}")
        cdef const int64_t[::1] own = sizes
        self.owner = sizes
        while (<Py_ssize_t> 1 << bits) < 2 * n:
            bits += 1
        self.words = new_filter(&self.finder.grams, n)
        self.beginning_words = new_filter(&self.finder.beginnings, beginnings.shape[0])
        self.slots = <uint64_t*> PyMem_Calloc(<size_t> 1 << bits, sizeof(uint64_t))
        self.numbers = <int64_t*> PyMem_Calloc(<size_t> 1 << bits, sizeof(int64_t))
        if self.slots == NULL or self.numbers == NULL:
            raise MemoryError()
        self.finder.size, self.finder.least = size, least
        self.finder.power = power_of(WORD_BASE, size - 1)
        self.finder.least_power = power_of(WORD_BASE, least - 1)
        self.finder.mask = mask
        self.finder.shorter = &own[0] if own.shape[0] else NULL
        self.finder.n_shorter = own.shape[0]
        self.finder.slots, self.finder.numbers = self.slots, self.numbers
        self.finder.shift = 64 - bits
        if n:
            put_all(
                &hashes[0], &numbers[0], &is_shorter[0], n, self.words, &self.finder.grams,
                self.slots, self.numbers, self.finder.shift,
            )
        for i in range(beginnings.shape[0]):
            put_key(self.beginning_words, &self.finder.beginnings, beginnings[i])

    def __dealloc__(self):
        PyMem_Free(self.words)
        PyMem_Free(self.beginning_words)
        PyMem_Free(self.slots)
        PyMem_Free(self.numbers)

    def find(
        self, Spans texts not None, int unit, int64_t[:, ::1] out not None,
        ShinglePlan prepared=None,
    ):
        """Find the grams in texts; return how many there are.

        Parameters
        ----------
        texts, unit, prepared
            As in `hash_grams`.
        out
            int64 (room, 3), written as far as it reaches: text, the first unit there, and the
            number of the gram. Grams with the same hash count as one.
        """
        cdef Plan own
        cdef GramRows rows
        cdef const Plan* plan = plan_of_units(&own, texts, unit, prepared)
        if out.shape[1] != 3:
            raise ValueError(f"out has {out.shape[1]} columns, expected 3")
        memory_of_rows(out, "out")
        cdef uint64_t[::1] units = room_for_units(texts, unit)
        rows.rows = &out[0, 0] if out.shape[0] else NULL
        rows.room, rows.found = out.shape[0], 0
        with nogil:
            find_all(&self.finder, plan, texts.at, texts.n, &units[0], &rows)
        return rows.found


cdef uint64_t* new_filter(Filter* keys, Py_ssize_t n) except NULL:
    cdef int bits = 1
    while (<Py_ssize_t> 64 << bits) < BITS * n:
        bits += 1
    cdef uint64_t* words = <uint64_t*> PyMem_Calloc(<size_t> 1 << bits, sizeof(uint64_t))
    if words == NULL:
        raise MemoryError()
    keys.words, keys.shift = words, 64 - bits
    return words


cdef inline void put_key(uint64_t* words, const Filter* keys, uint64_t h) noexcept nogil:
    words[filter_word(keys, h)] |= filter_bits(h)


cdef void put_all(
    const uint64_t* hashes, const int64_t* numbers, const uint8_t* is_shorter, Py_ssize_t n,
    uint64_t* words, const Filter* keys, uint64_t* slots, int64_t* slot_numbers, int shift
) noexcept nogil:
    cdef uint64_t last = (<uint64_t> 1 << (64 - shift)) - 1
    cdef uint64_t slot
    cdef Py_ssize_t i
    for i in range(n):
        if not is_shorter[i]:
            put_key(words, keys, hashes[i])
        slot = first_slot(hashes[i], shift)
        while slots[slot] and slots[slot] != hashes[i]:
            slot = (slot + 1) & last
        slots[slot], slot_numbers[slot] = hashes[i], numbers[i]


cdef void find_all(
    const Finder* finder, const Plan* plan, const Span* at, Py_ssize_t n, uint64_t* units,
    GramRows* rows
) noexcept nogil:
    cdef Py_ssize_t i, count
    for i in range(n):
        count = units_of(plan, at + i, units)
        if count >= finder.size:
            find_grams(finder, units, count - finder.size + 1, i, rows)
        if finder.n_shorter and count >= finder.least:
            find_shorter(finder, units, count, i, rows)


cdef Py_ssize_t roll_grams(
    const uint64_t* unit, Py_ssize_t size, uint64_t power, uint64_t mask, const Filter* keys,
    Py_ssize_t n, uint64_t* state, uint64_t* block
) noexcept nogil:
    # Hashes the next grams, and asks for their words of the filter.
    cdef uint64_t h = state[0]
    cdef Py_ssize_t i
    for i in range(n):
        h = h * WORD_BASE + unit[i + size - 1]
        block[i] = finished(h, size, mask)
        prefetch(keys.words + filter_word(keys, block[i]))
        h -= unit[i] * power
    state[0] = h
    return n


cdef inline uint64_t beginning(const uint64_t* unit, Py_ssize_t units) noexcept nogil:
    cdef uint64_t h = 0
    cdef Py_ssize_t i
    for i in range(units):
        h = h * WORD_BASE + unit[i]
    return h


cdef void find_grams(
    const Finder* finder, const uint64_t* unit, Py_ssize_t n, Py_ssize_t text, GramRows* rows
) noexcept nogil:
    cdef uint64_t block[WINDOWS]
    cdef uint64_t state = beginning(unit, finder.size - 1)
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t i, count
    while start < n:
        count = roll_grams(
            unit + start, finder.size, finder.power, finder.mask, &finder.grams,
            min(n - start, <Py_ssize_t> WINDOWS), &state, block,
        )
        for i in range(count):
            if passes(&finder.grams, block[i]):
                look_up(finder, block[i], text, start + i, rows)
        start += count


cdef void find_shorter(
    const Finder* finder, const uint64_t* unit, Py_ssize_t units, Py_ssize_t text, GramRows* rows
) noexcept nogil:
    # By their beginnings; then there are few places at which to try all their sizes.
    cdef uint64_t block[WINDOWS]
    cdef uint64_t state = beginning(unit, finder.least - 1)
    cdef uint64_t h
    cdef Py_ssize_t n = units - finder.least + 1
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t i, j, count, size
    while start < n:
        count = roll_grams(
            unit + start, finder.least, finder.least_power, finder.mask, &finder.beginnings,
            min(n - start, <Py_ssize_t> WINDOWS), &state, block,
        )
        for i in range(count):
            if not passes(&finder.beginnings, block[i]):
                continue
            h, size = 0, 0
            for j in range(finder.n_shorter):
                if start + i + finder.shorter[j] > units:
                    break
                while size < finder.shorter[j]:
                    h = h * WORD_BASE + unit[start + i + size]
                    size += 1
                look_up(finder, finished(h, size, finder.mask), text, start + i, rows)
        start += count


cdef void look_up(
    const Finder* finder, uint64_t h, Py_ssize_t text, Py_ssize_t place, GramRows* rows
) noexcept nogil:
    cdef uint64_t last = (<uint64_t> 1 << (64 - finder.shift)) - 1
    cdef uint64_t slot = first_slot(h, finder.shift)
    cdef int64_t* row
    while finder.slots[slot] and finder.slots[slot] != h:
        slot = (slot + 1) & last
    if not finder.slots[slot]:
        return
    if rows.found < rows.room:
        row = rows.rows + 3 * rows.found
        row[0], row[1], row[2] = text, place, finder.numbers[slot]
    rows.found += 1
