"""The search by containment from files to files: as in memory, however long the documents are."""

import random
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from combinations import every
from fastlsh import InputError, Shingler, deduplicate_files
from fastlsh.files.disk import link
from in_stages import both_engines
from killed_runs import stopped_in
from shards import small_budget, write_shards
from strategies import few_letters, share

pytest.importorskip("pyarrow")  # which compresses the texts of a run on disk

BY = {"rule": "contained", "search": "containment"}
LETTERS = "abcdefghijklmnopqrstuvwxyz     "


@st.composite
def collections(draw):
    """Texts and passages of them, up to 32 times as short; a few are changed, empty or copies."""
    rng = random.Random(draw(st.integers(0, 10**6)))
    letters = draw(st.sampled_from(["ab ", LETTERS, "aé𝔘 "]))
    texts = [
        "".join(rng.choices(letters, k=rng.randrange(1, 400))) for _ in range(rng.randrange(6))
    ]
    for _ in range(rng.randrange(40) if texts else 0):
        text = rng.choice(texts) or ""
        size = max(int(len(text) / rng.uniform(1, 32)), 1)
        start = rng.randrange(len(text) - min(size, len(text)) + 1)
        text = text[start : start + size]
        if rng.random() < 0.2:
            text = "x".join(text.split(" "))
        texts.append(rng.choice([text, text, text, text, None, ""]))
    rng.shuffle(texts)
    return texts


def rows(texts):
    return [{"id": f"d{n}", "text": text, "score": n % 5} for n, text in enumerate(texts)]


def both(folder, inputs, **keywords):
    """Run both engines; return all that both have written."""
    tables = "removed.tsv", "clusters.jsonl"
    return both_engines(deduplicate_files, folder, inputs, "kept.jsonl", *tables, **keywords)[1]


@few_letters
@share(6)
@given(
    collections(), st.sampled_from([1.0, 0.9, 0.6]), st.sampled_from(["first", "longest"]),
    st.sampled_from([1, 1000]), st.sampled_from([1, 3, 9]), st.booleans(),
)  # fmt: skip
def test_memory_and_disk(tmp_path_factory, texts, containment, keep, most, size, narrow_ranges):
    tmp_path = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        small_budget(patch, segment=7, rows=4 if narrow_ranges else 100, part=3)
        inputs = write_shards(tmp_path, rows(texts), 2)
        keywords = {
            **BY, "containment": containment, "keep": keep, "max_candidates": most, "num_perm": 32,
            "recall": 0.5, "shingler": Shingler(size=size),
        }  # fmt: skip
        both(tmp_path, inputs, **keywords)


def passages(n, ratios, length, seed=0):
    """Return n long texts, and of each a passage for each ratio of the sets of shingles."""
    draw = random.Random(seed)
    texts = ["".join(draw.choices(LETTERS, k=length)) for _ in range(n)]
    for number in range(n):
        for ratio in ratios:
            size = int((length - 8) / ratio) + 8
            start = draw.randrange(length - size + 1)
            texts.append(texts[number][start : start + size])
    return texts


@pytest.mark.exhaustive
@pytest.mark.parametrize("links", every(2, [3, 40]))
def test_a_run_that_ends_while_it_links(tmp_path, monkeypatch, links):
    """It goes on with another memory; a changed minimum is an error that names the file."""
    monkeypatch.setattr(link, "EVERY", 0)
    inputs = write_shards(tmp_path, rows(passages(6, (1.5, 6, 20), 600)), 3)
    keywords = {**BY, "keep": "longest", "num_perm": 32, "recall": 0.5}
    run = partial(deduplicate_files, inputs, **keywords, engine="disk", work=tmp_path / "work")
    expected = both(tmp_path, inputs, **keywords)["kept.jsonl"]
    output = tmp_path / "kept.jsonl"
    with monkeypatch.context() as patch:
        small_budget(patch)
        stopped_in(patch, link, "_unite", links, run, output)
    path = sorted((tmp_path / "work").glob("segment-*/keys.npy"))[0]
    code = path.read_bytes()
    path.write_bytes(code[:-1] + bytes([code[-1] ^ 1]))  # of the step of a size
    with pytest.raises(InputError, match=r"keys\.npy: the file is damaged"):
        run(output)
    path.write_bytes(code)
    small_budget(monkeypatch, rows=1000)
    run(output)
    assert output.read_bytes() == expected
