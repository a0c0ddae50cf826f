"""Calls that datasketch and fastlsh.compat.datasketch must answer alike: results and exceptions.

`CALLS` has them by name and by arguments, each a function of the package; the modules of this
package fill it. What docs/migrating.md lists as different is left out. `recorded.json` says what
datasketch 2.0.0 answers with numpy 2: the name of an exception, or a digest of the result;
``python tests/datasketch_record.py`` writes it.
"""

from pathlib import Path

from datasketch_calls import indexes, minhash, sketches
from datasketch_calls.registry import CALLS, digest, outcome

RECORDED = Path(__file__).with_name("recorded.json")

__all__ = ["CALLS", "RECORDED", "digest", "indexes", "minhash", "outcome", "sketches"]
