"""The stages of every search: sign, link documents into families, then verify or decide.

Functions of arrays, which know nothing of where texts come from and where answers go. Every
decision is made inside one family, so a collection's answer is the union of the answers for its
parts (`Part`), whatever an engine takes as a part.
"""

from fastlsh.stages.decisions import Decisions, keep_or_drop
from fastlsh.stages.parts import Part, part_of
from fastlsh.stages.signing import Signed, hasher_for, sign
from fastlsh.stages.verification import Verified, verified_pairs

__all__ = [
    "Decisions",
    "Part",
    "Signed",
    "Verified",
    "hasher_for",
    "keep_or_drop",
    "part_of",
    "sign",
    "verified_pairs",
]
