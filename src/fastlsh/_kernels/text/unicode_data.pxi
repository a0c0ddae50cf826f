# The pinned tables of Unicode, read when the module is imported and constant from then on.

import numpy as np

from libc.stdint cimport uint16_t, uint32_t

from fastlsh._kernels.text import unicode_tables


def _read_tables():
    start = 0
    for name, (form, count) in unicode_tables.SECTIONS.items():
        values = np.frombuffer(unicode_tables.DATA, "<u2" if form == "H" else "<u4", count, start)
        yield name, values.astype(np.uint16 if form == "H" else np.uint32)
        start += values.nbytes


cdef dict _tables = dict(_read_tables())


cdef const uint16_t* _words(name) except NULL:
    cdef uint16_t[::1] values = _tables[name]
    return &values[0]


cdef const uint32_t* _points(name) except NULL:
    cdef uint32_t[::1] values = _tables[name]
    return &values[0]


properties_index = _words("properties_index")
properties = _points("properties")
lowercase_index = _words("lowercase_index")
lowercase = _points("lowercase")
canonical_index = _words("canonical_index")
canonical = _words("canonical")
compatible_index = _words("compatible_index")
compatible = _words("compatible")
pool = _points("pool")
composites = _points("composites")
n_composites = len(_tables["composites"]) // 3
