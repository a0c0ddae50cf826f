# Where the code points of a batch of texts lie, gathered while the GIL is held.
#
# A text is read in place wherever its code points are stored one by one: every ``str``, ASCII
# in UTF-8 bytes and in Arrow buffers. Other UTF-8 is decoded into one buffer for the batch.
# With token_ids.pxi and utf8.pxi.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcmp, memcpy

from fastlsh._kernels.common.checks cimport memory_of
from fastlsh._kernels.text._texts cimport ROOM, UTF8, Span, Spans, number_of
from fastlsh._kernels.text.unicode cimport (
    PyUnicode_DATA, PyUnicode_FromKindAndData, PyUnicode_GET_LENGTH, PyUnicode_IS_ASCII,
    PyUnicode_IS_COMPACT, PyUnicode_KIND, fastlsh_ready,
)


cdef class Spans:
    """Texts of one batch: address, length and width of each. Made by the functions below."""

    def __cinit__(self):
        self.at = NULL
        self.n = 0
        self.tokens = False
        self.owners = []

    def __dealloc__(self):
        PyMem_Free(self.at)

    def __len__(self):
        return self.n

    def lengths(self, int64_t[::1] out not None):
        """Write the number of code points (or bytes) of each text into `out`, int64 (n,)."""
        if out.shape[0] != self.n:
            raise ValueError(f"out has {out.shape[0]} elements, expected {self.n}")
        memory_of(out, "out")
        if self.n:
            write_lengths(self.at, self.n, &out[0])

    def strings(self):
        """Return the texts as a list of str; ids of tokens as numbers between spaces."""
        cdef Py_ssize_t i
        if self.tokens:
            return [" ".join(map(str, ids_of(&self.at[i]))) for i in range(self.n)]
        return [
            PyUnicode_FromKindAndData(self.at[i].kind, self.at[i].text, self.at[i].length)
            for i in range(self.n)
        ]

    def part(self, Py_ssize_t first, Py_ssize_t last):
        """Return the texts first ... last - 1."""
        if not 0 <= first <= last <= self.n:
            raise IndexError(f"texts {first} to {last} of {self.n}")
        if last - first == self.n:
            return self
        cdef Spans spans = new_spans(last - first)
        spans.owners.append(self)
        spans.tokens = self.tokens
        memcpy(spans.at, self.at + first, (last - first) * sizeof(Span))
        return spans

    def window(self, Py_ssize_t i, Py_ssize_t begin, Py_ssize_t end):
        """Return the code points (or bytes) begin ... end - 1 of a text, as a text."""
        if not 0 <= i < self.n:
            raise IndexError(f"text {i} of {self.n}")
        if not 0 <= begin <= end <= self.at[i].length:
            raise IndexError(f"code points {begin} to {end} of {self.at[i].length}")
        cdef Spans spans = new_spans(1)
        cdef const char* text = <const char*> self.at[i].text
        cdef int kind = self.at[i].kind
        spans.owners.append(self)
        spans.tokens = self.tokens
        if begin < end:
            before = min(self.at[i].before + begin * kind, <Py_ssize_t> ROOM)
            put(spans, 0, text + begin * kind, end - begin, kind, <int> before)
        else:
            put(spans, 0, NULL, 0, kind, 0)
        return spans

    def equal(self, Spans other not None, uint8_t[::1] out not None):
        """Write into `out`, uint8 (n,), whether text i here is text i there, in full."""
        if other.n != self.n or out.shape[0] != self.n:
            raise ValueError("equal() needs as many texts on both sides and in out")
        check_alike(self, other)
        if self.n:
            with nogil:
                compare_texts(self.at, other.at, self.n, self.tokens, &out[0])


cdef void write_lengths(const Span* at, Py_ssize_t n, int64_t* out) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = at[i].length


