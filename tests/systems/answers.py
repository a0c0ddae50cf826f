"""Each number of B, short answers (docs/systems/answers.md)."""

from fastlsh import LSHParams, textbook

SYSTEM = "B"
COMPUTATIONS = {
    "2^32 as it is written": lambda: 2 ^ 32,
    "b for t = 0.6 and k = 100": lambda: textbook.solve_bands(0.6, 100),
    "b for t = 0.6 and k = 100, in full bands": lambda: (
        LSHParams.steepest_at(0.6, 100, rounding="down").bands
    ),
}
