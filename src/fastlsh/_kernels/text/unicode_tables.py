"""The tables of Unicode 16.0, written by .ci/unicode_tables.py."""

from pathlib import Path

UNICODE = "16.0"

PAGE = 128

# Their names, formats (of struct, little-endian) and numbers of elements, in order.
SECTIONS = {
    "properties_index": ("H", 8704),
    "properties": ("I", 32128),
    "lowercase_index": ("H", 8704),
    "lowercase": ("I", 4736),
    "canonical_index": ("H", 8704),
    "canonical": ("H", 7552),
    "compatible_index": ("H", 8704),
    "compatible": ("H", 14208),
    "pool": ("I", 10531),
    "composites": ("I", 2883),
}

DATA = Path(__file__).with_suffix(".bin").read_bytes()
