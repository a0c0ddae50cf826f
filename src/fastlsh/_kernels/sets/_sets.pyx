"""Sets of shingle hashes: made, compared, and packed as dense numbers."""

include "sets/bitmap.pxi"
include "sets/call_compare.pxi"
include "sets/numbered.pxi"
include "sets/numbers.pxi"
include "sets/pairs.pxi"
