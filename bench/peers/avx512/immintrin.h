// What FastSketchLSH uses of AVX-512, in C++ for every x86-64 processor (GCC or clang). A compiler
// that looks for headers here first builds the library's vector code, unchanged, where there is no
// AVX-512. Each function does what Intel's manual says of the instruction. docs/conformance.md says
// how it is used.
#pragma once

#include <emmintrin.h>

typedef long long __m512i __attribute__((vector_size(64), may_alias));
typedef long long __m256i __attribute__((vector_size(32), may_alias));
typedef unsigned char __mmask8;

typedef unsigned long long emulated_lanes __attribute__((vector_size(64)));
typedef unsigned int emulated_narrow __attribute__((vector_size(32)));

#define EMULATED static inline __attribute__((unused))

EMULATED __m512i _mm512_set1_epi64(long long x) { return __m512i{x, x, x, x, x, x, x, x}; }

template <class Vector> static inline Vector emulated_load(const void *from)
{
    Vector a;
    __builtin_memcpy(&a, from, sizeof a);
    return a;
}

EMULATED __m512i _mm512_loadu_si512(const void *p) { return emulated_load<__m512i>(p); }
EMULATED __m512i _mm512_load_si512(const void *p) { return emulated_load<__m512i>(p); }
EMULATED __m256i _mm256_loadu_si256(const void *p) { return emulated_load<__m256i>(p); }
EMULATED void _mm512_storeu_si512(void *p, __m512i a) { __builtin_memcpy(p, &a, 64); }
EMULATED void _mm512_store_si512(void *p, __m512i a) { __builtin_memcpy(p, &a, 64); }
EMULATED void _mm256_storeu_si256(void *p, __m256i a) { __builtin_memcpy(p, &a, 32); }

EMULATED __m512i _mm512_and_si512(__m512i a, __m512i b) { return a & b; }
EMULATED __m512i _mm512_or_si512(__m512i a, __m512i b) { return a | b; }
EMULATED __m512i _mm512_xor_si512(__m512i a, __m512i b) { return a ^ b; }

EMULATED __m512i _mm512_add_epi64(__m512i a, __m512i b)
{
    return (__m512i)((emulated_lanes)a + (emulated_lanes)b);
}

EMULATED __m512i _mm512_mullo_epi64(__m512i a, __m512i b)
{
    return (__m512i)((emulated_lanes)a * (emulated_lanes)b);
}

EMULATED __m512i _mm512_slli_epi64(__m512i a, unsigned n)
{
    return (__m512i)((emulated_lanes)a << n);
}

EMULATED __m512i _mm512_srli_epi64(__m512i a, unsigned n)
{
    return (__m512i)((emulated_lanes)a >> n);
}

EMULATED __m512i _mm512_min_epu64(__m512i a, __m512i b)
{
    emulated_lanes x = (emulated_lanes)a, y = (emulated_lanes)b;
    for (int i = 0; i < 8; i++)
        x[i] = y[i] < x[i] ? y[i] : x[i];
    return (__m512i)x;
}

EMULATED __mmask8 emulated_mask(__m512i a)
{
    int mask = 0;
    for (int i = 0; i < 8; i++)
        mask |= (a[i] != 0) << i;
    return (__mmask8)mask;
}

EMULATED __mmask8 _mm512_cmpeq_epu64_mask(__m512i a, __m512i b) { return emulated_mask(a == b); }

EMULATED __mmask8 _mm512_cmplt_epu64_mask(__m512i a, __m512i b)
{
    return emulated_mask((__m512i)((emulated_lanes)a < (emulated_lanes)b));
}

// Of the four 128-bit parts, those that the control names by two bits each: two of a, two of b.
EMULATED __m512i _mm512_shuffle_i64x2(__m512i a, __m512i b, int control)
{
    __m512i r = a;
    for (int i = 0; i < 8; i++)
        r[i] = (i < 4 ? a : b)[2 * (control >> i / 2 * 2 & 3) + i % 2];
    return r;
}

EMULATED __m128i _mm512_castsi512_si128(__m512i a) { return __m128i{a[0], a[1]}; }

EMULATED __m512i _mm512_cvtepu32_epi64(__m256i a)
{
    __m512i r = _mm512_set1_epi64(0);
    for (int i = 0; i < 8; i++)
        r[i] = ((emulated_narrow)a)[i];
    return r;
}

EMULATED __m256i _mm512_cvtepi64_epi32(__m512i a)
{
    emulated_narrow r = {};
    for (int i = 0; i < 8; i++)
        r[i] = (unsigned int)a[i];
    return (__m256i)r;
}

EMULATED __m512i _mm512_i64gather_epi64(__m512i places, const void *base, int scale)
{
    __m512i r = places;
    for (int i = 0; i < 8; i++)
        r[i] = emulated_load<long long>((const char *)base + places[i] * scale);
    return r;
}

// "Writes to overlapping destination memory locations are guaranteed to be ordered with respect to
// each other (from LSB to MSB)": of lanes with one address, the highest wins.
EMULATED void _mm512_mask_i64scatter_epi64(
    void *base, __mmask8 mask, __m512i places, __m512i values, int scale)
{
    for (int i = 0; i < 8; i++) {
        char *target = (char *)base + places[i] * scale;
#ifdef EMULATED_CONFLICTS_RESOLVED  // as no processor does it, but as the library needs it
        if (emulated_load<unsigned long long>(target) < (unsigned long long)values[i])
            continue;
#endif
        if (mask >> i & 1)
            __builtin_memcpy(target, (const char *)&values + 8 * i, 8);
    }
}

// Only now, so that the compiler's own headers do not see it.
#define __AVX512F__ 1
