"""Attacks on the functions that everybody knows: they succeed, and with a key they do nothing.

docs/guarantees.md says what the opponent knows: all but the key.
"""

import random

import numpy as np
import pytest

import fastlsh
import oracle
from combinations import larger
from fastlsh import Key, MinHasher, Shingler
from fastlsh.parallel import RunOptions
from fastlsh.sets import all_sets
from fastlsh.texts import as_texts
from oracle_keyed import Keyed

KEYS = [Key(bytes([number]) * 16) for number in range(5)]
NUM_PERM = 128


def thue_morse(length, pair="ab"):
    return "".join(pair[number.bit_count() % 2] for number in range(length))


def complement(text, pair="ab"):
    return text.translate(str.maketrans(pair, pair[::-1]))


# ---- words of Thue and Morse: modulo 2^64 they collide for every odd base and every table


SHINGLERS = {
    "characters": (Shingler("char", 1024), thue_morse(1024), complement(thue_morse(1024))),
    "a word": (Shingler("word", 1), thue_morse(1024), complement(thue_morse(1024))),
    "words": (
        Shingler("word", 1024),
        " ".join(thue_morse(1024)),
        " ".join(complement(thue_morse(1024))),
    ),
}


@pytest.mark.parametrize(("shingler", "left", "right"), SHINGLERS.values(), ids=SHINGLERS)
def test_words_of_thue_and_morse(shingler, left, right):
    assert left != right
    assert fastlsh.jaccard(left, right, shingler) == 1.0
    for key in KEYS:
        keyed = Shingler(shingler.unit, shingler.size, key=key)
        assert fastlsh.jaccard(left, right, keyed) == 0.0
        assert not len(fastlsh.near_duplicates([left, right], shingler=keyed, verify="none"))


@pytest.mark.parametrize("letters", ["ab", "é\xff", "яж", "😀😁"])
@pytest.mark.parametrize("length", [64, 128, 4096])
def test_of_any_letters_and_length(letters, length):
    text = thue_morse(length, letters)
    for key in KEYS:
        for unit, size in (("char", length), ("word", 1)):
            shingler = Shingler(unit, size, key=key)
            both = [shingler.hashes(each).tolist() for each in (text, complement(text, letters))]
            assert both[0] != both[1]


# ---- a search that knows the structure: 2^17 texts whose public hashes agree in 35 bits


BLOCK, BLOCKS = 128, 17


def searched(shingler):
    """Return how many different hashes 2^17 different shingles have."""
    text = thue_morse(BLOCK)
    block = np.array([list(text.encode()), list(complement(text).encode())], np.uint8)
    found = []
    for start in range(0, 2**BLOCKS, 2**12):
        bits = np.arange(start, start + 2**12)[:, None] >> np.arange(BLOCKS) & 1
        texts = [text.tobytes() for text in block[bits].reshape(-1, BLOCK * BLOCKS)]
        hashes, size = all_sets(as_texts(texts), shingler, RunOptions.of(1))
        assert (size == 1).all()
        found.append(hashes)
    return len(np.unique(np.concatenate(found)))


@pytest.mark.exhaustive
def test_a_search_for_collisions():
    shingler = Shingler("char", BLOCK * BLOCKS)
    assert searched(shingler) < 2**BLOCKS
    keyed = Shingler("char", BLOCK * BLOCKS, key=KEYS[0])
    assert searched(keyed) == 2**BLOCKS


# ---- poisoned signatures: a payload of the least values merges strangers


def payload_of(hasher, candidates):
    """Return for each function the candidate with its least value, by the public functions."""
    values = hasher.from_tokens([[each] for each in candidates])
    return sorted({candidates[place] for place in values.argmin(axis=0)})


def strangers(count, words, seed=0):
    """Return texts of so many words that share none."""
    draw = random.Random(seed)
    return [
        [f"{number}-{draw.getrandbits(40):x}-{place}" for place in range(words)]
        for number in range(count)
    ]


def poisoned(words):
    """Return two texts with the payload, and what their similarity is."""
    public = MinHasher(NUM_PERM)
    payload = payload_of(public, [f"{number:x}" for number in range(50_000)])
    assert len(" ".join(payload)) < 1000
    texts = [" ".join(text + payload) for text in strangers(2, words)]
    return texts, len(payload) / (2 * words + len(payload))


@pytest.mark.parametrize("words", larger(500, 2000))
def test_a_payload_merges_strangers_only_without_a_key(words):
    texts, truth = poisoned(words)
    shingler = Shingler("word", 1)

    def estimated(key):
        signatures = MinHasher(NUM_PERM, shingler=shingler, key=key).signatures(texts)
        return fastlsh.estimate_jaccard(signatures, ([0], [1]))[0]

    def merged(key, verify):
        return len(fastlsh.near_duplicates(texts, 0.8, shingler=shingler, verify=verify, key=key))

    assert truth < 0.15
    assert estimated(None) > 0.9
    deviation = np.sqrt(truth * (1 - truth) / NUM_PERM)
    for key in KEYS:
        assert abs(estimated(key) - truth) < 4.2 * deviation
    for verify in ("signature", "none"):
        assert merged(None, verify) == 1
        assert not any(merged(key, verify) for key in KEYS)
    assert merged(None, "exact") == 0  # which sees through it even so


# ---- full buckets: documents that look like another's, in all of its bands, push it out


def impostors(victim, count):
    """Return texts that share the victim's least values and little else."""
    public = MinHasher(NUM_PERM)
    each = public.from_tokens([[word] for word in victim])
    bait = sorted({victim[place] for place in each.argmin(axis=0)})
    filler = strangers(1, count * 600, seed=1)[0]
    values = public.from_tokens([[word] for word in filler])
    harmless = [
        word for word, row in zip(filler, values >= each.min(axis=0), strict=True) if row.all()
    ]
    size = len(harmless) // count
    return [" ".join(bait + harmless[i * size : (i + 1) * size]) for i in range(count)]


def test_impostors_push_a_document_out_of_its_buckets_only_without_a_key():
    (victim,) = strangers(1, 1000)
    texts = impostors(victim, 66)
    near = [*victim[:-20], "changed"]
    texts += [" ".join(victim), " ".join(near)]
    shingler = Shingler("word", 1)

    def deduplicated(key):
        return fastlsh.deduplicate(texts, 0.8, shingler=shingler, key=key)

    assert deduplicated(None).kept.all()
    assert deduplicated(None).limited
    for key in KEYS:
        result = deduplicated(key)
        assert np.flatnonzero(~result.kept).tolist() == [len(texts) - 1]
        assert not result.limited


# ---- what no key changes


def test_shared_shingles_are_no_attack():
    texts = ["the same words in both of these texts", "the same words in both of these texts too"]
    without = fastlsh.near_duplicates(texts, 0.7)
    for key in KEYS:
        assert fastlsh.near_duplicates(texts, 0.7, key=key).similarity == without.similarity


def test_keys_differ():
    texts = [" ".join(words) for words in strangers(3, 50)]
    rows = [MinHasher(key=key).signatures(texts) for key in (None, *KEYS)]
    keys = [fastlsh.band_keys(each, fastlsh.LSHParams(17, 7)) for each in rows]
    for a in range(len(rows)):
        for b in range(a):
            assert (rows[a] == rows[b]).sum() <= 1
            assert not np.intersect1d(keys[a], keys[b]).size
    keyed = Keyed(bytes(16))
    for text, row in zip(texts, rows[1].tolist(), strict=True):
        assert row == keyed.signature(map(keyed.window_hash, oracle.windows(text, 9)))
