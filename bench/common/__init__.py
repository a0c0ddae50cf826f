"""What the benchmarks share: fair timing, processes, memory, the machine, the JSON files."""

from bench.common.children import call, processors
from bench.common.machine import cores, kernels_compiler
from bench.common.memory import peak, resident
from bench.common.records import parser, rounds, save, target, write
from bench.common.timing import (
    alternating,
    calls_that_last,
    interleave,
    ratio,
    seconds,
    significant,
    spread,
    summary,
)

__all__ = [
    "alternating", "call", "calls_that_last", "cores", "interleave", "kernels_compiler", "parser",
    "peak", "processors", "ratio", "resident", "rounds", "save", "seconds", "significant",
    "spread", "summary", "target", "write",
]  # fmt: skip
