"""Small random collections with everything in them that a column of texts may have."""

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
