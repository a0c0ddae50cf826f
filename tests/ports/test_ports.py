"""Ports, written from docs/signature-spec.md alone: does the page suffice for the same bits?

They were written without a look at fastlsh or its oracles. What a case is, and what they make of
it, is at the top of signature.c.
"""

import itertools
import json
import random
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import golden_cases
from fastlsh import (
    LSHParams,
    MinHasher,
    Shingler,
    TokenIds,
    band_keys,
    deduplicate,
    pack_signatures,
)
from required import missing

HERE = Path(__file__).parent
STEPS = json.loads((HERE.parent / "golden_steps.json").read_text(encoding="ascii"))
FEW = {"num_perm": 16, "seed": 1, "bands": 4, "rows": 4, "bits": 4}

# What can be asked for in one text of ASCII, and nothing of all of them.
CHOICES = [
    [{}, {"unicode_form": "NFKC"}],
    [{}, {"lowercase": True}],
    [{}, {"numbers": "0"}],
    [
        {}, {"punctuation": "space"}, {"punctuation": "remove"},
        {"punctuation": "space", "punctuation_characters": "a.0é"},
    ],
    [{}, {"strip_accents": True}],
    [{}, {"remove_whitespace": True}, {"collapse_whitespace": True}],
]  # fmt: skip
CUTS = [{}, *({"words": f"{kind}alphanumeric"} for kind in ("", "ascii_"))]
CUTS += [{**cut, "empty_words": True} for cut in CUTS[1:]] + [{"words": "unicode"}]
WITHOUT_TABLES = {
    "remove_whitespace", "collapse_whitespace", "punctuation", "punctuation_characters",
}  # fmt: skip
RESULTS = {"hashes", "signature", "keys"}


