# The exact join of sets: which pairs overlap enough, found by their rarest elements.
#
# All-pairs with prefix and length filters (Bayardo, Ma, Srikant 2007), and the position filter
# (Xiao, Wang, Lin, Yu 2008) where the shorter prefix ends: up to there the overlap is known.

from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memset

from fastlsh._kernels.common.checks cimport check_starts
from fastlsh._kernels.sets.overlap cimport least_overlap, least_size, prefix_length, quotient


cdef struct Join:
    const int64_t* size         # of the whole sets, ascending
    const int64_t* start
    const uint32_t* elements
    const int64_t* lists
    const int32_t* postings
    double threshold
    int32_t* met                # how often each set was met; 0 between two probes
    int32_t* candidates


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
    cdef int32_t y
    for i in range(begin, end):
        at = j.lists[j.elements[i]]
        low = stop = j.lists[j.elements[i] + 1]
        while at < low:
            middle = (at + low) >> 1
            if j.postings[middle] < smallest:
                at = middle + 1
            else:
                low = middle
        while at < stop and j.postings[at] < x:
            y = j.postings[at]
            j.candidates[found] = y
            found += j.met[y] == 0
            j.met[y] += 1
            at += 1
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
    while x < last and total + x <= room:
        found = collect_candidates(j, x)
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


cdef class SetJoin:
    """The join of sets that stand in ascending order of size.

    Parameters
    ----------
    size
        int64 (n,), at least 1, ascending: of the sets, elements that are not stored included.
    start, elements
        int64 (n + 1,) and uint32: the stored elements of each set, ascending.
    lists, postings
        int64 (m + 1,) and int32: the sets in whose prefix each number lies, ascending.
    threshold
        The one that `invert` made these for.
    """

    cdef const int64_t[::1] size
    cdef const int64_t[::1] start
    cdef const uint32_t[::1] elements
    cdef const int64_t[::1] lists
    cdef const int32_t[::1] postings
    cdef double threshold

    def __init__(
        self, const int64_t[::1] size not None, const int64_t[::1] start not None,
        const uint32_t[::1] elements not None, const int64_t[::1] lists not None,
        const int32_t[::1] postings not None, double threshold,
    ):
        cdef Py_ssize_t n = size.shape[0]
        cdef Py_ssize_t m = lists.shape[0] - 1
        cdef Py_ssize_t i
        if not 0.0 < threshold <= 1.0:
            raise ValueError(f"threshold must be above 0 and at most 1, got {threshold}")
        if start.shape[0] != n + 1 or n >= <Py_ssize_t> 1 << 31:
            raise ValueError(f"start has {start.shape[0]} elements, expected {n + 1}")
        check_starts(start, elements.shape[0], "start")
        check_starts(lists, postings.shape[0], "lists")
        for i in range(n):
            if size[i] < max(start[i + 1] - start[i], <int64_t> 1):
                raise ValueError(f"set {i} stores more elements than its size {size[i]}")
            if i and size[i] < size[i - 1]:
                raise ValueError("size must ascend")
        for i in range(elements.shape[0]):
            if elements[i] >= m:
                raise IndexError(f"element {elements[i]} of {m}")
        for i in range(postings.shape[0]):
            if not 0 <= postings[i] < n:
                raise IndexError(f"set {postings[i]} of {n}")
        self.size = size
        self.start = start
        self.elements = elements
        self.lists = lists
        self.postings = postings
        self.threshold = threshold

    def pairs(
        self, int64_t[::1] at not None, Py_ssize_t last, int32_t[:, ::1] scratch not None,
        int32_t[::1] left not None, int32_t[::1] right not None, double[::1] similarity not None,
    ):
        """Write the pairs of the sets at[0] ... last - 1 with earlier ones; return how many.

        Parameters
        ----------
        at
            int64 (2,): the first set; written: where to go on, `last` at the end. To the other is
            added how many pairs were compared element by element.
        last
            One after the last set.
        scratch
            int32 (2, n).
        left, right, similarity
            int32, int32, float64 of the same length, at least n; written: left < right.
        """
        cdef Join j
        cdef Py_ssize_t n = self.size.shape[0]
        cdef Py_ssize_t room = left.shape[0]
        cdef Py_ssize_t found
        if at.shape[0] != 2 or not 0 <= at[0] <= last <= n:
            raise ValueError(f"at and last must lie within {n} sets")
        if scratch.shape[0] != 2 or scratch.shape[1] != n:
            raise ValueError(f"scratch needs the shape (2, {n})")
        if room < n or right.shape[0] != room or similarity.shape[0] != room:
            raise ValueError(f"left, right and similarity need the same length, at least {n}")
        if at[0] == last or self.postings.shape[0] == 0:
            at[0] = last
            return 0
        j.size = &self.size[0]
        j.start = &self.start[0]
        j.elements = &self.elements[0]
        j.lists = &self.lists[0]
        j.postings = &self.postings[0]
        j.threshold = self.threshold
        j.met = &scratch[0, 0]
        j.candidates = &scratch[1, 0]
        with nogil:
            found = join_sets(
                &j, &at[0], <int32_t> last, &left[0], &right[0], &similarity[0], room
            )
        return found
