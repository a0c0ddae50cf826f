# One string column read through the Arrow PyCapsule protocol, without pyarrow and without a copy.
#
# The C data interface: https://arrow.apache.org/docs/format/CDataInterface.html
# With spans.pxi and utf8.pxi.

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport INT64_MAX, int64_t, uint8_t
from libc.string cimport memcpy, memset

from bisect import bisect_right

from fastlsh._kernels.common.checks cimport memory_of
from fastlsh._kernels.text.arrow_abi cimport (
    ArrowArray, ArrowArrayStream, ArrowSchema, only_child, text_of,
)
from fastlsh._kernels.text.arrow_values cimport (
    NOTHING, OFFSETS32, OFFSETS64, VIEWS, Layout, Values, check_array, check_values, find,
    load_index, valid,
)
from fastlsh._kernels.text._texts cimport Spans, check_utf8, new_spans, put_utf8

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
            check_array(column, 1)
            if column.n_children != 1 or column.children == NULL:
                raise ValueError(f"the Arrow table has {column.n_children} columns, expected one")
            column = column.children[0]
            check_array(column, 0)
            chunk.outer = <const uint8_t*> chunk.array.buffers[0]
            chunk.outer_offset = chunk.array.offset     # applies to the column, too
            if chunk.outer_offset + chunk.array.length > column.length:
                raise ValueError("the Arrow table is longer than its column")
        if self.index:
            check_array(column, 2)
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
        memory_of(documents, "documents")
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


cdef dict TYPES = {
    "n": "null", "b": "boolean", "c": "int8", "C": "uint8", "s": "int16", "S": "uint16",
    "i": "int32", "I": "uint32", "l": "int64", "L": "uint64", "e": "float16", "f": "float32",
    "g": "float64", "+s": "struct", "+l": "list", "+L": "large_list", "+vl": "list_view",
    "+vL": "large_list_view", "+m": "map", "+r": "run_end_encoded", "tdD": "date32",
    "tdm": "date64",
}
"""Names of the types that Arrow's C interface has short formats for."""


cdef object unreadable(str format):
    kind = TYPES.get(format, f"format {format!r}")
    if format.startswith(("ts", "+w")):
        kind = "timestamp" if format[0] == "t" else "fixed_size_list"
    return TypeError(
        f"the Arrow column is of type {kind}, expected strings or binary "
        "(string, large_string, string_view, binary, or a dictionary of them)"
    )
