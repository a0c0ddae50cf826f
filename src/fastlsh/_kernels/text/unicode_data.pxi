# The pinned tables of Unicode, unpacked when the module is imported and constant from then on.

from binascii import a2b_base64

import numpy as np

from libc.stdint cimport uint16_t, uint32_t

from fastlsh._kernels.text import unicode_tables

try:
    from zlib import decompress
except ImportError:
    from fastlsh._kernels.text.inflate import decompress


def _unpacked():
    data = decompress(a2b_base64(unicode_tables.DATA))
    start = 0
    for name, (form, count) in unicode_tables.SECTIONS.items():
        values = np.frombuffer(data, "<u2" if form == "H" else "<u4", count, start)
        yield name, values.astype(np.uint16 if form == "H" else np.uint32)
        start += values.nbytes


cdef dict _tables = dict(_unpacked())


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
