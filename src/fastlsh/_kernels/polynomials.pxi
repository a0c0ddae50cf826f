# The polynomial of a run of code points, without a multiplication for each.
#
# The tables are filled when the module is imported, and constant from then on.

cdef enum:
    MIXED_POINTS = 1 << 17      # planes 0 and 1: nearly all text, emoji included
    RUN = 8                     # bytes that are looked up at a time

cdef uint64_t mixed[MIXED_POINTS]
cdef uint64_t placed[RUN][256]          # [j][c]: c mixed, j places before the end of a run
cdef uint64_t powers[RUN + 1]           # of CHARACTER_BASE
cdef uint64_t kept_bytes[RUN + 1]       # [m]: keeps the last m of 8 bytes
# [m]: what m bytes count for as units, less what the 8 - m cleared ones before them add.
cdef uint64_t correction[RUN + 1]


cdef void fill_tables() noexcept nogil:
    cdef int c, j
    for c in range(MIXED_POINTS):
        mixed[c] = mix_code_point(c)
    powers[0] = 1
    for j in range(RUN):
        powers[j + 1] = powers[j] * CHARACTER_BASE
        for c in range(256):
            placed[j][c] = mixed[c] * powers[j]
    correction[RUN] = 0
    kept_bytes[RUN] = ~<uint64_t> 0
    for j in range(RUN - 1, -1, -1):
        correction[j] = correction[j + 1] - placed[j][0]
        kept_bytes[j] = kept_bytes[j + 1] << 8
    for j in range(RUN + 1):
        correction[j] += j * UNITS


fill_tables()


cdef inline uint64_t mixed_point(code_unit c) noexcept nogil:
    if code_unit is uint32_t:
        return mixed[c] if c < MIXED_POINTS else mix_code_point(c)
    else:
        return mixed[c]


cdef inline uint64_t load_bytes(const uint8_t* p) noexcept nogil:
    # Eight bytes, the last one on top; compilers make one load of it.
    return (
        <uint64_t> p[0] | <uint64_t> p[1] << 8 | <uint64_t> p[2] << 16 | <uint64_t> p[3] << 24
        | <uint64_t> p[4] << 32 | <uint64_t> p[5] << 40 | <uint64_t> p[6] << 48
        | <uint64_t> p[7] << 56
    )


cdef inline uint64_t looked_up(uint64_t bytes) noexcept nogil:
    return (
        placed[0][bytes >> 56] + placed[1][(bytes >> 48) & 0xFF]
        + placed[2][(bytes >> 40) & 0xFF] + placed[3][(bytes >> 32) & 0xFF]
        + placed[4][(bytes >> 24) & 0xFF] + placed[5][(bytes >> 16) & 0xFF]
        + placed[6][(bytes >> 8) & 0xFF] + placed[7][bytes & 0xFF]
    )


cdef inline uint64_t last_bytes(const uint8_t* end, Py_ssize_t m) noexcept nogil:
    # The polynomial of the m <= 8 bytes before `end`, with their units; reads 8.
    return looked_up(load_bytes(end - RUN) & kept_bytes[m]) + correction[m]


cdef uint64_t by_points(const code_unit* text, Py_ssize_t n) noexcept nogil:
    cdef uint64_t h = 0
    cdef Py_ssize_t i
    for i in range(n):
        h = h * CHARACTER_BASE + mixed_point(text[i])
    return h + <uint64_t> n * UNITS


cdef uint64_t by_runs(const uint8_t* text, Py_ssize_t n) noexcept nogil:
    # More than 8 bytes.
    cdef uint64_t h = 0
    cdef Py_ssize_t left = n
    while left > RUN:
        h = h * powers[RUN] + looked_up(load_bytes(text))
        text += RUN
        left -= RUN
    h = h * powers[left] + last_bytes(text + left, left)
    return h + <uint64_t> (n - left) * UNITS


cdef inline uint64_t polynomial(
    const code_unit* text, Py_ssize_t n, bint roomy
) noexcept nogil:
    # Of a run of n code points, with n * UNITS: fmix64 makes the hash of it. `roomy`: the 8 bytes
    # before the end of the run may be read, however short it is.
    if code_unit is uint8_t:
        if n > RUN:
            return by_runs(text, n)
        if roomy:
            return last_bytes(text + n, n)
        return by_points(text, n)
    else:
        return by_points(text, n)
