"""Writes 1,000 invented news stories, ten of which are corrected versions of others.

The first of these differs from its original in one sentence, and the last one in five.

    python examples/stories.py [FOLDER]

`stories.tsv` has one story per line, `ID<TAB>text`, and `stories.truth.tsv` the ids of the ten
pairs. Every run writes the same bytes.
"""

import random
import sys
from pathlib import Path

STORIES, PLANTED = 1000, 10


def phrases(listed):
    return [phrase.strip() for phrase in listed.replace("\n", " ").split(";")]


WHO = phrases("""
minister; mayor; farmers; court; police; hospital; union; airline; museum; school; bank;
weather-service; fishermen; engineers; parliament; teachers; president; railway; insurer;
brewery; theatre; council; coastguard; regulator; shipyard; university; orchestra; publisher;
bakery; refinery
""")
WHAT = phrases("""
agreed to; promised to publish; has rejected; postponed; is investigating; asked for; warned of;
celebrated; will vote on; criticised; welcomed; confirmed; denied; cut the price of; doubled;
inspected; lost; won; repaired; sold
""")
THING = phrases("""
a new bridge; higher wages; the harbour plan; lower taxes; the flood report; a school reform;
its oldest ferry; cheaper electricity; the water contract; a record harvest; the election
result; an exhibition; the tunnel; a night train; the budget; longer opening hours; a forest
fire; the rescue boat; its glass roof; the cup final; two vaccines; a steel order; the old
market hall; its pension fund; a comet; the border crossing; a wind farm; fresh negotiations;
the printing works; a bicycle lane
""")
WHEN = phrases("""
on Monday; on Tuesday; on Friday; last night; after long talks; despite protests; in a letter;
without giving reasons; before the holidays; at noon; for the third time; by a narrow majority;
according to witnesses; in heavy rain; this winter; since the spring
""")
SYLLABLES = phrases("""
ba; bel; dor; fen; gar; hol; is; ka; lun; mor; nav; os; pel; quin; ras; sul; tor; ul; ven; wick;
yar; zem; thu; gri; lo; pas; min; ter; ron; fis; cor; bu; jal; wen; xi; ple; oss; ant; ear; ill
""")


def name(draw):
    """Return the name of a place or of a person."""
    return "".join(draw.sample(SYLLABLES, draw.randrange(2, 5))).capitalize()


def sentence(draw):
    """Return who did what, when, and who said so."""
    return (
        f"The {draw.choice(WHO)} of {name(draw)} {draw.choice(WHAT)} {draw.choice(THING)} "
        f"{draw.choice(WHEN)}, {name(draw)} {name(draw)} of the {name(draw)} {name(draw)} said."
    )


def stories():
    """Return (id, text) of each story in the order of the feed, and the planted pairs of ids."""
    draw = random.Random(1000)
    originals = [
        " ".join(sentence(draw) for _ in range(draw.randrange(6, 12)))
        for _ in range(STORIES - PLANTED)
    ]
    order = list(enumerate(originals))
    for i in range(PLANTED):
        original = 99 * i
        parts = originals[original].split(" said.", 1 + i // 2)
        corrected = parts[0] + "".join(f" in {name(draw)} said.{part}" for part in parts[1:])
        order.append((original, corrected))
    draw.shuffle(order)
    feed = [(f"s{number:04}", text) for number, (_, text) in enumerate(order, 1)]
    ids = {}
    for (story, _), (n, _) in zip(feed, order, strict=True):
        ids.setdefault(n, []).append(story)
    return feed, sorted(tuple(both) for both in ids.values() if len(both) == 2)


def main(folder="."):
    feed, planted = stories()
    for name, rows in [("stories.tsv", feed), ("stories.truth.tsv", planted)]:
        lines = "".join("\t".join(row) + "\n" for row in rows)
        Path(folder, name).write_bytes(lines.encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
