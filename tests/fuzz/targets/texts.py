"""Texts of any form: signatures, hashes and keys are equal on every instruction set.

So they are from the str, from its UTF-8, from a column, in other batches, and without what
normalisation would do twice.
"""

import importlib
import importlib.util

import numpy as np
from chosen import Chosen

from fastlsh import LSHParams, MinHasher, Shingler, _kernels, band_keys

try:
    import pyarrow as pa
except ImportError:
    pa = None

BUILDS = {
    name: importlib.import_module(f"fastlsh._kernels.loops._{name}").LOOPS
    for name in _kernels.instruction_sets()
    if importlib.util.find_spec(f"fastlsh._kernels.loops._{name}")
}
"""The loops of each instruction set."""
PARAMS = LSHParams(3, 4)
SIZES = (1, 2, 3, 5, 8, 9, 16, 31, 64, 1000)


def shingler_of(given):
    unit = given.one(["char", "word", "byte"])
    steps = {}
    flags = given.number(256)
    if unit != "byte":
        steps = {
            "lowercase": bool(flags & 1),
            "strip_accents": bool(flags & 2),
            "numbers": "0" if flags & 4 else None,
            "punctuation": (None, "space", None, "remove")[flags >> 3 & 3],
            "unicode_form": (None, "NFC", "NFD", "NFKC")[flags >> 5 & 3],
            "collapse_whitespace": unit == "char" and bool(flags & 128),
        }
    return Shingler(unit, given.one(SIZES), **steps)


def texts_of(given):
    """Return str of each width, with lone surrogates and NUL as they come."""
    texts = []
    for _ in range(given.number(12)):
        code = given.bytes(given.number(200))
        kind = given.number(4)
        if kind == 0:
            texts.append(code.decode("latin-1"))
        elif kind == 1:
            texts.append(code.decode("utf-8", "replace"))
        elif kind == 2:
            texts.append(code.decode("utf-16-le", "surrogatepass" if given.flag() else "ignore"))
        else:
            points = np.frombuffer(code[: len(code) // 4 * 4], "<u4") % 0x110000
            texts.append("".join(map(chr, points)))
    return texts


def made(hasher, texts):
    signatures = hasher.signatures(texts)
    return signatures, band_keys(signatures, PARAMS, threads=1)


def one_input(data):
    given = Chosen(data)
    shingler = shingler_of(given)
    scheme = given.one(["affine32", "fss"])
    num_perm = given.one([12, 13, 64, 128])
    try:
        texts = texts_of(given)
    except UnicodeDecodeError:
        return
    hasher = MinHasher(num_perm, shingler=shingler, scheme=scheme, threads=1)
    forms = {"str": texts}
    try:
        forms["bytes"] = [text.encode() for text in texts]
    except UnicodeEncodeError:
        forms.pop("bytes", None)  # lone surrogates
    if pa and "bytes" in forms:
        forms["arrow"] = pa.array(texts, pa.string())
        forms["view"] = pa.array(texts, pa.string_view())
    expected = None
    for isa, loops in BUILDS.items():
        _kernels.use_loops(loops)
        for name, form in forms.items():
            found = made(hasher, form)
            expected = expected or found
            for one, other in zip(expected, found, strict=True):
                assert np.array_equal(one, other), (isa, name)
        if texts:
            i = len(data) % len(texts)  # all of them take several times as long
            hashes = shingler.hashes(texts[i])
            again = hasher.from_hashes(hashes, [0, len(hashes)])[0]
            assert np.array_equal(again, expected[0][i]), (isa, "from hashes")
            assert np.array_equal(made(hasher, [texts[i]])[0][0], expected[0][i]), "alone"
