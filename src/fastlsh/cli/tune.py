"""``fastlsh tune``: what parameters will do, before they are used."""

import argparse
from typing import Any

from fastlsh import LSHParams, Tuning, preset, tune
from fastlsh.cli.keywords import keywords_of
from fastlsh.cli.parser import Command
from fastlsh.io import check_target, recover_outputs

HELP = "Choose bands and rows for a threshold and show which pairs they will find."
EXAMPLES = """\
examples:
  fastlsh tune --threshold 0.8
  fastlsh tune --threshold 0.7 --num-perm 256 --compare --plot curves.svg
"""

RULES = {"recall", "weights", "steepest", "bands", "rows"}
"""The options that say how bands and rows are chosen."""


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
    keywords = keywords_of(arguments, "keyword")
    if "weights" in keywords:
        keywords["weights"] = tuple(keywords["weights"])
    if arguments.preset is not None:
        shared = ("threshold", "num_perm", *(() if keywords.keys() & RULES else ("bands", "rows")))
        chosen = preset(arguments.preset)
        return {**{name: chosen[name] for name in shared}, **keywords}
    if arguments.threshold is None:
        raise ValueError("--threshold or --preset must be given (see fastlsh tune --help)")
    return keywords


COMMAND = Command("tune", HELP, EXAMPLES, run)
