"""Texts that are hard on the search for passages."""


def fibonacci(n, a, b):
    """Return the word that repeats at every scale and has no period."""
    before, word = b, a
    while len(word) < n:
        before, word = word, word + before
    return word[:n]


def hostile_text(draw, base):
    """Return stretches that select many keys, share parts, or have a period at some scale."""
    letters = draw.choice(["ab", "a", "abcdef", "aé☃😀", "01 "])
    parts = []
    for _ in range(draw.randrange(5)):
        n, begin, run = draw.randrange(1, 120), draw.randrange(len(base)), draw.randrange(1, 30)
        some = draw.choices(letters, k=draw.randrange(1, 12))
        broken = (some * n)[:n]
        broken[draw.randrange(len(broken))] = "#"
        parts.append(
            draw.choice([
                fibonacci(n, *draw.sample("abcd", 2)),
                "".join("ab"[i.bit_count() % 2] for i in range(n)),
                draw.choice(letters) * n,
                ("".join(some) * n)[:n],
                "".join(broken),
                base[begin : begin + n],
                "".join(draw.choices(letters, k=n)),
                "".join(draw.choice(letters) * run + draw.choice("xyz") for _ in range(n // run)),
            ])
        )  # fmt: skip
    return "".join(parts)


HANGUL, LATIN = "가간각간", "ﬁﬂfil½12⁄㎏kg"

SPLITTING = {
    "accents": ({"strip_accents": True}, HANGUL + "éea "),
    "NFD": ({"unicode_form": "NFD"}, HANGUL + "ée\u0301a "),
    "NFKC": ({"unicode_form": "NFKC"}, LATIN + "a "),
    "lowercase": ({"lowercase": True}, "İi\u0307Aa "),
    "none": ({}, "éèe☃☂😀😁a "),
    "white space": ({"unicode_form": "NFKC", "remove_whitespace": True}, LATIN + "a \n"),
}
"""Steps of a shingler, and letters that they make several units of, beside the units."""


def alike_in_part(draw, letters):
    """Return texts whose common stretches begin and end within characters."""
    parts = ["".join(draw.choices(letters, k=draw.randrange(1, 9))) for _ in range(4)]
    return [
        "".join(draw.choice([*parts, draw.choice(letters)]) for _ in range(draw.randrange(12)))
        for _ in range(draw.randrange(2, 7))
    ]
