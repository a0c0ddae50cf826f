"""For the drop-in modules: minima of the hash functions of other libraries, and the tables of
datasketch.
"""

cimport cython
from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport (
    PyBytes_AS_STRING, PyBytes_Check, PyBytes_FromStringAndSize, PyBytes_GET_SIZE,
)
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc, PyMem_Realloc
from cpython.object cimport PyObject_Hash, PyObject_RichCompareBool, Py_EQ
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memchr, memcmp, memcpy, memset

import numpy as np

from fastlsh._kernels.common.checks cimport check_address, check_array, check_matrix, check_offsets
from fastlsh._kernels.common.compiler cimport noinline_void
from fastlsh._kernels.common.prefetch cimport prefetch
from fastlsh._kernels.compat.functions cimport Functions
from fastlsh._kernels.compat.murmur cimport Murmur, arrays32, arrays64
from fastlsh._kernels.compat.sha1 cimport SHA1_LANES, from_big_endian
from fastlsh._kernels.common._common cimport loops
from fastlsh._kernels.minhash.signer cimport AFFINE32, AFFINE64, LEGACY, PRIME61
from fastlsh._kernels.text._plans cimport longest_of
from fastlsh._kernels.text._texts cimport Span, Spans
from fastlsh._kernels.text.source cimport BLOCK, element


# ---- SHA-1 of many short messages: which block of which message is in each lane.

cdef struct Sha1Lanes:
    uint32_t state[5][SHA1_LANES]
    uint32_t words[16][SHA1_LANES]       # a block of each message, as it lies in memory
    uint8_t padded[SHA1_LANES][64]       # the last blocks
    const uint8_t* source[SHA1_LANES]
    Py_ssize_t message[SHA1_LANES]       # -1: none left for this lane
    Py_ssize_t block[SHA1_LANES]


cdef inline uint32_t swap32(uint32_t h) noexcept nogil:
    return h >> 24 | (h >> 8 & 0xFF00) | (h << 8 & 0xFF0000) | h << 24


cdef inline void copy_short(uint8_t* to, const uint8_t* text, Py_ssize_t n) noexcept nogil:
    # Fewer than 64 bytes, in line: a call would cost more than the copy.
    cdef Py_ssize_t i = 0
    while i + 8 <= n:
        memcpy(to + i, text + i, 8)
        i += 8
    if n >= 8:
        memcpy(to + n - 8, text + n - 8, 8)
        return
    while i < n:
        to[i] = text[i]
        i += 1


cdef inline void sha1_start(Sha1Lanes* lanes, int lane, Py_ssize_t message) noexcept nogil:
    lanes.message[lane] = message
    lanes.block[lane] = 0
    lanes.source[lane] = lanes.padded[lane]
    lanes.state[0][lane] = 0x67452301
    lanes.state[1][lane] = <uint32_t> 0xEFCDAB89
    lanes.state[2][lane] = <uint32_t> 0x98BADCFE
    lanes.state[3][lane] = 0x10325476
    lanes.state[4][lane] = <uint32_t> 0xC3D2E1F0


