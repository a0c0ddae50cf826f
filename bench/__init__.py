"""The benchmarks of fastlsh; ``python -m bench`` is the way in."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The checkout, from which every process is started."""
RESULTS = ROOT / "bench" / "results"
