# Texts that lie in one array of bytes, and several such columns as one.
# With spans.pxi and utf8.pxi.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

from bisect import bisect_right

from fastlsh._kernels.common.checks cimport memory_of
from fastlsh._kernels.text._texts cimport ROOM, UTF8, Spans, check_utf8, new_spans
from fastlsh._kernels.text.unicode cimport PyUnicode_DecodeUTF8


cdef class TextColumn:
    """Texts in UTF-8, some of which may be null.

    Parameters
    ----------
    data
        uint8: the bytes of all, in any order.
    start, size
        int64 (n,): where each begins, and how many bytes it has; below 0: it is null. They are
        copied, as what has been checked must not change.
    strict
        Whether all are strict UTF-8; if not, they may have lone surrogates.
    """

    cdef const uint8_t[::1] data
    cdef const int64_t[::1] start
    cdef const int64_t[::1] size
    cdef readonly bint strict
    cdef readonly Py_ssize_t n
    cdef readonly Py_ssize_t nbytes     # of all texts

    def __cinit__(
        self, const uint8_t[::1] data not None, const int64_t[::1] start not None,
        const int64_t[::1] size not None, bint strict=True,
    ):
        cdef Py_ssize_t i
        memory_of(start, "start")
        memory_of(size, "size")
        self.n = start.shape[0]
        if size.shape[0] != self.n:
            raise ValueError(f"start has {self.n} elements, and size {size.shape[0]}")
        self.data = data
        self.start = copied(start)
        self.size = copied(size)
        self.strict = strict
        self.nbytes = 0
        for i in range(self.n):
            if self.size[i] > 0:
                if not (0 <= self.start[i] <= data.shape[0] - self.size[i]):
                    raise ValueError(f"text {i} lies outside of {data.shape[0]} bytes")
                self.nbytes += self.size[i]

    def __len__(self):
        return self.n

    def __eq__(self, object other):
        if not isinstance(other, (list, TextColumn, TextColumns)):
            return NotImplemented
        return len(self) == len(other) and all([a == b for a, b in zip(self, other)])

    def __repr__(self):
        return f"<{len(self)} texts>"

    def __getitem__(self, object key):
        """Return a text or None, or the column of a slice."""
        if isinstance(key, slice):
            return self.chosen(numbers_in(range(self.n)[key]))
        return self._text(range(self.n)[key])

    cdef object _text(self, Py_ssize_t i):
        if self.size[i] < 0:
            return None
        if self.size[i] == 0:
            return ""
        return PyUnicode_DecodeUTF8(
            <const char*> &self.data[self.start[i]], self.size[i],
            "strict" if self.strict else "surrogatepass",
        )

    @property
    def null_count(self):
        """How many are null."""
        cdef Py_ssize_t i
        cdef Py_ssize_t count = 0
        for i in range(self.n):
            count += self.size[i] < 0
        return count

    def to_pylist(self):
        """Return the texts as a list of str and None."""
        return [self._text(i) for i in range(self.n)]

    def chosen(self, const int64_t[::1] rows not None):
        """Return the column of some texts, int64 (m,), which stay where they are."""
        cdef int64_t[::1] start, size
        cdef Py_ssize_t i
        check_rows(rows, self.n)
        start = new_numbers(rows.shape[0])
        size = new_numbers(rows.shape[0])
        for i in range(rows.shape[0]):
            start[i] = self.start[rows[i]]
            size[i] = self.size[rows[i]]
        return TextColumn(self.data, start, size, self.strict)

    def packed(self):
        """Return the bytes of all texts, one behind the other, and the size of each."""
        cdef bytes joined = PyBytes_FromStringAndSize(NULL, self.nbytes)
        cdef char* out = PyBytes_AS_STRING(joined)
        cdef int64_t[::1] sizes = new_numbers(self.n)
        cdef Py_ssize_t i
        with nogil:
            for i in range(self.n):
                sizes[i] = max(self.size[i], 0)
                if sizes[i]:
                    memcpy(out, &self.data[self.start[i]], sizes[i])
                    out += sizes[i]
        return joined, sizes.base

    cdef int _put(self, Spans spans, Py_ssize_t at, Py_ssize_t i, bint as_bytes) except -1:
        cdef Py_ssize_t start = self.start[i]
        if self.size[i] <= 0:
            put(spans, at, NULL, 0, 1, 0)
        elif self.strict:
            put(
                spans, at, &self.data[start], self.size[i], 1 if as_bytes else UTF8,
                <int> min(start, <Py_ssize_t> ROOM),
            )
        else:
            text = self._text(i)
            spans.owners.append(text)
            put_text(spans, at, text, as_bytes)
        return 0

    def spans(self, Py_ssize_t start, Py_ssize_t stop, bint as_bytes=False):
        """Return the `Spans` of the texts start ... stop - 1."""
        cdef Spans spans
        cdef Py_ssize_t i
        check_range(start, stop, self.n)
        spans = new_spans(stop - start)
        spans.owners.append(self)
        for i in range(stop - start):
            self._put(spans, i, start + i, as_bytes)
        check_utf8(spans, start, None)
        return spans

    def take(self, const int64_t[::1] documents not None, bint as_bytes=False):
        """Return the `Spans` of some texts, int64 (m,)."""
        cdef Spans spans
        cdef Py_ssize_t i
        check_rows(documents, self.n)
        spans = new_spans(documents.shape[0])
        spans.owners.append(self)
        for i in range(spans.n):
            self._put(spans, i, documents[i], as_bytes)
        check_utf8(spans, 0, documents)
        return spans


