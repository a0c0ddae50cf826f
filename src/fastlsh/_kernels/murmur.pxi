# MurmurHash3 under many seeds: the minimum over the windows of a text, for each seed.
#
# What a window's bytes are mixed to does not depend on the seed; it is done once, and only the
# chain that starts at the seed runs in lanes. Even of that the last steps are left out: they move
# no bit into the upper part of a hash. So a filter finds the few windows whose upper part is
# least, and only those are hashed in full.

cdef enum:
    GROUP = 16          # windows that the filter cannot tell apart
    LANES = 32          # seeds at a time, at most
    PIECE = 2048        # windows at a time, at most
    GROUPS = PIECE / GROUP

cdef struct Murmur:
    Py_ssize_t k            # seeds
    const uint32_t* seeds   # k, filled up with zeros to a multiple of GROUP
    Py_ssize_t piece        # windows at a time: what `words` has room for
    void* words             # arrays of `piece` mixed words, one window after the other
    uint32_t least[GROUPS * LANES]      # the filter's minimum of each group under each seed


cdef inline uint32_t rotated32(uint32_t x, int r) noexcept nogil:
    return (x << r) | (x >> (32 - r))


cdef inline uint64_t rotated64(uint64_t x, int r) noexcept nogil:
    return (x << r) | (x >> (64 - r))


cdef noinline_void read_words(
    const uint8_t* text, Py_ssize_t n, int width, element* words
) noexcept nogil:
    # words[i]: the `width` bytes from i on, little endian.
    cdef Py_ssize_t i
    cdef int byte
    memset(words, 0, n * sizeof(element))
    for byte in range(width):
        for i in range(n):
            words[i] |= <element> text[i + byte] << (8 * byte)


cdef void fill_group(element* words, Py_ssize_t n) noexcept nogil:
    # Repeat the last window until the group is full: that changes no minimum.
    cdef Py_ssize_t i = n
    while i % GROUP:
        words[i] = words[n - 1]
        i += 1


cdef noinline_void least_of_groups(
    const uint32_t* least, Py_ssize_t groups, uint32_t* low
) noexcept nogil:
    cdef Py_ssize_t g, j
    memset(low, 0xFF, LANES * sizeof(uint32_t))
    for g in range(groups):
        for j in range(LANES):
            low[j] = min(low[j], least[g * LANES + j])


cdef noinline_void find_groups(
    const uint32_t* least, Py_ssize_t groups, const uint32_t* bound, uint32_t* count, uint32_t* last
) noexcept nogil:
    # How many groups do not exceed the bound of each lane, and the last that does not.
    cdef Py_ssize_t j
    cdef uint32_t g, within
    memset(count, 0, LANES * sizeof(uint32_t))
    memset(last, 0, LANES * sizeof(uint32_t))
    for g in range(<uint32_t> groups):
        for j in range(LANES):
            within = least[g * LANES + j] <= bound[j]
            count[j] += within
            last[j] = g if within else last[j]
