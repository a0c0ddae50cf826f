"""For the drop-in modules: minima of the hash functions of other libraries, and the tables of
datasketch.
"""

include "compat/call_hashes.pxi"
include "compat/call_keys.pxi"
include "compat/call_murmur.pxi"
include "compat/call_permute.pxi"
include "compat/key_buckets.pxi"
include "compat/key_memory.pxi"
include "compat/sha1.pxi"
