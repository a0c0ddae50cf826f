"""The n-grams of some texts, found in others: by a filter, then a table, then compared as text."""

include "grams/extend.pxi"
include "grams/find.pxi"
include "grams/units.pxi"
