# Called from Python: keys that are found by any band of their signatures.
# With key_buckets.pxi and key_memory.pxi.

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.object cimport Py_EQ, PyObject_Hash, PyObject_RichCompareBool
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.string cimport memchr, memcpy, memset

from fastlsh._kernels.compat.key_table cimport CHUNK, CHUNK_BITS, Kind, Table

cdef enum:
    INSERTED = 0
    KNOWN = 1
    OTHER_KIND = 2

cdef object REMOVED = object()              # stands in `keys` for the key of a removed row


cdef class KeyBuckets:
    """Keys, found by any band of their signatures.

    Parameters
    ----------
    bands, rows
        How a signature is cut: bands * rows minima of it are kept.

    Notes
    -----
    A row takes 4 (bands * (rows + 1) + 2) + 8 bytes, a slot of the tables 5 (bands + 1); there
    are 1.14 to 2.29 slots for each row. 64-bit values are kept in 32 bits as long as all fit.
    A removed row stays until there are as many of them as others.
    """

    cdef Table t
    cdef Kind values
    cdef Py_ssize_t bands
    cdef Py_ssize_t rows
    cdef Py_ssize_t dead
    cdef Py_ssize_t repeated                # rows whose key an earlier row has
    cdef Py_ssize_t changes
    cdef list keys
    cdef bint closed
    cdef object dtype                       # of the latest signature, and what it means
    cdef Kind seen

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
        cdef list keys = []                 # created first: see `takes`
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
        cdef list keys = []                 # created first: see `takes`
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

    @cython.critical_section
    def insert(self, key, hashvalues, bint unique=True):
        """Insert a key with its signature.

        Parameters
        ----------
        key
            Anything hashable.
        hashvalues
            Array of integers of 32 or 64 bits, at least bands * rows along the first axis.
        unique
            Refuse a key that is there; otherwise it is found by both signatures.

        Returns
        -------
        int
            0: inserted. 1: the key is there. 2: the values are of another kind than those in the
            table, or of one that no table holds; or the table is closed. Unless 0, nothing was
            changed.
        """
        cdef uint32_t h = key_hash(key)
        cdef bytes data = bytes_of(hashvalues)
        cdef Kind kind = self.look(hashvalues, data)
        cdef bint known = self.find_key(key, h, None) > 0   # the last step that runs foreign code
        if known and unique and not self.closed:
            return KNOWN
        if not self.takes(&kind):
            return OTHER_KIND
        read_signature(&self.t, PyBytes_AS_STRING(data), self.values.is_signed, self.bands)
        if memchr(self.t.fits, 0, self.bands) != NULL:
            widen_table(&self.t, self.values.is_signed)
            read_signature(&self.t, PyBytes_AS_STRING(data), self.values.is_signed, self.bands)
        reserve(&self.t)
        self.keys.append(key)
        memcpy(record_of(&self.t, self.t.n), self.t.words, 4 * self.bands * self.t.width)
        key_hash_of(&self.t, self.t.n)[0] = h
        mark_of(&self.t, self.t.n)[0] = 0
        link_row(&self.t, <int32_t> self.t.n)
        self.t.n += 1
        self.repeated += known
        self.changes += 1
        return INSERTED

    @cython.critical_section
    def query(self, hashvalues, Py_ssize_t bands):
        """Return the keys that share one of the first `bands` bands with a signature."""
        cdef bytes data = bytes_of(hashvalues)
        cdef Kind kind = self.look(hashvalues, data)
        cdef list found = []
        cdef Py_ssize_t b
        cdef size_t slot
        cdef int32_t row
        if not 0 <= bands <= self.bands:
            raise ValueError(f"{bands} bands asked for, there are {self.bands}")
        if self.t.n == 0 or not self.same_kind(&kind):
            return found
        read_signature(&self.t, PyBytes_AS_STRING(data), self.values.is_signed, bands)
        start_query(&self.t)
        hash_bands(&self.t, self.t.words, bands)
        for b in range(bands):
            if not self.t.fits[b]:
                continue
            slot = find_slot(&self.t, b, self.t.words + b * self.t.width, self.t.hashes[b])
            row = next_alive(&self.t, b, slot, -1)
            while row >= 0:
                if mark_of(&self.t, row)[0] != self.t.query:
                    mark_of(&self.t, row)[0] = self.t.query
                    found.append(self.keys[row])
                row = next_alive(&self.t, b, slot, row)
        return distinct(found) if self.repeated else found

    @cython.critical_section
    def remove(self, key):
        """Remove a key with all its signatures.

        Returns
        -------
        bool or None
            Whether the key was there; None if the table is closed, and nothing was changed.
        """
        cdef Py_ssize_t row
        cdef list rows = []
        cdef list removed = []              # alive until the table is in order again
        self.find_key(key, key_hash(key), rows)
        if self.closed:
            return None
        if not rows:
            return False
        for row in rows:
            removed.append(self.keys[row])
            self.keys[row] = REMOVED
            mark_of(&self.t, row)[0] = DEAD
        self.dead += len(rows)
        self.repeated -= len(rows) - 1
        self.changes += 1
        if self.dead > CHUNK and 2 * self.dead > self.t.n:
            self.compact()
        return True

    cdef Py_ssize_t find_key(self, key, uint32_t h, list rows) except -1:
        # Returns how many rows a key has, and appends them to `rows`. Without `rows`, it stops at
        # the first.
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

    cdef Kind look(self, hashvalues, bytes data) except *:
        # Returns the kind of the values, after checking that there are enough of them.
        cdef Py_ssize_t n = len(hashvalues)
        dtype = hashvalues.dtype
        if n < self.bands * self.rows:
            raise ValueError(
                f"a signature of {n} values, expected {self.bands * self.rows} or more"
            )
        if dtype is not self.dtype or len(data) != n * self.seen.itemsize * self.seen.columns:
            self.seen = kind_of(dtype, n, len(data))
            self.dtype = dtype
        if self.seen.itemsize * self.seen.columns * n > len(data):
            raise ValueError(f"{n} values in {len(data)} bytes")
        return self.seen

    cdef bint same_kind(self, const Kind* kind) noexcept:
        return kind.itemsize == self.values.itemsize and kind.columns == self.values.columns

    cdef bint takes(self, const Kind* kind) except -1:
        # The first signature decides the kind of all. Up to Python 3.11, creating a list may run a
        # __del__ that inserts keys. So the list is created before the table is looked at.
        cdef list keys
        if self.closed:
            return False
        if self.dead < self.t.n:
            return self.same_kind(kind)
        keys = []
        if self.closed:
            return False
        if self.dead < self.t.n:
            return self.same_kind(kind)
        if kind.itemsize == 0 or kind.columns > (1 << 24) // (self.bands * self.rows):
            return False
        begin_table(&self.t, self.bands, self.rows * kind.columns, kind.itemsize == 8)
        self.values = kind[0]
        self.keys = keys
        self.dead = 0
        return True

    cdef int compact(self) except -1:
        cdef Py_ssize_t row
        cdef list keys = []                 # created first: see `takes`
        for row in range(self.t.n):
            if mark_of(&self.t, row)[0] != DEAD:
                keys.append(self.keys[row])
        resize_tables(&self.t, bits_for(len(keys)))
        drop_dead(&self.t)
        free_chunks(&self.t, (self.t.n + CHUNK - 1) >> CHUNK_BITS)
        link_all(&self.t)
        self.keys = keys
        self.dead = 0
        return 0


cdef list distinct(list keys):
    return list(dict.fromkeys(keys))


cdef uint32_t key_hash(key) except? 0xFFFFFFFF:
    cdef uint64_t h = <uint64_t> PyObject_Hash(key)
    return <uint32_t> (h ^ (h >> 32))


cdef bint equal(a, b) except -1:
    return a is b or PyObject_RichCompareBool(a, b, Py_EQ)


cdef inline bytes bytes_of(values):
    # An array that is asked for its buffer keeps 72 bytes for it as long as it lives.
    return values.tobytes()


cdef Kind kind_of(dtype, Py_ssize_t values, Py_ssize_t size) except *:
    # itemsize 0: values that no table holds.
    cdef Kind kind
    cdef Py_ssize_t itemsize = dtype.itemsize
    memset(&kind, 0, sizeof(Kind))
    if dtype.kind in "iu" and dtype.isnative and (itemsize == 4 or itemsize == 8) and size:
        kind.itemsize = itemsize
        kind.columns = size // (values * kind.itemsize)
        kind.is_signed = dtype.kind == "i"
    return kind
