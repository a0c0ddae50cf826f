"""Repeated passages: the keys that find them, the comparison, and where each cut unit stays."""

include "passages/winnow.pxi"
include "passages/repeats.pxi"
include "passages/rests.pxi"
include "passages/cuts.pxi"
include "passages/words.pxi"
