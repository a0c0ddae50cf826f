"""The calls by name, and what is compared of their outcomes."""

import hashlib
import json
import math
import warnings
from functools import partial
from itertools import product

import numpy as np

CALLS = {}


def calls(name, **axes):
    """Register a function of the package for all combinations of arguments.

    Each axis is a dict from labels to arguments, or a list of arguments that label themselves.
    """

    def registered(function):
        assert name not in CALLS, name
        of_name = CALLS[name] = {}
        labelled = [labels_of(axis) for axis in axes.values()]
        for chosen in product(*(axis.items() for axis in labelled)):
            label = ", ".join(label for label, _ in chosen)
            arguments = dict(zip(axes, (value for _, value in chosen), strict=True))
            of_name[label] = partial(function, **arguments)
        assert len(of_name) == math.prod(map(len, axes.values())), name
        return function

    return registered


def labels_of(axis):
    if isinstance(axis, dict):
        return axis
    return {getattr(value, "__name__", repr(value)): value for value in axis}


def outcome(call, package):
    """Return what a call gives: plain values, or the name of the exception."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return plain(call(package))
        except Exception as error:
            kinds = type(error).__mro__
            return next(
                kind.__name__ for kind in kinds if kind.__module__ in ("builtins", "struct")
            )


def digest(found):
    """Return what is recorded of an outcome."""
    if isinstance(found, str):
        return found
    return "=" + hashlib.sha256(json.dumps(found).encode()).hexdigest()[:10]


def plain(value):
    """Return a result as lists that say its type; sets and dicts in order."""
    kind = type(value).__name__
    if isinstance(value, (bool, int, str, type(None))):
        return [value]
    if isinstance(value, float):
        return ["float", repr(float(value))]
    if isinstance(value, (bytes, bytearray)):
        return [kind, bytes(value).hex()]
    if isinstance(value, (np.ndarray, np.generic)):
        return [value.dtype.str, plain(value.tolist())]
    if isinstance(value, (list, tuple)) or kind in ("dict_keys", "generator"):
        return [plain(one) for one in value]
    if isinstance(value, (set, frozenset)):
        return ["set", *sorted((plain(one) for one in value), key=repr)]
    if isinstance(value, dict):
        items = ([plain(key), plain(one)] for key, one in value.items())
        return ["dict", *sorted(items, key=repr)]
    return [kind, *(plain(getattr(value, name, None)) for name in ("seed", "scheme", "hashvalues"))]
