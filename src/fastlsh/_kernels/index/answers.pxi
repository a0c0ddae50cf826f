# The best answers of a query: a bounded heap, the worst on top, then sorted.

from fastlsh._kernels.index.tables cimport Answer


cdef inline bint better(const Answer* a, const Answer* b) noexcept nogil:
    # More similar, then earlier.
    if a.similarity != b.similarity:
        return a.similarity > b.similarity
    return a.number < b.number


cdef void sink(Answer* heap, Py_ssize_t n) noexcept nogil:
    # Restores the order below a new top.
    cdef Answer moving = heap[0]
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t child
    while 2 * i + 1 < n:
        child = 2 * i + 1
        if child + 1 < n and better(&heap[child], &heap[child + 1]):
            child += 1
        if not better(&moving, &heap[child]):
            break
        heap[i] = heap[child]
        i = child
    heap[i] = moving


cdef void offer(Answer* heap, Py_ssize_t* n, Py_ssize_t most, Answer answer) noexcept nogil:
    cdef Py_ssize_t i, above
    if n[0] == most:
        if better(&answer, heap):
            heap[0] = answer
            sink(heap, most)
        return
    i = n[0]
    n[0] += 1
    while i:
        above = (i - 1) >> 1
        if not better(&heap[above], &answer):
            break
        heap[i] = heap[above]
        i = above
    heap[i] = answer


cdef void best_first(Answer* heap, Py_ssize_t n) noexcept nogil:
    cdef Answer worst
    while n > 1:
        n -= 1
        worst = heap[0]
        heap[0] = heap[n]
        sink(heap, n)
        heap[n] = worst
