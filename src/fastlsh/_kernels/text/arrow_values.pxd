# Where the values of an Arrow array of strings lie. Nothing here is taken on trust that can be
# checked: buffers may be missing or not aligned, and offsets and views may point anywhere.
# https://arrow.apache.org/docs/format/Columnar.html

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy

from fastlsh._kernels.text.arrow_abi cimport ArrowArray

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


cdef inline int check_array(const ArrowArray* array, int64_t n_buffers) except -1:
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
    check_array(array, 0 if layout == NOTHING else 3)
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
