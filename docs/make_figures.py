"""Makes the figures of docs/how-it-works.md: ``python docs/make_figures.py [FOLDER]``."""

import json
import sys
from pathlib import Path

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from path_figure import path_figure

import fastlsh
from fastlsh.plots import plot_curves, plot_evaluation, save

HERE = Path(__file__).resolve().parent
NOTICES = HERE.parent / "examples" / "notices.jsonl"
UNION, SIMILARITY, TRIALS = 300, 0.5, 400


def bands(texts: dict[str, str]) -> Figure:
    """Draw where the signatures of two notices agree, cut into 17 bands of 7 rows."""
    signatures = fastlsh.MinHasher(128).signatures([texts["n001"], texts["n074"]])
    agree = (signatures[0] == signatures[1])[: 17 * 7].reshape(17, 7).T
    shown = agree.astype(int) + agree.all(axis=0)  # 2: the whole band
    figure = Figure(figsize=(7, 3), layout="constrained")
    axes = figure.add_subplot()
    axes.pcolormesh(
        shown,
        cmap=ListedColormap(["0.92", "#9cc3e6", "#1f77b4"]),
        vmin=0,
        vmax=2,
        edgecolors="white",
        linewidth=1.5,
    )
    similarity = fastlsh.jaccard(texts["n001"], texts["n074"])
    axes.set(xlabel="band", ylabel="row", aspect="equal", xticks=[], yticks=[])
    axes.set_title(
        f"Equal minima of two texts with similarity {similarity:.2f}: "
        f"{agree.sum()} of {agree.size}, {agree.all(axis=0).sum()} whole band(s)"
    )
    return figure


def errors() -> Figure:
    """Draw the error of the estimate against the number of minima, for both schemes."""
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    lengths = [16, 32, 64, 128, 256, 512]
    draw = np.random.default_rng(0)
    shared = int(UNION * SIMILARITY)
    sets = []
    for _ in range(TRIALS):
        elements = draw.integers(0, 2**64, UNION, np.uint64)
        middle = (UNION - shared) // 2
        sets += [elements[: middle + shared], elements[middle:]]
    hashes, offsets = np.concatenate(sets), np.cumsum([0, *map(len, sets)])
    pairs = np.arange(2 * TRIALS).reshape(TRIALS, 2)
    for scheme in ("affine32", "fss"):
        measured = []
        for num_perm in lengths:
            hasher = fastlsh.MinHasher(num_perm, scheme=scheme)
            estimate = fastlsh.estimate_jaccard(hasher.from_hashes(hashes, offsets), pairs)
            measured.append(float(np.sqrt(np.mean((estimate - SIMILARITY) ** 2))))
        axes.plot(lengths, measured, marker="o", label=scheme)
    ideal = [(SIMILARITY * (1 - SIMILARITY) / k) ** 0.5 for k in lengths]
    axes.plot(lengths, ideal, linestyle=":", color="0.3", label="sqrt(J(1 - J)/k)")
    axes.set(xscale="log", yscale="log", xlabel="minima in a signature (k)", ylabel="RMS error")
    axes.minorticks_off()
    axes.set_xticks(lengths, [str(k) for k in lengths])
    axes.set_yticks([0.02, 0.05, 0.1], ["0.02", "0.05", "0.1"])
    axes.set_title(f"Error of the estimate, similarity {SIMILARITY}, {UNION} shingles in the union")
    axes.legend()
    return figure


def notices() -> dict[str, str]:
    """Return the example notices by their ids."""
    with NOTICES.open(encoding="utf-8") as lines:
        return {row["id"]: row["text"] for row in map(json.loads, lines)}


def figures(texts: dict[str, str]) -> dict[str, Figure]:
    """Return every figure by its name."""
    chosen = fastlsh.LSHParams.for_threshold(0.8)
    weighed = fastlsh.LSHParams.for_threshold(0.8, weights=(0.5, 0.5))
    curves = {
        f"{chosen.bands} x {chosen.rows}, recall 0.98": chosen,
        f"{weighed.bands} x {weighed.rows}, equal weights": weighed,
    }
    return {
        "how-bands": bands(texts),
        "how-errors": errors(),
        "how-curves": plot_curves(curves, 0.8),
        "how-recall": plot_evaluation(fastlsh.evaluate(list(texts.values()), 0.8, lowest=0.3)),
    }


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "images"
    texts = notices()
    for name, figure in figures(texts).items():
        save(figure, folder / f"{name}.svg")
    drawing = path_figure(texts["n003"], texts["n076"], ("n003", "n076"))
    (folder / "how-path.svg").write_text(drawing, encoding="utf-8", newline="\n")
