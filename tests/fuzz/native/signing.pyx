"""Signatures of both schemes and band keys, of hashes and tokens, against the obvious way."""

include "fuzz/native/drive.pxi"
include "fuzz/native/sources.pxi"
include "minhash/_signatures.pyx"
include "minhash/fss.pxi"
include "minhash/minima.pxi"
include "minhash/sign.pxi"

from fastlsh._kernels.minhash.signer cimport AFFINE32
from fastlsh._kernels.text.source cimport WORDS, make_plan, room_for_window

cdef enum:
    MOST_ELEMENTS = 2600        # more than a document of fss may have in memory
    MOST_K = 130
    N_K = 16

cdef int[N_K] K = [1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96, 128, 130]

cdef extern from *:
    """
    static uint32_t fuzz_a[138], fuzz_b[138];

    FUZZ_OBVIOUS static uint32_t fuzz_mix32(uint32_t h)
    {
        h = (h ^ h >> 16) * 0x85EBCA6Bu;
        h = (h ^ h >> 13) * 0xC2B2AE35u;
        return h ^ h >> 16;
    }

    FUZZ_OBVIOUS static uint64_t fuzz_mix64(uint64_t h)
    {
        h = (h ^ h >> 33) * 0xFF51AFD7ED558CCDu;
        h = (h ^ h >> 33) * 0xC4CEB9FE1A85EC53u;
        return h ^ h >> 33;
    }

    /* The input of the functions of k values. */
    FUZZ_OBVIOUS static void fuzz_fold(const uint64_t *h, Py_ssize_t n, uint32_t *x)
    {
        for (Py_ssize_t i = 0; i < n; i++)
            x[i] = fuzz_mix32((uint32_t) h[i] ^ fuzz_mix32((uint32_t) (h[i] >> 32)));
    }

    FUZZ_OBVIOUS static uint32_t fuzz_minimum(const uint32_t *x, Py_ssize_t n, int j)
    {
        uint32_t least = 0xFFFFFFFFu;
        for (Py_ssize_t i = 0; i < n; i++) {
            uint32_t value = fuzz_a[j] * x[i] + fuzz_b[j];
            least = value < least ? value : least;
        }
        return least;
    }

    FUZZ_OBVIOUS static void fuzz_minima(const uint32_t *x, Py_ssize_t n, int k, uint32_t *row)
    {
        for (int j = 0; j < k; j++)
            row[j] = fuzz_minimum(x, n, j);
    }

    /* Each round throws all elements; what no round fills has the minimum of its own function. */
    FUZZ_OBVIOUS static void fuzz_fss(const uint32_t *x, Py_ssize_t n, int k, uint32_t *row)
    {
        for (int j = 0; j < k; j++)
            row[j] = 0xFFFFFFFFu;
        for (int t = 0; t < 8; t++)
            for (Py_ssize_t i = 0; i < n; i++) {
                uint64_t place = fuzz_mix32(fuzz_a[k + t] * x[i] + fuzz_b[k + t]) * (uint64_t) k;
                uint32_t first = (uint32_t) (0x100000000u - (0x100000000u >> t));
                uint32_t value = first + (uint32_t) ((place & 0xFFFFFFFFu) >> (t + 1));
                if (value < row[place >> 32])
                    row[place >> 32] = value;
            }
        for (int j = 0; j < k && n; j++)
            if (row[j] == 0xFFFFFFFFu)
                row[j] = 0xFF000000u + (fuzz_minimum(x, n, j) >> 8);
    }

    FUZZ_OBVIOUS static uint64_t fuzz_key(const uint32_t *row, int k, int band, int rows)
    {
        int j = 0;
        uint64_t h = (band + 1) * 0x9E3779B97F4A7C15u;
        while (j < k && row[j] == 0xFFFFFFFFu)
            j++;
        if (j == k)
            return 0;
        for (j = band * rows; j < (band + 1) * rows; j++) {
            h = (h ^ row[j]) * 0xD6E8FEB86659FD93u;
            h ^= h >> 32;
        }
        h = fuzz_mix64(h);
        return h ? h : 1;
    }

    /* A token is a word of this polynomial, and a document has single words. */
    FUZZ_OBVIOUS static uint64_t fuzz_of_token(uint64_t token)
    {
        return fuzz_mix64(fuzz_mix64(token) + 0x6A09E667F3BCC909u);
    }
    """
    uint32_t* fuzz_a
    uint32_t* fuzz_b
    uint64_t mix64 "fuzz_mix64"(uint64_t h) noexcept nogil
    void right_inputs "fuzz_fold"(const uint64_t* h, Py_ssize_t n, uint32_t* x) noexcept nogil
    void right_minima "fuzz_minima"(
        const uint32_t* x, Py_ssize_t n, int k, uint32_t* row) noexcept nogil
    void right_fss "fuzz_fss"(const uint32_t* x, Py_ssize_t n, int k, uint32_t* row) noexcept nogil
    uint64_t right_key "fuzz_key"(const uint32_t* row, int k, int band, int rows) noexcept nogil
    uint64_t of_token "fuzz_of_token"(uint64_t token) noexcept nogil

