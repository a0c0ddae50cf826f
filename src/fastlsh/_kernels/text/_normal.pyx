"""Texts normalised by pinned tables of Unicode, without the GIL.

docs/signature-spec.md, section 9, defines each step.
"""

include "text/ascii.pxi"
include "text/call_normal.pxi"
include "text/changes.pxi"
include "text/entries.pxi"
include "text/forms.pxi"
include "text/rewrite.pxi"
include "text/unicode_data.pxi"
