# Families: what is connected by shared buckets, by union and find.

from libc.stdint cimport int32_t

from fastlsh._kernels.common.checks cimport memory_of
from fastlsh._kernels.common.debug cimport check
from fastlsh._kernels.common.prefetch cimport AHEAD, prefetch

cdef inline int32_t find(int32_t* parent, int32_t i) noexcept nogil:
    # The first document of the family; -1 where a parent is a later document.
    cdef int32_t up = parent[i]
    cdef int32_t top
    while up != i:
        if not 0 <= up < i:
            return -1
        top = parent[up]
        if not 0 <= top <= up:
            return -1
        parent[i] = top                         # halve the path
        i = top
        up = parent[i]
    return i


cdef Py_ssize_t unite_pairs(
    int32_t* parent, Py_ssize_t n, const int32_t* left, const int32_t* right, Py_ssize_t pairs
) noexcept nogil:
    # Returns how many pairs were united: all, unless one or a parent lies outside.
    cdef Py_ssize_t i
    cdef int32_t x, y, a, b
    for i in range(pairs):
        if i + AHEAD < pairs and 0 <= left[i + AHEAD] < n:
            prefetch(parent + left[i + AHEAD])
        x = left[i]
        y = right[i]
        if not (0 <= x < n and 0 <= y < n):
            return i
        a = find(parent, x)
        b = find(parent, y)
        if a < 0 or b < 0:
            return i
        check(a <= x and parent[a] == a and b <= y and parent[b] == b)
        parent[max(a, b)] = min(a, b)
    return pairs


cdef Py_ssize_t find_all(int32_t* parent, Py_ssize_t n) noexcept nogil:
    # Returns how many found their family: all, or the place of the first with a bad parent.
    cdef Py_ssize_t i
    cdef int32_t root
    for i in range(n):
        root = find(parent, <int32_t> i)
        if root < 0:
            return i
        check(root <= i and parent[root] == root)
        parent[i] = root
    return n


def unite(
    int32_t[::1] parent not None, const int32_t[::1] left not None,
    const int32_t[::1] right not None,
):
    """Join the families of each pair of documents.

    Parameters
    ----------
    parent
        int32 (n,), written; numpy.arange(n) to begin.
    left, right
        int32 (m,): the pairs.
    """
    cdef Py_ssize_t n = parent.shape[0]
    cdef Py_ssize_t pairs = left.shape[0]
    cdef Py_ssize_t done
    if right.shape[0] != pairs:
        raise ValueError("left and right need the same length")
    check_parents(parent)
    memory_of(left, "left")
    memory_of(right, "right")
    if pairs == 0:
        return
    if n == 0:
        raise IndexError("pairs of no documents")
    with nogil:
        done = unite_pairs(&parent[0], n, &left[0], &right[0], pairs)
    if done < pairs:
        if 0 <= left[done] < n and 0 <= right[done] < n:
            raise ValueError("parent must point to documents that are not later")
        raise IndexError(f"pair ({left[done]}, {right[done]}) points outside {n} documents")


def families(int32_t[::1] parent not None):
    """Make each entry of `parent` the first document of its family."""
    cdef Py_ssize_t n = parent.shape[0]
    cdef Py_ssize_t done
    check_parents(parent)
    if n == 0:
        return
    with nogil:
        done = find_all(&parent[0], n)
    if done < n:
        raise ValueError("parent must point to documents that are not later")


cdef int check_parents(int32_t[::1] parent) except -1:
    memory_of(parent, "parent")
    if parent.shape[0] > 0x7FFFFFFF:
        raise ValueError(f"{parent.shape[0]} documents are too many")
    return 0
