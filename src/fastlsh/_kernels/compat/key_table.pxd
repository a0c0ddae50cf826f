# The hash tables of a KeyBuckets, without a Python object. A row of the table is a record
#
#     words[bands * width] | next[bands] | hash of its key | mark
#
# in a chunk that never moves. Slots are found by open addressing; `tags` holds 7 bits of each
# slot's hash (0 = free), so that a slot of another bucket is passed over without a look at its
# record. Table number `bands` holds the keys. A chain of the rows of a bucket starts in `heads`.

from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

cdef enum:
    CHUNK_BITS = 5
    CHUNK = 1 << CHUNK_BITS

cdef struct Table:
    Py_ssize_t bands
    Py_ssize_t width                        # words of a band
    Py_ssize_t record                       # words of a record
    Py_ssize_t n                            # rows, removed ones included
    Py_ssize_t allocated                    # chunks
    int bits                                # of the number of slots
    uint32_t query                          # the mark of rows that the current query has met
    uint32_t** chunks
    Py_ssize_t room                         # chunks that `chunks` can name
    uint8_t* tags
    int32_t* heads
    bint narrow                             # 64-bit values in 32 bits
    uint64_t* hashes                        # scratch for one signature: the hash of each band,
    uint32_t* words                         # its words,
    uint8_t* fits                           # which bands can be in the table at all


cdef struct Kind:
    # Of the values: integers of 4 or 8 bytes, `columns` of them for each minimum. Equal bits are
    # equal values; `is_signed` only says which 64-bit values are likely to fit into 32 bits.
    Py_ssize_t itemsize
    Py_ssize_t columns
    bint is_signed
