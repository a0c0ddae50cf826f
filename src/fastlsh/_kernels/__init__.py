"""The compiled kernels.

They know bytes, code points, offsets and arrays of uint32 and uint64, and nothing of the rest of
fastlsh. Loops that gain from newer instructions exist once for each instruction set; which ones are
called is chosen once, at import, and ``FASTLSH_ISA=baseline|avx2|avx512`` forces a choice. All of
them give the same bits.

Other rooms import a name from the module that defines it, such as ``_kernels.sets._sets``. Only the
modules of the instruction sets, in ``_kernels.loops``, are imported here alone.
"""

import importlib
import os

from fastlsh._kernels.common._common import instruction_sets, use_loops


def _choose() -> str:
    names = instruction_sets()
    if not names:
        raise ImportError("fastlsh needs a processor with x86-64-v2 (SSE4.2, POPCNT; since 2009)")
    forced = os.environ.get("FASTLSH_ISA") or names[-1]
    if forced not in names:
        raise ImportError(f"FASTLSH_ISA={forced} is not available here: {', '.join(names)}")
    return forced


isa = _choose()
try:
    use_loops(importlib.import_module(f"fastlsh._kernels.loops._{isa}").LOOPS)
except ModuleNotFoundError as error:
    raise ImportError(
        f"the compiled module fastlsh._kernels.loops._{isa}, which suits this processor, is "
        "missing: reinstall fastlsh, or set FASTLSH_ISA=baseline to use the other one"
    ) from error

__all__ = ["instruction_sets", "isa", "use_loops"]
