# What must hold inside the kernels, looked at in the debug build alone (FASTLSH_DEBUG=1).

cdef extern from *:
    """
    #if defined(FASTLSH_DEBUG)
    #include <stdio.h>
    #include <stdlib.h>
    #define fastlsh_check(condition) \\
        ((condition) ? (void) 0 : (fprintf(stderr, "%s:%d: does not hold: %s\\n", \\
            __FILE__, __LINE__, #condition), abort()))
    #else
    #define fastlsh_check(condition) ((void) 0)
    #endif
    """
    void check "fastlsh_check"(bint condition) noexcept nogil
