"""Texts where they lie: lists of str and bytes, columns of Arrow, and tables given as Arrow."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_RawCalloc, PyMem_RawFree
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from cpython.ref cimport PyObject, Py_DECREF, Py_INCREF
from libc.stdint cimport (
    INT64_MAX, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t,
)
from libc.string cimport memchr, memcmp, memcpy, memset

from bisect import bisect_right

from fastlsh._kernels.common.checks cimport check_address, check_array, check_matrix, check_offsets
from fastlsh._kernels.text.decoding cimport decode_span, width_of
from fastlsh._kernels.text.encoding cimport put_utf8_point
from fastlsh._kernels.text.packed cimport read_head, words_for
from fastlsh._kernels.text.squeeze cimport fill_squeezing
from fastlsh._kernels.text.unicode cimport (
    PyUnicode_DATA, PyUnicode_DecodeUTF8, PyUnicode_FromKindAndData, PyUnicode_GET_LENGTH,
    PyUnicode_IS_ASCII, PyUnicode_IS_COMPACT, PyUnicode_KIND, fastlsh_ready,
)


# ---- Where the code points of a batch of texts lie, gathered while the GIL is held.
#
# A text is read in place wherever its code points are stored one by one: every ``str``, ASCII
# in UTF-8 bytes and in Arrow buffers. Other UTF-8 is decoded into one buffer for the batch.

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
        check_array(out, "out")
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


# ---- Documents of token ids: numbers that lie side by side, 1, 2, 4 or 8 bytes wide.

cdef list ids_of(const Span* span):
    cdef Py_ssize_t i
    return [id_at(span.text, span.kind, i) for i in range(span.length)]


cdef int check_alike(Spans a, Spans b) except -1:
    if a.n and b.n and a.tokens != b.tokens:
        raise TypeError("some documents are texts and some are ids of tokens: make them alike")
    return 0


cdef bint same_ids(const Span* a, const Span* b) noexcept nogil:
    cdef Py_ssize_t i
    if a.length != b.length:
        return False
    for i in range(a.length):
        if id_at(a.text, a.kind, i) != id_at(b.text, b.kind, i):
            return False
    return True


cdef bint is_negative(const Span* span) noexcept nogil:
    cdef int64_t seen = 0
    cdef Py_ssize_t i
    if span.kind == 1:
        for i in range(span.length):
            seen |= (<const int8_t*> span.text)[i]
    elif span.kind == 2:
        for i in range(span.length):
            seen |= (<const int16_t*> span.text)[i]
    elif span.kind == 4:
        for i in range(span.length):
            seen |= (<const int32_t*> span.text)[i]
    else:
        for i in range(span.length):
            seen |= (<const int64_t*> span.text)[i]
    return seen < 0


cdef Py_ssize_t first_negative(const Span* at, Py_ssize_t n) noexcept nogil:
    # Returns -1 if there is none.
    cdef Py_ssize_t i
    for i in range(n):
        if is_negative(at + i):
            return i
    return -1


def spans_of_ids(
    const uint8_t[::1] values not None, int width, bint signed,
    const int64_t[::1] offsets not None, const int64_t[::1] documents not None,
):
    """Gather documents of token ids, read in place.

    Parameters
    ----------
    values
        The ids as bytes; they must not change while the result is in use.
    width, signed
        How an id is stored: in 1, 2, 4 or 8 bytes; negative ones are refused.
    offsets
        int64 (n + 1,): document d has the ids offsets[d] ... offsets[d + 1] - 1.
    documents
        int64 (m,): which.
    """
    cdef Py_ssize_t i
    cdef int64_t begin, end
    cdef int64_t n = offsets.shape[0] - 1
    cdef Py_ssize_t bad = -1
    cdef Spans spans = new_spans(documents.shape[0])
    cdef const uint8_t* data = &values[0] if values.shape[0] else NULL
    if width != 1 and width != 2 and width != 4 and width != 8:
        raise ValueError(f"an id is 1, 2, 4 or 8 bytes wide, not {width}")
    check_array(offsets, "offsets")
    check_array(documents, "documents")
    check_address(data, width, "values")
    spans.owners.append(values)
    spans.tokens = True
    for i in range(spans.n):
        if not 0 <= documents[i] < n:
            raise IndexError(f"document {documents[i]} of {n}")
        begin = offsets[documents[i]]
        end = offsets[documents[i] + 1]
        if not 0 <= begin <= end <= values.shape[0] // width:
            raise ValueError(
                f"document {documents[i]} has the ids {begin} to {end} "
                f"of {values.shape[0] // width}"
            )
        put(spans, i, data + begin * width if begin < end else NULL, end - begin, width, 0)
    if signed:
        with nogil:
            bad = first_negative(spans.at, spans.n)
    if bad >= 0:
        raise ValueError(
            f"document {documents[bad]} has the token id {min(ids_of_signed(&spans.at[bad]))}: "
            "ids are not negative"
        )
    return spans


cdef list ids_of_signed(const Span* span):
    cdef object one = 1
    cdef object base = one << (8 * span.kind)
    return [value - base if 2 * value >= base else value for value in ids_of(span)]


# ---- The texts in UTF-8 of a batch as code points, in the width in which Python would store them.

fill_squeezing()


cdef Py_ssize_t room_for_utf8(Spans spans) noexcept nogil:
    # Settles the ASCII texts, and notes the width of the others as -kind. Returns how many bytes
    # these may take: more than they need, but what is not written costs nothing.
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t i
    cdef int width
    for i in range(spans.n):
        if spans.at[i].kind == UTF8:
            width = width_of(<const uint8_t*> spans.at[i].text, spans.at[i].length)
            spans.at[i].kind = -width if width else 1
            total += spans.at[i].length * width + 3 * (width > 0)
    return total


cdef Py_ssize_t decode_utf8(Spans spans, char* out) noexcept nogil:
    # Returns the first text that is not valid, or -1.
    cdef Py_ssize_t i, points
    cdef int width
    for i in range(spans.n):
        width = -spans.at[i].kind
        if width > 0:
            points = decode_span(&spans.at[i], width, out)
            if points < 0:
                return i
            spans.at[i].text = out
            spans.at[i].length = points
            spans.at[i].kind = width
            spans.at[i].before = ROOM           # of the buffer, or of the text before
            out += (points * width + 3) & ~<Py_ssize_t> 3     # aligned for any width
    return -1


cdef Py_ssize_t settle_utf8(Spans spans) except -2:
    # Decodes the texts of kind UTF8. Returns the first that is not valid, or -1.
    cdef Py_ssize_t total
    cdef Py_ssize_t bad
    cdef bytes buffer
    cdef char* out
    with nogil:
        total = room_for_utf8(spans)
    if total == 0:
        return -1
    buffer = PyBytes_FromStringAndSize(NULL, total + ROOM)
    spans.owners.append(buffer)
    out = PyBytes_AS_STRING(buffer) + ROOM
    with nogil:
        bad = decode_utf8(spans, out)
    return bad


cdef int refuse_utf8(Spans spans, Py_ssize_t bad, object document) except -1:
    try:
        PyUnicode_DecodeUTF8(<const char*> spans.at[bad].text, spans.at[bad].length, "strict")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"document {document} is not valid UTF-8: {error.reason} at byte {error.start}"
        ) from None
    raise RuntimeError(f"document {document} changed while it was read")


cdef int check_utf8(Spans spans, Py_ssize_t first, object ids) except -1:
    cdef Py_ssize_t bad = settle_utf8(spans)
    if bad >= 0:
        refuse_utf8(spans, bad, number_of(first, ids, bad))
    return 0


# ---- Texts as UTF-8.

def column_of(Spans texts not None):
    """Return texts as a `TextColumn` of their own, in which they lie one behind the other.

    It is not strict if there is a surrogate.

    Parameters
    ----------
    texts
        Code points, neither bytes nor ids of tokens.
    """
    cdef int64_t[::1] start = new_numbers(texts.n)
    cdef int64_t[::1] size = new_numbers(texts.n)
    cdef Py_ssize_t total
    cdef bint surrogates = False
    cdef bytes data
    cdef uint8_t* out
    cdef TextColumn column
    if texts.tokens:
        raise TypeError("ids of tokens are no texts")
    with nogil:
        total = utf8_sizes(texts.at, texts.n, start, size, &surrogates)
    data = PyBytes_FromStringAndSize(NULL, total)
    out = <uint8_t*> PyBytes_AS_STRING(data)
    with nogil:
        put_utf8_texts(texts.at, texts.n, start, size, out)
    # Nobody else has these numbers, which need not be copied and checked.
    column = TextColumn(data, start[:0], size[:0], not surrogates)
    column.start, column.size = start, size
    column.n, column.nbytes = texts.n, total
    return column


cdef Py_ssize_t utf8_sizes(
    const Span* at, Py_ssize_t n, int64_t[::1] start, int64_t[::1] size, bint* surrogates
) noexcept nogil:
    # Returns their sum.
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t i
    for i in range(n):
        start[i] = total
        size[i] = utf8_size(at + i, surrogates)
        total += size[i]
    return total


cdef void put_utf8_texts(
    const Span* at, Py_ssize_t n, const int64_t[::1] start, const int64_t[::1] size, uint8_t* out
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        put_utf8_text(at + i, size[i], out + start[i])


cdef Py_ssize_t utf8_size(const Span* at, bint* surrogates) noexcept nogil:
    if at.kind == 1:
        return size_of_units(<const uint8_t*> at.text, at.length, surrogates)
    if at.kind == 2:
        return size_of_units(<const uint16_t*> at.text, at.length, surrogates)
    return size_of_units(<const uint32_t*> at.text, at.length, surrogates)


cdef Py_ssize_t size_of_units(
    const code_unit* text, Py_ssize_t n, bint* surrogates
) noexcept nogil:
    cdef Py_ssize_t i
    cdef Py_ssize_t size = n
    cdef uint32_t c
    if code_unit is uint8_t:
        for i in range(n):
            size += text[i] >> 7
    else:
        for i in range(n):
            c = text[i]
            size += (c >= 0x80) + (c >= 0x800) + (c >= 0x10000)
            surrogates[0] |= c >> 11 == 0x1B
    return size


cdef void put_utf8_text(const Span* at, Py_ssize_t size, uint8_t* out) noexcept nogil:
    if at.kind == 1 and size == at.length:
        if size:
            memcpy(out, at.text, <size_t> size)
    elif at.kind == 1:
        put_units(<const uint8_t*> at.text, at.length, out)
    elif at.kind == 2:
        put_units(<const uint16_t*> at.text, at.length, out)
    else:
        put_units(<const uint32_t*> at.text, at.length, out)


cdef void put_units(const code_unit* text, Py_ssize_t n, uint8_t* out) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out = put_utf8_point(out, text[i])


# ---- Texts that lie in one array of bytes, and several such columns as one.

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
        check_array(start, "start")
        check_array(size, "size")
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
        with nogil:
            self._join(sizes, out)
        return joined, sizes.base

    cdef void _join(self, int64_t[::1] sizes, char* out) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.n):
            sizes[i] = max(self.size[i], 0)
            if sizes[i]:
                memcpy(out, &self.data[self.start[i]], sizes[i])
                out += sizes[i]

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
    check_array(rows, "documents")
    for i in range(rows.shape[0]):
        if not 0 <= rows[i] < n:
            raise IndexError(f"document {rows[i]} of {n}")
    return 0


# ---- Texts in words of 8 bytes, as an index keeps them: docs/index-format.md.

def packed_sizes(Spans spans not None, int64_t[::1] out not None):
    """Write into `out`, int64 (n,), how many words each text takes: 0 if it is empty."""
    if out.shape[0] != spans.n:
        raise ValueError(f"out has {out.shape[0]} elements, expected {spans.n}")
    check_array(out, "out")
    if spans.n:
        write_sizes(spans.at, spans.n, &out[0])


def pack_texts(
    Spans spans not None, const int64_t[::1] offsets not None, uint64_t[::1] words not None
):
    """Pack texts: a word with length and width, then the code units, filled up with zeros.

    Parameters
    ----------
    spans
        The texts, or ids of tokens.
    offsets
        int64 (n + 1,): where each begins, as far apart as `packed_sizes` says.
    words
        uint64, written.
    """
    cdef bint fits
    check_offsets(offsets, spans.n, words.shape[0], "offsets")
    check_array(words, "words")
    if not spans.n or not words.shape[0]:
        fits = spans.n == 0 or all_empty(spans.at, spans.n)
    else:
        with nogil:
            fits = pack_all(spans.at, spans.n, &offsets[0], &words[0])
    if not fits:
        raise ValueError("offsets do not suit the texts")


def spans_of_packed(
    const uint64_t[::1] words not None, const int64_t[::1] offsets not None,
    const int64_t[::1] documents not None, bint tokens=False,
):
    """Return packed texts of some numbers, read in place; ValueError if they are damaged.

    Parameters
    ----------
    words, offsets
        As `pack_texts` writes them.
    documents
        int64: which.
    tokens
        These are ids of tokens.
    """
    cdef Py_ssize_t n = offsets.shape[0] - 1
    cdef Py_ssize_t i
    cdef int64_t first, last
    check_offsets(offsets, n, words.shape[0], "offsets")
    check_array(words, "words")
    check_array(documents, "documents")
    cdef Spans spans = new_spans(documents.shape[0])
    spans.owners.append(words)
    spans.tokens = tokens
    for i in range(documents.shape[0]):
        if not 0 <= documents[i] < n:
            raise IndexError(f"document {documents[i]} of {n}")
        put(spans, i, NULL, 0, 1, 0)
        first = offsets[documents[i]]
        last = offsets[documents[i] + 1]
        if first < last and not read_head(&words[first], last - first, tokens, spans.at + i):
            raise ValueError(f"the text of document {documents[i]} is damaged")
    return spans


cdef void write_sizes(const Span* at, Py_ssize_t n, int64_t* out) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = words_for(at + i)


cdef bint all_empty(const Span* at, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if at[i].length:
            return False
    return True


cdef bint pack_all(
    const Span* at, Py_ssize_t n, const int64_t* offsets, uint64_t* words
) noexcept nogil:
    # False: they need more or less room.
    cdef Py_ssize_t i
    cdef uint64_t* to
    for i in range(n):
        if words_for(at + i) != offsets[i + 1] - offsets[i]:
            return False
        if at[i].length:
            to = words + offsets[i]
            words[offsets[i + 1] - 1] = 0
            to[0] = <uint64_t> at[i].length << 8 | <uint64_t> at[i].kind
            memcpy(to + 1, at[i].text, at[i].length * at[i].kind)
    return True


# ---- Where the lines or the paragraphs of texts stand, and such pieces as texts themselves.

cdef enum:
    TAB = 9
    LINE_FEED = 10
    CARRIAGE_RETURN = 13
    SPACE = 32


cdef struct Pieces:
    # Rows of (text, begin, end); what has no room is counted only.
    int64_t* rows
    Py_ssize_t room
    Py_ssize_t found


def cut_pieces(Spans spans not None, bint paragraphs, int64_t[:, ::1] out not None):
    """Write where the lines or paragraphs of texts stand; return how many there are.

    A line ends at a line feed, a carriage return before that left out; blank ones (of ASCII's white
    space) are none. A paragraph is a run of lines that are not blank.

    Parameters
    ----------
    spans
        The texts.
    paragraphs
        Paragraphs, not lines.
    out
        int64 (room, 3), written as far as it reaches: text, begin and end, in code points.
    """
    cdef Pieces pieces
    if spans.tokens:
        raise TypeError("ids of tokens have no lines")
    if out.shape[1] != 3:
        raise ValueError(f"out has {out.shape[1]} columns, expected 3")
    check_matrix(out, "out")
    pieces.rows = &out[0, 0] if out.shape[0] else NULL
    pieces.room = out.shape[0]
    pieces.found = 0
    with nogil:
        cut_texts(spans.at, spans.n, paragraphs, &pieces)
    return pieces.found


def windows_of(Spans spans not None, const int64_t[:, ::1] places not None):
    """Return pieces of texts as texts, read in place; copied if they are less wide of their own.

    Parameters
    ----------
    spans
        The texts.
    places
        int64 (m, 3): text, begin and end of each, as `cut_pieces` writes them.
    """
    cdef Spans windows
    cdef Py_ssize_t n = places.shape[0]
    cdef Py_ssize_t i
    cdef Py_ssize_t room = 0
    cdef uint8_t* data
    if places.shape[1] != 3:
        raise ValueError(f"places has {places.shape[1]} columns, expected 3")
    check_matrix(places, "places")
    windows = new_spans(n)
    windows.owners.append(spans)
    windows.tokens = spans.tokens
    if not n:
        return windows
    with nogil:
        i = put_windows(spans.at, spans.n, &places[0, 0], n, windows.at)
        if i == n and not spans.tokens:
            room = bytes_if_narrow(windows.at, n)
    if i < n:
        raise IndexError(
            f"place {i}: code points {places[i, 1]} to {places[i, 2]} of text {places[i, 0]}"
        )
    if room:
        buffer = PyBytes_FromStringAndSize(NULL, room + ROOM)
        windows.owners.append(buffer)
        data = <uint8_t*> PyBytes_AS_STRING(buffer)
        with nogil:
            make_narrow(windows.at, n, data + ROOM)
    return windows


cdef void cut_texts(const Span* at, Py_ssize_t n, bint paragraphs, Pieces* out) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if at[i].kind == 1:
            cut_text(<const uint8_t*> at[i].text, at[i].length, i, paragraphs, out)
        elif at[i].kind == 2:
            cut_text(<const uint16_t*> at[i].text, at[i].length, i, paragraphs, out)
        else:
            cut_text(<const uint32_t*> at[i].text, at[i].length, i, paragraphs, out)


cdef inline void cut_text(
    const code_unit* text, Py_ssize_t length, Py_ssize_t number, bint paragraphs, Pieces* out
) noexcept nogil:
    cdef Py_ssize_t position = 0
    cdef Py_ssize_t begin = -1          # of the paragraph that may go on
    cdef Py_ssize_t end = 0
    cdef Py_ssize_t line
    while position < length:
        line = position
        position = line_end(text, position, length)
        if is_blank(text, line, position):
            if begin >= 0:
                put_piece(out, number, begin, end)
                begin = -1
        else:
            end = position - (position < length and text[position - 1] == CARRIAGE_RETURN)
            if begin < 0:
                begin = line
            if not paragraphs:
                put_piece(out, number, begin, end)
                begin = -1
        position += 1
    if begin >= 0:
        put_piece(out, number, begin, end)


cdef inline Py_ssize_t line_end(
    const code_unit* text, Py_ssize_t position, Py_ssize_t length
) noexcept nogil:
    """Return where the line that stands there ends, its line feed left out."""
    cdef const void* found
    if code_unit is uint8_t:
        found = memchr(text + position, LINE_FEED, <size_t> (length - position))
        return length if found == NULL else <const uint8_t*> found - text
    else:
        while position < length and text[position] != LINE_FEED:
            position += 1
        return position


cdef inline bint is_blank(
    const code_unit* text, Py_ssize_t begin, Py_ssize_t end
) noexcept nogil:
    while begin < end:
        if text[begin] != SPACE and not TAB <= text[begin] <= CARRIAGE_RETURN:
            return False
        begin += 1
    return True


cdef inline void put_piece(
    Pieces* out, Py_ssize_t number, Py_ssize_t begin, Py_ssize_t end
) noexcept nogil:
    cdef int64_t* row
    if out.found < out.room:
        row = out.rows + 3 * out.found
        row[0], row[1], row[2] = number, begin, end
    out.found += 1


cdef Py_ssize_t put_windows(
    const Span* at, Py_ssize_t n, const int64_t* places, Py_ssize_t m, Span* out
) noexcept nogil:
    """Write the windows; return the first that is none, m if all are."""
    cdef const Span* span
    cdef Py_ssize_t i
    cdef int64_t begin, end
    for i in range(m):
        begin, end = places[3 * i + 1], places[3 * i + 2]
        if not 0 <= places[3 * i] < n:
            return i
        span = at + places[3 * i]
        if not 0 <= begin <= end <= span.length:
            return i
        out[i].kind = span.kind
        out[i].length = end - begin
        if begin < end:
            out[i].text = <const char*> span.text + begin * span.kind
            out[i].before = <int> min(span.before + begin * span.kind, <Py_ssize_t> ROOM)
    return m


cdef Py_ssize_t bytes_if_narrow(const Span* at, Py_ssize_t n) noexcept nogil:
    """Return how many bytes the texts take that would be narrower as texts of their own."""
    cdef Py_ssize_t room = 0
    cdef Py_ssize_t i
    for i in range(n):
        if at[i].kind > 1 and least_kind(at + i) < at[i].kind:
            room += (at[i].length * least_kind(at + i) + 1) & ~1
    return room


cdef void make_narrow(Span* at, Py_ssize_t n, uint8_t* out) noexcept nogil:
    """Write the texts that are wider than they need be, as Python would have them."""
    cdef Py_ssize_t i
    cdef int kind
    for i in range(n):
        kind = least_kind(at + i) if at[i].kind > 1 else 1
        if kind == at[i].kind:
            continue
        if kind == 2:
            copy_narrow(<const uint32_t*> at[i].text, at[i].length, <uint16_t*> out)
        elif at[i].kind == 2:
            copy_narrow(<const uint16_t*> at[i].text, at[i].length, out)
        else:
            copy_narrow(<const uint32_t*> at[i].text, at[i].length, out)
        at[i].text = out
        at[i].kind = kind
        at[i].before = ROOM
        out += (at[i].length * kind + 1) & ~1


cdef inline int least_kind(const Span* span) noexcept nogil:
    cdef uint32_t seen
    if span.kind == 2:
        seen = all_bits(<const uint16_t*> span.text, span.length)
    else:
        seen = all_bits(<const uint32_t*> span.text, span.length)
    return 1 if seen < 0x100 else 2 if seen < 0x10000 else 4


cdef inline uint32_t all_bits(const code_unit* text, Py_ssize_t length) noexcept nogil:
    cdef uint32_t seen = 0
    cdef Py_ssize_t i
    for i in range(length):
        seen |= text[i]
    return seen


ctypedef fused narrow_unit:
    uint8_t
    uint16_t


cdef inline void copy_narrow(
    const code_unit* text, Py_ssize_t length, narrow_unit* out
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(length):
        out[i] = <narrow_unit> text[i]


# ---- What is left of texts without some of their lines or paragraphs.

def remainders(Spans spans not None, const int64_t[:, ::1] places not None, bint paragraphs):
    """Return texts without some pieces, a list of str: one for each text that loses something.

    A line goes with its line end, or with the one before it if it has none; a paragraph with the
    blank lines behind it, or at the end of a text with those before it. If only blank lines are
    left, nothing is.

    Parameters
    ----------
    spans
        The texts.
    places
        int64 (m, 3), ascending: text, begin and end of what goes.
    paragraphs
        Paragraphs, not lines.
    """
    cdef Py_ssize_t m = places.shape[0]
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t last, longest, left
    cdef const Span* span
    if spans.tokens:
        raise TypeError("ids of tokens have no lines")
    if places.shape[1] != 3:
        raise ValueError(f"places has {places.shape[1]} columns, expected 3")
    check_matrix(places, "places")
    found = []
    if not m:
        return found
    longest = most_bytes(spans.at, spans.n, &places[0, 0], m)
    if longest < 0:
        raise IndexError("places are outside of the texts, or do not ascend")
    room = bytearray(longest + 1)
    cdef uint8_t[::1] view = room
    while first < m:
        span = spans.at + places[first, 0]
        last = end_of_text(&places[0, 0], first, m)
        with nogil:
            left = write_rest(span, &places[first, 0], last - first, paragraphs, &view[0])
        found.append(PyUnicode_FromKindAndData(span.kind, &view[0], left))
        first = last
    return found


cdef Py_ssize_t most_bytes(
    const Span* at, Py_ssize_t n, const int64_t* places, Py_ssize_t m
) noexcept nogil:
    """Return the bytes of the longest text that loses something; -1 if a place is none."""
    cdef Py_ssize_t most = 0
    cdef Py_ssize_t i
    cdef const int64_t* row
    for i in range(m):
        row = places + 3 * i
        if not 0 <= row[0] < n or not 0 <= row[1] <= row[2] <= at[row[0]].length:
            return -1
        if i and (row[0] < (row - 3)[0] or (row[0] == (row - 3)[0] and row[1] < (row - 1)[0])):
            return -1
        most = max(most, at[row[0]].length * at[row[0]].kind)
    return most


cdef Py_ssize_t end_of_text(const int64_t* places, Py_ssize_t first, Py_ssize_t m) noexcept nogil:
    cdef Py_ssize_t last = first + 1
    while last < m and places[3 * last] == places[3 * first]:
        last += 1
    return last


cdef Py_ssize_t write_rest(
    const Span* span, const int64_t* places, Py_ssize_t m, bint paragraphs, uint8_t* out
) noexcept nogil:
    """Write what is left of a text; return how many code points."""
    if span.kind == 1:
        return keep_rest(
            <const uint8_t*> span.text, span.length, places, m, paragraphs, <uint8_t*> out
        )
    if span.kind == 2:
        return keep_rest(
            <const uint16_t*> span.text, span.length, places, m, paragraphs, <uint16_t*> out
        )
    return keep_rest(
        <const uint32_t*> span.text, span.length, places, m, paragraphs, <uint32_t*> out
    )


cdef inline Py_ssize_t keep_rest(
    const code_unit* text, Py_ssize_t length, const int64_t* places, Py_ssize_t m,
    bint paragraphs, code_unit* out,
) noexcept nogil:
    cdef Py_ssize_t position = 0
    cdef Py_ssize_t left = 0
    cdef Py_ssize_t i
    for i in range(m):
        left = copy_units(text, position, <Py_ssize_t> places[3 * i + 1], out, left)
        # Places that are no pieces may lie in what went with the one before.
        position = max(position, behind(text, <Py_ssize_t> places[3 * i + 2], length, paragraphs))
    if position < length:
        left = copy_units(text, position, length, out, left)
    elif paragraphs or text[length - 1] != LINE_FEED:
        left = without_last_end(out, left, paragraphs)
        left = copy_units(text, <Py_ssize_t> places[3 * m - 1], length, out, left)
    return 0 if is_blank(<const code_unit*> out, 0, left) else left


cdef inline Py_ssize_t copy_units(
    const code_unit* text, Py_ssize_t begin, Py_ssize_t end, code_unit* out, Py_ssize_t left
) noexcept nogil:
    if begin >= end:
        return left
    memcpy(out + left, text + begin, <size_t> (end - begin) * sizeof(code_unit))
    return left + end - begin


cdef inline Py_ssize_t behind(
    const code_unit* text, Py_ssize_t end, Py_ssize_t length, bint paragraphs
) noexcept nogil:
    """Return where what follows a piece begins."""
    cdef Py_ssize_t line = min(line_end(text, end, length) + 1, length)
    cdef Py_ssize_t stop
    while paragraphs and line < length:
        stop = line_end(text, line, length)
        if not is_blank(text, line, stop):
            return line
        line = min(stop + 1, length)
    return line


cdef inline Py_ssize_t without_last_end(
    code_unit* out, Py_ssize_t left, bint paragraphs
) noexcept nogil:
    """Return where the last line ends that is left, or the last one that is not blank."""
    cdef Py_ssize_t inked = left
    if paragraphs:
        while inked and is_blank(<const code_unit*> out, inked - 1, inked):
            inked -= 1
        left = min(line_end(<const code_unit*> out, inked, left) + 1, left)
    if left and out[left - 1] == LINE_FEED:
        left -= 1
        if left and out[left - 1] == CARRIAGE_RETURN:
            left -= 1
    return left


# ---- The structs of the Arrow C data interface:
# https://arrow.apache.org/docs/format/CDataInterface.html

cdef extern from *:
    """
    #ifndef ARROW_C_DATA_INTERFACE
    #define ARROW_C_DATA_INTERFACE
    struct ArrowSchema {
      const char* format; const char* name; const char* metadata; int64_t flags;
      int64_t n_children; struct ArrowSchema** children; struct ArrowSchema* dictionary;
      void (*release)(struct ArrowSchema*); void* private_data;
    };
    struct ArrowArray {
      int64_t length; int64_t null_count; int64_t offset; int64_t n_buffers; int64_t n_children;
      const void** buffers; struct ArrowArray** children; struct ArrowArray* dictionary;
      void (*release)(struct ArrowArray*); void* private_data;
    };
    #endif
    #ifndef ARROW_C_STREAM_INTERFACE
    #define ARROW_C_STREAM_INTERFACE
    struct ArrowArrayStream {
      int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema*);
      int (*get_next)(struct ArrowArrayStream*, struct ArrowArray*);
      const char* (*get_last_error)(struct ArrowArrayStream*);
      void (*release)(struct ArrowArrayStream*); void* private_data;
    };
    #endif
    """
    struct ArrowSchema:
        const char* format
        const char* name
        int64_t flags
        int64_t n_children
        ArrowSchema** children
        ArrowSchema* dictionary
        void (*release)(ArrowSchema*) noexcept
        void* private_data
    struct ArrowArray:
        int64_t length
        int64_t null_count
        int64_t offset
        int64_t n_buffers
        int64_t n_children
        const void** buffers
        ArrowArray** children
        ArrowArray* dictionary
        void (*release)(ArrowArray*) noexcept
        void* private_data
    struct ArrowArrayStream:
        int (*get_schema)(ArrowArrayStream*, ArrowSchema*) noexcept
        int (*get_next)(ArrowArrayStream*, ArrowArray*) noexcept
        const char* (*get_last_error)(ArrowArrayStream*) noexcept
        void (*release)(ArrowArrayStream*) noexcept
        void* private_data


cdef inline str text_of(const char* text):
    return "" if text == NULL else (<bytes> text).decode("utf-8", "replace")


cdef inline ArrowSchema* only_child(ArrowSchema* schema) except NULL:
    cdef int64_t i
    for i in range(schema.n_children):
        if schema.children == NULL or schema.children[i] == NULL:
            raise ValueError(f"the Arrow schema lacks column {i}")
    if schema.n_children != 1:
        names = ", ".join([text_of(schema.children[i].name) for i in range(schema.n_children)])
        raise TypeError(
            f"the table has {schema.n_children} columns ({names}), expected exactly one: "
            "select the text column"
        )
    return schema.children[0]


# ---- Where the values of an Arrow array of strings lie. Nothing here is taken on trust that can be
# checked: buffers may be missing or not aligned, and offsets and views may point anywhere.
# https://arrow.apache.org/docs/format/Columnar.html

cdef enum Layout:
    NOTHING, OFFSETS32, OFFSETS64, VIEWS

cdef struct Values:
    Layout layout
    const uint8_t* validity     # or NULL: all are valid
    const char* where           # offsets, or views
    const char* data            # offsets: the bytes of all values,
    int64_t end                 # of which there are so many
    const void** buffers        # views: those that they point into,
    const char* sizes           # the size of each, int64,
    int64_t n_buffers           # and how many there are
    int64_t offset
    int64_t length


cdef inline int64_t load32(const char* data, int64_t i) noexcept nogil:
    cdef int32_t value
    memcpy(&value, data + 4 * i, 4)
    return value


cdef inline int64_t load64(const char* data, int64_t i) noexcept nogil:
    cdef int64_t value
    memcpy(&value, data + 8 * i, 8)
    return value


cdef inline int64_t load_index(const char* data, char format, int64_t i) noexcept nogil:
    cdef int16_t value
    if format == c'c':
        return (<const int8_t*> data)[i]
    if format == c'C':
        return (<const uint8_t*> data)[i]
    if format == c's' or format == c'S':
        memcpy(&value, data + 2 * i, 2)
        return value if format == c's' else <uint16_t> value
    if format == c'i':
        return load32(data, i)
    if format == c'I':
        return <uint32_t> load32(data, i)
    return load64(data, i)


cdef inline bint valid(const uint8_t* bits, int64_t i) noexcept nogil:
    return bits == NULL or (bits[i >> 3] >> (i & 7)) & 1


cdef inline int check_buffers(const ArrowArray* array, int64_t n_buffers) except -1:
    if array == NULL:
        raise ValueError("the Arrow array lacks a child or a dictionary")
    # At most 2^58 values: the positions of their bytes are below 2^63.
    if array.length < 0 or array.offset < 0 or array.offset > (<int64_t> 1 << 58) - array.length:
        raise ValueError(
            f"the Arrow array has length {array.length} and offset {array.offset}"
        )
    if array.n_buffers < n_buffers or (n_buffers and array.buffers == NULL):
        raise ValueError(
            f"the Arrow array has {array.n_buffers} buffers, expected at least {n_buffers}"
        )
    return 0


cdef inline int check_values(Values* values, const ArrowArray* array, Layout layout) except -1:
    """Take the values of an array, or raise ValueError."""
    check_buffers(array, 0 if layout == NOTHING else 3)
    values.layout = layout
    values.offset = array.offset
    values.length = array.length
    if layout == NOTHING:
        return 0
    values.validity = <const uint8_t*> array.buffers[0]
    values.where = <const char*> array.buffers[1]
    if array.length and values.where == NULL:
        raise ValueError("the Arrow array has values, but no buffer that says where they lie")
    if layout == VIEWS:
        values.buffers = array.buffers + 2
        values.n_buffers = array.n_buffers - 3
        values.sizes = <const char*> array.buffers[array.n_buffers - 1]
        if values.n_buffers and values.sizes == NULL:
            raise ValueError("the Arrow array does not say how large its buffers are")
        return 0
    values.data = <const char*> array.buffers[2]
    if array.length:
        values.end = (load32 if layout == OFFSETS32 else load64)(
            values.where, array.offset + array.length
        )
    if values.end and values.data == NULL:
        raise ValueError("the Arrow array has offsets, but no bytes")
    return 0


cdef inline bint find(
    const Values* values, int64_t i, const char** data, int64_t* n
) noexcept nogil:
    """Point to value i, which counts the offset in; return False if it lies outside."""
    cdef int64_t start, stop
    if values.layout == VIEWS:
        return find_view(values, values.where + 16 * i, data, n)
    if values.layout == OFFSETS32:
        start = load32(values.where, i)
        stop = load32(values.where, i + 1)
    else:
        start = load64(values.where, i)
        stop = load64(values.where, i + 1)
    if stop < start:
        n[0] = -1
        return False
    if start < 0 or stop > values.end:
        return False
    n[0] = stop - start
    if n[0]:
        data[0] = values.data + start
    return True


cdef inline bint find_view(
    const Values* values, const char* view, const char** data, int64_t* n
) noexcept nogil:
    # 16 bytes: length, then 12 bytes of text; or 4 of prefix, buffer and offset.
    cdef int64_t buffer, start
    n[0] = load32(view, 0)
    if n[0] <= 12:
        data[0] = view + 4
        return n[0] >= 0
    buffer = load32(view, 2)
    start = load32(view, 3)
    if not 0 <= buffer < values.n_buffers or values.buffers[buffer] == NULL:
        return False
    data[0] = (<const char*> values.buffers[buffer]) + start
    return 0 <= start <= load64(values.sizes, buffer) - n[0]


# ---- One string column read through the Arrow PyCapsule protocol, without pyarrow and without a
# copy.
#
# The C data interface: https://arrow.apache.org/docs/format/CDataInterface.html

LAYOUTS = {
    "n": NOTHING, "u": OFFSETS32, "z": OFFSETS32, "U": OFFSETS64, "Z": OFFSETS64,
    "vu": VIEWS, "vz": VIEWS,
}
INDEX_FORMATS = ("c", "C", "s", "S", "i", "I", "l", "L")


cdef class _Chunk:
    """One array of the column, owned."""

    cdef ArrowArray array           # the root: released with this object
    cdef const uint8_t* outer       # validity of the struct around the column, or NULL
    cdef int64_t outer_offset
    cdef const uint8_t* validity    # of the column; with its offset, a dictionary's indices
    cdef const char* indices
    cdef int64_t offset
    cdef Values values              # of the column, or of its dictionary

    def __cinit__(self):
        memset(&self.array, 0, sizeof(ArrowArray))
        memset(&self.values, 0, sizeof(Values))

    def __dealloc__(self):
        if self.array.release != NULL:
            self.array.release(&self.array)


cdef class ArrowColumn:
    """The texts of an object with ``__arrow_c_stream__`` or ``__arrow_c_array__``.

    Accepts the formats u, U, vu, z, Z, vz and dictionaries of them; a table must have exactly
    one column. Nulls are empty documents; of another format a dictionary may be that has no
    values, so that all are null. Raises TypeError for anything else, and ValueError where the
    structures contradict themselves.
    """

    cdef list chunks
    cdef list starts                # first document of each chunk
    cdef readonly Py_ssize_t n
    cdef Layout layout              # of the texts
    cdef char index                 # format letter of the dictionary's indices, or 0
    cdef str other                  # format of a dictionary that must have no values, or None
    cdef bint table

    def __cinit__(self, source):
        self.chunks = []
        self.starts = []
        self.n = 0
        if hasattr(source, "__arrow_c_stream__"):
            capsule = source.__arrow_c_stream__()
            self._read_stream(
                <ArrowArrayStream*> PyCapsule_GetPointer(capsule, "arrow_array_stream")
            )
        else:
            schema, array = source.__arrow_c_array__()
            self._read_schema(<ArrowSchema*> PyCapsule_GetPointer(schema, "arrow_schema"))
            self._take(<ArrowArray*> PyCapsule_GetPointer(array, "arrow_array"))

    def __len__(self):
        return self.n

    cdef int _read_stream(self, ArrowArrayStream* stream) except -1:
        cdef ArrowSchema schema
        cdef ArrowArray array
        memset(&schema, 0, sizeof(ArrowSchema))
        if stream.release == NULL:
            raise ValueError("the Arrow stream has been read already")
        if stream.get_schema == NULL or stream.get_next == NULL:
            raise ValueError("the Arrow stream has no functions to read it with")
        self._check(stream, stream.get_schema(stream, &schema))
        try:
            self._read_schema(&schema)
        finally:
            if schema.release != NULL:
                schema.release(&schema)
        while True:
            memset(&array, 0, sizeof(ArrowArray))
            self._check(stream, stream.get_next(stream, &array))
            if array.release == NULL:
                return 0
            self._take(&array)

    cdef int _check(self, ArrowArrayStream* stream, int status) except -1:
        cdef const char* message = NULL
        if status == 0:
            return 0
        if stream.get_last_error != NULL:
            message = stream.get_last_error(stream)
        raise ValueError(f"reading the Arrow stream failed: {text_of(message) or status}")

    cdef int _read_schema(self, ArrowSchema* schema) except -1:
        cdef str format
        if schema.release == NULL:
            raise ValueError("the Arrow schema has been read already")
        format = text_of(schema.format)
        self.table = format == "+s"
        if self.table:
            schema = only_child(schema)
            format = text_of(schema.format)
        self.index = 0
        self.other = None
        if schema.dictionary != NULL and format in INDEX_FORMATS:
            self.index = ord(format)
            schema = schema.dictionary
            format = text_of(schema.format)
            if format not in LAYOUTS and format:
                self.other = format
                format = "n"
        if format not in LAYOUTS or schema.dictionary != NULL:
            raise unreadable(format)
        self.layout = LAYOUTS[format]
        return 0

    cdef int _take(self, ArrowArray* array) except -1:
        cdef _Chunk chunk = _Chunk.__new__(_Chunk)
        cdef ArrowArray* column = &chunk.array
        if array.release == NULL:
            raise ValueError("the Arrow array has been read already")
        memcpy(&chunk.array, array, sizeof(ArrowArray))
        array.release = NULL
        if self.table:
            check_buffers(column, 1)
            if column.n_children != 1 or column.children == NULL:
                raise ValueError(f"the Arrow table has {column.n_children} columns, expected one")
            column = column.children[0]
            check_buffers(column, 0)
            chunk.outer = <const uint8_t*> chunk.array.buffers[0]
            chunk.outer_offset = chunk.array.offset     # applies to the column, too
            if chunk.outer_offset + chunk.array.length > column.length:
                raise ValueError("the Arrow table is longer than its column")
        if self.index:
            check_buffers(column, 2)
            if column.length and column.buffers[1] == NULL:
                raise ValueError("the Arrow dictionary has no indices")
            chunk.indices = <const char*> column.buffers[1]
            chunk.validity = <const uint8_t*> column.buffers[0]
            check_values(&chunk.values, column.dictionary, self.layout)
            if self.other is not None and chunk.values.length:
                raise unreadable(self.other)
        else:
            check_values(&chunk.values, column, self.layout)
            chunk.validity = chunk.values.validity
        chunk.offset = column.offset
        if chunk.array.length > INT64_MAX - 1 - self.n:
            raise ValueError("the Arrow stream has too many rows")
        self.chunks.append(chunk)
        self.starts.append(self.n)
        self.n += chunk.array.length
        return 0

    def spans(self, Py_ssize_t start, Py_ssize_t stop, bint as_bytes=False):
        """Return the `Spans` of the documents start ... stop - 1."""
        if not 0 <= start <= stop <= self.n:
            raise IndexError(f"documents {start} to {stop} of {self.n}")
        return self._spans(start, stop, as_bytes)

    cdef Spans _spans(self, Py_ssize_t start, Py_ssize_t stop, bint as_bytes):
        cdef Py_ssize_t first
        cdef Py_ssize_t i = start
        cdef Py_ssize_t c = bisect_right(self.starts, start) - 1
        cdef _Chunk chunk
        cdef Spans spans = new_spans(stop - start)
        spans.owners.append(self)
        while i < stop:
            chunk = self.chunks[c]
            first = self.starts[c]
            for i in range(i, min(first + chunk.array.length, stop)):
                self._put(spans, i - start, chunk, i - first, as_bytes, i)
            i = min(first + chunk.array.length, stop)
            c += 1
        check_utf8(spans, start, None)
        return spans

    def take(self, const int64_t[::1] documents not None, bint as_bytes=False):
        """Return the `Spans` of any documents, int64 (m,)."""
        cdef Py_ssize_t i
        check_array(documents, "documents")
        for i in range(documents.shape[0]):
            if not 0 <= documents[i] < self.n:
                raise IndexError(f"document {documents[i]} of {self.n}")
        return self._taken(documents, as_bytes)

    cdef Spans _taken(self, const int64_t[::1] documents, bint as_bytes):
        cdef Py_ssize_t i, c
        cdef Py_ssize_t first = 0
        cdef Py_ssize_t last = -1
        cdef _Chunk chunk = None
        cdef Spans spans = new_spans(documents.shape[0])
        spans.owners.append(self)
        for i in range(spans.n):
            if not first <= documents[i] < last:
                c = bisect_right(self.starts, documents[i]) - 1
                chunk = self.chunks[c]
                first = self.starts[c]
                last = first + chunk.array.length
            self._put(spans, i, chunk, documents[i] - first, as_bytes, documents[i])
        check_utf8(spans, 0, documents)
        return spans

    cdef int _put(
        self, Spans spans, Py_ssize_t at, _Chunk chunk, int64_t i, bint as_bytes,
        Py_ssize_t document,
    ) except -1:
        cdef const Values* values = &chunk.values
        cdef const char* data = NULL
        cdef int64_t n = 0
        cdef bint present = self.layout != NOTHING and valid(chunk.outer, chunk.outer_offset + i)
        i += chunk.outer_offset + chunk.offset
        present = present and valid(chunk.validity, i)
        if present and self.index:
            i = load_index(chunk.indices, self.index, i)
            if not 0 <= i < values.length:
                raise ValueError(f"document {document}: dictionary index {i} out of range")
            i += values.offset
            present = valid(values.validity, i)
        if present and not find(values, i, &data, &n):
            reason = "negative length" if n < 0 else "a text outside of the buffers"
            raise ValueError(f"document {document}: {reason} in the Arrow array")
        return put_utf8(spans, at, data, n, 0, as_bytes)


# Names of the types that Arrow's C interface has short formats for.
cdef dict TYPES = {
    "n": "null", "b": "boolean", "c": "int8", "C": "uint8", "s": "int16", "S": "uint16",
    "i": "int32", "I": "uint32", "l": "int64", "L": "uint64", "e": "float16", "f": "float32",
    "g": "float64", "+s": "struct", "+l": "list", "+L": "large_list", "+vl": "list_view",
    "+vL": "large_list_view", "+m": "map", "+r": "run_end_encoded", "tdD": "date32",
    "tdm": "date64",
}


cdef object unreadable(str format):
    kind = TYPES.get(format, f"format {format!r}")
    if format.startswith(("ts", "+w")):
        kind = "timestamp" if format[0] == "t" else "fixed_size_list"
    return TypeError(
        f"the Arrow column is of type {kind}, expected strings or binary "
        "(string, large_string, string_view, binary, or a dictionary of them)"
    )


# ---- A table of numpy columns handed out as an Arrow C stream, without pyarrow.
#
# The C data interface: https://arrow.apache.org/docs/format/CDataInterface.html

cdef class _Table:
    """The columns of one stream, kept alive by whatever was handed out."""

    cdef list names             # bytes
    cdef list formats           # bytes
    cdef list columns           # lists of one (values) or two (offsets, bytes) uint8 arrays
    cdef int64_t length
    cdef bint done


cdef const void* address(const uint8_t[::1] data) noexcept:
    return <const void*> &data[0] if data.shape[0] else <const void*> b""


# ---- schema: owns its children, borrows the strings from the table

cdef void release_schema(ArrowSchema* schema) noexcept with gil:
    cdef int64_t i
    for i in range(schema.n_children):
        if schema.children[i].release != NULL:
            schema.children[i].release(schema.children[i])
        PyMem_RawFree(schema.children[i])
    PyMem_RawFree(schema.children)
    Py_DECREF(<object> <PyObject*> schema.private_data)
    schema.release = NULL


cdef int fill_schema(ArrowSchema* schema, _Table table) except -1:
    cdef Py_ssize_t i
    cdef ArrowSchema* child
    memset(schema, 0, sizeof(ArrowSchema))
    schema.children = <ArrowSchema**> PyMem_RawCalloc(len(table.names) + 1, sizeof(void*))
    if schema.children == NULL:
        raise MemoryError()
    schema.format = "+s"
    schema.name = ""
    schema.release = release_schema
    schema.private_data = <void*> table
    Py_INCREF(table)
    for i in range(len(table.names)):
        child = <ArrowSchema*> PyMem_RawCalloc(1, sizeof(ArrowSchema))
        if child == NULL:
            release_schema(schema)
            raise MemoryError()
        child.format = <const char*> <bytes> table.formats[i]
        child.name = <const char*> <bytes> table.names[i]
        child.release = release_schema
        child.private_data = <void*> table
        Py_INCREF(table)
        schema.children[i] = child
        schema.n_children = i + 1
    return 0


# ---- array

cdef void release_array(ArrowArray* array) noexcept with gil:
    cdef int64_t i
    for i in range(array.n_children):
        if array.children[i].release != NULL:
            array.children[i].release(array.children[i])
        PyMem_RawFree(array.children[i])
    PyMem_RawFree(array.children)
    PyMem_RawFree(array.buffers)
    Py_DECREF(<object> <PyObject*> array.private_data)
    array.release = NULL


cdef int fill_array(ArrowArray* array, _Table table, list buffers) except -1:
    cdef Py_ssize_t i
    memset(array, 0, sizeof(ArrowArray))
    array.length = table.length
    array.n_buffers = 1 + len(buffers)          # the first: no validity bitmap, no nulls
    array.buffers = <const void**> PyMem_RawCalloc(array.n_buffers, sizeof(void*))
    if array.buffers == NULL:
        raise MemoryError()
    for i in range(len(buffers)):
        array.buffers[1 + i] = address(buffers[i])
    array.release = release_array
    array.private_data = <void*> table
    Py_INCREF(table)
    return 0


cdef int fill_table(ArrowArray* array, _Table table) except -1:
    cdef Py_ssize_t i
    cdef ArrowArray* child
    fill_array(array, table, [])
    array.children = <ArrowArray**> PyMem_RawCalloc(len(table.columns) + 1, sizeof(void*))
    if array.children == NULL:
        release_array(array)
        raise MemoryError()
    for i in range(len(table.columns)):
        child = <ArrowArray*> PyMem_RawCalloc(1, sizeof(ArrowArray))
        if child == NULL:
            release_array(array)
            raise MemoryError()
        array.children[i] = child
        array.n_children = i + 1
        try:
            fill_array(child, table, table.columns[i])
        except MemoryError:
            release_array(array)
            raise
    return 0


# ---- stream: the table as one batch

cdef int get_schema(ArrowArrayStream* stream, ArrowSchema* schema) noexcept with gil:
    try:
        fill_schema(schema, <_Table> <PyObject*> stream.private_data)
    except MemoryError:
        return 12       # ENOMEM
    return 0


cdef int get_next(ArrowArrayStream* stream, ArrowArray* array) noexcept with gil:
    cdef _Table table = <_Table> <PyObject*> stream.private_data
    memset(array, 0, sizeof(ArrowArray))
    if table.done:
        return 0
    try:
        fill_table(array, table)
    except MemoryError:
        return 12
    table.done = True
    return 0


cdef const char* get_last_error(ArrowArrayStream* stream) noexcept:
    return NULL


cdef void release_stream(ArrowArrayStream* stream) noexcept with gil:
    Py_DECREF(<object> <PyObject*> stream.private_data)
    stream.release = NULL


cdef void free_capsule(object capsule) noexcept:
    cdef ArrowArrayStream* stream = <ArrowArrayStream*> PyCapsule_GetPointer(
        capsule, "arrow_array_stream"
    )
    if stream.release != NULL:
        stream.release(stream)
    PyMem_RawFree(stream)


cdef int check_column(str name, str format, list buffers, Py_ssize_t length) except -1:
    # Who reads the stream believes the length.
    cdef const uint8_t[::1] values
    cdef const int64_t[::1] offsets
    cdef Py_ssize_t wanted
    if not 0 <= length < <Py_ssize_t> 1 << 56:
        raise ValueError(f"length {length} out of range")
    if format not in ("l", "g", "U", "b"):
        raise ValueError(f"column {name!r} has format {format!r}, expected l, g, U or b")
    if len(buffers) != (2 if format == "U" else 1):
        raise ValueError(f"column {name!r} has {len(buffers)} buffers")
    if format == "U":
        offsets = buffers[0].view("i8")
        check_offsets(offsets, length, len(buffers[1]), f"offsets of column {name!r}")
        return 0
    values = buffers[0]
    wanted = (length + 7) // 8 if format == "b" else 8 * length
    if values.shape[0] < wanted:
        raise ValueError(f"column {name!r} has {values.shape[0]} bytes, expected {wanted}")
    return 0


def arrow_stream(list columns not None, Py_ssize_t length):
    """Return an ``arrow_array_stream`` capsule of one batch.

    Parameters
    ----------
    columns
        Tuples (name, Arrow format, list of C-contiguous arrays): the values for ``l`` (int64),
        ``g`` (float64); 64-bit offsets and UTF-8 bytes for ``U``; a packed bitmap for ``b``.
    length
        Rows in each column.
    """
    import numpy as np
    cdef _Table table = _Table.__new__(_Table)
    cdef ArrowArrayStream* stream
    cdef str name, format
    table.names = []
    table.formats = []
    table.columns = []
    table.length = length
    for name, format, buffers in columns:
        arrays = [np.ascontiguousarray(buffer).reshape(-1).view(np.uint8) for buffer in buffers]
        check_column(name, format, arrays, length)
        table.names.append(name.encode())
        table.formats.append(format.encode())
        table.columns.append(arrays)
    stream = <ArrowArrayStream*> PyMem_RawCalloc(1, sizeof(ArrowArrayStream))
    if stream == NULL:
        raise MemoryError()
    stream.get_schema = get_schema
    stream.get_next = get_next
    stream.get_last_error = get_last_error
    stream.release = release_stream
    stream.private_data = <void*> table
    Py_INCREF(table)
    return PyCapsule_New(stream, "arrow_array_stream", free_capsule)
