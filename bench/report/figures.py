"""How the figures are drawn.

Each is two SVG files, for light and for dark pages, with text as text. A file carries a digest of
its data, so that it can be checked without drawing it again.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

from bench.report.records import Records, is_ours
from bench.report.shown import Data, answers, by_hashes, by_length, errors, growth, limits

MODES = ("light", "dark")
PAPER = {"light": ("#ffffff", "#24292f", "#d0d7de"), "dark": ("#0d1117", "#e6edf3", "#3d444d")}
"""Background, text, grid."""
COLOURS = {
    "light": ("#0550ae", "#1a7f37", "#bc4c00", "#8250df",
              "#9a6700", "#bf3989", "#57606a", "#0a7ea4"),
    "dark": ("#58a6ff", "#3fb950", "#f0883e", "#bc8cff",
             "#d29922", "#f778ba", "#8b949e", "#39c5cf"),
}  # fmt: skip
MARKERS = "oDsv^P*X"
ORDER = ("fastlsh", "fastlsh, fss", "rensa", "rensa, from lists", "FastSketchLSH", "gaoya",
         "datasketch", "datasketch, CRC-32")  # fmt: skip
"""Of the colours; the same library has the same colour in all figures."""


class Figure(NamedTuple):
    """One figure: its words, what it shows, and who draws it."""

    title: str
    data: Callable[[Records], Data]
    draw: Callable[[Any, Data, str], None]


def line_style(name: str, mode: str) -> dict[str, Any]:
    """Return colour, marker and width of a contender."""
    place = ORDER.index(name) if name in ORDER else len(ORDER) - 2
    return {
        "color": COLOURS[mode][place % 8],
        "marker": MARKERS[place % 8],
        "linewidth": 2.4 if is_ours(name) else 1.4,
        "markersize": 6 if is_ours(name) else 5,
        "zorder": 3 if is_ours(name) else 2,
    }


# ---- how it is drawn


def draw_lines(what: str, unit: str, figure: Any, data: Data, mode: str) -> None:
    """Draw speeds on logarithmic scales."""
    axes = figure.subplots()
    for name, points in sorted(data.items(), key=lambda item: -item[1][-1][1]):
        axes.plot(*zip(*points, strict=True), label=name, **line_style(name, mode))
    axes.set(xscale="log", yscale="log", xlabel=what, ylabel=unit)
    plain_ticks(axes)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)


def draw_limits(figure: Any, data: Data, mode: str) -> None:
    """Draw bars in a group for each instruction set."""
    axes = figure.subplots()
    kinds = list(next(iter(data.values())))
    colours = (PAPER[mode][2], COLOURS[mode][7], COLOURS[mode][0], COLOURS[mode][1])
    width = 0.8 / len(kinds)
    for number, kind in enumerate(kinds):
        places = [group + width * number for group in range(len(data))]
        heights = [values[kind] for values in data.values()]
        bars = axes.bar(places, heights, 0.93 * width, label=kind, color=colours[number])
        axes.bar_label(bars, fmt="%.0f", padding=2)
    middle = width * (len(kinds) - 1) / 2
    axes.set_xticks([group + middle for group in range(len(data))], list(data))
    axes.set(ylabel="million shingles a second")
    axes.grid(visible=False, axis="x")
    axes.legend(loc="upper left", frameon=False)


def draw_growth(figure: Any, data: Data, mode: str) -> None:
    """Draw time and memory side by side."""
    time, memory = figure.subplots(1, 2)
    for number, (name, series) in enumerate(data.items()):
        style = {"color": COLOURS[mode][number], "marker": MARKERS[number], "linewidth": 2}
        sizes, seconds, megabytes = zip(*series, strict=True)
        time.plot(sizes, seconds, label=name, **style)
        memory.plot(sizes, megabytes, label=name, **style)
    time.set(xscale="log", yscale="log", xlabel="documents", ylabel="seconds, one thread")
    memory.set(xscale="log", yscale="log", xlabel="documents", ylabel="peak MB above the texts")
    for axes in (time, memory):
        plain_ticks(axes)
    time.legend(loc="upper left", frameon=False)


def draw_errors(figure: Any, data: Data, mode: str) -> None:
    """Draw the accuracy with its standard errors; 1 is k ideal hash functions."""
    axes = figure.subplots()
    axes.axhline(1, color=PAPER[mode][1], linewidth=1, linestyle=":")
    for name in sorted(data, key=lambda name: -data[name][0][1]):
        sizes, values, spreads = zip(*data[name], strict=True)
        axes.errorbar(sizes, values, spreads, label=name, capsize=3, **line_style(name, mode))
    axes.set(xscale="log", xlabel="elements of a set", ylabel="RMSE / ideal (lower is better)")
    plain_ticks(axes, vertical=False)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)


def draw_answers(figure: Any, data: Data, mode: str) -> None:
    """Draw recall and precision against time, side by side."""
    panels = figure.subplots(1, 2, sharey=True)
    for axes, what in zip(panels, ("recall", "precision"), strict=True):
        for name, found in data.items():
            style = line_style(name, mode) | {"linestyle": "none", "markersize": 8}
            axes.plot(found["time"], found[what], label=name, **style)
        axes.set(xscale="log", xlabel="time / fastlsh's", title=what)
        plain_ticks(axes, vertical=False)
    panels[1].legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)


def plain_ticks(axes: Any, *, vertical: bool = True) -> None:
    """Write the numbers of logarithmic scales out."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    plain = FuncFormatter(lambda value, _: f"{value:,.10g}")
    for axis in (axes.xaxis, axes.yaxis) if vertical else (axes.xaxis,):
        axis.set_major_formatter(plain)
        axis.set_minor_formatter(NullFormatter())