def compiled(folder):
    """Return the command that runs the port to C99."""
    compiler = next(filter(shutil.which, ("gcc", "cc", "clang")), None)
    if compiler is None:
        missing("ports", "no C compiler is in the PATH (apt-get install gcc libc6-dev)")
    binary = folder / "signature.exe"
    flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-pedantic"]
    made = subprocess.run(
        [compiler, *flags, "-o", binary, HERE / "signature.c"], capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    return [binary]


def interpreted(_):
    """Return the command that runs the port to JavaScript."""
    if shutil.which("node") is None:
        missing("ports", "node is not in the PATH (apt-get install nodejs)")
    return [shutil.which("node"), HERE / "signature.js"]


def runner(command):
    """Return a function from lines to lines."""

    def run(lines):
        asked = "".join(f"{line}\n" for line in lines)
        done = subprocess.run(command, input=asked, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        answers = done.stdout.splitlines()
        assert len(answers) == len(lines)
        return answers

    run.command = command
    return run


@pytest.fixture(scope="module", params=[compiled, interpreted], ids=["C99", "JavaScript"])
def port(request, tmp_path_factory):
    return runner(request.param(tmp_path_factory.mktemp("port")))


@pytest.fixture(scope="module")
def javascript():
    """Return the port that has section 7, too: C99 has no room for it in 300 lines."""
    return runner(interpreted(None))


def field(items):
    return ",".join(items) or "-"


def codes(text):
    return field(f"{ord(character):x}" for character in text)


def line(text, unit, size, *, num_perm, seed, bands, rows, bits=8, scheme="affine32", **options):
    """Return a case; `text` is a str, or the elements of a set."""
    numbers = [size, num_perm, seed, bands, rows, bits]
    named = (
        name if value is True else f"{name}={value}"
        for name, value in options.items()
        if name != "punctuation_characters"
    )
    own = codes(options.get("punctuation_characters", ""))
    content = codes(text) if isinstance(text, str) else field(f"{number:x}" for number in text)
    return " ".join([scheme, unit, *map(str, numbers), field(named), own, content])


def hexadecimal(numbers, digits):
    return field(f"{number:0{digits}x}" for number in numbers)


def answer(shown, hashes, signature, params, bits):
    """Return the line that a port should print, with the keys and packed row of fastlsh."""
    keys = band_keys(signature, LSHParams(params["bands"], params["rows"]))[:, 0]
    row = pack_signatures(signature, bits)[0]
    numbers = [hexadecimal(hashes, 16), field(map(str, signature[0].tolist()))]
    return " ".join([shown, *numbers, hexadecimal(keys.tolist(), 16), hexadecimal(row.tolist(), 2)])


def by_fastlsh(text, unit, size, *, bits, scheme="affine32", num_perm, seed, **more):
    """Return what fastlsh makes of a case, as a port prints it."""
    params = {name: more.pop(name) for name in ("bands", "rows")}
    shingler = Shingler(unit, size, **more)
    steps = {name: value for name, value in more.items() if "words" not in name}
    shown = "".join(Shingler("char", 1, **steps).shingles(text))
    hasher = MinHasher(num_perm, seed=seed, shingler=shingler, scheme=scheme)
    hashes = shingler.hashes(text).tolist()
    return answer(codes(shown), hashes, hasher.signatures([text]), params, bits)


def compare(port, cases):
    """Assert that a port and fastlsh make the same of cases."""
    answers = port([line(*given, **options) for given, options in cases])
    for (given, options), found in zip(cases, answers, strict=True):
        assert found == by_fastlsh(*given, **options), (given, options)


@pytest.mark.parametrize("name", ["signature.c", "signature.js"])
def test_few_lines(name):
    assert len((HERE / name).read_text(encoding="ascii").splitlines()) < 300


def test_the_numbers_that_never_change(port):
    golden = golden_cases.cases("golden.json")
    asked = [{key: case[key] for key in case.keys() - RESULTS} for case in golden]
    answers = [found.split() for found in port([line(**case) for case in asked])]
    for case, (shown, hashes, signature, keys, _packed) in zip(golden, answers, strict=True):
        assert shown == codes(case["text"])
        assert hashes == field(case["hashes"]), case
        assert signature == field(map(str, case["signature"])), case
        assert keys == field(case["keys"]), case


def test_the_steps_that_never_change(port):
    # All texts of the steps that need no tables of Unicode; of the others those in ASCII.
    cases = [
        ({**FEW, **group["steps"]}, before, after)
        for group in STEPS["steps"]
        for before, after in zip(STEPS["texts"], group["texts"], strict=True)
        if before.isascii() or needs_no_tables(group["steps"])
    ]
    assert sum(not before.isascii() for _, before, _ in cases) >= 9
    answers = port([line(before, "char", 9, **options) for options, before, _ in cases])
    for (options, _, after), found in zip(cases, answers, strict=True):
        assert found.split()[0] == codes(after), options


def needs_no_tables(steps):
    own = "punctuation" not in steps or "punctuation_characters" in steps
    return own and set(steps) <= WITHOUT_TABLES


@pytest.mark.exhaustive
def test_every_choice_of_steps_on_all_of_ascii(port):
    everything = "".join(map(chr, range(128)))
    numbers = " A rose, 1,234.56; 7. ,8 9.,1 10.x_1\t\n1.2.3 \x1f\x1c -- End "
    cases = []
    for choice in itertools.product(*CHOICES):
        options = {name: value for step in choice for name, value in step.items()}
        cases += [((text, "char", 5), {**FEW, **options}) for text in (everything, numbers)]
    compare(port, cases)


@pytest.mark.exhaustive
def test_random_texts_of_ascii(port):
    draw = random.Random(16)
    cases = []
    for _ in range(200):
        text = "".join(draw.choices("aB1.,- _\t\n\x00Zz'", k=draw.choice([0, 1, 2, 9, 40, 200])))
        unit = draw.choice(["char", "byte", "word", "word"])
        options = dict(FEW, bits=draw.choice([4, 8]), seed=draw.choice([0, 1, 7, 2**32 - 1]))
        options["scheme"] = draw.choice(["affine32", "fss"])
        for steps in CHOICES:
            options |= draw.choice(steps)
        if unit == "word":
            options |= draw.choice(CUTS)
            options.pop("remove_whitespace", None)  # which fastlsh refuses there
        cases.append(((text, unit, draw.choice([1, 2, 3, 9])), options))
    compare(port, cases)


def test_texts_of_every_script(port):
    draw = random.Random(5)
    letters = (
        "aé\u0301中😀\ud800\udc00\udfff\U0010ffff\u00a0\u1680\u2003\u2029\u3000\x85\x1f.\u200b"
    )
    cases = []
    for unit in ("char", "byte", "word"):
        cuts = [cut for cut in CUTS if cut.get("words") not in ("alphanumeric", "unicode")]
        for _ in range(50):
            text = "".join(draw.choices(letters, k=draw.choice([1, 2, 9, 60])))
            options = {**FEW, **draw.choice([{}, {"collapse_whitespace": True}])}
            options |= draw.choice(cuts) if unit == "word" else {}
            if draw.random() < 0.5:
                options |= {"punctuation": "remove", "punctuation_characters": ".中\ud800"}
            cases.append(((text, unit, draw.choice([1, 3, 9])), options))
    compare(port, cases)


@pytest.mark.parametrize(("num_perm", "bits"), [(64, 1), (67, 1), (129, 2), (17, 4), (1000, 8)])
@pytest.mark.parametrize("scheme", ["affine32", "fss"])
def test_elements_that_are_numbers(port, num_perm, bits, scheme):
    draw = random.Random(num_perm + bits)
    options = {"num_perm": num_perm, "seed": bits, "bands": 3, "rows": 5, "bits": bits}
    hasher = MinHasher(num_perm, seed=bits, scheme=scheme)
    sets = [[], [0], [1, 2**32 - 1, 2**32, 2**64 - 1]]
    sets += [[draw.getrandbits(64) for _ in range(size)] for size in (3, 40, 300)]
    answers = port([line(elements, "element", 1, scheme=scheme, **options) for elements in sets])
    for elements, found in zip(sets, answers, strict=True):
        ordered = sorted(elements)
        signature = hasher.from_hashes(np.array(ordered, np.uint64), np.array([0, len(ordered)]))
        shown = hexadecimal(elements, 1)
        assert found == answer(shown, ordered, signature, options, bits)


def test_token_ids_are_words_of_their_decimal_digits(port):
    ids = [0, 7, 50256, 2**31, 2**64 - 1, 7, 0, 0, 12]
    documents = TokenIds(np.array(ids, np.uint64), np.array([0, len(ids)]))
    hasher = MinHasher(16, shingler=Shingler("token", 3))
    (found,) = port([line(" ".join(map(str, ids)), "word", 3, **FEW)])
    signature = hasher.signatures(documents)[0].tolist()
    assert found.split()[2] == field(map(str, signature))


def test_ignored_texts(javascript):
    draw = random.Random(11)
    for case in range(60):
        sheets = ["".join(draw.choices("ab. ", k=draw.choice([1, 5, 40]))) for _ in range(2)]
        text = sheets[0][draw.randrange(9) :] + "".join(draw.choices("abc ", k=draw.randrange(30)))
        unit, size = draw.choice(["char", "byte", "word"]), draw.choice([1, 2, 3])
        more = {"collapse_whitespace": True} if case % 2 else {}
        shingler = Shingler(unit, size, **more).ignoring(sheets)
        asked = line(text, unit, size, **FEW, **more).split(" ")
        named = [f"ignore={codes(sheet).replace(',', '.')}" for sheet in sheets]
        asked[8] = ",".join([*named, *more])
        shown = "".join(Shingler("char", 1, **more).shingles(text))
        hashes = shingler.hashes(text).tolist()
        signature = MinHasher(16, shingler=shingler).signatures([text])
        (found,) = javascript([" ".join(asked)])
        assert found == answer(codes(shown), hashes, signature, FEW, FEW["bits"])


def test_an_empty_token_is_a_word_of_no_code_point(port):
    # 0 and not the hash of a word, so that the shingle is fmix64 of UNITS alone.
    (found,) = port([line("..", "word", 1, **FEW, words="ascii_alphanumeric", empty_words=True)])
    signature = MinHasher(16).from_tokens([["", b"", ""]])[0].tolist()
    assert found.split()[2] == field(map(str, signature))


def collections():
    """Yield (texts, threshold, how to choose bands).

    First families of all kinds, then crowds of kept documents in one bucket.
    """
    draw = random.Random(7)
    for threshold, choice in [
        (0.3, {"bands": 3, "rows": 2}), (0.5, {"bands": 16, "rows": 1}), (0.8, {"recall": 0.9}),
        (0.8, {"bands": 8, "rows": 2}), (0.95, {"bands": 8, "rows": 1}), (0.6, {"recall": 0.98}),
    ]:  # fmt: skip
        bases = ["".join(draw.choices("abcd ", k=40)) for _ in range(3)]
        texts = [changed(draw, draw.choice(bases), draw.choice([0, 0, 1, 2, 4])) for _ in range(99)]
        yield [text[: draw.choice([40, 40, 38, 3, 0])] for text in texts], threshold, choice
    common = "".join(draw.choices("abcdefghij", k=60))
    kept = [common + "".join(draw.choices("klmnopqrst", k=15)) for _ in range(150)]
    near = [changed(draw, text, 1) for text in kept]
    for bands in (1, 2, 4):
        yield kept + near, 0.85, {"bands": bands, "rows": 1}


def changed(draw, text, times):
    letters = list(text)
    for _ in range(times):
        letters[draw.randrange(len(letters))] = draw.choice("abcde")
    return "".join(letters)


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore::fastlsh.RecallWarning")
def test_decisions(javascript):
    lines, results = [], []
    orders = itertools.cycle(["first", "last", "longest"])
    for (texts, threshold, choice), most in itertools.product(collections(), [2, 1000]):
        keep = next(orders)
        options = {"keep": keep, "max_candidates": most, "num_perm": 32, **choice}
        results.append(deduplicate(texts, threshold, shingler=Shingler("char", 3), **options))
        named = "x".join(map(str, choice.values()))  # the recall, or bands and rows
        fields = ["deduplicate 3 32", str(threshold), named, str(most), keep]
        lines.append(" ".join([*fields, *map(codes, texts)]))
    assert sum(result.limited for result in results) > 500
    for asked, found, result in zip(lines, javascript(lines), results, strict=True):
        pairs = [pair.split(",") for pair in found.split()]
        assert [int(index) for index, _ in pairs] == result.kept_index.tolist(), asked[:60]
        similarity = np.array([float(value) for _, value in pairs])
        assert np.array_equal(similarity[~result.kept], result.similarity[~result.kept])


def test_a_port_refuses_what_it_cannot_know(port):
    words = [{"words": "alphanumeric"}, {"words": "unicode"}]
    for options in [{"lowercase": True}, *words, {"punctuation": "space"}]:
        case = line("é", "word", 1, **FEW, **options)
        done = subprocess.run(port.command, input=f"{case}\n", capture_output=True, text=True)
        assert done.returncode != 0
        assert "tables of Unicode" in done.stderr
