"""Random requests: Spark finds what memory finds, or refuses a request in the same words.

The options are drawn from the table of options; see tests/files/test_differential.py.
"""

import inspect
import random

import pytest

import fastlsh
from combinations import drawn, seeds
from fastlsh import Shingler
from fastlsh.integrations.spark import near_duplicates, proofs
from fastlsh.options import options_of
from made_texts import made
from spark_collections import divided, expected_proofs

SHEET = [text[:60] for seed in range(9) for text in made(6, seed) if text]
"""Texts to ignore: parts of some documents of the first requests."""
VALUES = {
    "ignore": [SHEET, ["abcdefghij äß漢"]],
    "threshold": [0.4, 0.5, 0.6, 0.7, 0.8], "num_perm": [16, 32, 64, 128], "bands": [4, 8],
    "rows": [2, 4], "max_pairs": [10**6], "max_candidates": [1, 5, 1000], "size": [2, 3, 5],
    "also": ["title"], "also_threshold": [0.2, 0.5], "priority": ["score"],
    "unit": ["char", "word", "byte"], "recall": [0.5, 0.9, 0.98], "words": ["unicode"],
}  # fmt: skip
OF_ONE_SIDE = {"threads", "count", "source", "text", "id", "key", "stop_words", "vocabulary"}
OF_ONE_SIDE |= {"ignore_common"}
"""Options of the files and the columns, which the functions for texts do not have, and what Spark
refuses."""
JOBS = {"dedup": (proofs, fastlsh.deduplicate), "pairs": (near_duplicates, fastlsh.near_duplicates)}


def request_of(draw, command):
    """Return keyword arguments that both functions of a command take, with names of columns."""
    both = [{*inspect.signature(function).parameters} for function in JOBS[command]]
    names = (both[0] & both[1]) - OF_ONE_SIDE
    table = [o for o in options_of(command) if o.name in names or o.use == "shingler"]
    table = [option for option in table if option.name not in OF_ONE_SIDE]
    keywords, steps = {}, {}
    for option in draw.sample(table, draw.randrange(6)):
        if option.kind.name == "flag":
            value = option.kind.value
        else:
            value = drawn(draw, option, VALUES, ["lang", "score"])
        (steps if option.use == "shingler" else keywords)[option.name] = value
    if steps.get("words"):
        steps["unit"] = "word"
    return keywords, steps


def answer(work):
    """Return the rows of an answer, None for NaN, or the text of the error."""
    try:
        return [tuple(None if value != value else value for value in row) for row in work()]
    except (TypeError, ValueError) as error:
        return str(error)


@pytest.mark.filterwarnings("ignore::fastlsh.RecallWarning")
@pytest.mark.parametrize("seed", seeds([], 8))
def test_spark_finds_what_memory_finds(spark, seed):
    draw = random.Random(seed)
    command = draw.choice([*JOBS])
    n = draw.choice([20, 60, 120])
    texts = made(n, seed)
    columns = {
        "lang": [draw.choice(["a", "b", None]) for _ in range(n)],
        "score": [draw.choice([1, 2, 5, None]) for _ in range(n)],
        "title": [draw.choice([*made(4, seed), None]) for _ in range(n)],
    }
    keywords, steps = request_of(draw, command)
    n_against = draw.choice([0, n // 4]) if keywords.pop("against", None) else 0
    df = divided(spark, {"id": range(n), "text": texts, **columns}, seed, draw.randint(1, 3))
    of_columns = {
        name: columns[value]
        for name, value in keywords.items()
        if isinstance(value, str) and value in columns
    }
    in_spark, in_memory = JOBS[command]

    def by_spark():
        shingler = Shingler(**steps)
        options = {**keywords, "shingler": shingler}
        if n_against:
            options["against"] = df.where(f"id < {n_against}")
        rows = in_spark(df.where(f"id >= {n_against}"), **options).collect()
        return sorted(map(tuple, rows))

    def by_memory():
        ours = {name: values[n_against:] for name, values in of_columns.items()}
        options = {**keywords, **ours, "shingler": Shingler(**steps)}
        if n_against:
            options["against"] = texts[:n_against]
            for name in {"within", "also"} & of_columns.keys():
                options[f"against_{name}"] = of_columns[name][:n_against]
        found = in_memory(texts[n_against:], **options)
        if command == "pairs":
            rows, second = [*found], found.also_similarity
            if second is not None:
                rows = [(*row, similarity) for row, similarity in zip(rows, second, strict=True)]
            return sorted(map(tuple, rows))
        ids = [range(n_against, n)] + [range(n_against)] * bool(n_against)
        return expected_proofs(found, *ids)

    assert answer(by_spark) == answer(by_memory), (command, keywords, steps)