def draw_lengths(figure: Any, data: Data, mode: str) -> None:
    """Draw the speeds from raw texts."""
    draw_lines("characters of a document", "million characters per second", figure, data, mode)


def draw_hashes(figure: Any, data: Data, mode: str) -> None:
    """Draw the speeds from ready hashes."""
    draw_lines("hashes of a document", "million hashes per second", figure, data, mode)


FIGURES = {
    "lengths": Figure("Signatures from raw texts, by the length of the documents",
                      by_length, draw_lengths),
    "hashes": Figure("Signatures from precomputed 64-bit hashes, by their number",
                     by_hashes, draw_hashes),
    "limits": Figure("Kernels beside the bare loop of the minima, by instruction set",
                     limits, draw_limits),
    "growth": Figure("Time and memory, by the number of documents", growth, draw_growth),
    "errors": Figure("Error of the estimates, by the size of the sets", errors, draw_errors),
    "answers": Figure("All pairs at 0.8: recall and precision against time",
                      answers, draw_answers),
}  # fmt: skip


# ---- files


def digest(data: Mapping[str, Any]) -> str:
    """Return what a file of a figure carries to say what it was drawn of."""
    text = json.dumps(data, sort_keys=True)
    return "data " + hashlib.sha256(text.encode()).hexdigest()


def shown(records: Records) -> Iterator[tuple[str, Figure, Data]]:
    """Yield the figures of which there are results."""
    for name, figure in FIGURES.items():
        data = figure.data(records)
        if data:
            yield name, figure, data


def outdated(records: Records, folder: Path) -> list[str]:
    """Return the files that are missing or were drawn of other data."""
    return [
        path.name
        for name, _, data in shown(records)
        for path in paths(folder, name)
        if not path.exists() or digest(data) not in path.read_text(encoding="utf-8")
    ]


def paths(folder: Path, name: str) -> list[Path]:
    """Return the files of a figure."""
    return [folder / f"{name}-{mode}.svg" for mode in MODES]


def draw_all(records: Records, folder: Path) -> None:
    """Draw all figures in both modes."""
    from matplotlib.figure import Figure as Canvas
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    folder.mkdir(parents=True, exist_ok=True)
    for name, figure, data in shown(records):
        for mode, path in zip(MODES, paths(folder, name), strict=True):
            with style(mode):
                canvas = Canvas(figsize=(8, 4), layout=ConstrainedLayoutEngine(h_pad=0.08))
                figure.draw(canvas, data, mode)
                canvas.suptitle(figure.title, fontsize="large")
                canvas.savefig(
                    path, metadata={"Date": None, "Creator": None, "Source": digest(data)}
                )


def style(mode: str) -> AbstractContextManager[None]:
    """Return the settings of a mode."""
    import matplotlib as mpl

    paper, ink, grid = PAPER[mode]
    inked = ("text.color", "axes.labelcolor", "xtick.color", "ytick.color", "axes.titlecolor")
    settings: dict[Any, Any] = {
        "svg.fonttype": "none",  # text as text
        "svg.hashsalt": "fastlsh",  # the same file from the same data
        "font.family": "sans-serif", "font.size": 10,
        "axes.grid": True, "axes.axisbelow": True, "axes.edgecolor": grid, "grid.color": grid,
        "axes.spines.top": False, "axes.spines.right": False,
        "figure.facecolor": paper, "axes.facecolor": paper, "savefig.facecolor": paper,
        **dict.fromkeys(inked, ink),
    }  # fmt: skip
    context: AbstractContextManager[None] = mpl.rc_context(settings)
    return context
