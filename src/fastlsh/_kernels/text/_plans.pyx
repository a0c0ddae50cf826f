"""Plans for hashing shingles; hashes of tokens and of texts; where words stand."""

from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc
from libc.stdint cimport uint64_t
from libc.string cimport memset

from fastlsh._kernels.common.checks cimport memory_of
from fastlsh._kernels.common.mixing cimport Mixer
from fastlsh._kernels.text.keyed cimport (
    BASIC_POINTS, BASIC_TABLE, KNOWN_IDS, KNOWN_POINTS, SECRET, SHORT, Keyed, keyed_id, times_x,
)
from fastlsh._kernels.text.source cimport (
    CHARACTERS, KIND_OF_WORDS, TOKEN_IDS, first_slot, make_plan, slot_value,
)

include "text/call_hashes.pxi"
include "text/call_tokens.pxi"
include "text/call_words.pxi"
include "text/plan_checks.pxi"
include "text/points.pxi"


cdef class ShinglePlan:
    """How shingles of some units are hashed with a key, or without some words.

    Parameters
    ----------
    unit, size
        As in `signatures`.
    secret
        uint64 (531,): a modulus, which is odd; what a mixer adds, and its two factors, which are
        odd; what each byte of a code point adds: the 256 lowest, the next ones and the uppermost,
        of both without 0. None: there is no key.
    words
        uint64 (n,): words, as `token_hashes` makes them, with the same key. None: there is no list.
    keeps
        Whether these words stay, and all others are left out; otherwise these are left out.
    """

    def __cinit__(
        self, int unit, Py_ssize_t size, const uint64_t[::1] secret=None,
        const uint64_t[::1] words=None, bint keeps=False,
    ):
        if size < 1:
            raise ValueError(f"size must be at least 1, got {size}")
        make_plan(&self.plan, unit, size)
        if secret is not None:
            self.take_secret(secret)
        if words is not None:
            self.take_words(words, keeps)

    cdef int take_words(self, const uint64_t[::1] words, bint keeps) except -1:
        cdef Py_ssize_t n = words.shape[0]
        cdef int bits = 1
        cdef Py_ssize_t i
        if not self.plan.unit & KIND_OF_WORDS:
            raise ValueError(f"a list of words needs a unit of words, got {self.plan.unit}")
        memory_of(words, "words")
        while (<Py_ssize_t> 1 << bits) < 2 * n:
            bits += 1
        self.slots = <uint64_t*> PyMem_Calloc(<size_t> 1 << bits, sizeof(uint64_t))
        if self.slots == NULL:
            raise MemoryError()
        for i in range(n):
            put_word(self.slots, 64 - bits, slot_value(words[i]))
        self.words.slot = self.slots
        self.words.shift = 64 - bits
        self.words.keeps = keeps
        self.plan.words = &self.words
        return 0

    cdef int take_secret(self, const uint64_t[::1] secret) except -1:
        cdef int unit = self.plan.unit
        cdef Py_ssize_t size = self.plan.size
        if secret.shape[0] != SECRET:
            raise ValueError(f"secret has {secret.shape[0]} numbers, expected {SECRET}")
        memory_of(secret, "secret")
        if not secret[0] & secret[2] & secret[3] & 1:
            raise ValueError("the modulus and the factors of a secret must be odd")
        cdef Py_ssize_t tables = 2 if unit == CHARACTERS else 1
        self.points = <uint64_t*> PyMem_Malloc(tables * KNOWN_POINTS * sizeof(uint64_t))
        if self.points == NULL:
            raise MemoryError()
        if unit == TOKEN_IDS:
            self.ids = <uint64_t*> PyMem_Malloc(KNOWN_IDS * sizeof(uint64_t))
            if self.ids == NULL:
                raise MemoryError()
        self.plan.keyed = &self.keyed
        self.plan.mixer.add = secret[1]
        self.plan.mixer.first = secret[2]
        self.plan.mixer.second = secret[3]
        fill(&self.keyed, &secret[0], unit, size)
        fill_points(
            self.keyed.point[0], self.keyed.point[1], self.keyed.point[2][1], self.points
        )
        self.keyed.entered = self.points
        if unit == CHARACTERS:
            self.keyed.left = self.points + KNOWN_POINTS
            fill_points(
                self.keyed.leaving[0], self.keyed.leaving[1], self.keyed.leaving[2][1],
                self.points + KNOWN_POINTS,
            )
        elif unit != TOKEN_IDS:
            self.basic = <uint64_t*> PyMem_Malloc(SHORT * BASIC_TABLE * sizeof(uint64_t))
            if self.basic == NULL:
                raise MemoryError()
            fill_basic(&self.keyed, self.basic)
            self.keyed.basic = self.basic
        if unit == TOKEN_IDS:
            fill_ids(&self.keyed, &self.plan.mixer, self.ids)
            self.keyed.ids = self.ids
        return 0

    def __dealloc__(self):
        PyMem_Free(self.points)
        PyMem_Free(self.basic)
        PyMem_Free(self.ids)
        PyMem_Free(self.slots)


