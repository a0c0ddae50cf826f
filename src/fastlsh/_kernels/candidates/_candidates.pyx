"""Documents linked by their band keys, the pairs and the families that the links make."""

include "candidates/emit.pxi"
include "candidates/families.pxi"
include "candidates/links.pxi"
