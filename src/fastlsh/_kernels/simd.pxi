# The kernels that are compiled once for each instruction set.

from fastlsh._kernels._spans cimport Span, Spans

include "mixing.pxi"
include "source.pxi"
include "minima.pxi"
include "sets.pxi"
include "compare.pxi"
include "bandkeys.pxi"
include "keep.pxi"
include "checked.pxi"
