# The kernels that are compiled once for each instruction set.

from fastlsh._kernels._spans cimport Span, Spans

include "mixing.pxi"
include "prefetch.pxi"
include "source.pxi"
include "characters.pxi"
include "words.pxi"
include "hashes.pxi"
include "signer.pxi"
include "minima.pxi"
include "fss.pxi"
include "sets.pxi"
include "sketch.pxi"
include "blocks.pxi"
include "compare.pxi"
include "bandkeys.pxi"
include "sign.pxi"
include "ranks.pxi"
include "keep.pxi"
include "checks.pxi"
include "call_sign.pxi"
include "call_compare.pxi"
