# The base of KeyBuckets: its rows, and what is in them.
# With key_buckets.pxi and key_memory.pxi.

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.object cimport Py_EQ, PyObject_Hash, PyObject_RichCompareBool
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

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
    cdef bint closed

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
    def nbytes(self):
        """Return the bytes of memory, without those of the keys themselves."""
        cdef size_t chunk = CHUNK * self.t.record * sizeof(uint32_t)
        cdef size_t slots = (<size_t> (self.t.bands + 1) << self.t.bits) if self.t.tags else 0
        pointers = sizeof(void*) * (self.t.room + len(self.keys))
        return self.t.allocated * chunk + 5 * slots + pointers

    @cython.critical_section
    def distinct_keys(self):
        """Return the keys, each once, in the order of insertion: a list."""
        cdef list keys = []                 # may run code of others, up to Python 3.11
        keys.extend(self.keys)
        if self.dead:
            keys = [key for key in keys if key is not REMOVED]
        return distinct(keys) if self.repeated else keys

    @cython.critical_section
    def contents(self):
        """Return everything that is in the table: keys, words, kind.

        Returns
        -------
        keys : list
            In the order of insertion. A key that was inserted twice is there twice.
        words : bytes
            The 32-bit words of the bands of each key, in the same order.
        kind : tuple or None
            As `kind` returns.
        """
        cdef list keys = []                 # may run code of others, up to Python 3.11
        cdef Py_ssize_t size = self.bands * self.t.width * <Py_ssize_t> sizeof(uint32_t)
        cdef bytes words = PyBytes_FromStringAndSize(NULL, (self.t.n - self.dead) * size)
        cdef char* out = PyBytes_AS_STRING(words)
        cdef Py_ssize_t row
        for row in range(self.t.n):
            if mark_of(&self.t, row)[0] != DEAD:
                keys.append(self.keys[row])
                memcpy(out, record_of(&self.t, row), size)
                out += size
        return keys, words, self.kind()

    @cython.critical_section
    def close(self):
        """Refuse changes from now on: `insert` answers 2, and `remove` answers None."""
        self.closed = True

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