cdef inline int sha1_pad(Sha1Lanes* lanes, int lane, const Span* at) noexcept nogil:
    # Find the next block of a lane: text, and at its end 0x80, zeros. Returns how many of its
    # words may differ from zero, but for the length in the last two.
    cdef const uint8_t* text = <const uint8_t*> at.text + 64 * lanes.block[lane]
    cdef uint8_t* padded = lanes.padded[lane]
    cdef Py_ssize_t rest = at.length - 64 * lanes.block[lane]
    if rest >= 64:
        lanes.source[lane] = text
        return 16
    lanes.source[lane] = padded
    memset(padded, 0, 64)
    if rest < 0:
        return 0
    copy_short(padded, text, rest)
    padded[rest] = 0x80
    return <int> (rest // 4) + 1


cdef noinline_void sha1_gather(Sha1Lanes* lanes, const Span* at) noexcept nogil:
    # The stores of one loop are read by the next: in one loop the reads would wait for them.
    cdef int used = 0
    cdef int lane, i
    cdef uint64_t bits
    for lane in range(SHA1_LANES):
        if lanes.message[lane] >= 0:
            used = max(used, sha1_pad(lanes, lane, at + lanes.message[lane]))
    for i in range(used):
        for lane in range(SHA1_LANES):
            memcpy(&lanes.words[i][lane], lanes.source[lane] + 4 * i, 4)
    memset(lanes.words[used], 0, (16 - used) * sizeof(lanes.words[0]))
    for lane in range(SHA1_LANES):
        if lanes.message[lane] < 0:
            continue
        if at[lanes.message[lane]].length - 64 * lanes.block[lane] < 56:
            bits = <uint64_t> at[lanes.message[lane]].length * 8
            lanes.words[14][lane] = from_big_endian(<uint32_t> (bits >> 32))
            lanes.words[15][lane] = from_big_endian(<uint32_t> bits)


cdef void sha1_many(const Span* at, Py_ssize_t n, uint64_t* out) noexcept nogil:
    # The first eight bytes of each digest as a little-endian number. A lane that is done with a
    # message takes the next one, so lengths may differ.
    cdef Sha1Lanes lanes
    cdef Py_ssize_t taken = SHA1_LANES
    cdef Py_ssize_t left = n
    cdef Py_ssize_t m
    cdef int lane
    memset(lanes.padded, 0, sizeof(lanes.padded))
    for lane in range(SHA1_LANES):
        sha1_start(&lanes, lane, lane if lane < n else -1)
    while left:
        sha1_gather(&lanes, at)
        loops.sha1_compress(lanes.state, lanes.words)
        for lane in range(SHA1_LANES):
            m = lanes.message[lane]
            lanes.block[lane] += 1
            if m < 0 or 64 * lanes.block[lane] < at[m].length + 9:
                continue
            out[m] = <uint64_t> swap32(lanes.state[1][lane]) << 32 | swap32(lanes.state[0][lane])
            left -= 1
            sha1_start(&lanes, lane, taken if taken < n else -1)
            taken += 1


cdef void narrow_words(const uint64_t* words, Py_ssize_t n, uint32_t* out) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = <uint32_t> words[i]


# ---- Called from Python: hashes of tokens, as datasketch makes them.

def sha1_hashes(list tokens not None, hashes not None):
    """Write the start of the SHA-1 digest of each token, as a little-endian number.

    Parameters
    ----------
    tokens
        bytes. It must not change meanwhile.
    hashes
        uint32 (n,), for the first four bytes; or uint64 (n,), for the first eight.

    Returns
    -------
    bool
        False, and nothing of use in `hashes`, if a token is not bytes.
    """
    cdef uint32_t[::1] narrow = None
    cdef uint64_t[::1] wide = None
    cdef Span at[BLOCK]
    cdef uint64_t digests[BLOCK]
    cdef Py_ssize_t n = len(tokens)
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t i, m
    if hashes.itemsize == 4:
        narrow = hashes
    else:
        wide = hashes
    check_room(narrow, wide, n)
    while start < n:
        m = min(n - start, <Py_ssize_t> BLOCK)
        for i in range(m):
            token = tokens[start + i]
            if not PyBytes_Check(token):
                return False
            at[i].text = PyBytes_AS_STRING(token)
            at[i].length = PyBytes_GET_SIZE(token)
        with nogil:
            if wide is None:
                sha1_many(at, m, digests)
                narrow_words(digests, m, &narrow[start])
            else:
                sha1_many(at, m, &wide[start])
        start += m
    return True


def called_hashes(hashfunc, elements not None, hashes not None):
    """Write what a Python function makes of each element, an integer.

    Parameters
    ----------
    hashfunc
        Called with each element; None: the elements are the hashes.
    elements
        list.
    hashes
        uint32 (n,) or uint64 (n,).

    Returns
    -------
    int, object
        How many were written, and what `hashfunc` returned next: short of n, that is no int or
        does not fit.
    """
    cdef uint32_t[::1] narrow = None
    cdef uint64_t[::1] wide = None
    cdef Py_ssize_t n = len(elements)
    cdef Py_ssize_t i = 0
    cdef size_t h
    if hashes.itemsize == 4:
        narrow = hashes
    else:
        wide = hashes
    check_room(narrow, wide, n)
    value = None
    for element in <list?> elements:
        if i == n:
            break
        value = element if hashfunc is None else hashfunc(element)
        if type(value) is not int:
            return i, value
        try:
            h = value
        except OverflowError:
            return i, value
        if wide is not None:
            wide[i] = h
        elif h >> 16 >> 16:
            return i, value
        else:
            narrow[i] = <uint32_t> h
        i += 1
    if i < n:
        raise RuntimeError("the list of elements changed while they were hashed")
    return n, None


cdef int check_room(const uint32_t[::1] narrow, const uint64_t[::1] wide, Py_ssize_t n) except -1:
    cdef Py_ssize_t room = narrow.shape[0] if wide is None else wide.shape[0]
    if room != n:
        raise ValueError(f"hashes has {room} elements, expected {n}")
    check_array(narrow, "hashes")
    check_array(wide, "hashes")
    return 0


# ---- Called from Python: the sketches of datasketch. The loops run without the GIL.

cdef class Permutations:
    """The functions of a scheme, and the minima of what they make of element hashes.

    Parameters
    ----------
    scheme
        `AFFINE32`, `AFFINE64`, `LEGACY` or `PRIME61`.
    coefficients
        Integers (2, k): a and b of the functions. They are taken as the scheme's type: uint32
        for `AFFINE32`, else uint64. Of that type are the rows of minima, updated in place.
    """

    cdef readonly int scheme
    cdef readonly Py_ssize_t k
    cdef readonly object coefficients
    cdef const uint32_t[:, ::1] narrow
    cdef const uint64_t[:, ::1] wide

    def __cinit__(self, int scheme, coefficients not None):
        if scheme not in (AFFINE32, AFFINE64, LEGACY, PRIME61):
            raise ValueError(
                f"scheme must be {AFFINE32} (affine32), {AFFINE64} (affine64), {LEGACY} (legacy) "
                f"or {PRIME61} (prime61), got {scheme}"
            )
        dtype = np.uint32 if scheme == AFFINE32 else np.uint64
        values = np.require(coefficients, dtype, ["C", "A"])
        if values.ndim != 2 or values.shape[0] != 2 or values.shape[1] < 1:
            raise ValueError(f"coefficients has shape {values.shape}, expected (2, at least 1)")
        self.scheme = scheme
        self.k = values.shape[1]
        self.coefficients = coefficients
        if scheme == AFFINE32:
            self.narrow = values
        else:
            self.wide = values

    cdef Functions functions(self) noexcept:
        cdef Functions functions
        functions.scheme = self.scheme
        functions.k = self.k
        functions.a32 = functions.b32 = NULL
        functions.a64 = functions.b64 = NULL
        if self.scheme == AFFINE32:
            functions.a32 = &self.narrow[0, 0]
            functions.b32 = &self.narrow[1, 0]
        else:
            functions.a64 = &self.wide[0, 0]
            functions.b64 = &self.wide[1, 0]
        return functions

    def add_token(self, bytes token not None, row not None):
        """Take one token, hashed by SHA-1, into `row`, (k,)."""
        cdef Functions functions
        cdef Py_buffer view
        cdef Span at
        cdef uint64_t digest
        cdef uint32_t narrow
        cdef Py_ssize_t width = 4 if self.scheme == AFFINE32 else 8
        at.text = PyBytes_AS_STRING(token)
        at.length = PyBytes_GET_SIZE(token)
        # A buffer without a type: a typed view would cost as much as all else here.
        PyObject_GetBuffer(row, &view, PyBUF_WRITABLE)
        try:
            if view.len != self.k * width:
                raise ValueError(f"row has {view.len} bytes, expected {self.k * width}")
            check_address(view.buf, width, "row")
            sha1_many(&at, 1, &digest)
            narrow = <uint32_t> digest
            if self.scheme == LEGACY:
                digest = narrow
            functions = self.functions()
            loops.permute(
                &functions, <void*> &narrow if width == 4 else <void*> &digest, 1, view.buf
            )
        finally:
            PyBuffer_Release(&view)

    def add_hashes(self, hashes not None, rows not None, const int64_t[::1] offsets=None):
        """Take the elements of sets: set d has hashes[offsets[d]:offsets[d + 1]].

        Parameters
        ----------
        hashes
            (total,), of the scheme's type.
        rows
            (n * k,), of the scheme's type: the row of each set.
        offsets
            int64 (n + 1,), not decreasing; default: one set of all hashes.
        """
        cdef const uint32_t[::1] hashes_32
        cdef const uint64_t[::1] hashes_64
        cdef uint32_t[::1] rows_32
        cdef uint64_t[::1] rows_64
        cdef Functions functions = self.functions()
        cdef Py_ssize_t total, room
        cdef const void* from_ = NULL
        cdef void* to = NULL
        cdef Py_ssize_t n = 1
        if self.scheme == AFFINE32:
            hashes_32 = hashes
            rows_32 = rows
            total = hashes_32.shape[0]
            room = rows_32.shape[0]
            check_array(hashes_32, "hashes")
            check_array(rows_32, "rows")
            from_ = &hashes_32[0] if total else NULL
            to = &rows_32[0] if room else NULL
        else:
            hashes_64 = hashes
            rows_64 = rows
            total = hashes_64.shape[0]
            room = rows_64.shape[0]
            check_array(hashes_64, "hashes")
            check_array(rows_64, "rows")
            from_ = &hashes_64[0] if total else NULL
            to = &rows_64[0] if room else NULL
        if offsets is not None:
            n = offsets.shape[0] - 1
            check_offsets(offsets, n, total, "offsets")
        if room // self.k != n or room % self.k:
            raise ValueError(f"rows has {room} elements, expected {n} * {self.k}")
        if total == 0 or n == 0:
            return
        with nogil:
            if offsets is None:
                loops.permute(&functions, from_, total, to)
            else:
                permute_sets(&functions, from_, &offsets[0], n, to)


cdef void permute_sets(
    const Functions* f, const void* hashes, const int64_t* offsets, Py_ssize_t n, void* rows
) noexcept nogil:
    # Set d has the hashes from offsets[d] to offsets[d + 1], and row d.
    cdef Py_ssize_t width = sizeof(uint32_t) if f.scheme == AFFINE32 else sizeof(uint64_t)
    cdef Py_ssize_t d
    for d in range(n):
        loops.permute(
            f, <const char*> hashes + width * offsets[d], offsets[d + 1] - offsets[d],
            <char*> rows + width * f.k * d,
        )


# ---- Called from Python: minima of MurmurHash3. The loop runs without the GIL.

cdef enum:
    PIECE = 1 << 9          # windows at a time, at most: their words stay in the first cache,
    ROOM = 1 << 16          # unless the windows are long,
    LANES = 16              # and at least


def murmur_minima(
    Spans spans not None, Py_ssize_t size, const uint32_t[::1] seeds not None,
    element[:, ::1] out not None, bint sentinel=False,
):
    """Write each text's minimum of MurmurHash3 over its windows, for each seed, into `out`.

    Parameters
    ----------
    spans
        The texts, gathered as bytes.
    size
        Bytes of a window. A text of fewer bytes is one window, itself.
    seeds
        uint32 (k,).
    out
        uint32 (n, k): x86_32, least in the order of signed numbers. uint64 (n, k): the first half
        of x64_128, least in the order of unsigned ones. Empty text: all ones.
    sentinel
        Start at -1 (uint32) or 2^63 - 1 (uint64) instead of the greatest number, and leave a text
        of fewer bytes than `size` there, as lsh 0.3.0 does.
    """
    cdef Py_ssize_t k = seeds.shape[0]
    cdef Py_ssize_t i
    cdef Py_ssize_t arrays
    cdef Murmur m
    cdef element start
    if size < 1:
        raise ValueError(f"size must be at least 1, got {size}")
    if k < 1 or out.shape[0] != spans.n or out.shape[1] != k:
        raise ValueError(
            f"out has shape ({out.shape[0]}, {out.shape[1]}), expected ({spans.n}, {k}), "
            "and at least one seed"
        )
    for i in range(spans.n):
        if spans.at[i].kind != 1:
            raise ValueError(f"text {i} is not gathered as bytes")
    if spans.n == 0:
        return
    check_array(seeds, "seeds")
    check_matrix(out, "out")
    if element is uint32_t:
        start = 0xFFFFFFFF if sentinel else 0x7FFFFFFF
    else:
        start = <uint64_t> 0x7FFFFFFFFFFFFFFF if sentinel else <uint64_t> 0xFFFFFFFFFFFFFFFF
    arrays = min(size, max(longest_of(spans), <Py_ssize_t> 1))  # of no longer windows
    arrays = arrays32(arrays) if element is uint32_t else arrays64(arrays)
    m.k = k
    m.seeds = &seeds[0]
    m.piece = max(min(ROOM // arrays, <Py_ssize_t> PIECE), <Py_ssize_t> LANES)
    m.words = malloc(arrays * m.piece * sizeof(element))
    if m.words == NULL:
        raise MemoryError()
    with nogil:
        minima_of_texts(&m, spans.at, spans.n, size, start, sentinel, &out[0, 0])
    free(m.words)


cdef void minima_of_texts(
    Murmur* m, const Span* at, Py_ssize_t n, Py_ssize_t size, element start, bint sentinel,
    element* row
) noexcept nogil:
    cdef Py_ssize_t i, j, length
    for i in range(n):
        length = at[i].length
        for j in range(m.k):
            row[j] = start
        if length >= size or length and not sentinel:
            if element is uint32_t:
                loops.murmur_32(m, <const uint8_t*> at[i].text, length, min(size, length), row)
            else:
                loops.murmur_64(m, <const uint8_t*> at[i].text, length, min(size, length), row)
        elif not sentinel:
            memset(row, 0xFF, m.k * sizeof(element))
        row += m.k


# ---- The hash tables of a KeyBuckets, without a Python object. A row of the table is a record
#
#     words[bands * width] | next[bands] | hash of its key | mark
#
# in a chunk that never moves. Slots are found by open addressing; `tags` holds 7 bits of each
# slot's hash (0 = free), so that a slot of another bucket is passed over without a look at its
# record. Table number `bands` holds the keys. A chain of the rows of a bucket starts in `heads`.

cdef enum:
    CHUNK_BITS = 5
    CHUNK = 1 << CHUNK_BITS

cdef struct Chains:
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


# ---- Look-ups in the hash tables of a KeyBuckets, without a Python object.

cdef uint32_t DEAD = 0xFFFFFFFF             # the mark of a removed row


cdef inline uint32_t* record_of(const Chains* t, Py_ssize_t row) noexcept nogil:
    return t.chunks[row >> CHUNK_BITS] + (row & (CHUNK - 1)) * t.record


cdef inline int32_t* next_of(const Chains* t, Py_ssize_t row) noexcept nogil:
    return <int32_t*> (record_of(t, row) + t.bands * t.width)


cdef inline uint32_t* key_hash_of(const Chains* t, Py_ssize_t row) noexcept nogil:
    return record_of(t, row) + t.record - 2


cdef inline uint32_t* mark_of(const Chains* t, Py_ssize_t row) noexcept nogil:
    return record_of(t, row) + t.record - 1


cdef inline uint64_t hash_words(const uint32_t* words, Py_ssize_t n) noexcept nogil:
    cdef uint64_t h = <uint64_t> n
    cdef uint64_t pair
    cdef Py_ssize_t i = 0
    while i + 1 < n:
        memcpy(&pair, words + i, 8)
        h = (h ^ pair) * <uint64_t> 0x9E3779B97F4A7C15
        h ^= h >> 32
        i += 2
    if i < n:
        h = (h ^ words[i]) * <uint64_t> 0x9E3779B97F4A7C15
        h ^= h >> 32
    return h * <uint64_t> 0xD6E8FEB86659FD93


cdef inline uint64_t hash_key(uint32_t h) noexcept nogil:
    # Python hashes integers to themselves.
    cdef uint64_t x = (h + <uint64_t> 1) * <uint64_t> 0x9E3779B97F4A7C15
    return (x ^ (x >> 32)) * <uint64_t> 0xD6E8FEB86659FD93


cdef inline uint8_t tag_of(uint64_t h) noexcept nogil:
    return <uint8_t> ((h & 0x7F) | 0x80)


cdef inline size_t home_of(const Chains* t, uint64_t h) noexcept nogil:
    return <size_t> (h >> (64 - t.bits))


cdef void hash_bands(Chains* t, const uint32_t* words, Py_ssize_t bands) noexcept nogil:
    # Ahead of the look-ups, so that the caches fetch for all bands at once.
    cdef Py_ssize_t b
    cdef size_t at
    for b in range(bands):
        t.hashes[b] = hash_words(words + b * t.width, t.width)
        at = (<size_t> b << t.bits) + home_of(t, t.hashes[b])
        prefetch(t.tags + at)
        prefetch(t.heads + at)


cdef size_t find_slot(
    const Chains* t, Py_ssize_t band, const uint32_t* words, uint64_t h
) noexcept nogil:
    # The slot of a bucket in `tags` and `heads`, or the free one where it belongs.
    cdef size_t base = <size_t> band << t.bits
    cdef size_t mask = (<size_t> 1 << t.bits) - 1
    cdef size_t slot = home_of(t, h)
    cdef uint8_t tag = tag_of(h)
    cdef size_t width = t.width * sizeof(uint32_t)
    while t.tags[base + slot]:
        if t.tags[base + slot] == tag and memcmp(
            record_of(t, t.heads[base + slot]) + band * t.width, words, width
        ) == 0:
            break
        slot = (slot + 1) & mask
    return base + slot


cdef void link_row(Chains* t, int32_t row) noexcept nogil:
    # Enters a row into all tables.
    cdef const uint32_t* words = record_of(t, row)
    cdef int32_t* next_row = next_of(t, row)
    cdef uint64_t h
    cdef size_t slot, base, mask
    cdef Py_ssize_t b
    hash_bands(t, words, t.bands)
    for b in range(t.bands):
        slot = find_slot(t, b, words + b * t.width, t.hashes[b])
        next_row[b] = t.heads[slot] if t.tags[slot] else -1
        t.tags[slot] = tag_of(t.hashes[b])
        t.heads[slot] = row
    # Rows of one key lie one after the other in the order of their insertion.
    h = hash_key(key_hash_of(t, row)[0])
    base = <size_t> t.bands << t.bits
    mask = (<size_t> 1 << t.bits) - 1
    slot = home_of(t, h)
    while t.tags[base + slot]:
        slot = (slot + 1) & mask
    t.tags[base + slot] = tag_of(h)
    t.heads[base + slot] = row


cdef inline int32_t next_alive(Chains* t, Py_ssize_t band, size_t slot, int32_t row) noexcept nogil:
    # The first row after `row` (-1: from the slot on) that is not removed, or -1. Removed ones on
    # the way are unlinked: each is met once. A bucket of removed rows alone keeps its head, by
    # whose words the slot is known.
    cdef int32_t* link = &t.heads[slot] if row < 0 else &next_of(t, row)[band]
    cdef int32_t following
    if row < 0 and not t.tags[slot]:
        return -1
    while link[0] >= 0 and mark_of(t, link[0])[0] == DEAD:
        following = next_of(t, link[0])[band]
        if row < 0 and following < 0:
            return -1
        link[0] = following
    return link[0]


cdef void start_query(Chains* t) noexcept nogil:
    cdef Py_ssize_t row
    t.query += 1
    if t.query == DEAD:
        for row in range(t.n):
            if mark_of(t, row)[0] != DEAD:
                mark_of(t, row)[0] = 0
        t.query = 1


cdef Py_ssize_t drop_dead(Chains* t) noexcept nogil:
    # Moves the living rows together, in order; the tables must be linked anew.
    cdef Py_ssize_t row
    cdef Py_ssize_t kept = 0
    for row in range(t.n):
        if mark_of(t, row)[0] != DEAD:
            if kept != row:
                memcpy(record_of(t, kept), record_of(t, row), t.record * sizeof(uint32_t))
            kept += 1
    t.n = kept
    return kept


cdef void link_all(Chains* t) noexcept nogil:
    cdef Py_ssize_t row
    memset(t.tags, 0, <size_t> (t.bands + 1) << t.bits)
    for row in range(t.n):
        link_row(t, <int32_t> row)


cdef void read_signature(
    Chains* t, const char* values, bint is_signed, Py_ssize_t bands
) noexcept nogil:
    # Writes the first bands into `words`, and into `fits` which of them these words give back.
    cdef Py_ssize_t b, i
    cdef uint32_t* words = t.words
    cdef uint64_t value, rest
    if not t.narrow:
        memcpy(words, values, bands * t.width * sizeof(uint32_t))
        memset(t.fits, 1, bands)
        return
    for b in range(bands):
        rest = 0
        for i in range(t.width):
            memcpy(&value, values, 8)
            values += 8
            words[i] = <uint32_t> value
            rest |= value ^ (<uint64_t> <int64_t> <int32_t> words[i] if is_signed else words[i])
        t.fits[b] = rest == 0
        words += t.width


# ---- Memory of Chains. Whatever raises MemoryError leaves the table as it was.

cdef enum:
    FIRST_BITS = 4


cdef void free_chunks(Chains* t, Py_ssize_t keep) noexcept:
    while t.allocated > keep:
        t.allocated -= 1
        PyMem_Free(t.chunks[t.allocated])


cdef void free_table(Chains* t) noexcept:
    free_chunks(t, 0)
    PyMem_Free(t.chunks)
    PyMem_Free(t.tags)
    PyMem_Free(t.heads)
    PyMem_Free(t.hashes)
    PyMem_Free(t.words)
    PyMem_Free(t.fits)
    memset(t, 0, sizeof(Chains))


cdef int add_chunk(Chains* t) except -1:
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


cdef int resize_tables(Chains* t, int bits) except -1:
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


cdef int begin_table(Chains* t, Py_ssize_t bands, Py_ssize_t width, bint narrow) except -1:
    # Makes an empty table that can be used.
    cdef Chains fresh
    memset(&fresh, 0, sizeof(Chains))
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


cdef int reserve(Chains* t) except -1:
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


cdef int widen_table(Chains* t, bint is_signed) except -1:
    # Gives each value 64 bits instead of 32.
    cdef Chains wide
    cdef Py_ssize_t row, i
    cdef Py_ssize_t values = t.bands * t.width
    cdef const uint32_t* narrow
    cdef uint32_t* words
    cdef uint64_t value
    memset(&wide, 0, sizeof(Chains))
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


# ---- Called from Python: keys that are found by any band of their signatures.

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

    cdef Chains t
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
