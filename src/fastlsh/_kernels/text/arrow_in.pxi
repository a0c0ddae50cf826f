# One string column read through the Arrow PyCapsule protocol, without pyarrow and without a copy.
#
# The C data interface: https://arrow.apache.org/docs/format/CDataInterface.html
# With spans.pxi and utf8.pxi.

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy, memset

from fastlsh._kernels.common.checks cimport memory_of
from fastlsh._kernels.text.arrow_abi cimport ArrowArray, ArrowArrayStream, ArrowSchema
from fastlsh._kernels.text._texts cimport Spans, check_utf8, new_spans, put_utf8

cdef enum:
    NOTHING, OFFSETS32, OFFSETS64, VIEWS

LAYOUTS = {
    "n": NOTHING, "u": OFFSETS32, "z": OFFSETS32, "U": OFFSETS64, "Z": OFFSETS64,
    "vu": VIEWS, "vz": VIEWS,
}
INDEX_FORMATS = ("c", "C", "s", "S", "i", "I", "l", "L")


cdef class _Chunk:
    """One array of the column, owned."""

    cdef ArrowArray array           # the root: released with this object
    cdef ArrowArray* column         # the string column in it
    cdef const uint8_t* outer       # validity of the struct around the column, or NULL
    cdef int64_t outer_offset

    def __cinit__(self):
        memset(&self.array, 0, sizeof(ArrowArray))

    def __dealloc__(self):
        if self.array.release != NULL:
            self.array.release(&self.array)


cdef inline bint valid(const uint8_t* bits, int64_t i) noexcept nogil:
    return bits == NULL or (bits[i >> 3] >> (i & 7)) & 1


