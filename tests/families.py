"""Collections that are one large family, or hold one: equal texts, a template, a chain."""

import json
import random
from itertools import chain as joined

LETTERS = "etaoinshrdlcumwfgypbvkjxqz"
LINKED = 6
"""Percent of a text that the next one of a chain does not have."""


def writer(seed):
    """Return a function that makes a text of so many characters."""
    draw = random.Random(seed)
    words = ["".join(draw.choices(LETTERS, k=draw.randrange(2, 10))) for _ in range(5_000)]
    return lambda length: " ".join(draw.choices(words, k=length // 3 + 1))[:length]


def identical(count, length):
    """Yield the same text again and again."""
    text = writer(1)(length)
    yield from (text for _ in range(count))


def chain(count, length):
    """Yield texts that are each a window of one long text, a little further on each time."""
    step = length * LINKED // 100
    text = writer(2)(length + count * step)
    yield from (text[i * step : i * step + length] for i in range(count))


def half(count, length):
    """Yield a chain, and after each of its documents one that is like no other."""
    other = writer(3)
    yield from joined.from_iterable((text, other(length)) for text in chain(count // 2, length))


def template(count, length):
    """Yield texts that share all but a few words."""
    draw, own = random.Random(4), length * 44 // 300
    shared = writer(4)(length - own)
    yield from (shared + "".join(draw.choices(LETTERS, k=own)) for _ in range(count))


def write(path, texts):
    """Write the texts as JSON lines."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps({"id": i, "text": t}) + "\n" for i, t in enumerate(texts))
    return path
