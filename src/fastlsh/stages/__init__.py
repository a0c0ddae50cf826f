"""The stages of every search: sign, link documents into families, then verify or decide.

Functions of arrays, which know nothing of where texts come from and where answers go. Every
decision is made inside one family, so a collection's answer is the union of the answers for its
parts (`Part`), whatever an engine takes as a part.
"""

from fastlsh.stages.answers import Decided, decide, find_pairs
from fastlsh.stages.copies import with_copies
from fastlsh.stages.parts import part_of
from fastlsh.stages.priority import check_keep, priority_order
from fastlsh.stages.signing import Signed, hasher_for, sign
from fastlsh.stages.verification import Verified, verified_pairs

__all__ = [
    "Decided",
    "Signed",
    "Verified",
    "check_keep",
    "decide",
    "find_pairs",
    "hasher_for",
    "part_of",
    "priority_order",
    "sign",
    "verified_pairs",
    "with_copies",
]
