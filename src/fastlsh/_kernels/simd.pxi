# The kernels that are compiled once for each instruction set.

from fastlsh._kernels._spans cimport Span, Spans

include "mixing.pxi"
include "source.pxi"
include "characters.pxi"
include "words.pxi"
include "minima.pxi"
include "sets.pxi"
include "sketch.pxi"
include "compare.pxi"
include "bandkeys.pxi"
include "ranks.pxi"
include "keep.pxi"
include "answers.pxi"
include "tables.pxi"
include "walks.pxi"
include "lookups.pxi"
include "checks.pxi"
include "call_sign.pxi"
include "call_compare.pxi"
include "call_slots.pxi"
include "call_tables.pxi"
