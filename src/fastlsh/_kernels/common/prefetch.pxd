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
    /* gcc drops calls of a function that does nothing else, since it seems to have no effect. */
    #define fastlsh_prefetch(p) do { __builtin_prefetch(p); __asm__ volatile(""); } while (0)
    #endif
    """
    void prefetch "fastlsh_prefetch"(const void* address) noexcept nogil

cdef enum:
    AHEAD = 16          # memory is fetched for so many items before their turn
