"""What LSH finds, measured against what there is."""

from fastlsh.evaluation.audit import Precision, threshold_for
from fastlsh.evaluation.audit import Removals as Removals
from fastlsh.evaluation.audit import threshold_text as threshold_text
from fastlsh.evaluation.count import similarity_steps as similarity_steps
from fastlsh.evaluation.injection import ContaminationRecall, evaluate_decontamination
from fastlsh.evaluation.injection import recall_of_items as recall_of_items
from fastlsh.evaluation.measure import compare_bandings, evaluate
from fastlsh.evaluation.result import (
    BandingComparison,
    EstimatorError,
    Evaluation,
    Share,
    SimilarityBin,
)
from fastlsh.evaluation.result import range_text as range_text

__all__ = [
    "BandingComparison",
    "ContaminationRecall",
    "EstimatorError",
    "Evaluation",
    "Precision",
    "Share",
    "SimilarityBin",
    "compare_bandings",
    "evaluate",
    "evaluate_decontamination",
    "threshold_for",
]