cdef void compare_texts(
    const Span* a, const Span* b, Py_ssize_t n, bint tokens, uint8_t* out
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = same_ids(a + i, b + i) if tokens else same(a + i, b + i)


cdef bint same(const Span* a, const Span* b) noexcept nogil:
    # Python stores equal texts in equal width.
    if a.length != b.length or a.kind != b.kind:
        return False
    return a.length == 0 or memcmp(a.text, b.text, <size_t> (a.length * a.kind)) == 0


cdef Spans new_spans(Py_ssize_t n):
    cdef Spans spans = Spans.__new__(Spans)
    spans.at = <Span*> PyMem_Calloc(n + 1, sizeof(Span))
    if spans.at == NULL:
        raise MemoryError()
    spans.n = n
    return spans


cdef inline void put(
    Spans spans, Py_ssize_t i, const void* text, Py_ssize_t n, int kind, int before
) noexcept:
    spans.at[i].text = text
    spans.at[i].length = n
    spans.at[i].kind = kind
    spans.at[i].before = before


cdef inline int put_text(Spans spans, Py_ssize_t i, object text, bint as_bytes) except -1:
    # The caller keeps `text` alive. In front of compact text lies the object's head.
    fastlsh_ready(text)
    if as_bytes and not PyUnicode_IS_ASCII(text):
        data = (<str> text).encode("utf-8", "surrogatepass")
        spans.owners.append(data)
        put(spans, i, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), 1, ROOM)
    else:
        put(
            spans, i, PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text), PyUnicode_KIND(text),
            ROOM if PyUnicode_IS_COMPACT(text) else 0,
        )
    return 0


cdef int put_utf8(
    Spans spans, Py_ssize_t i, const char* data, Py_ssize_t n, int before, bint as_bytes
) except -1:
    # The caller keeps `data` alive, and calls settle_utf8 when all texts are there.
    put(spans, i, data, n, 1 if as_bytes else UTF8, before)
    return 0


def spans_of_list(list documents not None, Py_ssize_t first=0, bint as_bytes=False, ids=None):
    """Gather a list of str, bytes (UTF-8) or None (empty).

    Parameters
    ----------
    documents
        The batch; it must not change while the result is in use.
    first
        The number of the first document, for error messages.
    as_bytes
        The unit is the byte: str counts as UTF-8 (surrogatepass), bytes are not validated.
    ids
        The numbers of the documents where they do not follow each other.
    """
    cdef Py_ssize_t n = len(documents)
    cdef Spans spans = new_spans(n)
    cdef Py_ssize_t i
    spans.owners.append(documents)
    for i in range(n):
        document = documents[i]
        if isinstance(document, str):
            put_text(spans, i, document, as_bytes)
        elif isinstance(document, bytes):
            put_utf8(
                spans, i, PyBytes_AS_STRING(document), PyBytes_GET_SIZE(document), ROOM, as_bytes
            )
        elif document is None:
            put(spans, i, NULL, 0, 1, 0)
        else:
            raise TypeError(
                f"document {number_of(first, ids, i)} is of type "
                f"{type(document).__name__}, expected str, bytes (UTF-8) or None"
            )
    check_utf8(spans, first, ids)
    return spans


def merged(Spans zeros not None, Spans ones not None, const uint8_t[::1] choice not None):
    """Return the texts of two batches as one: `choice`, uint8 (n,), tells whose is the next."""
    cdef Py_ssize_t n = choice.shape[0]
    cdef Spans spans = new_spans(n)
    cdef Py_ssize_t i
    cdef Py_ssize_t used = 0
    for i in range(n):
        used += choice[i] == 0
    if zeros.n != used or ones.n != n - used:
        raise ValueError(f"choice asks for {used} + {n - used} texts of {zeros.n} + {ones.n}")
    check_alike(zeros, ones)
    spans.owners += [zeros, ones]
    spans.tokens = zeros.tokens if zeros.n else ones.tokens
    used = 0
    for i in range(n):
        spans.at[i] = ones.at[i - used] if choice[i] else zeros.at[used]
        used += choice[i] == 0
    return spans
