"""The keep-or-drop step."""

include "greedy/call_keep.pxi"
include "greedy/keep.pxi"
