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
