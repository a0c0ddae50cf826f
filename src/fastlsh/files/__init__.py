"""The engine for files larger than memory: the same answer as in memory, to the bit."""

from fastlsh.files.audit import Audit, AuditPair, audit_files
from fastlsh.files.audit import answers_of as answers_of
from fastlsh.files.budget import parse_memory
from fastlsh.files.indexed import deduplicate_with_index
from fastlsh.files.plan import RemovalRules as RemovalRules
from fastlsh.files.requests import tokens_as_words, work_directory
from fastlsh.files.results import (
    FileDecontamination,
    FileDeduplication,
    FileLineDeduplication,
    FileOverlap,
    FilePairs,
    FileResult,
    FileSpanDeduplication,
)
from fastlsh.files.results import record_of as record_of
from fastlsh.files.saved_index import build_index
from fastlsh.files.scheduling import StageJob, contamination_jobs, stage_jobs
from fastlsh.files.tasks.decontamination import decontaminate_files
from fastlsh.files.tasks.decontamination import (
    evaluate_decontamination_files as evaluate_decontamination_files,
)
from fastlsh.files.tasks.dedup import deduplicate_files
from fastlsh.files.tasks.lines import deduplicate_line_files
from fastlsh.files.tasks.overlap import overlap_files
from fastlsh.files.tasks.pairs import near_duplicate_files
from fastlsh.files.tasks.spans import deduplicate_span_files

__all__ = [
    "Audit",
    "AuditPair",
    "FileDecontamination",
    "FileDeduplication",
    "FileLineDeduplication",
    "FileOverlap",
    "FilePairs",
    "FileResult",
    "FileSpanDeduplication",
    "StageJob",
    "audit_files",
    "build_index",
    "contamination_jobs",
    "decontaminate_files",
    "deduplicate_files",
    "deduplicate_line_files",
    "deduplicate_span_files",
    "deduplicate_with_index",
    "near_duplicate_files",
    "overlap_files",
    "parse_memory",
    "stage_jobs",
    "tokens_as_words",
    "work_directory",
]
