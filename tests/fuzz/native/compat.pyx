"""SHA-1 and MurmurHash3 of the drop-in modules, against one message and one window at a time."""

include "fuzz/native/drive.pxi"
include "compat/_compat.pyx"
include "compat/murmur.pxi"
include "compat/sha1_rounds.pxi"

from fastlsh._kernels.compat.murmur cimport arrays32, arrays64

cdef enum:
    MOST = 40                   # texts: more than there are lanes
    LONGEST = 400
    MOST_SEEDS = 70

cdef extern from *:
    """
    #define FUZZ_ROTATE(x, n, width) ((x) << (n) | (x) >> ((width) - (n)))

    FUZZ_OBVIOUS static uint32_t fuzz_murmur32(const uint8_t *text, Py_ssize_t n, uint32_t h)
    {
        for (Py_ssize_t at = 0; at < n; at += 4) {
            uint32_t word = 0;
            for (int i = 0; i < 4 && at + i < n; i++)
                word |= (uint32_t) text[at + i] << 8 * i;
            word *= 0xCC9E2D51u;
            word = FUZZ_ROTATE(word, 15, 32) * 0x1B873593u;
            h ^= word;
            if (at + 4 <= n)
                h = FUZZ_ROTATE(h, 13, 32) * 5 + 0xE6546B64u;
        }
        h ^= (uint32_t) n;
        h = (h ^ h >> 16) * 0x85EBCA6Bu;
        h = (h ^ h >> 13) * 0xC2B2AE35u;
        return h ^ h >> 16;
    }

    FUZZ_OBVIOUS static uint64_t fuzz_final(uint64_t h)
    {
        h = (h ^ h >> 33) * 0xFF51AFD7ED558CCDu;
        h = (h ^ h >> 33) * 0xC4CEB9FE1A85EC53u;
        return h ^ h >> 33;
    }

    FUZZ_OBVIOUS static uint64_t fuzz_murmur64(const uint8_t *text, Py_ssize_t n, uint32_t seed)
    {
        const uint64_t c1 = 0x87C37B91114253D5u, c2 = 0x4CF5AD432745937Fu;
        uint64_t h1 = seed, h2 = seed;
        for (Py_ssize_t at = 0; at < n; at += 16) {
            uint64_t word[2] = {0, 0};
            for (int i = 0; i < 16 && at + i < n; i++)
                word[i / 8] |= (uint64_t) text[at + i] << 8 * (i % 8);
            word[0] *= c1;
            h1 ^= FUZZ_ROTATE(word[0], 31, 64) * c2;
            if (at + 16 <= n)
                h1 = (FUZZ_ROTATE(h1, 27, 64) + h2) * 5 + 0x52DCE729u;
            word[1] *= c2;
            h2 ^= FUZZ_ROTATE(word[1], 33, 64) * c1;
            if (at + 16 <= n)
                h2 = (FUZZ_ROTATE(h2, 31, 64) + h1) * 5 + 0x38495AB5u;
        }
        h1 ^= (uint64_t) n;
        h2 ^= (uint64_t) n;
        h1 += h2;
        h2 += h1;
        return fuzz_final(h1) + fuzz_final(h2);
    }

    FUZZ_OBVIOUS static int32_t fuzz_least32(
        const uint8_t *text, Py_ssize_t n, Py_ssize_t size, uint32_t seed)
    {
        int32_t least = 0x7FFFFFFF;
        for (Py_ssize_t i = 0; i + size <= n; i++) {
            int32_t h = (int32_t) fuzz_murmur32(text + i, size, seed);
            least = h < least ? h : least;
        }
        return least;
    }

    FUZZ_OBVIOUS static uint64_t fuzz_least64(
        const uint8_t *text, Py_ssize_t n, Py_ssize_t size, uint32_t seed)
    {
        uint64_t least = ~(uint64_t) 0;
        for (Py_ssize_t i = 0; i + size <= n; i++) {
            uint64_t h = fuzz_murmur64(text + i, size, seed);
            least = h < least ? h : least;
        }
        return least;
    }

    /* The first eight bytes of the digest, as a little-endian number. */
    FUZZ_OBVIOUS static uint64_t fuzz_sha1(const uint8_t *text, Py_ssize_t n)
    {
        uint32_t h[5] = {0x67452301u, 0xEFCDAB89u, 0x98BADCFEu, 0x10325476u, 0xC3D2E1F0u};
        Py_ssize_t blocks = (n + 8) / 64 + 1;
        for (Py_ssize_t block = 0; block < blocks; block++) {
            uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
            for (int t = 0; t < 80; t++) {
                uint32_t f, k, next;
                w[t] = 0;
                for (int i = 0; i < 4 && t < 16; i++) {
                    Py_ssize_t at = 64 * block + 4 * t + i;
                    uint8_t byte = at < n ? text[at] : at == n ? 0x80 : 0;
                    if (at >= 64 * blocks - 8)
                        byte = (uint8_t) ((uint64_t) n * 8 >> 8 * (64 * blocks - 1 - at));
                    w[t] = w[t] << 8 | byte;
                }
                if (t >= 16) {
                    next = w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16];
                    w[t] = FUZZ_ROTATE(next, 1, 32);
                }
                f = t < 20 ? (b & c) | (~b & d) : t < 40 || t >= 60 ? b ^ c ^ d
                    : (b & c) | (b & d) | (c & d);
                k = t < 20 ? 0x5A827999u : t < 40 ? 0x6ED9EBA1u : t < 60 ? 0x8F1BBCDCu
                    : 0xCA62C1D6u;
                next = FUZZ_ROTATE(a, 5, 32) + f + e + k + w[t];
                e = d; d = c; c = FUZZ_ROTATE(b, 30, 32); b = a; a = next;
            }
            h[0] += a; h[1] += b; h[2] += c; h[3] += d; h[4] += e;
        }
        return (uint64_t) __builtin_bswap32(h[1]) << 32 | __builtin_bswap32(h[0]);
    }
    """
    uint32_t least32 "fuzz_least32"(
        const uint8_t* text, Py_ssize_t n, Py_ssize_t size, uint32_t seed) noexcept nogil
    uint64_t least64 "fuzz_least64"(
        const uint8_t* text, Py_ssize_t n, Py_ssize_t size, uint32_t seed) noexcept nogil
    uint64_t right_sha1 "fuzz_sha1"(const uint8_t* text, Py_ssize_t n) noexcept nogil


