from libc.stdint cimport uint16_t, uint32_t

# The tables of Unicode; unicode_data.pxd reads them.
cdef const uint16_t* properties_index
cdef const uint32_t* properties
cdef const uint16_t* lowercase_index
cdef const uint32_t* lowercase
cdef const uint16_t* canonical_index
cdef const uint16_t* canonical
cdef const uint16_t* compatible_index
cdef const uint16_t* compatible
cdef const uint32_t* pool
cdef const uint32_t* composites
cdef Py_ssize_t n_composites
