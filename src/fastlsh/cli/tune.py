"""``fastlsh tune``: what parameters will do, before they are used."""

import argparse
from typing import TYPE_CHECKING

from fastlsh import preset
from fastlsh.arguments import check_integer
from fastlsh.banding import probability_text
from fastlsh.cli.options import integer
from fastlsh.io import check_target, recover_outputs
from fastlsh.presets import PRESETS

if TYPE_CHECKING:
    from fastlsh import LSHParams

HELP = "Choose bands and rows for a threshold and show which pairs they will find."
EXAMPLES = """\
examples:
  fastlsh tune --threshold 0.8
  fastlsh tune --threshold 0.7 --num-perm 256 --compare --plot curves.svg
"""
BAR = 40


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
    _complete(arguments)
    params = _chosen(arguments)
    curves = {_size(params): params}
    print(
        f"{params.bands} bands x {params.rows} rows"
        f" ({params.bands * params.rows} of {arguments.num_perm} values),"
        f" steepest near {params.threshold:.3f}"
    )
    print("", *curve_lines(params, arguments.threshold), "", sep="\n")
    print(sentence(params, arguments.threshold))
    if arguments.compare:
        choices = _choices(arguments)
        print("", *choice_lines(choices, arguments.threshold), sep="\n")
        named = {f"{name}: {_size(each)}": each for name, each in choices.items()}
        curves = {**({} if params in choices.values() else curves), **named}
    if arguments.plot is not None:
        from fastlsh.plots import plot_curves, save

        save(plot_curves(curves, arguments.threshold), arguments.plot)


def _complete(arguments: argparse.Namespace) -> None:
    """Take from the preset what no option gives; bands and rows unless another rule is given."""
    if arguments.preset is not None:
        given = preset(arguments.preset)
        rules = ("recall", "weights", "steepest", "bands", "rows")
        by_rule = any(getattr(arguments, rule) is not None for rule in rules)
        for name in ("threshold", "num_perm", *(() if by_rule else ("bands", "rows"))):
            if getattr(arguments, name) is None:
                setattr(arguments, name, given[name])
    elif arguments.threshold is None:
        raise ValueError("--threshold or --preset must be given (see fastlsh tune --help)")
    elif arguments.num_perm is None:
        arguments.num_perm = 128
    check_integer(arguments.num_perm, "num_perm")


def _size(params: "LSHParams") -> str:
    return f"{params.bands} x {params.rows}"


def _choices(arguments: argparse.Namespace) -> "dict[str, LSHParams]":
    from fastlsh import LSHParams

    return LSHParams.choices(
        arguments.threshold,
        arguments.num_perm,
        recall=0.98 if arguments.recall is None else arguments.recall,
        weights=tuple(arguments.weights or (0.5, 0.5)),
    )


def _chosen(arguments: argparse.Namespace) -> "LSHParams":
    from fastlsh import LSHParams

    threshold, num_perm = arguments.threshold, arguments.num_perm
    bands, rows = arguments.bands, arguments.rows
    if (bands is None) != (rows is None):
        raise ValueError("--bands and --rows must be given together, or neither")
    rules = {"--recall": arguments.recall, "--weights": arguments.weights}
    rules |= {"--steepest": arguments.steepest, "--bands": bands}
    given = [name for name, value in rules.items() if value is not None]
    if len(given) > 1:
        raise ValueError(f"{given[0]} and {given[1]} are different rules: give one")
    if bands is not None:
        params = LSHParams(bands, rows)
        params.false_positive_area(threshold)  # refuses a wrong threshold
        if bands * rows > num_perm:
            raise ValueError(
                f"{bands} bands of {rows} rows need --num-perm {bands * rows}, got {num_perm}"
            )
        return params
    if arguments.weights is not None:
        return LSHParams.for_threshold(threshold, num_perm, weights=tuple(arguments.weights))
    if arguments.steepest is not None:
        return LSHParams.steepest_at(threshold, num_perm, rounding=arguments.steepest)
    recall = 0.98 if arguments.recall is None else arguments.recall
    return LSHParams.for_threshold(threshold, num_perm, recall=recall)


def curve_lines(params: "LSHParams", threshold: float) -> list[str]:
    """Return a line for each similarity: the probability that a pair is found, and a bar."""
    similarities = sorted({n / 20 for n in range(1, 21)} | {threshold})
    width = max(5, len(similarity_text(threshold)))
    lines = [f"{'s':>{width}} {'P(found)':>10}"]
    for s in similarities:
        bar = "#" * round(BAR * params.probability(s))
        mark = "<" if s == threshold else ""
        cells = f"{similarity_text(s):>{width}} {probability_text(params, s):>10}"
        lines.append(f"{cells} |{bar:<{BAR}}| {mark}".rstrip())
    return lines


def similarity_text(similarity: float, decimals: int = 0) -> str:
    """Return a similarity with six digits; more if it would be 1 then, zeros up to `decimals`."""
    text = f"{similarity:.6g}"
    if text == "1" and similarity < 1:
        return repr(similarity)
    fixed = f"{similarity:.{decimals}f}"
    return fixed if float(fixed) == float(text) else text


def sentence(params: "LSHParams", threshold: float) -> str:
    """Return what the parameters mean, in plain words."""
    low = round(20 * 0.375 * threshold) / 20 or float(f"{0.375 * threshold:.2g}")
    vain = 100 * params.probability(low)
    share = f"{vain:.1f}" if vain >= 0.1 or vain == 0 else f"{vain:.1g}"
    higher = round((1 + threshold) / 2, 2)  # of what is said, all holds for the numbers as shown
    above = f", at {higher:.2f} with {probability_text(params, higher)}"
    return (
        f"A pair at {similarity_text(threshold, 2)} is found with probability"
        f" {probability_text(params, threshold)}{above if threshold < higher < 1 else ''};\n"
        f"of the pairs at {similarity_text(low, 2)}, {share} % are compared needlessly."
    )


def choice_lines(choices: "dict[str, LSHParams]", threshold: float) -> list[str]:
    """Return a table of what each rule chooses and what that would do."""
    low, high = threshold / 2, (1 + threshold) / 2
    rows: list[tuple[str, ...]] = [
        ("rule", "b x r", "steep",
         *(f"P({similarity_text(s)})" for s in (low, threshold, high)), "false+", "false-")
    ]  # fmt: skip
    for name, params in choices.items():
        rows.append(
            (
                name,
                _size(params),
                f"{params.threshold:.3f}",
                *(probability_text(params, s) for s in (low, threshold, high)),
                f"{params.false_positive_area(threshold):.4f}",
                f"{params.false_negative_area(threshold):.4f}",
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    gap = "  " if sum(widths) + 2 * len(widths) <= 80 else " "  # columns of a terminal
    return [
        f"{first:<{widths[0]}}{gap}"
        + gap.join(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        for first, *rest in rows
    ]
