"""What LSH finds, measured against what there is."""

from fastlsh.evaluation.audit import Precision, threshold_for
from fastlsh.evaluation.audit import Removals as Removals
from fastlsh.evaluation.audit import threshold_text as threshold_text
from fastlsh.evaluation.bandings import BandingComparison, compare_bandings
from fastlsh.evaluation.count import similarity_steps as similarity_steps
from fastlsh.evaluation.data import EstimatorError, Share, SimilarityBin
from fastlsh.evaluation.data import range_text as range_text
from fastlsh.evaluation.injection import ContaminationRecall, evaluate_decontamination
from fastlsh.evaluation.injection import recall_of_items as recall_of_items
from fastlsh.evaluation.measure import evaluate
from fastlsh.evaluation.result import Evaluation

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
