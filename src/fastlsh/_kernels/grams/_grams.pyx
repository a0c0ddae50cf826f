"""The n-grams of some texts, found in others: by a filter, then a table, then compared as text."""

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp

import numpy as np

from fastlsh._kernels.common.checks cimport (
    Memory, check_apart, check_starts, memory_of, memory_of_rows,
)
from fastlsh._kernels.common.mixing cimport UNITS, WORD_BASE, fmix64, mix_code_point, power_of
from fastlsh._kernels.common.prefetch cimport prefetch
from fastlsh._kernels.loops._chosen cimport loops
from fastlsh._kernels.text._plans cimport ShinglePlan, check_documents, longest_of, plan_of
from fastlsh._kernels.text._texts cimport Span, Spans, code_unit
from fastlsh._kernels.text.source cimport (
    CHARACTERS, TOKEN_IDS, UNICODE_WORDS, WITH_EMPTY, Plan, first_slot,
)


# ---- What finds n-grams: their hashes in a table, and a filter before it.

cdef enum:
    WINDOWS = 256           # n-grams whose words of the filter are fetched together


cdef struct Filter:
    const uint64_t* words   # of each key, two bits of one word
    int shift               # 64 - the binary logarithm of the number of words


cdef struct Finder:
    Py_ssize_t size         # units of an n-gram
    Py_ssize_t least        # units of the shortest gram
    uint64_t power          # WORD_BASE to the power size - 1
    uint64_t least_power
    uint64_t mask           # of a hash, these bits are used
    Filter grams            # of all n-grams of `size` units
    Filter beginnings       # of the first `least` units of shorter grams
    const int64_t* shorter  # the sizes of these, ascending
    Py_ssize_t n_shorter
    const uint64_t* slots   # hashes of all grams, open addressing; 0: free
    const int64_t* numbers
    int shift


cdef inline uint64_t finished(uint64_t h, Py_ssize_t units, uint64_t mask) noexcept nogil:
    h = fmix64(h + <uint64_t> units * UNITS) & mask
    return h if h else 1


cdef inline uint64_t gram_hash(
    const uint64_t* unit, Py_ssize_t units, uint64_t mask
) noexcept nogil:
    cdef uint64_t h = 0
    cdef Py_ssize_t i
    for i in range(units):
        h = h * WORD_BASE + unit[i]
    return finished(h, units, mask)


cdef inline uint64_t filter_bits(uint64_t h) noexcept nogil:
    return <uint64_t> 1 << (h & 63) | <uint64_t> 1 << (h >> 6 & 63)


cdef inline uint64_t filter_word(const Filter* keys, uint64_t h) noexcept nogil:
    return h * <uint64_t> 0x9E3779B97F4A7C15 >> keys.shift


cdef inline bint passes(const Filter* keys, uint64_t h) noexcept nogil:
    cdef uint64_t bits = filter_bits(h)
    return keys.words[filter_word(keys, h)] & bits == bits


# ---- The hashes of the units of texts, and of grams of these.

cdef const Plan* plan_of_units(
    Plan* own, Spans texts, int unit, ShinglePlan prepared
) except NULL:
    cdef const Plan* plan = plan_of(own, unit, 1, prepared)
    if unit == TOKEN_IDS or unit & WITH_EMPTY:
        raise ValueError("grams are of characters or of words that are not empty")
    check_documents(texts, unit)
    return plan


