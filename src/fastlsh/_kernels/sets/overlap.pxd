# The overlap that a similarity of two sets needs, exactly as the float64 quotient has it.

cdef inline double quotient(Py_ssize_t common, Py_ssize_t na, Py_ssize_t nb) noexcept nogil:
    return <double> common / <double> (na + nb - common)


cdef inline Py_ssize_t least_overlap(
    Py_ssize_t na, Py_ssize_t nb, double threshold
) noexcept nogil:
    # The smallest overlap whose quotient reaches the threshold; more than a set has: none does.
    cdef Py_ssize_t needed = <Py_ssize_t> (threshold / (1.0 + threshold) * <double> (na + nb))
    needed = max(needed - 2, 0)
    while needed <= min(na, nb) and quotient(needed, na, nb) < threshold:
        needed += 1
    return needed


cdef inline Py_ssize_t least_part(Py_ssize_t n, double share) noexcept nogil:
    # The smallest overlap that is this share of n elements, as the float64 quotient has it.
    cdef Py_ssize_t needed = <Py_ssize_t> (share * <double> n)
    needed = max(needed - 2, 0)
    while needed <= n and <double> needed / <double> n < share:
        needed += 1
    return needed


cdef inline Py_ssize_t least_size(Py_ssize_t n, double threshold) noexcept nogil:
    # The smallest set whose quotient with one of n elements can reach the threshold.
    cdef Py_ssize_t size = <Py_ssize_t> (threshold * <double> n)
    size = max(size - 2, 1)
    while quotient(size, n, size) < threshold:
        size += 1
    return size


cdef inline Py_ssize_t prefix_length(Py_ssize_t stored, Py_ssize_t needed) noexcept nogil:
    # Two sets that share `needed` elements share one of the first size - needed + 1 of each, in
    # any common order; of those, how many are stored.
    return max(stored - needed + 1, <Py_ssize_t> 0)