cdef Plan words


def prepare():
    cdef uint64_t h = 1
    cdef int j
    for j in range(MOST_K + 8):
        h = mix64(h + <uint64_t> 0x9E3779B97F4A7C15)
        fuzz_a[j] = <uint32_t> h | 1
        fuzz_b[j] = <uint32_t> (h >> 32)
    make_plan(&words, WORDS, 1)


cdef int one_input(const uint8_t* data, size_t size) noexcept nogil:
    # A byte of the input is a hash, and all of them may come several times.
    cdef Given given = Given(data, <Py_ssize_t> size)
    cdef int form = <int> number(&given, 3)             # 32 bits, 64 bits, tokens
    cdef int k = K[number(&given, N_K)]
    cdef uint8_t how_often = byte(&given)
    cdef Py_ssize_t times = 1 if how_often < 250 else 4 << (how_often - 250)
    cdef Py_ssize_t n = 0
    cdef Py_ssize_t i, band
    cdef uint64_t hashes[MOST_ELEMENTS]
    cdef uint32_t inputs[MOST_ELEMENTS]
    cdef uint32_t right[MOST_K]
    cdef uint64_t* wide
    cdef uint32_t* narrow
    cdef uint32_t* row
    cdef uint64_t* keys
    cdef uint64_t* window
    cdef void* memory
    cdef Source source
    cdef Signer how
    memset(&how, 0, sizeof(how))
    how.scheme = FSS if number(&given, 2) else AFFINE32
    how.k = k
    how.a = fuzz_a
    how.b = fuzz_b
    how.rows = 1 + number(&given, k)
    how.bands = number(&given, k // how.rows + 1)
    how.stride = 1 + number(&given, 3)
    while given.left > 0 and n < MOST_ELEMENTS // 20:
        hashes[n] = byte(&given)
        if hashes[n] >= 16:             # the least ones as they are
            hashes[n] = mix64(hashes[n])
        n += 1
    times = max(min(times, MOST_ELEMENTS // max(n, <Py_ssize_t> 1)), <Py_ssize_t> 1)
    for i in range(n, n * times):       # as many again, and every other one is new
        hashes[i] = hashes[i - n] + (i & 1)
    n *= times
    memory = room((4 if form == 0 else 8) * n)
    wide = <uint64_t*> memory
    narrow = <uint32_t*> memory
    for i in range(n):
        if form == 0:
            hashes[i] = narrow[i] = <uint32_t> hashes[i]
        else:
            wide[i] = hashes[i]
            hashes[i] = of_token(hashes[i]) if form == 2 else hashes[i]
    window = <uint64_t*> room(8 * room_for_window(1, n))
    row = <uint32_t*> room(4 * k)
    keys = <uint64_t*> room(8 * (how.bands - 1) * how.stride + 8 if how.bands else 0)
    if form == 2:
        open_tokens(&source, &words, wide, n, window)
    else:
        open_hashes(&source, memory, form == 1, n)
    sign(&source, &how, row, keys)
    right_inputs(hashes, n, inputs)
    if how.scheme == FSS:
        right_fss(inputs, n, k, right)
    else:
        right_minima(inputs, n, k, right)
    must(memcmp(row, right, 4 * k) == 0, "a signature")
    for band in range(how.bands):
        must(
            keys[band * how.stride] == right_key(right, k, <int> band, <int> how.rows),
            "the key of a band",
        )
    if how.bands > 1:
        keys_of_bands(row, 1, k, 1, how.bands - 1, how.rows, keys, 1)
    for band in range(1, how.bands):
        must(keys[band - 1] == right_key(right, k, <int> band, <int> how.rows), "later keys")
    free(keys)
    free(row)
    free(window)
    free(memory)
    return 0
