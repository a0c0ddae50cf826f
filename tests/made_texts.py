"""Small random collections: texts that are alike, and everything that a column may have."""

import random

WORDS = ["the", "quick", "brown", "fox", "jumps", "über", "𝒳𝒴", "a", "\0", "\u2028", "狐"]


def odd_texts(seed):
    """Return texts, many of them alike: with nulls, empty ones, long ones, or none at all."""
    generator = random.Random(seed)
    base = [" ".join(generator.choices(WORDS, k=generator.randrange(25))) for _ in range(12)]
    texts = []
    for _ in range(generator.choice([0, 1, 2, 5, 40])):
        text = generator.choice(base)
        if generator.random() < 0.5:
            text += generator.choice(WORDS)
        long = text * generator.randrange(300)
        texts += generator.choices([text, None, "", long], [16, 2, 2, 1])
    return texts


def made(n, seed=0, families=None):
    """Return n texts: variants of some, the same ones, empty ones and None."""
    draw = random.Random(seed)
    families = families or n // 6 + 1
    originals = [
        "".join(draw.choice("abcdefghij äß漢") for _ in range(draw.randint(20, 150)))
        for _ in range(families)
    ]
    texts = []
    for _ in range(n):
        text = draw.choice(originals)
        kind = draw.random()
        if kind < 0.05:
            text = draw.choice(["", None, "x"])
        elif kind < 0.8:
            for _ in range(draw.randint(0, 3)):
                place = draw.randrange(len(text))
                text = text[:place] + draw.choice(["k", "l", "", "mn"]) + text[place + 1 :]
        texts.append(text)
    return texts
