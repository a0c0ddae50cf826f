"""Structures of Arrow's C data interface, right ones and wrong ones, and who hands them out."""

import ctypes

import numpy as np

P = ctypes.POINTER


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64), ("children", P(P(Schema))),
    ("dictionary", P(Schema)), ("release", RELEASE), ("private_data", ctypes.c_void_p),
]  # fmt: skip
Array._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64), ("buffers", P(ctypes.c_void_p)),
    ("children", P(P(Array))), ("dictionary", P(Array)), ("release", RELEASE),
    ("private_data", ctypes.c_void_p),
]  # fmt: skip
Stream._fields_ = [
    ("get_schema", ctypes.c_void_p), ("get_next", ctypes.c_void_p),
    ("get_last_error", ctypes.c_void_p), ("release", RELEASE), ("private_data", ctypes.c_void_p),
]  # fmt: skip
IGNORED = RELEASE(lambda _: None)

capsule_of = ctypes.pythonapi.PyCapsule_New
capsule_of.restype = ctypes.py_object
capsule_of.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def pointers(items, kind):
    """Return a C array of pointers to structures; None is NULL."""
    return (P(kind) * max(len(items), 1))(*(ctypes.pointer(i) if i else P(kind)() for i in items))


def schema(form, *children, dictionary=None, **fields):
    made = Schema(format=form, name=b"text", n_children=len(children), release=IGNORED)
    if children:
        made.children = pointers(children, Schema)
    if dictionary:
        made.dictionary = ctypes.pointer(dictionary)
    return changed(made, fields)


def array(rows, *buffers, children=(), dictionary=None, **fields):
    """Return an array; a buffer is a numpy array, bytes or None."""
    kept = [np.frombuffer(b, np.uint8) if isinstance(b, bytes) else b for b in buffers]
    addresses = [None if b is None else b.ctypes.data for b in kept]
    made = Array(length=rows, n_buffers=len(kept), n_children=len(children), release=IGNORED)
    made.buffers = (ctypes.c_void_p * max(len(kept), 1))(*addresses)
    made.kept = kept
    if children:
        made.children = pointers(children, Array)
    if dictionary:
        made.dictionary = ctypes.pointer(dictionary)
    return changed(made, fields)


def changed(made, fields):
    for name, value in fields.items():
        setattr(made, name, dict(type(made)._fields_)[name]() if value is None else value)
    return made


class Producer:
    """An object that hands out the structures it was given."""

    def __init__(self, schema, array):
        self.schema, self.array = schema, array

    def __arrow_c_array__(self, requested_schema=None):
        return (
            capsule_of(ctypes.addressof(self.schema), b"arrow_schema", None),
            capsule_of(ctypes.addressof(self.array), b"arrow_array", None),
        )


class StreamProducer:
    def __init__(self, stream):
        self.stream = stream

    def __arrow_c_stream__(self, requested_schema=None):
        return capsule_of(ctypes.addressof(self.stream), b"arrow_array_stream", None)
