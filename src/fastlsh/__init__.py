"""Near-duplicate texts, found fast and verified exactly.

>>> import fastlsh
>>> fastlsh.deduplicate(["one text and more", "one text and more", "other"]).kept.tolist()
[True, False, True]
"""

import importlib
import sys

from fastlsh import _startup  # noqa: F401  (first, for Ctrl-C during the other imports)
from fastlsh._version import __version__
from fastlsh.banding import LSHParams
from fastlsh.candidates import band_keys, candidate_pairs
from fastlsh.errors import InputError, RecallWarning, TooManyPairsError
from fastlsh.evaluation import Evaluation, evaluate
from fastlsh.explanation import Explanation, explain
from fastlsh.index import Index
from fastlsh.presets import Preset, preset
from fastlsh.reporting import report
from fastlsh.results import Deduplication, Pairs
from fastlsh.search import deduplicate, exact_pairs, near_duplicates
from fastlsh.sets import estimate_jaccard, exact_jaccard, jaccard
from fastlsh.signatures import MinHasher
from fastlsh.texts import Shingler

__all__ = [
    "Deduplication",
    "Evaluation",
    "Explanation",
    "Index",
    "InputError",
    "LSHParams",
    "MinHasher",
    "Pairs",
    "Preset",
    "RecallWarning",
    "Shingler",
    "TooManyPairsError",
    "__version__",
    "band_keys",
    "candidate_pairs",
    "deduplicate",
    "estimate_jaccard",
    "evaluate",
    "exact_jaccard",
    "exact_pairs",
    "explain",
    "jaccard",
    "near_duplicates",
    "preset",
    "report",
]

# Where classes lay before they had rooms: pickles name them there.
for _old, _new in {
    "fastlsh.explain.result": "fastlsh.explanation",
    "fastlsh.minhash": "fastlsh.signatures.minhasher",
    "fastlsh.schemes": "fastlsh.signatures.schemes",
    "fastlsh.shingling": "fastlsh.texts.shingler",
}.items():
    sys.modules[_old] = importlib.import_module(_new)