def prepare():
    loops.sha1_compress = sha1_compress


cdef uint8_t* read_text(Given* given, Py_ssize_t n, uint8_t step) noexcept nogil:
    # Some bytes of the input, over and over, and a bit further each time.
    cdef uint8_t* text = <uint8_t*> room(n)
    cdef Py_ssize_t own = min(n, 1 + number(given, 8))
    cdef Py_ssize_t i
    for i in range(n):
        text[i] = byte(given) if i < own else text[i - own] + step
    return text


cdef void check_sha1(Given* given) noexcept nogil:
    cdef Py_ssize_t n = number(given, MOST + 1)
    cdef Span* at = <Span*> room(n * sizeof(Span))
    cdef uint64_t* out = <uint64_t*> room(8 * n)
    cdef Py_ssize_t i, length
    for i in range(n):
        length = byte(given)            # mostly about a block, or the end of one
        length = length if length < 200 else 55 + (length & 3) + 64 * (length >> 2 & 3)
        memset(&at[i], 0, sizeof(Span))
        at[i].text = <char*> read_text(given, length, 0)
        at[i].length = length
        at[i].kind = 1
    sha1_many(at, n, out)
    for i in range(n):
        must(out[i] == right_sha1(<const uint8_t*> at[i].text, at[i].length), "a SHA-1")
        free(<void*> at[i].text)
    free(out)
    free(at)


cdef void check_murmur(Given* given, Py_ssize_t width) noexcept nogil:
    cdef Murmur* m = <Murmur*> room(sizeof(Murmur))
    cdef Py_ssize_t k = 1 + number(given, MOST_SEEDS)
    cdef Py_ssize_t size = 1 + number(given, 40)
    cdef Py_ssize_t n = min(<Py_ssize_t> LONGEST, size + 2 * byte(given))
    cdef uint32_t* seeds = <uint32_t*> room(4 * k)
    cdef uint64_t* wide = <uint64_t*> room(8 * k)
    cdef uint32_t* narrow = <uint32_t*> room(4 * k)
    cdef uint32_t seed = byte(given)
    cdef uint8_t step
    cdef uint8_t* text
    cdef Py_ssize_t j
    for j in range(k):
        seeds[j] = seed
        seed = seed * 0x19660D + 0x3C6EF35F if j & 3 else seed + 1
    m.k = k
    m.seeds = seeds
    m.piece = 1 + number(given, 100)
    m.words = room((arrays32(size) if width == 4 else arrays64(size)) * m.piece * width)
    step = byte(given) & 7
    text = read_text(given, n, step)
    memset(wide, 0xFF, 8 * k)
    for j in range(k):
        narrow[j] = 0x7FFFFFFF
    if width == 4:
        minima_of_text32(m, text, n, size, narrow)
    else:
        minima_of_text64(m, text, n, size, wide)
    for j in range(k):
        if width == 4:
            must(narrow[j] == least32(text, n, size, seeds[j]), "a minimum of 32 bits")
        else:
            must(wide[j] == least64(text, n, size, seeds[j]), "a minimum of 64 bits")
    free(text)
    free(m.words)
    free(narrow)
    free(wide)
    free(seeds)
    free(m)


cdef int one_input(const uint8_t* data, size_t size) noexcept nogil:
    cdef Given given = Given(data, <Py_ssize_t> size)
    cdef Py_ssize_t what = number(&given, 3)
    if what == 0:
        check_sha1(&given)
    else:
        check_murmur(&given, 4 * what)
    return 0