cdef uint64_t[::1] room_for_units(Spans texts, int unit):
    cdef Py_ssize_t longest = longest_of(texts)
    cdef bint adjoin = unit == CHARACTERS or unit == UNICODE_WORDS      # without separators
    return np.empty(longest + 1 if adjoin else longest // 2 + 2, np.uint64)


cdef void mix_points(const code_unit* text, Py_ssize_t n, uint64_t* out) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = mix_code_point(text[i])


cdef Py_ssize_t units_of(const Plan* plan, const Span* text, uint64_t* out) noexcept nogil:
    if plan.unit != CHARACTERS:
        return loops.write_hashes(plan, text, out)
    if text.kind == 1:
        mix_points(<const uint8_t*> text.text, text.length, out)
    elif text.kind == 2:
        mix_points(<const uint16_t*> text.text, text.length, out)
    else:
        mix_points(<const uint32_t*> text.text, text.length, out)
    return text.length


def hash_grams(
    Spans texts not None, int unit, const int64_t[:, ::1] grams not None, uint64_t mask,
    uint64_t[::1] out not None, ShinglePlan prepared=None,
):
    """Hash grams of texts.

    Parameters
    ----------
    texts
        Of characters or words.
    unit, prepared
        As in `signatures`, for shingles of one unit; words are not empty.
    grams
        int64 (n, 3): text, ascending; the first unit, and how many units there are.
    mask
        Which bits of a hash are used; fewer of them make different grams collide.
    out
        uint64 (n,), written; no hash is 0.
    """
    cdef Plan own
    cdef const Plan* plan = plan_of_units(&own, texts, unit, prepared)
    cdef Py_ssize_t n = grams.shape[0]
    cdef Py_ssize_t bad
    if grams.shape[1] != 3 or out.shape[0] != n:
        raise ValueError("grams need three columns, and out as many elements as there are grams")
    cdef Memory parts[2]
    parts[0], parts[1] = memory_of(out, "out"), memory_of_rows(grams, "grams")
    check_apart(parts, 2, 1, "out and grams")
    cdef uint64_t[::1] room = room_for_units(texts, unit)
    if n == 0:
        return
    with nogil:
        bad = hash_all(plan, texts.at, texts.n, &grams[0, 0], n, mask, &room[0], &out[0])
    if bad >= 0:
        raise IndexError(f"gram {bad} is in no text, or not behind the one before it")


cdef Py_ssize_t hash_all(
    const Plan* plan, const Span* at, Py_ssize_t texts, const int64_t* grams, Py_ssize_t n,
    uint64_t mask, uint64_t* room, uint64_t* out
) noexcept nogil:
    # Returns the first gram that is not there, or -1.
    cdef int64_t text = -1
    cdef int64_t units = 0
    cdef int64_t first, size
    cdef Py_ssize_t i
    for i in range(n):
        if grams[3 * i] < max(text, <int64_t> 0) or grams[3 * i] >= texts:
            return i
        if grams[3 * i] != text:
            text = grams[3 * i]
            units = units_of(plan, at + text, room)
        first, size = grams[3 * i + 1], grams[3 * i + 2]
        if first < 0 or first > units or size < 1 or size > units - first:
            return i
        out[i] = gram_hash(room + first, size, mask)
    return -1


# ---- Grams of a table, found in texts: a filter lets nearly all others go, and the table the rest.

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


# ---- Pairs of equal grams of two texts, compared as text and extended as far as the texts agree.

cdef struct UnitTexts:
    const Span* texts
    const int64_t* bounds   # where each unit begins and ends, text by text
    const int64_t* starts   # the first unit of each text


cdef UnitTexts unit_texts(
    Spans texts, const int64_t[:, ::1] bounds, const int64_t[::1] starts, str name
) except *:
    cdef UnitTexts units
    cdef Py_ssize_t bad
    if texts.tokens:
        raise TypeError("token ids have no units that are compared")
    if bounds.shape[1] != 2:
        raise ValueError(f"bounds of {name} have {bounds.shape[1]} columns, expected 2")
    if starts.shape[0] != texts.n + 1:
        raise ValueError(f"starts of {name} has {starts.shape[0]} elements, not {texts.n + 1}")
    check_starts(starts, bounds.shape[0], f"starts of {name}")
    units.texts = texts.at
    units.bounds = &bounds[0, 0] if bounds.shape[0] else NULL
    units.starts = &starts[0]
    with nogil:
        bad = misplaced(&units, texts.n)
    if bad >= 0:
        raise IndexError(f"unit {bad} of {name} is not within its text")
    return units


cdef Py_ssize_t misplaced(const UnitTexts* units, Py_ssize_t n) noexcept nogil:
    # The first unit that is not within its text, or -1.
    cdef Py_ssize_t i, unit
    cdef const int64_t* bounds
    for i in range(n):
        for unit in range(units.starts[i], units.starts[i + 1]):
            bounds = units.bounds + 2 * unit
            if bounds[0] < 0 or bounds[1] < bounds[0] or bounds[1] > units.texts[i].length:
                return unit
    return -1


def extend_grams(
    Spans texts not None, const int64_t[:, ::1] bounds not None,
    const int64_t[::1] starts not None, Spans others not None,
    const int64_t[:, ::1] other_bounds not None, const int64_t[::1] other_starts not None,
    const int64_t[:, ::1] rows not None, int64_t[:, ::1] runs not None,
    int64_t[::1] run_of not None, const int64_t[::1] other_first = None,
    const int64_t[::1] other_ahead = None,
):
    """Compare grams of texts with grams of other texts, and extend the equal ones to both sides.

    Time is linear in the rows and the texts if `other_first` is given and few grams of the other
    texts are the first of their kind behind one that is not.

    Parameters
    ----------
    texts, others
        The texts.
    bounds, starts, other_bounds, other_starts
        int64 (units, 2): where each unit begins and ends; int64 (texts + 1,): which units a text
        has.
    rows
        int64 (n, 5): text, other text, the first unit in each, and how many units; sorted by the
        texts, and by the first unit in the text.
    runs
        int64 (n, 5), written: the longest runs of equal units that contain an equal gram, in the
        same columns; without `other_first` no more than what shows that grams are equal.
    run_of
        int64 (n,), written: the run of each row, or -1 if its grams are not equal.
    other_first, other_ahead
        int64 (other units,): what `repeat_grams` takes and writes. Rows name no gram of the other
        texts that is not the first one of its text.

    Returns
    -------
    int
        How many runs there are.
    """
    cdef Py_ssize_t n = rows.shape[0]
    cdef Py_ssize_t count
    if rows.shape[1] != 5 or runs.shape[1] != 5 or runs.shape[0] != n or run_of.shape[0] != n:
        raise ValueError("rows and runs need five columns, and runs and run_of as many rows")
    cdef Memory parts[9]
    cdef int read = 7
    parts[0], parts[1] = memory_of_rows(runs, "runs"), memory_of(run_of, "run_of")
    parts[2], parts[3] = memory_of_rows(rows, "rows"), memory_of_rows(bounds, "bounds")
    parts[4] = memory_of_rows(other_bounds, "other_bounds")
    parts[5], parts[6] = memory_of(starts, "starts"), memory_of(other_starts, "other_starts")
    if other_first is not None:
        check_repeats(other_first, other_ahead, other_bounds.shape[0])
        parts[7] = memory_of(other_first, "other_first")
        parts[8] = memory_of(other_ahead, "other_ahead")
        read = 9
    check_apart(parts, read, 2, "runs, run_of and what is read")
    cdef UnitTexts one = unit_texts(texts, bounds, starts, "texts")
    cdef UnitTexts other = unit_texts(others, other_bounds, other_starts, "others")
    cdef const int64_t* first = NULL
    cdef const int64_t* reach = NULL
    if n == 0:
        return 0
    if other_first is not None:
        first, reach = &other_first[0], &other_ahead[0]
    with nogil:
        count = missing_row(&one, texts.n, &other, others.n, &rows[0, 0], n)
    if count >= 0:
        raise IndexError(f"row {count} names a text or units that are not there")
    with nogil:
        count = extend_all(&one, &other, first, reach, &rows[0, 0], n, &runs[0, 0], &run_of[0])
    return count


def repeat_grams(
    Spans texts not None, const int64_t[:, ::1] bounds not None,
    const int64_t[::1] starts not None, const int64_t[::1] first not None, Py_ssize_t size,
    int64_t[::1] ahead not None,
):
    """Write how far texts agree from each gram and from the first equal one on, in linear time.

    Parameters
    ----------
    texts, bounds, starts
        As in `extend_grams`.
    first
        int64 (units,): for each unit, the first unit of the text's first gram that equals the one
        here, or -1.
    size
        Units of a gram.
    ahead
        int64 (units,), written: how many units agree; 0 at the first gram itself.
    """
    cdef UnitTexts units = unit_texts(texts, bounds, starts, "texts")
    check_repeats(first, ahead, bounds.shape[0])
    cdef Memory parts[4]
    parts[0], parts[1] = memory_of(ahead, "ahead"), memory_of(first, "first")
    parts[2], parts[3] = memory_of_rows(bounds, "bounds"), memory_of(starts, "starts")
    check_apart(parts, 4, 1, "ahead and what is read")
    if size < 1:
        raise ValueError(f"size must be at least 1, not {size}")
    size = min(size, bounds.shape[0] + 1)
    if bounds.shape[0]:
        with nogil:
            repeat_all(&units, texts.n, &first[0], size, &ahead[0])


cdef int check_repeats(
    const int64_t[::1] first, const int64_t[::1] ahead, Py_ssize_t units
) except -1:
    if ahead is None or first.shape[0] != units or ahead.shape[0] != units:
        raise ValueError(f"the repeats need {units} elements, one for each unit")
    return 0


cdef void repeat_all(
    const UnitTexts* units, Py_ssize_t texts, const int64_t* first, int64_t size, int64_t* ahead
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(texts):
        repeat_in(units, i, first, size, ahead)


cdef void repeat_in(
    const UnitTexts* units, Py_ssize_t text, const int64_t* first, int64_t size, int64_t* ahead
) noexcept nogil:
    # The Z algorithm: the agreement that reaches furthest, with a gram `lag` units before, tells
    # how far those within it go, but for what lies behind its end.
    cdef int64_t start = units.starts[text]
    cdef int64_t n = units.starts[text + 1] - start
    cdef int64_t end = 0
    cdef int64_t lag = 0
    cdef int64_t i, back, found
    for i in range(n):
        back = first[start + i]
        ahead[start + i] = 0
        if not 0 <= back < i:
            continue
        found = 0
        if i + size <= end:
            if i - lag == back:
                found = end - i
            elif first[start + i - lag] == back:
                found = min(ahead[start + i - lag], end - i)
        if i + found >= end or found == 0:
            found = agreeing(units, text, i, units, text, back, found)
        ahead[start + i] = found
        if i + found >= end:
            end, lag = i + found, i - back


cdef int64_t agreeing(
    const UnitTexts* one, int64_t text, int64_t i, const UnitTexts* other, int64_t other_text,
    int64_t j, int64_t found
) noexcept nogil:
    # How many units agree from two units on, of which `found` are known to.
    cdef int64_t start = one.starts[text] + i
    cdef int64_t other_start = other.starts[other_text] + j
    cdef int64_t most = min(
        one.starts[text + 1] - start, other.starts[other_text + 1] - other_start
    )
    while found < most and are_equal(
        one.texts + text, one.bounds + 2 * (start + found),
        other.texts + other_text, other.bounds + 2 * (other_start + found),
    ):
        found += 1
    return found


cdef Py_ssize_t missing_row(
    const UnitTexts* one, Py_ssize_t texts, const UnitTexts* other, Py_ssize_t others,
    const int64_t* rows, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t i
    cdef const int64_t* row
    for i in range(n):
        row = rows + 5 * i
        if not 0 <= row[0] < texts or not 0 <= row[1] < others or row[4] < 1:
            return i
        if not has_units(one, row[0], row[2], row[4]):
            return i
        if not has_units(other, row[1], row[3], row[4]):
            return i
    return -1


cdef inline bint has_units(
    const UnitTexts* units, int64_t text, int64_t first, int64_t size
) noexcept nogil:
    cdef int64_t there = units.starts[text + 1] - units.starts[text]
    return 0 <= first <= there and size <= there - first


cdef Py_ssize_t extend_all(
    const UnitTexts* one, const UnitTexts* other, const int64_t* first, const int64_t* reach,
    const int64_t* rows, Py_ssize_t n, int64_t* runs, int64_t* run_of
) noexcept nogil:
    # A gram is in the run before, or within the run that reaches furthest, which tells how far it
    # goes, as in `repeat_all`. Backward, a run of the first gram of its kind ends before the
    # gram's last place in the text, as otherwise this would not be the first.
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t i
    cdef const int64_t* row
    cdef int64_t* run = NULL   # the latest
    cdef int64_t* far = NULL   # of the same texts, the one that reaches furthest
    cdef const int64_t* start
    cdef int64_t there, found, back
    for i in range(n):
        row = rows + 5 * i
        run_of[i] = -1
        if run != NULL and (run[0] != row[0] or run[1] != row[1]):
            run = far = NULL
        found = 0
        if (
            run != NULL and run[2] - run[3] == row[2] - row[3]
            and run[2] <= row[2] < run[2] + run[4]
        ):
            found = run[2] + run[4] - row[2]
            if first != NULL:
                if row[4] <= found:
                    run_of[i] = (run - runs) // 5
                continue
        elif (
            first != NULL and far != NULL and far[2] <= row[2]
            and row[2] + row[4] <= far[2] + far[4]
        ):
            there = row[2] - far[2] + far[3]
            start = first + other.starts[row[1]]
            if there == row[3]:
                run_of[i] = (far - runs) // 5
                run = far
                continue
            if start[there] >= 0:
                if start[there] != row[3]:
                    continue
                there = other.starts[row[1]] + there
                found = min(reach[there], far[2] + far[4] - row[2])
                found = min(found, other.starts[row[1] + 1] - other.starts[row[1]] - row[3])
                found = max(found, 0)   # the caller may have written other numbers
        if found == 0 or first == NULL or row[2] + found == far[2] + far[4]:
            found = agreeing_to(one, row, other, found, first == NULL)
        if found < row[4]:
            continue
        back = 0
        if first != NULL:
            back = agreeing_before(one, row, other)
        run = runs + 5 * count
        run[0], run[1], run[2], run[3] = row[0], row[1], row[2] - back, row[3] - back
        run[4] = back + found
        run_of[i] = count
        count += 1
        if far == NULL or run[2] + run[4] >= far[2] + far[4]:
            far = run
    return count


cdef int64_t agreeing_to(
    const UnitTexts* one, const int64_t* row, const UnitTexts* other, int64_t found, bint only_gram
) noexcept nogil:
    # How many units agree from a gram on, or only whether its own do.
    cdef int64_t start = one.starts[row[0]] + row[2]
    cdef int64_t other_start = other.starts[row[1]] + row[3]
    if not only_gram:
        return agreeing(one, row[0], row[2], other, row[1], row[3], found)
    while found < row[4] and are_equal(
        one.texts + row[0], one.bounds + 2 * (start + found),
        other.texts + row[1], other.bounds + 2 * (other_start + found),
    ):
        found += 1
    return found


cdef int64_t agreeing_before(
    const UnitTexts* one, const int64_t* row, const UnitTexts* other
) noexcept nogil:
    # How many units agree before a gram.
    cdef const int64_t* unit = one.bounds + 2 * (one.starts[row[0]] + row[2])
    cdef const int64_t* other_unit = other.bounds + 2 * (other.starts[row[1]] + row[3])
    cdef int64_t most = min(row[2], row[3])
    cdef int64_t back = 0
    while back < most and are_equal(
        one.texts + row[0], unit - 2 * (back + 1), other.texts + row[1], other_unit - 2 * (back + 1)
    ):
        back += 1
    return back


cdef bint are_equal(
    const Span* a, const int64_t* of_a, const Span* b, const int64_t* of_b
) noexcept nogil:
    cdef int64_t n = of_a[1] - of_a[0]
    cdef int64_t i
    if n != of_b[1] - of_b[0]:
        return False
    if a.kind == b.kind:
        return n == 0 or memcmp(
            <const char*> a.text + of_a[0] * a.kind, <const char*> b.text + of_b[0] * b.kind,
            <size_t> (n * a.kind),
        ) == 0
    for i in range(n):
        if point_at(a, of_a[0] + i) != point_at(b, of_b[0] + i):
            return False
    return True


cdef inline uint32_t point_at(const Span* text, int64_t i) noexcept nogil:
    if text.kind == 1:
        return (<const uint8_t*> text.text)[i]
    if text.kind == 2:
        return (<const uint16_t*> text.text)[i]
    return (<const uint32_t*> text.text)[i]
