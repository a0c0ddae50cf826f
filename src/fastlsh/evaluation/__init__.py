"""What LSH finds, measured against what there is."""

from fastlsh.evaluation.evaluate import evaluate
from fastlsh.evaluation.result import Evaluation, SimilarityBin
from fastlsh.evaluation.shares import EstimatorError, Share

__all__ = ["EstimatorError", "Evaluation", "Share", "SimilarityBin", "evaluate"]
