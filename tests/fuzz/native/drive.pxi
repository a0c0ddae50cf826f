# What every native target has: values chosen by the bytes of an input, memory of exactly the size
# that is needed, and the way into libFuzzer. The target defines `one_input`.

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport abort, calloc, free, malloc, realloc
from libc.stdio cimport fprintf, stderr
from libc.string cimport memcmp, memcpy, memset

cdef extern from *:
    """
    extern int LLVMFuzzerRunDriver(
        int *argc, char ***argv, int (*one_input)(const uint8_t *, size_t));

    /* What says the right answer needs to be quick only. */
    #define FUZZ_OBVIOUS __attribute__((no_sanitize("address", "undefined", "coverage")))
    """
    ctypedef void obvious_void "FUZZ_OBVIOUS void"
    int LLVMFuzzerRunDriver(
        int* argc, char*** argv, int (*one_input)(const uint8_t*, size_t) noexcept nogil
    ) nogil

cdef struct Given:
    # The bytes of an input; behind the last one there are zeros.
    const uint8_t* data
    Py_ssize_t left


cdef inline uint8_t byte(Given* given) noexcept nogil:
    if given.left <= 0:
        return 0
    given.left -= 1
    given.data += 1
    return (given.data - 1)[0]


cdef inline Py_ssize_t number(Given* given, Py_ssize_t bound) noexcept nogil:
    # Below the bound, of one byte.
    return byte(given) % bound


cdef void** rooms = NULL
cdef Py_ssize_t n_rooms = 0
cdef Py_ssize_t most_rooms = 0


cdef void* room(Py_ssize_t size) noexcept nogil:
    # Of exactly this size, until the end of the input: AddressSanitizer sees each byte before and
    # behind it.
    global rooms, n_rooms, most_rooms
    if n_rooms == most_rooms:
        most_rooms = 2 * most_rooms + 1000
        rooms = <void**> realloc(rooms, <size_t> most_rooms * sizeof(void*))
    rooms[n_rooms] = malloc(<size_t> size)
    n_rooms += 1
    return rooms[n_rooms - 1]


cdef int handle(const uint8_t* data, size_t size) noexcept nogil:
    global n_rooms
    cdef int handled = one_input(data, size)
    while n_rooms:
        n_rooms -= 1
        free(rooms[n_rooms])
    return handled


cdef inline void must(bint sound, const char* what) noexcept nogil:
    if not sound:
        fprintf(stderr, "wrong: %s\n", what)
        abort()


def run(list arguments):
    """Hand the process over to libFuzzer, which does not return."""
    cdef list encoded = [str(argument).encode() for argument in arguments]
    cdef int count = <int> len(encoded)
    cdef char** values = <char**> calloc(count + 1, sizeof(char*))
    cdef int i
    for i in range(count):
        values[i] = encoded[i]
    with nogil:
        LLVMFuzzerRunDriver(&count, &values, handle)
