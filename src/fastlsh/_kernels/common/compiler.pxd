# What compilers are told about functions, conditions and words.

from libc.stdint cimport uint64_t

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #include <intrin.h>
    #define FASTLSH_NOINLINE __declspec(noinline)
    #define FASTLSH_INLINE __forceinline
    #if defined(_M_ARM64)
    #define fastlsh_popcount(x) ((uint64_t) _CountOneBits64(x))
    #else
    #define fastlsh_popcount(x) ((uint64_t) __popcnt64(x))
    #endif
    #else
    #define FASTLSH_NOINLINE __attribute__((noinline))
    #define FASTLSH_INLINE inline __attribute__((always_inline))
    #define fastlsh_popcount(x) ((uint64_t) __builtin_popcountll(x))
    #endif
    #if defined(__clang__)
    #define fastlsh_either(condition) __builtin_unpredictable(condition)
    #elif defined(__GNUC__)
    #define fastlsh_either(condition) __builtin_expect_with_probability(condition, 1, 0.5)
    #else
    #define fastlsh_either(condition) (condition)
    #endif
    """
    # A condition that no predictor can learn: keeps the compiler from making a branch of it.
    Py_ssize_t either "fastlsh_either"(bint condition) noexcept nogil
    uint64_t popcount "fastlsh_popcount"(uint64_t word) noexcept nogil
    # A hot loop that is inlined into its caller loses its registers there (up to 3x slower).
    ctypedef void noinline_void "FASTLSH_NOINLINE void"
    # A `cdef inline` whose arguments must be constants where it is called.
    ctypedef void inline_void "FASTLSH_INLINE void"
