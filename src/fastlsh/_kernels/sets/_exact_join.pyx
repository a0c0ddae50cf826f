"""The exact join: sets as numbers by rarity, and the pairs that overlap enough."""

include "sets/inverted.pxi"
include "sets/join.pxi"
include "sets/call_join.pxi"