cdef class TextColumns:
    """Several columns, one behind the other.

    Parameters
    ----------
    columns
        list of `TextColumn`.
    """

    cdef list columns
    cdef list starts            # first text of each
    cdef readonly Py_ssize_t n

    def __cinit__(self, list columns not None):
        cdef TextColumn column
        self.columns = []
        self.starts = []
        self.n = 0
        for column in columns:
            if column is None:
                raise TypeError("a column is None")
            if column.n:
                self.columns.append(column)
                self.starts.append(self.n)
                self.n += column.n

    def __len__(self):
        return self.n

    def __eq__(self, object other):
        if not isinstance(other, (list, TextColumn, TextColumns)):
            return NotImplemented
        return len(self) == len(other) and all([a == b for a, b in zip(self, other)])

    def __repr__(self):
        return f"<{len(self)} texts>"

    def __getitem__(self, object key):
        """Return a text or None, or the columns of a slice."""
        if isinstance(key, slice):
            return self.chosen(numbers_in(range(self.n)[key]))
        key = range(self.n)[key]
        c = bisect_right(self.starts, key) - 1
        return self.columns[c][key - self.starts[c]]

    def chosen(self, rows not None):
        """Return the columns of some texts, int64 (m,), which stay where they are."""
        import numpy as np
        check_rows(rows, self.n)
        if not len(rows):
            return TextColumns([])
        which = np.searchsorted(self.starts, rows, "right") - 1
        edges = np.flatnonzero(np.diff(which, prepend=-1, append=-1)).tolist()
        return TextColumns([
            self.columns[which[a]].chosen(rows[a:b] - self.starts[which[a]])
            for a, b in zip(edges[:-1], edges[1:])
        ])

    def spans(self, Py_ssize_t start, Py_ssize_t stop, bint as_bytes=False):
        """Return the `Spans` of the texts start ... stop - 1."""
        cdef Spans spans
        cdef TextColumn column
        cdef Py_ssize_t first, i
        cdef Py_ssize_t c = bisect_right(self.starts, start) - 1
        check_range(start, stop, self.n)
        spans = new_spans(stop - start)
        spans.owners.append(self)
        i = start
        while i < stop:
            column = self.columns[c]
            first = self.starts[c]
            for i in range(i, min(first + column.n, stop)):
                column._put(spans, i - start, i - first, as_bytes)
            i = min(first + column.n, stop)
            c += 1
        check_utf8(spans, start, None)
        return spans

    def take(self, const int64_t[::1] documents not None, bint as_bytes=False):
        """Return the `Spans` of some texts, int64 (m,)."""
        cdef Spans spans
        cdef TextColumn column = None
        cdef Py_ssize_t first = 0
        cdef Py_ssize_t last = -1
        cdef Py_ssize_t i, c
        check_rows(documents, self.n)
        spans = new_spans(documents.shape[0])
        spans.owners.append(self)
        for i in range(spans.n):
            if not first <= documents[i] < last:
                c = bisect_right(self.starts, documents[i]) - 1
                column = self.columns[c]
                first = self.starts[c]
                last = first + column.n
            column._put(spans, i, documents[i] - first, as_bytes)
        check_utf8(spans, 0, documents)
        return spans


cdef object new_numbers(Py_ssize_t n):
    import numpy as np
    return np.empty(n, np.int64)


cdef object copied(const int64_t[::1] numbers):
    cdef int64_t[::1] found = new_numbers(numbers.shape[0])
    if numbers.shape[0]:
        memcpy(&found[0], &numbers[0], numbers.shape[0] * sizeof(int64_t))
    return found


cdef object numbers_in(object chosen):
    import numpy as np
    return np.arange(chosen.start, chosen.stop, chosen.step, np.int64)


cdef int check_range(Py_ssize_t start, Py_ssize_t stop, Py_ssize_t n) except -1:
    if not 0 <= start <= stop <= n:
        raise IndexError(f"documents {start} to {stop} of {n}")
    return 0


cdef int check_rows(const int64_t[::1] rows, Py_ssize_t n) except -1:
    cdef Py_ssize_t i
    memory_of(rows, "documents")
    for i in range(rows.shape[0]):
        if not 0 <= rows[i] < n:
            raise IndexError(f"document {rows[i]} of {n}")
    return 0
