"""An index: its tables, and its ids."""

include "index/answers.pxi"
include "index/contents.pxi"
include "index/ids.pxi"
include "index/lookups.pxi"
include "index/memory.pxi"
include "index/stored.pxi"
include "index/tables.pxi"
include "index/unique.pxi"
include "index/walks.pxi"

# Each class stands behind the one that it extends.
include "index/call_texts.pxi"
include "index/call_arrays.pxi"
include "index/call_changes.pxi"
include "index/call_compact.pxi"
include "index/call_tables.pxi"
