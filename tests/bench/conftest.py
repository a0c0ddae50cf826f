"""Puts the benchmarks on the path; without them, their tests are not collected."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
collect_ignore_glob = [] if (ROOT / "bench" / "__main__.py").exists() else ["*"]
