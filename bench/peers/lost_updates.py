"""FastSketchLSH, built for AVX-512: what becomes of a set in another order.

Takes folders with further builds; docs/conformance.md says how they are made. Each one is loaded in
a process of its own and compared with itself, in another order, and with the installed one.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench import common
from bench.conformance.documents import Maker
from bench.peers.contenders import K

SIZES = (4, 8, 30, 128, 1000, 5000)
SETS = 200
INSTALLED = "installed"


def sketches(folder: str | None, size: int, count: int) -> list[list[list[int]]]:
    """Return the sketches of so many sets, and of the same in another order."""
    if folder:
        sys.path.insert(0, folder)
    from FastSketchLSH import FastSimilaritySketch

    maker = Maker(None, [size])
    pairs = [maker.again(document) for document in maker.documents(size, count)]
    found = []
    for documents in zip(*pairs, strict=True):
        elements = [[element.encode() for element in document] for document in documents]
        sketch = FastSimilaritySketch(K, 42)
        found.append(np.array(sketch.batch(elements, num_threads=1)).tolist())
    return found


def compared(found: Any, installed: Any) -> dict[str, Any]:
    """Return how often, and by how much, sketches of the same sets differ."""
    first, second = np.array(found, np.uint64)
    share = (first == second).mean(axis=1)
    return {
        "sets": len(share),
        "differ in another order": int((share < 1).sum()),
        "mean estimate": round(float(share.mean()), 4),
        "lowest estimate": round(float(share.min()), 4),
        "differ from the installed one": int((first != installed).any(axis=1).sum()),
    }


def main(arguments: Sequence[str]) -> None:
    """Compare and write results/lost_updates.json."""
    parser = common.parser(__doc__)
    parser.add_argument("folders", nargs="*", type=Path, help="with a build of FastSketchLSH each")
    options = parser.parse_args(arguments)
    folders = {folder.name: str(folder.resolve(strict=True)) for folder in options.folders}
    results: dict[str, Any] = {build: {} for build in (INSTALLED, *folders)}
    for size in SIZES[:3] if options.quick else SIZES:
        installed = common.call(sketches, None, size, SETS)
        for build in results:
            found = installed
            if build in folders:
                found = common.call(sketches, folders[build], size, SETS)
            results[build][f"{size:,}"] = compared(found, np.array(installed[0], np.uint64))
    common.write("lost_updates", options, results)
