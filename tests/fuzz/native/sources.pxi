# What makes shingle hashes of texts, as the kernels' own files need it.
# With drive.pxi.

include "text/characters.pxi"
include "text/cuts.pxi"
include "text/decimals.pxi"
include "text/hashes.pxi"
include "text/keyed.pxi"
include "text/words.pxi"
