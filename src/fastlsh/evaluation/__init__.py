"""What LSH finds, measured against what there is."""

from fastlsh.evaluation.exact import exact_pairs

__all__ = ["exact_pairs"]
