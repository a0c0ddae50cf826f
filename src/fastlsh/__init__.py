"""Near-duplicate texts, found fast and verified exactly.

>>> import fastlsh
>>> fastlsh.deduplicate(["one text and more", "one text and more", "other"]).kept.tolist()
[True, False, True]
"""

from fastlsh import _startup  # noqa: F401, I001  (first, for Ctrl-C during the other imports)

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fastlsh._version import __version__
from fastlsh.banding import LSHParams, Tuning, tune
from fastlsh.candidates import band_keys, candidate_pairs
from fastlsh.errors import (
    InputError,
    KeyFileWarning,
    LockedKeyError,
    RecallWarning,
    TooManyPairsError,
)
from fastlsh.index import Index
from fastlsh.keyed import Key
from fastlsh.presets import Preset, preset
from fastlsh.results import (
    Contamination,
    Deduplication,
    LineDeduplication,
    Matches,
    Overlap,
    Pairs,
    Proofs,
    SpanDeduplication,
)
from fastlsh.search import (
    decontaminate,
    deduplicate,
    deduplicate_lines,
    deduplicate_spans,
    exact_pairs,
    matches,
    near_duplicates,
    overlap,
)
from fastlsh.sets import (
    containment,
    estimate_jaccard,
    estimate_jaccard_packed,
    exact_jaccard,
    jaccard,
    pack_signatures,
)
from fastlsh.signatures import MinHasher
from fastlsh.texts import Shingler, TokenIds

if TYPE_CHECKING:
    from fastlsh.evaluation import (
        BandingComparison,
        ContaminationRecall,
        Evaluation,
        compare_bandings,
        evaluate,
        evaluate_decontamination,
    )
    from fastlsh.explanation import Explanation, explain
    from fastlsh.files import (
        Audit,
        FileDecontamination,
        FileDeduplication,
        FileLineDeduplication,
        FileOverlap,
        FilePairs,
        FileSpanDeduplication,
        audit_files,
        decontaminate_files,
        deduplicate_files,
        deduplicate_line_files,
        deduplicate_span_files,
        deduplicate_with_index,
        near_duplicate_files,
        overlap_files,
    )
    from fastlsh.reporting import report

__all__ = [
    "Audit",
    "BandingComparison",
    "Contamination",
    "ContaminationRecall",
    "Deduplication",
    "Evaluation",
    "Explanation",
    "FileDecontamination",
    "FileDeduplication",
    "FileLineDeduplication",
    "FileOverlap",
    "FilePairs",
    "FileSpanDeduplication",
    "Index",
    "InputError",
    "Key",
    "KeyFileWarning",
    "LSHParams",
    "LineDeduplication",
    "LockedKeyError",
    "Matches",
    "MinHasher",
    "Overlap",
    "Pairs",
    "Preset",
    "Proofs",
    "RecallWarning",
    "Shingler",
    "SpanDeduplication",
    "TokenIds",
    "TooManyPairsError",
    "Tuning",
    "__version__",
    "audit_files",
    "band_keys",
    "candidate_pairs",
    "compare_bandings",
    "containment",
    "decontaminate",
    "decontaminate_files",
    "deduplicate",
    "deduplicate_files",
    "deduplicate_line_files",
    "deduplicate_lines",
    "deduplicate_span_files",
    "deduplicate_spans",
    "deduplicate_with_index",
    "estimate_jaccard",
    "estimate_jaccard_packed",
    "evaluate",
    "evaluate_decontamination",
    "exact_jaccard",
    "exact_pairs",
    "explain",
    "jaccard",
    "matches",
    "near_duplicate_files",
    "near_duplicates",
    "overlap",
    "overlap_files",
    "pack_signatures",
    "preset",
    "report",
    "tune",
]

_LATER = {
    "evaluation": (
        "BandingComparison", "ContaminationRecall", "Evaluation", "compare_bandings", "evaluate",
        "evaluate_decontamination",
    ),
    "explanation": ("Explanation", "explain"),
    "files": (
        "Audit", "FileDecontamination", "FileDeduplication", "FileLineDeduplication",
        "FileOverlap", "FilePairs", "FileSpanDeduplication", "audit_files", "decontaminate_files",
        "deduplicate_files", "deduplicate_line_files", "deduplicate_span_files",
        "deduplicate_with_index", "near_duplicate_files", "overlap_files",
    ),
    "reporting": ("report",),
}  # fmt: skip
"""What many programs never use is imported when it is asked for: the names, by room."""

_ROOM_OF = {name: room for room, names in _LATER.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _ROOM_OF:
        value = getattr(import_module(f"fastlsh.{_ROOM_OF[name]}"), name)
    elif name in _LATER:
        value = import_module(f"fastlsh.{name}")
    else:
        raise AttributeError(f"module 'fastlsh' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_LATER, *(name for name in globals() if name.startswith("__"))})
