"""Work directories: a run goes on to the right answer, or an error says why not; never a crash.

The input says which file of a finished run is changed, or is shorter, and where.
"""

import json
import shutil

from chosen import Chosen, folder

from fastlsh import deduplicate_files

FOLDER = folder()
INPUT, OUTPUT, WORK, SOUND = (FOLDER / name for name in ("a.jsonl", "out.jsonl", "work", "sound"))
TEXTS = ["the quick brown fox jumps", "the quick brown fox jumped", "over it", "over it", "", "dog"]
HOW = {"inputs": [INPUT], "output": OUTPUT, "threshold": 0.5, "engine": "disk", "work": WORK,
       "keep_work": True, "threads": 1, "num_perm": 16, "bands": 8, "rows": 2}  # fmt: skip


def prepare():
    INPUT.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS * 3))
    deduplicate_files(**HOW)
    WORK.rename(SOUND)
    return sorted(path.relative_to(SOUND) for path in SOUND.rglob("*") if path.is_file())


FILES = prepare()
RIGHT = OUTPUT.read_bytes()


def one_input(data):
    given = Chosen(data)
    shutil.rmtree(WORK, ignore_errors=True)
    shutil.copytree(SOUND, WORK, copy_function=shutil.copyfile)
    for _ in range(1 + given.number(3)):
        path = WORK / given.one(FILES)
        code = bytearray(path.read_bytes())
        if given.number(4) == 3:
            del code[given.number(len(code) + 1) :]
        elif code:
            place = given.number(len(code))
            width = given.one([1, 2, 4, 8])
            code[place : place + width] = given.bytes(width).ljust(width, b"\xff")
        path.write_bytes(code)
    OUTPUT.unlink()
    OUTPUT.touch()
    try:
        deduplicate_files(**HOW)
    except (ValueError, OSError) as error:
        assert str(error), type(error)
