"""Which share of changed copies is found, by script, length and shingles.

    python tests/recall_of_scripts.py

The table is in docs/parameters.md. The texts are made: of random letters of a script, and in
English of random words. One of 80 characters of each text, but at least one, is replaced by another
letter. Random letters share less by chance than real texts, so the table says what is found, and
not what is compared in vain.
"""

import random

import fastlsh
from fastlsh import Shingler

TEXTS = 100
LENGTHS = (40, 320, 2000)
ENOUGH = 0.98
"""The recall of the shingles to take: of those that have it, the longest ones."""

SCRIPTS = {
    "English": [chr(code) for code in range(0x61, 0x7B)],
    "Chinese": [chr(code) for code in range(0x4E00, 0x9000, 7)],
    "Japanese": [chr(code) for code in (*range(0x3042, 0x308F), *range(0x4E00, 0x9000, 97))],
    "Thai": [chr(code) for code in (*range(0x0E01, 0x0E2F), 0x0E31, *range(0x0E34, 0x0E3A))],
}
SHINGLERS = {
    "9 characters": Shingler(),
    "5 characters": Shingler(size=5),
    "3 characters": Shingler(size=3),
    "5 words": Shingler("word", 5),
    '3 words, `words="unicode"`': Shingler("word", 3, words="unicode"),
}


def made(draw, letters, length):
    """Return a text; English words have 2 to 9 letters, other scripts have a comma now and then."""
    text = ""
    while len(text) < length:
        if letters[0] == "a":
            text += "".join(draw.choices(letters, k=draw.randint(2, 9))) + " "
        else:
            text += "".join(draw.choices(letters, k=draw.randint(8, 16))) + "，"
    return text[:length]


def changed(draw, text, letters):
    """Return a copy in which one of 80 characters, but at least one, is another letter."""
    copy = list(text)
    for place in draw.sample(range(len(text)), max(len(text) // 80, 1)):
        copy[place] = draw.choice(letters)
    return "".join(copy)


def recall(script, length, shingler):
    """Return the share of the changed copies that a search at 0.8 finds."""
    draw, letters = random.Random(length), SCRIPTS[script]
    texts = [made(draw, letters, length) for _ in range(TEXTS)]
    copies = [changed(draw, text, letters) for text in texts]
    found = fastlsh.matches(copies, texts, 0.8, shingler=shingler)
    return sum(a == b for a, b in zip(found.document, found.against, strict=True)) / TEXTS


def line(script, length):
    """Return a line of the table: the shingles to take, and what each kind finds."""
    shares = {name: recall(script, length, each) for name, each in SHINGLERS.items()}
    take = next(name for name, share in shares.items() if share >= ENOUGH)
    found = " | ".join(f"{share:.2f}" for share in shares.values())
    return f"| {script}, {length:,} | {take} | {found} |"


def table():
    """Return the lines of the table."""
    head = ["Texts, characters", "take", *SHINGLERS]
    rule = ["---", "---", *["---:"] * len(SHINGLERS)]
    lines = [f"| {' | '.join(cells)} |" for cells in (head, rule)]
    return lines + [line(script, length) for script in SCRIPTS for length in LENGTHS]


if __name__ == "__main__":
    print("\n".join(table()))
