/* The measured limit: the bare loop of the minima of a[j] * x + b[j] mod 2^32 over ready 32-bit
   hashes x, for k = 128, in intrinsics. Nothing is hashed, gathered or checked. */

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define K 128

/* One pass over a document's hashes for T vectors of minima, which stay in registers. With 32
   registers (AVX-512) the coefficients stay there as well, with 16 they come from L1. */
#define PASS(V, T, LOAD, STORE, SET1, ADD, MUL, MIN)                                        \
    V m[T];                                                                                 \
    for (int t = 0; t < T; t++) m[t] = LOAD((const V *) (row) + t);                         \
    for (size_t i = 0; i < n; i++) {                                                        \
        V v = SET1((int) x[i]);                                                             \
        _Pragma("GCC unroll 16")                                                            \
        for (int t = 0; t < T; t++)                                                         \
            m[t] = MIN(m[t], ADD(MUL(v, LOAD((const V *) (a) + t)), LOAD((const V *) (b) + t))); \
    }                                                                                       \
    for (int t = 0; t < T; t++) STORE((V *) (row) + t, m[t]);

#define ARGUMENTS const uint32_t *x, size_t n, const uint32_t *a, const uint32_t *b, uint32_t *row

#define KERNEL(NAME, TARGET, V, T, LOAD, STORE, SET1, ADD, MUL, MIN)                        \
    __attribute__((noinline, target(TARGET))) static void NAME##_pass(ARGUMENTS) {          \
        PASS(V, T, LOAD, STORE, SET1, ADD, MUL, MIN)                                        \
    }                                                                                       \
    static void NAME(ARGUMENTS) {                                                           \
        const int width = T * (int) (sizeof(V) / 4);                                        \
        for (int j = 0; j < K; j += width) NAME##_pass(x, n, a + j, b + j, row + j);        \
    }

KERNEL(avx512_8, "avx512f", __m512i, 8, _mm512_loadu_si512, _mm512_storeu_si512,
       _mm512_set1_epi32, _mm512_add_epi32, _mm512_mullo_epi32, _mm512_min_epu32)
KERNEL(avx512_4, "avx512f", __m512i, 4, _mm512_loadu_si512, _mm512_storeu_si512,
       _mm512_set1_epi32, _mm512_add_epi32, _mm512_mullo_epi32, _mm512_min_epu32)
KERNEL(avx2_8, "avx2", __m256i, 8, _mm256_loadu_si256, _mm256_storeu_si256,
       _mm256_set1_epi32, _mm256_add_epi32, _mm256_mullo_epi32, _mm256_min_epu32)
KERNEL(avx2_4, "avx2", __m256i, 4, _mm256_loadu_si256, _mm256_storeu_si256,
       _mm256_set1_epi32, _mm256_add_epi32, _mm256_mullo_epi32, _mm256_min_epu32)
KERNEL(sse41_8, "sse4.1", __m128i, 8, _mm_loadu_si128, _mm_storeu_si128,
       _mm_set1_epi32, _mm_add_epi32, _mm_mullo_epi32, _mm_min_epu32)
KERNEL(sse41_4, "sse4.1", __m128i, 4, _mm_loadu_si128, _mm_storeu_si128,
       _mm_set1_epi32, _mm_add_epi32, _mm_mullo_epi32, _mm_min_epu32)

typedef void (*kernel)(ARGUMENTS);
static const struct { const char *name; kernel run; } KERNELS[] = {
    {"avx512_8", avx512_8}, {"avx512_4", avx512_4}, {"avx2_8", avx2_8},
    {"avx2_4", avx2_4}, {"sse41_8", sse41_8}, {"sse41_4", sse41_4},
};

/* Document d has the hashes x[offsets[d]] ... x[offsets[d + 1] - 1]; out is (documents, K).
   Returns 0, or -1 if there is no such kernel. */
int limit_minima(const char *name, const uint32_t *x, const int64_t *offsets, int64_t documents,
                 const uint32_t *a, const uint32_t *b, uint32_t *out)
{
    for (size_t i = 0; i < sizeof(KERNELS) / sizeof(KERNELS[0]); i++) {
        if (strcmp(name, KERNELS[i].name) != 0) continue;
        for (int64_t d = 0; d < documents; d++) {
            memset(out + d * K, 0xFF, K * sizeof(uint32_t));
            KERNELS[i].run(x + offsets[d], (size_t) (offsets[d + 1] - offsets[d]), a, b,
                           out + d * K);
        }
        return 0;
    }
    return -1;
}
