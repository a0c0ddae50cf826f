# Memory of a Table. Whatever raises MemoryError leaves the table as it was.
# With key_buckets.pxi.

from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc, PyMem_Realloc
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastlsh._kernels.compat.key_table cimport CHUNK, CHUNK_BITS, Table

cdef enum:
    FIRST_BITS = 4


cdef void free_chunks(Table* t, Py_ssize_t keep) noexcept:
    while t.allocated > keep:
        t.allocated -= 1
        PyMem_Free(t.chunks[t.allocated])


cdef void free_table(Table* t) noexcept:
    free_chunks(t, 0)
    PyMem_Free(t.chunks)
    PyMem_Free(t.tags)
    PyMem_Free(t.heads)
    PyMem_Free(t.hashes)
    PyMem_Free(t.words)
    PyMem_Free(t.fits)
    memset(t, 0, sizeof(Table))


cdef int add_chunk(Table* t) except -1:
    cdef Py_ssize_t room
    cdef void* block
    if t.allocated == t.room:
        room = 2 * t.room + 4
        block = PyMem_Realloc(t.chunks, room * sizeof(uint32_t*))
        if block == NULL:
            raise MemoryError()
        t.chunks = <uint32_t**> block
        t.room = room
    block = PyMem_Malloc(CHUNK * t.record * sizeof(uint32_t))
    if block == NULL:
        raise MemoryError()
    t.chunks[t.allocated] = <uint32_t*> block
    t.allocated += 1
    return 0


cdef int resize_tables(Table* t, int bits) except -1:
    # Replaces the tables by ones of 2**bits slots; the rows must be linked anew.
    cdef size_t slots = <size_t> (t.bands + 1) << bits
    cdef void* tags = PyMem_Malloc(slots)
    cdef void* heads = PyMem_Malloc(slots * sizeof(int32_t))
    if tags == NULL or heads == NULL:
        PyMem_Free(tags)
        PyMem_Free(heads)
        raise MemoryError()
    PyMem_Free(t.tags)
    PyMem_Free(t.heads)
    t.tags = <uint8_t*> tags
    t.heads = <int32_t*> heads
    t.bits = bits
    return 0


cdef int begin_table(Table* t, Py_ssize_t bands, Py_ssize_t width, bint narrow) except -1:
    # Makes an empty table that can be used.
    cdef Table fresh
    memset(&fresh, 0, sizeof(Table))
    fresh.bands = bands
    fresh.width = width
    fresh.record = bands * (width + 1) + 2
    fresh.narrow = narrow
    fresh.hashes = <uint64_t*> PyMem_Calloc(bands, sizeof(uint64_t))
    fresh.words = <uint32_t*> PyMem_Calloc(bands * width, sizeof(uint32_t))
    fresh.fits = <uint8_t*> PyMem_Calloc(bands, 1)
    try:
        if fresh.hashes == NULL or fresh.words == NULL or fresh.fits == NULL:
            raise MemoryError()
        resize_tables(&fresh, FIRST_BITS)
        link_all(&fresh)
    except MemoryError:
        free_table(&fresh)
        raise
    free_table(t)
    t[0] = fresh
    return 0


cdef int bits_for(Py_ssize_t rows) noexcept:
    # At most 7 of 8 slots are taken.
    cdef int bits = FIRST_BITS
    while 8 * rows > <Py_ssize_t> 7 << bits:
        bits += 1
    return bits


cdef int reserve(Table* t) except -1:
    # Makes room for one more row.
    cdef int bits = bits_for(t.n + 1)
    if t.n >= 0x7FFFFFFF:
        raise OverflowError("a table holds at most 2**31 - 1 rows")
    if t.n == t.allocated << CHUNK_BITS:
        add_chunk(t)
    if bits > t.bits:
        resize_tables(t, bits)
        link_all(t)
    return 0


cdef int widen_table(Table* t, bint is_signed) except -1:
    # Gives each value 64 bits instead of 32.
    cdef Table wide
    cdef Py_ssize_t row, i
    cdef Py_ssize_t values = t.bands * t.width
    cdef const uint32_t* narrow
    cdef uint32_t* words
    cdef uint64_t value
    memset(&wide, 0, sizeof(Table))
    begin_table(&wide, t.bands, 2 * t.width, False)
    try:
        resize_tables(&wide, t.bits)
        while wide.allocated < t.allocated:
            add_chunk(&wide)
    except MemoryError:
        free_table(&wide)
        raise
    for row in range(t.n):
        narrow = record_of(t, row)
        words = record_of(&wide, row)
        for i in range(values):
            value = <uint64_t> <int64_t> <int32_t> narrow[i] if is_signed else narrow[i]
            memcpy(words + 2 * i, &value, 8)
        words[wide.record - 2] = key_hash_of(t, row)[0]
        words[wide.record - 1] = mark_of(t, row)[0]
    wide.n = t.n
    wide.query = t.query
    link_all(&wide)
    free_table(t)
    t[0] = wide
    return 0
