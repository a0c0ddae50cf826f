# Called from Python: the memory of an index.
#
# It belongs to the class below, not to arrays of Python: so it grows in place, and between two
# instructions of Python all of it is always sound. Each call does all or nothing.
# With lookups.pxi, memory.pxi and tables.pxi.

from cython cimport no_gc_clear
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastlsh._kernels.common.checks cimport check_band_rows, memory_of, memory_of_rows
from fastlsh._kernels.index.tables cimport Band, Slice, Sweep, Tables

cdef enum:
    PART_SIGNATURES = 0
    PART_LIVE = 1
    PART_OFFSETS = 2
    PART_HASHES = 3
    PART_SLOTS = 4              # of band 0; then its links, and so on

cdef int64_t MOST_SLOTS = 0xFFFFFFFF    # more would not be reached


@no_gc_clear                            # `release` needs `owners` until the very end
cdef class TableMemory:
    """Signatures, sets and hash tables of numbered documents, in memory of their own.

    Parameters
    ----------
    num_perm
        Length of the signatures.
    bands, rows
        How a signature is cut into bands.
    with_sets
        Whether each document has a set.
    slices
        int64 (bands, 7): start, rows, band, number, distance, odd and shift of each `Slice`,
        instead of `rows`. The last value of a signature is then the step of the size.
    """

    cdef Tables t
    cdef Slice* slices          # NULL: there are none
    cdef Py_ssize_t capacity    # room for documents
    cdef readonly int64_t dead      # numbers without a document
    cdef Sweep sweep            # the compaction, if one has begun
    cdef list owners            # of arrays of someone else, which nothing is written to

    def __cinit__(
        self, Py_ssize_t num_perm, Py_ssize_t bands, Py_ssize_t rows, bint with_sets, ids=None,
        const int64_t[:, ::1] slices=None,
    ):
        cdef Py_ssize_t b
        if bands < 1 or num_perm >= 1 << 31:
            raise ValueError(f"{bands} bands of signatures of {num_perm} values")
        self.t.minima = num_perm
        if slices is None:
            check_band_rows(0, bands, rows, num_perm)
        else:
            self.t.minima -= 1
            self.slices = slices_of(slices, bands, self.t.minima)
            self.t.slices = self.slices
        self.t.bands = <Band*> PyMem_RawCalloc(bands, sizeof(Band))
        if self.t.bands == NULL:
            raise MemoryError()
        self.t.count = bands
        self.t.rows = rows
        self.t.k = num_perm
        resize(<void**> &self.t.signatures, 0, 1)
        resize(<void**> &self.t.live, 0, 1)
        if with_sets:
            resize(<void**> &self.t.offsets, 1, sizeof(int64_t))
            resize(<void**> &self.t.hashes, 0, sizeof(uint64_t))
            self.t.offsets[0] = 0
        for b in range(bands):
            resize(<void**> &self.t.bands[b].links, 0, sizeof(uint32_t))
            self.resize_table(b, 2)

    cdef void release(self) noexcept:
        # Frees everything but the list of the bands.
        cdef Py_ssize_t b
        if self.owners is None:
            PyMem_RawFree(self.t.signatures)
            PyMem_RawFree(self.t.live)
            PyMem_RawFree(self.t.offsets)
            PyMem_RawFree(self.t.hashes)
            for b in range(self.t.count):
                PyMem_RawFree(self.t.bands[b].slots)
                PyMem_RawFree(self.t.bands[b].links)
                memset(&self.t.bands[b], 0, sizeof(Band))
        self.t.signatures = NULL
        self.t.live = NULL
        self.t.offsets = NULL
        self.t.hashes = NULL

    def __dealloc__(self):
        self.release()
        PyMem_RawFree(self.t.bands)
        PyMem_RawFree(self.slices)
        PyMem_RawFree(self.sweep.desk.tags)

    cdef int check_own(self) except -1:
        if self.t.live == NULL:
            raise ValueError("nothing can be written here")
        return self.check_settled()

    cdef int check_settled(self) except -1:
        if self.sweep.phase:
            raise ValueError("a compaction must be ended first")
        return 0

    cdef int check_end(self) except -1:
        if self.t.offsets != NULL:
            check_sound(not 0 <= self.t.offsets[self.t.n] <= self.t.total)
        return 0

    cdef int check_sets(self) except -1:
        cdef Py_ssize_t within
        with nogil:
            within = sets_within(&self.t)
        check_sound(within < self.t.n or self.t.offsets != NULL and self.t.offsets[0] != 0)
        return 0

    cdef int check_room(self, Py_ssize_t count, int64_t words) except -1:
        cdef Py_ssize_t b
        self.check_own()
        if not 0 <= count <= self.capacity - self.t.n:
            raise ValueError(f"no room for {count} documents")
        for b in range(self.t.count):
            if self.t.bands[b].used + count >= <int64_t> self.t.bands[b].size:
                raise ValueError(f"the table of band {b} has no room for {count} keys")
        self.check_end()
        if self.t.offsets != NULL and not 0 <= words <= self.t.total - self.t.offsets[self.t.n]:
            raise ValueError("no room for the sets")
        return 0

    cdef int check_band(self, Py_ssize_t band) except -1:
        if not 0 <= band < self.t.count:
            raise IndexError(f"band {band} of {self.t.count}")
        return 0

    # ---- arrays of someone else

    cdef int borrow(
        self, const uint32_t[:, ::1] signatures, list slots, list links,
        const uint64_t[::1] hashes, const int64_t[::1] offsets,
    ) except -1:
        # Reads these arrays from now on, instead of memory of its own. Nothing can be written.
        self.release()
        self.owners = [signatures, hashes, offsets]
        if signatures.shape[0] > 0x7FFFFFFF:
            raise ValueError(f"{signatures.shape[0]} documents are too many")
        self.capacity = self.t.n = signatures.shape[0]
        self.t.longest = -1
        if self.capacity:
            self.t.signatures = <uint32_t*> &signatures[0, 0]
        memory_of_rows(signatures, "signatures")
        self.borrow_sets(hashes, offsets)
        return self.borrow_bands(slots, links)

    cdef int borrow_sets(self, const uint64_t[::1] hashes, const int64_t[::1] offsets) except -1:
        if offsets is None:
            return 0
        if hashes is None or offsets.shape[0] != self.capacity + 1:
            raise ValueError(f"hashes need {self.capacity + 1} offsets")
        self.t.offsets = <int64_t*> &offsets[0]
        self.t.total = hashes.shape[0]
        memory_of(hashes, "hashes")
        memory_of(offsets, "offsets")
        if hashes.shape[0]:
            self.t.hashes = <uint64_t*> &hashes[0]
        return 0

    cdef int borrow_bands(self, list slots, list links) except -1:
        cdef const uint64_t[::1] table
        cdef const uint32_t[::1] chain
        cdef Py_ssize_t b
        if len(links) != self.t.count:
            raise ValueError("slots and links need one array for each band")
        for b in range(self.t.count):
            table = slots[b]
            chain = links[b]
            if not 1 <= table.shape[0] <= MOST_SLOTS:
                raise ValueError(f"band {b} has a table of {table.shape[0]} slots")
            if chain.shape[0] != self.capacity:
                raise ValueError(f"band {b} has links for {chain.shape[0]}, not {self.capacity}")
            self.owners += [table, chain]
            self.t.bands[b].slots = <uint64_t*> &table[0]
            self.t.bands[b].size = table.shape[0]
            memory_of(table, "slots")
            memory_of(chain, "links")
            if self.capacity:
                self.t.bands[b].links = <uint32_t*> &chain[0]
        return 0

    # ---- room

    def reserve(self, Py_ssize_t count, Py_ssize_t words, double spare):
        """Make room for `count` more documents with `words` hashes, in place where it can be.

        Where there is too little, it grows by the factor `spare` at least.
        """
        cdef Py_ssize_t documents = self.t.n + count
        cdef Py_ssize_t end = 0
        self.check_own()
        if not 0 <= count <= 0x7FFFFFFF - self.t.n or not 0 <= words <= 1 << 58:
            raise ValueError(f"{count} documents with {words} hashes are too many")
        if not 0.0 <= spare <= 2.0:
            raise ValueError(f"spare must be between 0 and 2, got {spare}")
        self.check_end()
        if self.t.offsets != NULL:
            end = self.t.offsets[self.t.n]
            if end + words > self.t.total:
                words = max(end + words, <Py_ssize_t> (spare * end))
                resize(<void**> &self.t.hashes, words, sizeof(uint64_t))
                self.t.total = words
        if documents > self.capacity:
            documents = max(documents, <Py_ssize_t> (spare * self.t.n))
            self.resize_documents(documents)
            self.capacity = documents

    def shrink(self):
        """Give back the room behind the last document."""
        self.check_own()
        self.check_end()
        self.capacity = self.t.n
        self.resize_documents(self.t.n)
        if self.t.offsets != NULL:
            self.t.total = self.t.offsets[self.t.n]
            resize(<void**> &self.t.hashes, self.t.total, sizeof(uint64_t))

    cdef int resize_documents(self, Py_ssize_t room) except -1:
        # Whatever fails, each array has at least the room that `capacity` says.
        cdef Py_ssize_t b
        for b in range(self.t.count):
            resize(<void**> &self.t.bands[b].links, room, sizeof(uint32_t))
        resize(<void**> &self.t.live, room, 1)
        if self.t.offsets != NULL:
            resize(<void**> &self.t.offsets, room + 1, sizeof(int64_t))
        return resize(<void**> &self.t.signatures, room, self.t.k * sizeof(uint32_t))

    def resize_table(self, Py_ssize_t band, Py_ssize_t size):
        """Move the table of a band into one of another size."""
        cdef uint64_t* slots
        self.check_own()
        self.check_band(band)
        cdef Band* table = &self.t.bands[band]
        if not table.used < size <= MOST_SLOTS:
            raise ValueError(f"{table.used} keys do not fit into a table of {size} slots")
        slots = <uint64_t*> PyMem_RawCalloc(size, sizeof(uint64_t))
        if slots == NULL:
            raise MemoryError()
        with nogil:
            move_slots_to(table.slots, table.size, slots, size)
        PyMem_RawFree(table.slots)
        table.slots = slots
        table.size = size

    def crowded_band(self, Py_ssize_t first, Py_ssize_t count, double share):
        """Return the first band from `first` on that `count` more keys would fill beyond `share`.

        -1: there is none.
        """
        cdef Py_ssize_t b
        for b in range(max(first, <Py_ssize_t> 0), self.t.count):
            if self.t.bands[b].used + count > share * self.t.bands[b].size:
                return b
        return -1

    def slots(self, Py_ssize_t band):
        """Return the size of the table of a band."""
        self.check_band(band)
        return self.t.bands[band].size

    def used(self, Py_ssize_t band):
        """Return how many slots of a band are not empty."""
        self.check_band(band)
        return self.t.bands[band].used

    @property
    def nbytes(self):
        """The size of all arrays in bytes, spare room included."""
        cdef Py_ssize_t number, size
        cdef Py_ssize_t total = 0
        for number in range(PART_SLOTS + 2 * self.t.count):
            self.part(number, &size)
            total += size
        return total

    # ---- bytes

    cdef char* part(self, Py_ssize_t number, Py_ssize_t* size) except? NULL:
        cdef Band* band
        size[0] = 0
        if not 0 <= number < PART_SLOTS + 2 * self.t.count:
            raise IndexError(f"part {number}")
        if number == PART_SIGNATURES:
            size[0] = self.capacity * self.t.k * sizeof(uint32_t)
            return <char*> self.t.signatures
        if number == PART_LIVE:
            size[0] = self.capacity if self.t.live != NULL else 0
            return <char*> self.t.live
        if number == PART_OFFSETS:
            size[0] = (self.capacity + 1) * sizeof(int64_t) if self.t.offsets != NULL else 0
            return <char*> self.t.offsets
        if number == PART_HASHES:
            size[0] = self.t.total * sizeof(uint64_t)
            return <char*> self.t.hashes
        band = &self.t.bands[(number - PART_SLOTS) // 2]
        if (number - PART_SLOTS) % 2 == 0:
            size[0] = band.size * sizeof(uint64_t)
            return <char*> band.slots
        size[0] = self.capacity * sizeof(uint32_t)
        return <char*> band.links

    def read(self, Py_ssize_t number, Py_ssize_t start, uint8_t[::1] out not None):
        """Copy bytes of a part into `out`, from `start` on.

        Parts: signatures, live, offsets, hashes, and then the slots and the links of each band.
        """
        cdef Py_ssize_t size
        cdef Py_ssize_t n = out.shape[0]
        cdef char* data = self.part(number, &size)
        if not 0 <= start <= size or n > size - start:
            raise IndexError(f"{n} bytes from {start} on of {size}")
        if n:
            memcpy(&out[0], data + start, n)

    def write(self, Py_ssize_t number, Py_ssize_t start, const uint8_t[::1] data not None):
        """Copy bytes into a part, from `start` on; `complete` must follow."""
        cdef Py_ssize_t size
        cdef Py_ssize_t n = data.shape[0]
        cdef char* into = self.part(number, &size)
        self.check_own()
        if not 0 <= start <= size or n > size - start:
            raise IndexError(f"{n} bytes from {start} on of {size}")
        self.t.n = 0
        if n:
            memcpy(into + start, &data[0], n)
