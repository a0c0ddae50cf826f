"""Texts where they lie: lists of str and bytes, columns of Arrow, and tables given as Arrow."""

include "text/arrow_in.pxi"
include "text/arrow_out.pxi"
include "text/packed.pxi"
include "text/spans.pxi"
include "text/token_ids.pxi"
include "text/utf8.pxi"
