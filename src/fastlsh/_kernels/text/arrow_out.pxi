# A table of numpy columns handed out as an Arrow C stream, without pyarrow.
#
# The C data interface: https://arrow.apache.org/docs/format/CDataInterface.html

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from cpython.ref cimport Py_DECREF, Py_INCREF, PyObject
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memset

from fastlsh._kernels.common.checks cimport check_offsets
from fastlsh._kernels.text.arrow_abi cimport ArrowArray, ArrowArrayStream, ArrowSchema


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