cdef void put_word(uint64_t* slots, int shift, uint64_t h) noexcept nogil:
    cdef uint64_t last = (<uint64_t> 1 << (64 - shift)) - 1
    cdef uint64_t i = first_slot(h, shift)
    while slots[i] and slots[i] != h:
        i = (i + 1) & last
    slots[i] = h


cdef uint64_t times(uint64_t a, uint64_t b, uint64_t modulus) noexcept nogil:
    cdef uint64_t product = 0
    while b:
        if b & 1:
            product ^= a
        a = times_x(a, modulus)
        b >>= 1
    return product


cdef uint64_t power_of_x(Py_ssize_t exponent, uint64_t modulus) noexcept nogil:
    cdef uint64_t result = 1
    cdef uint64_t square = 2
    while exponent:
        if exponent & 1:
            result = times(square, result, modulus)
        square = times(square, square, modulus)
        exponent >>= 1
    return result


cdef uint64_t quotient_of_x(Py_ssize_t exponent, uint64_t modulus) noexcept nogil:
    # Of x^exponent, where exponent < 128: what is carried, step by step.
    cdef uint64_t rest = 1
    cdef uint64_t quotient = 0
    cdef Py_ssize_t _
    for _ in range(exponent):
        quotient = quotient << 1 | rest >> 63
        rest = times_x(rest, modulus)
    return quotient


cdef void fill(Keyed* key, const uint64_t* secret, int unit, Py_ssize_t size) noexcept nogil:
    cdef uint64_t modulus = secret[0]
    cdef uint64_t power = power_of_x(size - 1, modulus)
    cdef const uint64_t* summand = secret + 4
    cdef uint64_t h
    cdef Py_ssize_t i, j, c, _
    memset(key, 0, sizeof(Keyed))
    key.modulus = modulus
    for c in range(256):
        key.point[0][c] = summand[c]
        if c:
            key.point[1][c] = summand[255 + c]
        if 0 < c <= 16:
            key.point[2][c] = summand[510 + c]
        h = summand[c]
        for j in range(SHORT):
            key.placed[j][c] = h
            h = times_x(h, modulus)
        h = c
        for _ in range(64):
            h = times_x(h, modulus)
        key.reduced[c] = h
    for i in range(3):
        for c in range(256):
            key.leaving[i][c] = times(power, key.point[i][c], modulus)
    for i in range(SHORT - 1, -1, -1):
        key.cleared[i] = key.cleared[i + 1] ^ key.placed[i][0]
    if unit == CHARACTERS:
        return
    if size < 64:
        key.quotient = quotient_of_x(size + 64, modulus)
    power = times_x(power, modulus)
    for j in range(6 if size <= 16 else 4 if size <= 32 else 0, 8):
        for c in range(256):
            h = <uint64_t> c << (8 * j)
            key.beyond[j][c] = times(power, h, modulus)
            if size <= 32:
                key.beyond[j][c] ^= h << size


cdef void fill_ids(const Keyed* key, const Mixer* mixer, uint64_t* ids) noexcept nogil:
    cdef uint64_t number
    for number in range(KNOWN_IDS):
        ids[number] = keyed_id(key, mixer, number)


cdef void fill_points(
    const uint64_t* low, const uint64_t* middle, uint64_t of_plane_1, uint64_t* points
) noexcept nogil:
    cdef Py_ssize_t c
    for c in range(1 << 16):
        points[c] = low[c & 0xFF] ^ middle[c >> 8]
        points[1 << 16 | c] = points[c] ^ of_plane_1


cdef void fill_basic(const Keyed* key, uint64_t* basic) noexcept nogil:
    cdef Py_ssize_t c, j
    cdef uint64_t h
    for c in range(BASIC_POINTS):
        h = key.entered[c]
        for j in range(SHORT):
            basic[j * BASIC_TABLE + c] = h
            h = times_x(h, key.modulus)
