# The arrays of an index's tables, and of what is asked of them: their checks.
# With call_slots.pxi and checks.pxi.

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from fastlsh._kernels.common.checks cimport (
    check_band_rows, check_offsets, check_range, check_threshold, memory_of, memory_of_rows,
)
from fastlsh._kernels.index.tables cimport Band, Question, Tables
from fastlsh._kernels.sets.modes cimport BY_SETS


cdef class _BandArrays:
    """The base of `BandTables`: its arrays, checked when they are given."""

    cdef Tables t
    cdef list owners
    cdef Py_ssize_t capacity

    def __cinit__(
        self, signatures not None, live, list slots not None, list links not None, used,
        Py_ssize_t rows, Py_ssize_t n, hashes=None, offsets=None,
    ):
        cdef Tables* t = &self.t
        cdef const uint32_t[:, ::1] values = signatures
        cdef bint written = live is not None
        if written != (used is not None):
            raise ValueError("live and used must be given together")
        self.capacity = values.shape[0]
        t.count = len(slots)
        t.rows = rows
        t.k = values.shape[1]
        t.n = n
        if t.count < 1:
            raise ValueError("slots needs one table for each band, got none")
        check_band_rows(0, t.count, rows, t.k)
        if not 0 <= n <= min(self.capacity, <Py_ssize_t> 0x7FFFFFFF):
            raise ValueError(f"{n} documents in a room for {self.capacity}")
        memory_of_rows(values, "signatures")
        if self.capacity:
            t.signatures = <uint32_t*> &values[0, 0]
        self.owners = [values]
        self.set_sets(hashes, offsets)
        self.set_bands(tuple(slots), tuple(links))
        if written:
            for array in (signatures, hashes, offsets, *slots, *links):
                check_writable(array)
            self.set_marks(live, used)
            check_all_apart(t, self.capacity)

    cdef int set_sets(self, const uint64_t[::1] hashes, const int64_t[::1] offsets) except -1:
        if offsets is None:
            return 0
        if hashes is None or offsets.shape[0] != self.capacity + 1:
            raise ValueError(f"hashes need {self.capacity + 1} offsets")
        memory_of(hashes, "hashes")
        memory_of(offsets, "offsets")
        self.t.offsets = <int64_t*> &offsets[0]
        self.t.total = hashes.shape[0]
        if hashes.shape[0]:
            self.t.hashes = <uint64_t*> &hashes[0]
        self.owners += [hashes, offsets]
        return 0

    cdef int set_bands(self, tuple slots, tuple links) except -1:
        cdef const uint64_t[::1] table
        cdef const uint32_t[::1] chain
        cdef Py_ssize_t b
        if len(slots) != self.t.count or len(links) != self.t.count:
            raise ValueError("slots and links need one array for each band")
        self.t.bands = <Band*> calloc(self.t.count, sizeof(Band))
        if self.t.bands == NULL:
            raise MemoryError()
        for b in range(self.t.count):
            table = slots[b]
            chain = links[b]
            if not 1 <= table.shape[0] <= <Py_ssize_t> 0xFFFFFFFF:
                raise ValueError(f"band {b} has a table of {table.shape[0]} slots")
            if chain.shape[0] != self.capacity:
                raise ValueError(f"band {b} has links for {chain.shape[0]}, not {self.capacity}")
            memory_of(table, "slots")
            memory_of(chain, "links")
            self.owners += [table, chain]
            self.t.bands[b].slots = <uint64_t*> &table[0]
            self.t.bands[b].size = table.shape[0]
            if self.capacity:
                self.t.bands[b].links = <uint32_t*> &chain[0]
        return 0

    cdef int set_marks(self, uint8_t[::1] live, int64_t[::1] used) except -1:
        cdef Py_ssize_t b
        if live.shape[0] != self.capacity or used.shape[0] != self.t.count:
            raise ValueError("live needs one element per document, used one per band")
        memory_of(used, "used")
        if self.capacity:
            self.t.live = &live[0]
        for b in range(self.t.count):
            self.t.bands[b].used = &used[b]
        self.owners += [live, used]
        return 0

    def __dealloc__(self):
        free(self.t.bands)

    cdef int check_room(self, Py_ssize_t count) except -1:
        cdef Py_ssize_t b
        if self.t.live == NULL:
            raise ValueError("nothing can be written here")
        if not 0 <= count <= self.capacity - self.t.n:
            raise ValueError(f"no room for {count} documents")
        for b in range(self.t.count):
            if self.t.bands[b].used[0] >= <int64_t> self.t.bands[b].size - count:
                raise ValueError(f"the table of band {b} has no room for {count} keys")
        return 0

    cdef Question asked(
        self, const uint32_t[:, ::1] signatures, const uint64_t[::1] hashes,
        const int64_t[::1] offsets, Py_ssize_t first, Py_ssize_t last, int mode, double threshold,
    ) except *:
        cdef Question question
        memset(&question, 0, sizeof(Question))
        question.mode = mode
        question.threshold = threshold
        check_mode(mode)
        check_threshold(threshold)
        if signatures.shape[1] != self.t.k:
            raise ValueError(f"signatures have {signatures.shape[1]} values, not {self.t.k}")
        check_range(first, last, signatures.shape[0])
        memory_of_rows(signatures, "signatures")
        if signatures.shape[0]:
            question.signatures = &signatures[0, 0]
        if mode == BY_SETS and (self.t.offsets == NULL or hashes is None or offsets is None):
            raise ValueError("without sets they cannot be compared")
        if self.t.offsets != NULL and offsets is not None:
            if hashes is None:
                raise ValueError("offsets of no hashes")
            check_offsets(offsets, signatures.shape[0], hashes.shape[0], "offsets")
            memory_of(hashes, "hashes")
            question.offsets = &offsets[0]
            question.total = hashes.shape[0]
            if hashes.shape[0]:
                question.hashes = &hashes[0]
        return question
