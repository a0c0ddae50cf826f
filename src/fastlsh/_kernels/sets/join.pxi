# The exact join of sets: which pairs overlap enough, found by their rarest elements.
#
# All-pairs with prefix and length filters (Bayardo, Ma, Srikant 2007), and the position filter
# (Xiao, Wang, Lin, Yu 2008) where the shorter prefix ends: up to there the overlap is known.
#
# Elements, lists and postings belong to the caller, who may have written to them since they were
# checked: each number is compared with what it counts before it is used.

from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memset

from fastlsh._kernels.common.debug cimport check
from fastlsh._kernels.sets.overlap cimport least_overlap, least_size, prefix_length, quotient


cdef enum:
    JOIN_STEPS = 1 << 26        # of one call, some nanoseconds each


cdef struct Join:
    const int64_t* size         # of the whole sets, ascending
    const int64_t* start
    const uint32_t* elements
    const int64_t* lists
    const int32_t* postings
    double threshold
    int32_t* met                # how often each set was met; 0 between two probes
    int32_t* candidates
    Py_ssize_t numbers          # lists
    Py_ssize_t total            # of the postings
    Py_ssize_t steps            # left to the call under way
    bint changed                # what the caller holds is no longer what was checked


cdef Py_ssize_t first_of_size(const int64_t* size, Py_ssize_t n, Py_ssize_t least) noexcept nogil:
    cdef Py_ssize_t low = 0
    cdef Py_ssize_t middle
    while low < n:
        middle = (low + n) >> 1
        if size[middle] < least:
            low = middle + 1
        else:
            n = middle
    return low


cdef Py_ssize_t collect_candidates(Join* j, int32_t x) noexcept nogil:
    # All sets before x that meet one of its first elements in one of theirs.
    cdef Py_ssize_t least = least_size(j.size[x], j.threshold)
    cdef int32_t smallest = <int32_t> first_of_size(j.size, x, least)
    cdef Py_ssize_t begin = j.start[x]
    cdef Py_ssize_t end = begin + prefix_length(j.start[x + 1] - begin, least)
    cdef Py_ssize_t found = 0
    cdef Py_ssize_t i, at, low, stop, middle
    cdef uint32_t number
    cdef int32_t y
    for i in range(begin, end):
        number = j.elements[i]
        if number >= <size_t> j.numbers:
            j.changed = True
            continue
        at = j.lists[number]
        low = stop = j.lists[number + 1]
        if not 0 <= at <= stop <= j.total:
            j.changed = True
            continue
        while at < low:
            middle = (at + low) >> 1
            if j.postings[middle] < smallest:
                at = middle + 1
            else:
                low = middle
        j.steps -= stop - at
        while at < stop:
            y = j.postings[at]
            if <uint32_t> y >= <uint32_t> x:
                break
            j.candidates[found] = y
            found += j.met[y] == 0
            j.met[y] += 1
            at += 1
    check(found <= x)
    return found


cdef Py_ssize_t upper_bound(const uint32_t* values, Py_ssize_t n, uint32_t value) noexcept nogil:
    cdef Py_ssize_t low = 0
    cdef Py_ssize_t middle
    while low < n:
        middle = (low + n) >> 1
        if values[middle] <= value:
            low = middle + 1
        else:
            n = middle
    return low


cdef Py_ssize_t common_elements(
    const uint32_t* a, Py_ssize_t na, const uint32_t* b, Py_ssize_t nb, Py_ssize_t needed
) noexcept nogil:
    # As many as both have, or -1 as soon as there cannot be `needed`.
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t k = 0
    cdef Py_ssize_t found = 0
    cdef Py_ssize_t steps
    cdef uint32_t x, y
    while True:
        steps = min(na - i, nb - k)
        if found + steps < needed:
            return -1
        if steps == 0:
            return found
        steps = min(steps, <Py_ssize_t> 32)
        while steps > 0:
            x = a[i]
            y = b[k]
            found += x == y
            i += x <= y
            k += y <= x
            steps -= 1


cdef Py_ssize_t overlap(Join* j, int32_t x, int32_t y, Py_ssize_t met) noexcept nogil:
    # |X n Y|, or -1 if too small. Up to the end of the prefix that ends first all is counted.
    cdef const uint32_t* a = j.elements + j.start[x]
    cdef const uint32_t* b = j.elements + j.start[y]
    cdef Py_ssize_t na = j.start[x + 1] - j.start[x]
    cdef Py_ssize_t nb = j.start[y + 1] - j.start[y]
    cdef Py_ssize_t needed = least_overlap(j.size[x], j.size[y], j.threshold)
    cdef Py_ssize_t i = prefix_length(na, least_size(j.size[x], j.threshold))
    cdef Py_ssize_t k = prefix_length(nb, least_overlap(j.size[y], j.size[y], j.threshold))
    cdef Py_ssize_t more
    if i == 0 or k == 0:                    # not in lists that `invert` made
        return -1
    if a[i - 1] < b[k - 1]:
        if met + na - i < needed:
            return -1
        k = upper_bound(b, k, a[i - 1])
    else:
        if met + nb - k < needed:
            return -1
        i = upper_bound(a, i, b[k - 1])
    if met + min(na - i, nb - k) < needed:
        return -1
    j.steps -= na - i + nb - k
    more = common_elements(a + i, na - i, b + k, nb - k, needed - met)
    return -1 if more < 0 else met + more


cdef Py_ssize_t join_sets(
    Join* j, int64_t* at, int32_t last, int32_t* left, int32_t* right, double* similarity,
    Py_ssize_t room
) noexcept nogil:
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t i, found, common
    cdef int32_t x = <int32_t> at[0]
    cdef int32_t y
    memset(j.met, 0, last * sizeof(int32_t))
    while x < last and total + x <= room and (j.steps > 0 or x == at[0]):
        found = collect_candidates(j, x)
        j.steps -= 8 * found
        for i in range(found):
            y = j.candidates[i]
            common = overlap(j, x, y, j.met[y])
            j.met[y] = 0
            if common >= 0:
                left[total] = y
                right[total] = x
                similarity[total] = quotient(common, j.size[y], j.size[x])
                total += 1
        x += 1
    at[0] = x
    return total
