"""Plans for hashing shingles; hashes of tokens and of texts; where words stand."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_Check, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

import numpy as np

from fastlsh._kernels.common.checks cimport check_array, check_matrix
from fastlsh._kernels.common.hash_table cimport free_table, given_number, make_table
from fastlsh._kernels.common.mixing cimport CHARACTER_BASE, UNITS, Mixer, fmix64, mix_code_point
from fastlsh._kernels.common.prefetch cimport prefetch
from fastlsh._kernels.common._common cimport loops
from fastlsh._kernels.text._texts cimport Span, Spans, id_at, number_of
from fastlsh._kernels.text.keyed cimport (
    BASIC_POINTS, BASIC_TABLE, KNOWN_IDS, KNOWN_POINTS, SECRET, SHORT, Keyed, keyed_id,
    keyed_points, times_x,
)
from fastlsh._kernels.text.keyed_runs cimport keyed_polynomial
from fastlsh._kernels.text.points cimport MIXED_POINTS, Keep
from fastlsh._kernels.text.polynomials cimport of_points, polynomial
from fastlsh._kernels.text.source cimport (
    ALPHANUMERIC, ASCII_ALPHANUMERIC, CHARACTERS, KIND_OF_WORDS, TOKEN_IDS, UNICODE_WORDS,
    WITH_EMPTY, WORDS, Hashing, HashList, make_plan, room_for_window, spread,
)
from fastlsh._kernels.text.unicode cimport (
    PyUnicode_Check, PyUnicode_DATA, PyUnicode_DecodeUTF8, PyUnicode_GET_LENGTH,
    PyUnicode_IS_COMPACT, PyUnicode_KIND, fastlsh_ready,
)


# ---- Checks of how shingles are made, and the memory that making them takes.

globals().update(       # for callers
    ALPHANUMERIC=ALPHANUMERIC, ASCII_ALPHANUMERIC=ASCII_ALPHANUMERIC, CHARACTERS=CHARACTERS,
    TOKEN_IDS=TOKEN_IDS, UNICODE_WORDS=UNICODE_WORDS, WITH_EMPTY=WITH_EMPTY, WORDS=WORDS,
)


cdef int check_plan(int unit, Py_ssize_t size) except -1:
    if unit not in (
        CHARACTERS, WORDS, ALPHANUMERIC, ASCII_ALPHANUMERIC, ALPHANUMERIC | WITH_EMPTY,
        ASCII_ALPHANUMERIC | WITH_EMPTY, UNICODE_WORDS, TOKEN_IDS,
    ):
        raise ValueError(
            f"unit must be {CHARACTERS} (characters), {WORDS} (words), {ALPHANUMERIC} or "
            f"{ASCII_ALPHANUMERIC} (of letters and digits), the last two with {WITH_EMPTY} added "
            f"or not, {UNICODE_WORDS} (words of Unicode), or {TOKEN_IDS} (token ids), got {unit}"
        )
    if size < 1:
        raise ValueError(f"size must be at least 1, got {size}")
    return 0


cdef const Hashing* plan_of(
    Hashing* own, int unit, Py_ssize_t size, ShinglePlan prepared
) except NULL:
    # The prepared plan, or `own`, which is made.
    check_plan(unit, size)
    if prepared is None:
        make_plan(own, unit, size)
        return own
    if prepared.plan.unit != unit or prepared.plan.size != size:
        raise ValueError(
            f"the plan is for unit {prepared.plan.unit} and size {prepared.plan.size}, not for "
            f"{unit} and {size}"
        )
    return &prepared.plan


cdef int check_documents(Spans spans, int unit) except -1:
    if spans.n and spans.tokens != (unit == TOKEN_IDS):
        raise TypeError("texts are no token ids" if not spans.tokens else "token ids are no texts")
    return 0


cdef uint64_t[::1] new_window(Py_ssize_t size, Py_ssize_t longest):
    return np.empty(room_for_window(size, longest), np.uint64)


cdef Py_ssize_t longest_of(Spans spans) noexcept:
    cdef Py_ssize_t i
    cdef Py_ssize_t longest = 0
    for i in range(spans.n):
        longest = max(longest, spans.at[i].length)
    return longest


# ---- The tables of points.pxd, filled when the module is imported and constant from then on.

cdef void fill_tables() noexcept nogil:
    cdef int c, j
    cdef Keep* keep = points.keep
    for c in range(MIXED_POINTS):
        points.mixed[c] = mix_code_point(c)
    points.powers[0] = 1
    for j in range(SHORT):
        points.powers[j + 1] = points.powers[j] * CHARACTER_BASE
        for c in range(256):
            points.placed[j][c] = points.mixed[c] * points.powers[j]
    keep[SHORT].correction = <uint64_t> SHORT * UNITS
    for j in range(SHORT, -1, -1):
        keep[j].eight = ~<uint64_t> 0 if j >= 8 else ~(~<uint64_t> 0 >> (8 * j))
        keep[j].ninth = 0xFF if j >= 9 else 0
        keep[j].tenth = 0xFF if j >= 10 else 0
        if j < SHORT:
            keep[j].correction = keep[j + 1].correction - points.placed[j][0] - UNITS
    for j in range(SHORT):
        points.kept_points[SHORT + j] = BASIC_POINTS - 1


fill_tables()


# ---- How shingles are hashed with a key, or without some words; which of them are ignored.

cdef class ShinglePlan:
    """How shingles of some units are hashed with a key, or without some words or shingles.

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
    ignored
        uint64 (n,): hashes of shingles that belong to no document. None: all shingles count.
    """

    def __cinit__(
        self, int unit, Py_ssize_t size, const uint64_t[::1] secret=None,
        const uint64_t[::1] words=None, bint keeps=False, const uint64_t[::1] ignored=None,
    ):
        if size < 1:
            raise ValueError(f"size must be at least 1, got {size}")
        make_plan(&self.plan, unit, size)
        if secret is not None:
            self.take_secret(secret)
        if words is not None:
            if not unit & KIND_OF_WORDS:
                raise ValueError(f"a list of words needs a unit of words, got {unit}")
            fill_list(&self.words, words, "words")
            self.words.keeps = keeps
            self.plan.words = &self.words
        if ignored is not None:
            fill_list(&self.ignored, ignored, "ignored")
            self.plan.ignored = &self.ignored

    cdef int take_secret(self, const uint64_t[::1] secret) except -1:
        cdef int unit = self.plan.unit
        cdef Py_ssize_t size = self.plan.size
        if secret.shape[0] != SECRET:
            raise ValueError(f"secret has {secret.shape[0]} numbers, expected {SECRET}")
        check_array(secret, "secret")
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
        free_table(&self.words.table)
        free_table(&self.ignored.table)


cdef int fill_list(HashList* listed, const uint64_t[::1] hashes, str name) except -1:
    cdef Py_ssize_t n = hashes.shape[0]
    cdef Py_ssize_t i
    check_array(hashes, name)
    if not make_table(&listed.table, 2 * n):        # most slots are free, as looked up often
        raise MemoryError()
    for i in range(n):
        given_number(&listed.table, spread(hashes[i]))
    return 0


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


# ---- Called from Python: hashes of whole texts. The loops run without the GIL.

def text_hashes(Spans spans not None, uint64_t[::1] out not None):
    """Write a 64-bit hash of each whole text into `out`, uint64 (n,): equal texts, equal hashes.

    Of the bytes in memory, so good for one run on one machine only. Never 0.
    """
    if out.shape[0] != spans.n:
        raise ValueError(f"out has {out.shape[0]} elements, expected {spans.n}")
    check_array(out, "out")
    if spans.n:
        with nogil:
            hash_texts(spans.at, spans.n, spans.tokens, &out[0])


cdef void hash_texts(const Span* at, Py_ssize_t n, bint tokens, uint64_t* out) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if tokens:
            out[i] = hash_of_ids(at + i)
            continue
        out[i] = memory_hash(<const uint8_t*> at[i].text, at[i].length * at[i].kind)


cdef uint64_t hash_of_ids(const Span* span) noexcept nogil:
    # The same for the same numbers, however wide they are.
    cdef uint64_t h = <uint64_t> span.length + 1
    cdef Py_ssize_t i
    for i in range(span.length):
        h = (h ^ id_at(span.text, span.kind, i)) * <uint64_t> 0xD6E8FEB86659FD93
        h ^= h >> 32
    h = fmix64(h)
    return h if h != 0 else 1


cdef uint64_t memory_hash(const uint8_t* data, Py_ssize_t n) noexcept nogil:
    cdef uint64_t h = <uint64_t> n + 1
    cdef uint64_t word
    while n > 0:
        word = 0
        memcpy(&word, data, min(n, <Py_ssize_t> 8))
        h = (h ^ word) * <uint64_t> 0xD6E8FEB86659FD93
        h ^= h >> 32
        data += 8
        n -= 8
    h = fmix64(h)
    return h if h != 0 else 1


# ---- Called from Python: the hashes of ready tokens.
#
# With the GIL held, as measured: fetching the tokens from memory takes the time, and hashing them
# goes on meanwhile. To hold references and release the GIL before the hashing takes 1.5 to 2 times
# as long in all, and a quarter more with the GIL held.

cdef extern from *:
    """
    #if defined(Py_GIL_DISABLED)
    #define FASTLSH_STABLE_LISTS 0
    #else
    #define FASTLSH_STABLE_LISTS 1
    #endif
    """
    bint STABLE_LISTS "FASTLSH_STABLE_LISTS"    # the GIL keeps other threads from changing them

cdef extern from "Python.h":
    bint PyList_CheckExact(object items)
    tuple PySequence_Tuple(object items)
    Py_ssize_t PySequence_Fast_GET_SIZE(object items)
    PyObject* PySequence_Fast_GET_ITEM(object items, Py_ssize_t i)

cdef enum:
    TOKENS_AHEAD = 24                  # tokens whose heads are on their way from memory


cdef inline uint64_t str_polynomial(object token, const Keyed* key) except? 0:
    cdef Py_ssize_t n
    fastlsh_ready(token)
    if key != NULL:
        return str_polynomial_keyed(token, key)
    n = PyUnicode_GET_LENGTH(token)
    if PyUnicode_KIND(token) == 1:
        # In front of compact text lies the head of the object.
        return polynomial(
            <const uint8_t*> PyUnicode_DATA(token), n, PyUnicode_IS_COMPACT(token) or n >= SHORT
        )
    if PyUnicode_KIND(token) == 2:
        return of_points(<const uint16_t*> PyUnicode_DATA(token), n)
    return of_points(<const uint32_t*> PyUnicode_DATA(token), n)


cdef uint64_t str_polynomial_keyed(object token, const Keyed* key) noexcept:
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(token)
    if PyUnicode_KIND(token) == 1:
        return keyed_polynomial(
            key, <const uint8_t*> PyUnicode_DATA(token), n,
            PyUnicode_IS_COMPACT(token) or n >= SHORT,
        )
    if PyUnicode_KIND(token) == 2:
        return keyed_points(key, <const uint16_t*> PyUnicode_DATA(token), n)
    return keyed_points(key, <const uint32_t*> PyUnicode_DATA(token), n)


cdef uint64_t bytes_polynomial(object token, const Keyed* key) except? 0:
    cdef const uint8_t* data = <const uint8_t*> PyBytes_AS_STRING(token)
    cdef Py_ssize_t n = PyBytes_GET_SIZE(token)
    cdef uint8_t seen = 0
    cdef Py_ssize_t i
    for i in range(n):
        seen |= data[i]
    if seen < 0x80:
        return polynomial(data, n, True) if key == NULL else keyed_polynomial(key, data, n, True)
    return str_polynomial(PyUnicode_DecodeUTF8(<const char*> data, n, "strict"), key)


cdef Py_ssize_t read_document(
    object tokens, Py_ssize_t n, const Keyed* key, uint64_t* out
) except -1:
    # A list or tuple of at least n tokens, which nobody changes meanwhile. Returns how many are
    # str or bytes: less than n if one is of another type.
    cdef PyObject* token        # borrowed: counting references takes as long as hashing
    cdef Py_ssize_t i
    for i in range(n):
        prefetch(<const void*> PySequence_Fast_GET_ITEM(tokens, min(i + TOKENS_AHEAD, n - 1)))
        token = PySequence_Fast_GET_ITEM(tokens, i)
        if PyUnicode_Check(<object> token):
            out[i] = str_polynomial(<object> token, key)
        elif PyBytes_Check(<object> token):
            out[i] = bytes_polynomial(<object> token, key)
        else:
            return i
    return n


def token_hashes(
    list documents not None, int64_t[::1] offsets not None, Py_ssize_t first=0, ids=None,
    ShinglePlan prepared=None,
):
    """Return what `token_signatures` takes for the tokens of each document, uint64 (total,).

    Parameters
    ----------
    documents
        Of each an iterable of str or bytes (UTF-8). They may be changed at any time.
    offsets
        int64 (n + 1,), written: document d has the tokens offsets[d] ... offsets[d + 1] - 1.
    first
        The number of the first document, for error messages.
    ids
        The numbers of the documents where they do not follow each other.
    prepared
        Hashes with a key.
    """
    cdef const Keyed* key = NULL if prepared is None else prepared.plan.keyed
    cdef Py_ssize_t count = len(documents)
    cdef Py_ssize_t d, n, good
    cdef Py_ssize_t total = 0
    if offsets.shape[0] != count + 1:
        raise ValueError(f"offsets has {offsets.shape[0]} elements, expected {count + 1}")
    check_array(offsets, "offsets")
    offsets[0] = 0
    out = np.empty(64 * count, np.uint64)
    cdef uint64_t[::1] view = out
    for d in range(count):
        if d >= len(documents):             # what makes a tuple of tokens may be anyone's code
            raise RuntimeError("the list of documents changed while it was read")
        tokens = documents[d]
        if isinstance(tokens, (str, bytes)):
            raise TypeError(
                f"document {number_of(first, ids, d)} is one "
                f"{type(tokens).__name__}, expected a list of tokens"
            )
        if not (STABLE_LISTS and PyList_CheckExact(tokens)):
            tokens = PySequence_Tuple(tokens)
        n = PySequence_Fast_GET_SIZE(tokens)
        while total + n > view.shape[0]:
            out = grown(out, total, total + n)
            view = out
            n = PySequence_Fast_GET_SIZE(tokens)    # other code ran, which may have changed it
        if n:
            try:
                good = read_document(tokens, n, key, &view[total])
            except UnicodeDecodeError as error:
                raise ValueError(
                    f"document {number_of(first, ids, d)} is not valid UTF-8: "
                    f"{error.reason} at byte {error.start}"
                ) from None
            if good < n:
                raise TypeError(
                    f"document {number_of(first, ids, d)} has a token of type "
                    f"{type(tokens[good]).__name__}, expected str or bytes (UTF-8)"
                )
        total += n
        offsets[d + 1] = total
    return out[:total]


cdef object grown(object values, Py_ssize_t used, Py_ssize_t needed):
    larger = np.empty(max(needed, 2 * len(values)), np.uint64)
    larger[:used] = values[:used]
    return larger


# ---- Called from Python: where the words of texts stand, and how many there are.

def word_places(
    Spans spans not None, int unit, int64_t[::1] counts not None, int64_t[:, ::1] out not None
):
    """Write where each word of each text begins and ends; return how many words there are.

    Parameters
    ----------
    spans
        Texts.
    unit
        As in `signatures`, but not `CHARACTERS`.
    counts
        int64 (n,), written: how many words each text has.
    out
        int64 (m, 2), written: the words of all texts, text by text. There is room for a row for
        each code point of the texts, and one more for each text.
    """
    cdef Hashing plan
    cdef Py_ssize_t found
    cdef Py_ssize_t room = spans.n
    cdef Py_ssize_t i
    check_plan(unit, 1)
    check_words_of(spans, unit, counts)
    for i in range(spans.n):
        room += spans.at[i].length
    if out.shape[0] < room or out.shape[1] != 2:
        raise ValueError(
            f"out has shape ({out.shape[0]}, {out.shape[1]}), expected ({room}, 2)"
        )
    check_array(counts, "counts")
    check_matrix(out, "out")
    if spans.n == 0:
        return 0
    make_plan(&plan, unit, 1)
    with nogil:
        found = write_places(&plan, spans.at, spans.n, &counts[0], &out[0, 0])
    return found


def word_counts(
    Spans spans not None, int unit, Py_ssize_t size, Py_ssize_t most, int64_t[::1] counts not None,
    ShinglePlan prepared=None,
):
    """Count the words of each text, without those that are left out.

    Parameters
    ----------
    spans
        Texts.
    unit, size, prepared
        As in `signatures`, but neither `CHARACTERS` nor `TOKEN_IDS`.
    most
        Where there are so many, any number from it on will do.
    counts
        int64 (n,), written.
    """
    cdef Hashing own
    cdef const Hashing* plan = plan_of(&own, unit, size, prepared)
    check_words_of(spans, unit, counts)
    if spans.n:
        with nogil:
            count_each(plan, spans.at, spans.n, most, &counts[0])


cdef int check_words_of(Spans spans, int unit, const int64_t[::1] counts) except -1:
    if unit == CHARACTERS or unit == TOKEN_IDS:
        raise ValueError("neither characters nor token ids are words")
    check_documents(spans, unit)
    if counts.shape[0] != spans.n:
        raise ValueError(f"counts has {counts.shape[0]} elements, expected {spans.n}")
    check_array(counts, "counts")
    return 0


cdef void count_each(
    const Hashing* plan, const Span* at, Py_ssize_t n, Py_ssize_t most, int64_t* counts
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        counts[i] = loops.count_words(plan, at + i, most)


cdef Py_ssize_t write_places(
    const Hashing* plan, const Span* at, Py_ssize_t n, int64_t* counts, int64_t* out
) noexcept nogil:
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t i
    for i in range(n):
        counts[i] = loops.write_words(plan, at + i, out + 2 * total)
        total += counts[i]
    return total
