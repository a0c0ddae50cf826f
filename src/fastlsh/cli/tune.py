"""``fastlsh tune``: what parameters will do, before they are used."""

import argparse
from typing import Any

from fastlsh import LSHParams, Tuning, preset, tune
from fastlsh.cli.options import integer
from fastlsh.io import check_target, recover_outputs
from fastlsh.presets import PRESETS

HELP = "Choose bands and rows for a threshold and show which pairs they will find."
EXAMPLES = """\
examples:
  fastlsh tune --threshold 0.8
  fastlsh tune --threshold 0.7 --num-perm 256 --compare --plot curves.svg
"""

RULES = ("recall", "weights", "steepest", "bands", "rows")
"""The options that say how bands and rows are chosen."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--threshold", metavar="T", type=float, help="Jaccard similarity; needed without --preset"
    )
    parser.add_argument(
        "--preset",
        metavar="NAME",
        choices=PRESETS,
        help=f"parameters of a pipeline, which other options override: {', '.join(PRESETS)}",
    )
    parser.add_argument(
        "--num-perm", metavar="K", type=integer, help="minima per signature (default: 128)"
    )
    parser.add_argument(
        "--recall", metavar="P", type=float, help="recall of pairs at the threshold (default: 0.98)"
    )
    parser.add_argument(
        "--weights",
        metavar=("FP", "FN"),
        nargs=2,
        type=float,
        help="instead of --recall: weights of false positives and negatives, as in datasketch",
    )
    parser.add_argument(
        "--steepest",
        choices=["up", "down"],
        help="instead of --recall: the curve that is steepest at the threshold, (1/b)^(b/K) = T,"
        " b rounded up or down",
    )
    parser.add_argument(
        "--bands", metavar="B", type=integer, help="number of bands; with --rows, instead of a rule"
    )
    parser.add_argument("--rows", metavar="R", type=integer, help="rows of a band")
    parser.add_argument(
        "--compare", action="store_true", help="compare all rules, and every division of K"
    )
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help="plot the S-curve, with --compare all of them (.svg .png .pdf)",
    )


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    if arguments.plot is not None:
        from fastlsh.plots import check_plot

        recover_outputs([arguments.plot])
        check_target(arguments.plot)
        check_plot(arguments.plot)
    tuning = tune(**_keywords(arguments))
    print(tuning)
    if arguments.compare:
        print("", tuning.comparison(), sep="\n")
    if arguments.plot is not None:
        from fastlsh.plots import plot_curves, save

        save(plot_curves(_curves(tuning, arguments.compare), tuning.threshold), arguments.plot)


def _curves(tuning: Tuning, compare: bool) -> dict[str, LSHParams]:
    """Return the curves of the plot by their labels."""
    if not compare:
        return {_size(tuning.params): tuning.params}
    named = {f"{rule}: {_size(params)}": params for rule, params in tuning.choices.items()}
    chosen = {} if tuning.params in named.values() else {_size(tuning.params): tuning.params}
    return {**chosen, **named}


def _size(params: LSHParams) -> str:
    return f"{params.bands} x {params.rows}"


def _keywords(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of `fastlsh.tune`.

    What no option gives comes from the preset; its bands and rows only if no option is a rule.
    """
    keywords = {name: getattr(arguments, name) for name in ("threshold", "num_perm", *RULES)}
    keywords["weights"] = keywords["weights"] and tuple(keywords["weights"])
    if arguments.preset is not None:
        by_rule = any(keywords[rule] is not None for rule in RULES)
        for name in ("threshold", "num_perm", *(() if by_rule else ("bands", "rows"))):
            if keywords[name] is None:
                keywords[name] = preset(arguments.preset)[name]
    elif keywords["threshold"] is None:
        raise ValueError("--threshold or --preset must be given (see fastlsh tune --help)")
    elif keywords["num_perm"] is None:
        del keywords["num_perm"]
    return keywords
