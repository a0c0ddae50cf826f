"""Training files with evaluation items in them."""

import random

WORDS = [f"{a}{b}" for a in "bcdfgklmnprst" for b in ("a", "e", "io", "ün", "öx☃")]


def sentence(draw, n):
    return " ".join(draw.choices(WORDS, k=n))


def collection(seed, n=120):
    """Return rows, some with items, and the items with two fields."""
    draw = random.Random(seed)
    items = [
        {"id": f"q{k}", "question": sentence(draw, draw.randrange(3, 40)), "answer": "yes it is"}
        for k in range(12)
    ]
    rows = []
    for number in range(n):
        text = sentence(draw, draw.randrange(60))
        if number % 7 == 0:
            whole = draw.choice(items)["question"].upper().split()
            text += "\n" + ",\n".join(whole[draw.randrange(2) :]) + ". " + sentence(draw, 20)
        rows.append({"id": f"d{number}", "text": text if number % 11 else None, "n": number})
    return rows, items
