"""Families: what is connected by shared buckets, by union and find."""

from libc.stdint cimport int32_t


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
    cdef Py_ssize_t i
    cdef int32_t a, b
    if right.shape[0] != left.shape[0]:
        raise ValueError("left and right need the same length")
    check_parent(parent)
    for i in range(left.shape[0]):
        if not (0 <= left[i] < n and 0 <= right[i] < n):
            raise IndexError(f"pair ({left[i]}, {right[i]}) points outside {n} documents")
        a = find(&parent[0], left[i])
        b = find(&parent[0], right[i])
        parent[max(a, b)] = min(a, b)


def families(int32_t[::1] parent not None):
    """Make each entry of `parent` the first document of its family."""
    cdef Py_ssize_t i
    check_parent(parent)
    for i in range(parent.shape[0]):
        parent[i] = find(&parent[0], <int32_t> i)


cdef int check_parent(const int32_t[::1] parent) except -1:
    cdef Py_ssize_t i
    for i in range(parent.shape[0]):
        if not 0 <= parent[i] <= i:
            raise ValueError("parent must point to documents that are not later")
    return 0


cdef inline int32_t find(int32_t* parent, int32_t i) noexcept nogil:
    while parent[i] != i:
        parent[i] = parent[parent[i]]           # halve the path
        i = parent[i]
    return i
