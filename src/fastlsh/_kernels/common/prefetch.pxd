# Ask for memory before it is read.

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #include <intrin.h>
    #if defined(_M_ARM64)
    #define fastlsh_prefetch(p) __prefetch(p)
    #else
    #define fastlsh_prefetch(p) _mm_prefetch((const char*) (p), _MM_HINT_T0)
    #endif
    #else
    #define fastlsh_prefetch(p) __builtin_prefetch(p)
    #endif
    """
    void prefetch "fastlsh_prefetch"(const void* address) noexcept nogil

cdef enum:
    AHEAD = 16          # memory is fetched for so many items before their turn