cdef class ArrowColumn:
    """The texts of an object with ``__arrow_c_stream__`` or ``__arrow_c_array__``.

    Accepts the formats u, U, vu, z, Z, vz and dictionaries of them; a table must have exactly
    one column. Nulls are empty documents. Raises TypeError for anything else.
    """

    cdef list chunks
    cdef list starts                # first document of each chunk
    cdef readonly Py_ssize_t n
    cdef int layout                 # of the texts
    cdef int index                  # format letter of the dictionary's indices, or 0
    cdef bint table

    def __cinit__(self, source):
        self.chunks = []
        self.starts = []
        self.n = 0
        if hasattr(source, "__arrow_c_stream__"):
            self._read_stream(source.__arrow_c_stream__())
        else:
            schema, array = source.__arrow_c_array__()
            self._read_schema(
                <ArrowSchema*> PyCapsule_GetPointer(schema, "arrow_schema")
            )
            self._take((<ArrowArray*> PyCapsule_GetPointer(array, "arrow_array")))

    def __len__(self):
        return self.n

    cdef int _read_stream(self, capsule) except -1:
        cdef ArrowArrayStream* stream = <ArrowArrayStream*> PyCapsule_GetPointer(
            capsule, "arrow_array_stream"
        )
        cdef ArrowSchema schema
        cdef ArrowArray array
        memset(&schema, 0, sizeof(ArrowSchema))
        if stream.release == NULL:
            raise ValueError("the Arrow stream has been read already")
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
        cdef const char* message
        if status == 0:
            return 0
        message = stream.get_last_error(stream)
        reason = (<bytes> message).decode("utf-8", "replace") if message != NULL else str(status)
        raise ValueError(f"reading the Arrow stream failed: {reason}")

    cdef int _read_schema(self, ArrowSchema* schema) except -1:
        cdef str format = (<bytes> schema.format).decode("ascii", "replace")
        self.table = format == "+s"
        if self.table:
            if schema.n_children != 1:
                names = ", ".join(
                    (<bytes> schema.children[i].name).decode("utf-8", "replace")
                    for i in range(schema.n_children)
                )
                raise TypeError(
                    f"the table has {schema.n_children} columns ({names}), expected exactly one: "
                    "select the text column"
                )
            schema = schema.children[0]
            format = (<bytes> schema.format).decode("ascii", "replace")
        self.index = 0
        if schema.dictionary != NULL:
            if format in INDEX_FORMATS:
                self.index = ord(format)
                format = (<bytes> schema.dictionary.format).decode("ascii", "replace")
        if format not in LAYOUTS:
            raise TypeError(
                f"the Arrow column has format {format!r}, expected strings or binary "
                "(string, large_string, string_view, binary, or a dictionary of them)"
            )
        self.layout = LAYOUTS[format]
        return 0

    cdef int _take(self, ArrowArray* array) except -1:
        cdef _Chunk chunk = _Chunk.__new__(_Chunk)
        if array.release == NULL:
            raise ValueError("the Arrow array has been read already")
        memcpy(&chunk.array, array, sizeof(ArrowArray))
        array.release = NULL
        chunk.column = &chunk.array
        if self.table:
            chunk.column = chunk.array.children[0]
            chunk.outer = <const uint8_t*> chunk.array.buffers[0]
            chunk.outer_offset = chunk.array.offset
        self.chunks.append(chunk)
        self.starts.append(self.n)
        self.n += chunk.array.length
        return 0

    def spans(self, Py_ssize_t start, Py_ssize_t stop, bint as_bytes=False):
        """Return the `Spans` of the documents start ... stop - 1."""
        cdef Py_ssize_t c, i, first, last
        cdef Spans spans
        if not 0 <= start <= stop <= self.n:
            raise IndexError(f"documents {start} to {stop} of {self.n}")
        spans = new_spans(stop - start)
        spans.owners.append(self)
        for c in range(len(self.chunks)):
            first = self.starts[c]
            last = first + (<_Chunk> self.chunks[c]).array.length
            for i in range(max(first, start), min(last, stop)):
                self._put(spans, i - start, <_Chunk> self.chunks[c], i - first, as_bytes, i)
        check_utf8(spans, start, None)
        return spans

    def take(self, const int64_t[::1] documents not None, bint as_bytes=False):
        """Return the `Spans` of any documents, int64 (m,)."""
        from bisect import bisect_right
        cdef Py_ssize_t i
        cdef Py_ssize_t c = 0
        cdef Py_ssize_t first = 0
        cdef Py_ssize_t last = -1
        cdef Spans spans = new_spans(documents.shape[0])
        memory_of(documents, "documents")
        spans.owners.append(self)
        for i in range(spans.n):
            if not 0 <= documents[i] < self.n:
                raise IndexError(f"document {documents[i]} of {self.n}")
            if not first <= documents[i] < last:
                c = bisect_right(self.starts, documents[i]) - 1
                first = self.starts[c]
                last = first + (<_Chunk> self.chunks[c]).array.length
            self._put(
                spans, i, <_Chunk> self.chunks[c], documents[i] - first, as_bytes, documents[i]
            )
        check_utf8(spans, 0, documents)
        return spans

    cdef int _put(
        self, Spans spans, Py_ssize_t at, _Chunk chunk, int64_t i, bint as_bytes,
        Py_ssize_t document,
    ) except -1:
        cdef ArrowArray* column = chunk.column
        cdef const char* data = NULL
        cdef int64_t n = 0
        cdef bint present = self.layout != NOTHING and valid(chunk.outer, chunk.outer_offset + i)
        if self.table:
            i += chunk.outer_offset     # a struct's offset applies to its children too
        i += column.offset
        present = present and valid(<const uint8_t*> column.buffers[0], i)
        if present and self.index != 0:
            i = self._index(column.buffers[1], i)
            column = column.dictionary
            if not 0 <= i < column.length:
                raise ValueError(f"document {document}: dictionary index {i} out of range")
            i += column.offset
            present = valid(<const uint8_t*> column.buffers[0], i)
        if present:
            if self.layout == OFFSETS32:
                read_offsets32(column.buffers, i, &data, &n)
            elif self.layout == OFFSETS64:
                read_offsets64(column.buffers, i, &data, &n)
            else:
                read_view(column, i, &data, &n)
            if n < 0:
                raise ValueError(f"document {document}: negative length in the Arrow array")
        return put_utf8(spans, at, data, n, 0, as_bytes)

    cdef int64_t _index(self, const void* buffer, int64_t i) except? -1:
        if self.index == c'c':
            return (<const int8_t*> buffer)[i]
        if self.index == c'C':
            return (<const uint8_t*> buffer)[i]
        if self.index == c's':
            return (<const int16_t*> buffer)[i]
        if self.index == c'S':
            return (<const uint16_t*> buffer)[i]
        if self.index == c'i':
            return (<const int32_t*> buffer)[i]
        if self.index == c'I':
            return (<const uint32_t*> buffer)[i]
        return (<const int64_t*> buffer)[i]


cdef void read_offsets32(
    const void** buffers, int64_t i, const char** data, int64_t* n
) noexcept nogil:
    cdef const int32_t* offsets = <const int32_t*> buffers[1]
    data[0] = (<const char*> buffers[2]) + offsets[i]
    n[0] = offsets[i + 1] - offsets[i]


cdef void read_offsets64(
    const void** buffers, int64_t i, const char** data, int64_t* n
) noexcept nogil:
    cdef const int64_t* offsets = <const int64_t*> buffers[1]
    data[0] = (<const char*> buffers[2]) + offsets[i]
    n[0] = offsets[i + 1] - offsets[i]


cdef void read_view(
    const ArrowArray* column, int64_t i, const char** data, int64_t* n
) noexcept nogil:
    # 16 bytes: length, then 12 bytes of text or prefix, buffer and offset.
    cdef const int32_t* view = (<const int32_t*> column.buffers[1]) + 4 * i
    n[0] = view[0]
    if view[0] <= 12:
        data[0] = <const char*> (view + 1)
    else:
        data[0] = (<const char*> column.buffers[2 + view[2]]) + view[3]
