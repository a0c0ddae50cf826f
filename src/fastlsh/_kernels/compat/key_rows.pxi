# The base of KeyBuckets: its rows, and looking into it.
# With key_buckets.pxi and key_memory.pxi.

cimport cython
from cpython.object cimport Py_EQ, PyObject_Hash, PyObject_RichCompareBool
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastlsh._kernels.common.checks cimport memory_of, memory_of_rows
from fastlsh._kernels.compat.key_table cimport CHUNK, Kind, Table


cdef class KeyRows:
    """Rows of a KeyBuckets. A removed one stays until there are as many of them as others."""

    cdef Table t
    cdef Kind values
    cdef Py_ssize_t bands
    cdef Py_ssize_t rows
    cdef Py_ssize_t dead
    cdef Py_ssize_t repeated                # rows whose key an earlier row has
    cdef Py_ssize_t changes
    cdef list keys

    def __cinit__(self, Py_ssize_t bands, Py_ssize_t rows):
        if bands < 1 or rows < 1 or bands > 1 << 24 or rows > (1 << 24) // bands:
            raise ValueError(f"{bands} bands of {rows} rows: at least 1, at most 2**24 together")
        self.bands = bands
        self.rows = rows
        self.keys = []

    def __dealloc__(self):
        free_table(&self.t)

    def __len__(self):
        """Return how many keys there are; one that was inserted twice counts once."""
        return self.t.n - self.dead - self.repeated

    @cython.critical_section
    def __contains__(self, key):
        return self.find_key(key, key_hash(key), None) > 0

    @cython.critical_section
    def kind(self):
        """Return (itemsize, signed, columns, narrow) of the values; None if there are none."""
        if self.t.n == 0:
            return None
        return (
            self.values.itemsize, bool(self.values.is_signed), self.values.columns,
            bool(self.t.narrow),
        )

    @cython.critical_section
    def width(self):
        """Return the number of 32-bit words of a band; 0 if there is no row."""
        return self.t.width

    @cython.critical_section
    def nbytes(self):
        """Return the bytes of memory, without those of the keys themselves."""
        cdef size_t chunk = CHUNK * self.t.record * sizeof(uint32_t)
        cdef size_t slots = (<size_t> (self.t.bands + 1) << self.t.bits) if self.t.tags else 0
        pointers = sizeof(void*) * (self.t.room + len(self.keys))
        return self.t.allocated * chunk + 5 * slots + pointers

    @cython.critical_section
    def living(self):
        """Return the keys in the order of insertion, and the row of each: two lists.

        A key that was inserted twice is there twice.
        """
        cdef Py_ssize_t row
        rows = [row for row in range(self.t.n) if mark_of(&self.t, row)[0] != DEAD]
        return [self.keys[row] for row in rows], rows

    @cython.critical_section
    def rows_of(self, key):
        """Return the rows of a key, in the order of insertion: a list, empty if it is unknown."""
        rows = []
        self.find_key(key, key_hash(key), rows)
        return rows

    @cython.critical_section
    def words(
        self, const int32_t[::1] rows not None, Py_ssize_t band, uint32_t[:, ::1] out not None
    ):
        """Write a band of some rows into `out`, uint32 (len(rows), words of a band)."""
        cdef Py_ssize_t i
        self.check_band(band)
        memory_of(rows, "rows")
        memory_of_rows(out, "out")
        if out.shape[0] != rows.shape[0] or out.shape[1] != self.t.width:
            raise ValueError(
                f"out has shape ({out.shape[0]}, {out.shape[1]}), "
                f"expected ({rows.shape[0]}, {self.t.width})"
            )
        if rows.shape[0] == 0 or self.t.n == 0:
            i = 0
        else:
            i = copy_band(&self.t, band, &rows[0], rows.shape[0], &out[0, 0])
        if i < rows.shape[0]:
            raise IndexError(f"row {rows[i]} of {self.t.n}")

    @cython.critical_section
    def buckets(self, Py_ssize_t band):
        """Return a row of each bucket of a band, and how many rows are in it: two lists."""
        cdef size_t slot
        cdef int32_t row
        cdef Py_ssize_t count
        heads, counts = [], []
        self.check_band(band)
        if self.t.n == 0:
            return heads, counts
        for slot in range(<size_t> band << self.t.bits, <size_t> (band + 1) << self.t.bits):
            count = count_alive(&self.t, band, slot, &row)
            if count:
                heads.append(row)
                counts.append(count)
        return heads, counts

    @cython.critical_section
    def bucket(self, Py_ssize_t band, const uint32_t[::1] words not None):
        """Return the keys of the bucket of these words: a list, with repeated ones."""
        cdef list found = []
        cdef size_t slot
        cdef int32_t row
        memory_of(words, "words")
        if self.t.n == 0 or words.shape[0] != self.t.width:
            return found
        self.check_band(band)
        slot = find_slot(&self.t, band, &words[0], hash_words(&words[0], self.t.width))
        row = next_alive(&self.t, band, slot, -1)
        while row >= 0:
            found.append(self.keys[row])
            row = next_alive(&self.t, band, slot, row)
        return found

    cdef int check_band(self, Py_ssize_t band) except -1:
        if not 0 <= band < self.bands:
            raise IndexError(f"band {band} of {self.bands}")
        return 0

    cdef Py_ssize_t find_key(self, key, uint32_t h, list rows) except -1:
        # How many rows a key has; they are appended to `rows`. Without `rows`: whether it has one.
        cdef uint64_t mixed = hash_key(h)
        cdef size_t base, mask, slot
        cdef Py_ssize_t changes = self.changes - 1
        cdef Py_ssize_t count = 0
        cdef int32_t row
        while changes != self.changes:      # a comparison runs code of the keys
            count = 0
            changes = self.changes
            if rows is not None:
                rows.clear()
            if self.t.n == 0:
                break
            base = <size_t> self.bands << self.t.bits
            mask = (<size_t> 1 << self.t.bits) - 1
            slot = home_of(&self.t, mixed)
            while changes == self.changes and self.t.tags[base + slot]:
                row = self.t.heads[base + slot]
                if (
                    self.t.tags[base + slot] == tag_of(mixed)
                    and key_hash_of(&self.t, row)[0] == h
                    and mark_of(&self.t, row)[0] != DEAD
                    and equal(self.keys[row], key)
                ):
                    count += 1
                    if rows is not None:
                        rows.append(row)
                    elif changes == self.changes:
                        return count
                slot = (slot + 1) & mask
        return count


cdef list distinct(list keys):
    return list(dict.fromkeys(keys))


cdef uint32_t key_hash(key) except? 0xFFFFFFFF:
    cdef uint64_t h = <uint64_t> PyObject_Hash(key)
    return <uint32_t> (h ^ (h >> 32))


cdef bint equal(a, b) except -1:
    return a is b or PyObject_RichCompareBool(a, b, Py_EQ)


cdef inline bytes bytes_of(values):
    # To ask an array for its buffer would cost it 72 bytes, for good.
    return values.tobytes()


cdef Kind kind_of(dtype, Py_ssize_t values, Py_ssize_t size) except *:
    # itemsize 0: of none.
    cdef Kind kind
    cdef Py_ssize_t itemsize = dtype.itemsize
    memset(&kind, 0, sizeof(Kind))
    if dtype.kind in "iu" and dtype.isnative and (itemsize == 4 or itemsize == 8) and size:
        kind.itemsize = itemsize
        kind.columns = size // (values * kind.itemsize)
        kind.is_signed = dtype.kind == "i"
    return kind
