"""An index: its tables, and its ids."""

include "index/answers.pxi"
include "index/contents.pxi"
include "index/ids.pxi"
include "index/lookups.pxi"
include "index/memory.pxi"
include "index/slices.pxi"
include "index/stored.pxi"
include "index/tables.pxi"
include "index/unique.pxi"
include "index/walks.pxi"

# A class is included after the class that it extends.
include "index/call_texts.pxi"
include "index/table_memory.pxi"
include "index/band_tables.pxi"
