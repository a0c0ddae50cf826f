"""The compiled modules of kernels, but those of the instruction sets, and all that they define."""

import importlib
from types import SimpleNamespace

MODULES = [
    importlib.import_module(f"fastlsh._kernels.{name}")
    for name in (
        "common._common", "rows._rows", "text._texts", "text._plans", "text._normal",
        "minhash._signatures", "candidates._candidates", "sets._sets", "index._index",
        "compat._compat", "passages._passages",
    )
]  # fmt: skip


def names_of(module):
    return [name for name in vars(module) if not name.startswith("_")]


KERNELS = SimpleNamespace(**{name: getattr(m, name) for m in MODULES for name in names_of(m)})


def module_of(name):
    """Return the module that defines a kernel."""
    (found,) = (
        module
        for module in MODULES
        if getattr(getattr(module, name, None), "__module__", None) == module.__name__
    )
    return found
