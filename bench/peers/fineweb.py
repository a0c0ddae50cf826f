"""The signature stage of FineWeb: the preset against datatrove's own code, one thread.

Of each text 112 minima of shingles of 5 words, lower case, without punctuation, numbers as 0 and
without accents. datatrove's stage without its files: normalise, cut into words (spaCy, for
English), hash, take minima; and the same with words cut at whitespace, as the preset does.

Not part of a full run: datatrove brings many packages, so it is best in an environment of its own,
with `datatrove[processing] xxhash<4 spacy tokenizers` and fastlsh.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import fastlsh
from bench import common
from bench.kernels.normalisation import corpora
from bench.peers.contenders import installed


class Whitespace:
    """The words of the preset, as a tokenizer of datatrove."""

    def word_tokenize(self, text: str) -> list[str]:
        """Cut at whitespace."""
        return text.split()


def theirs(tokenizer: Any = None) -> Callable[[list[str]], Any]:
    """Return datatrove's signature stage, with its own tokenizer or another one."""
    from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupSignature

    stage = MinhashDedupSignature("/dev/null", MinhashConfig())
    if tokenizer is not None:
        stage.word_tokenizer = tokenizer
    assert (stage.num_hashes, stage.config.n_grams) == (112, 5)

    def signatures(texts: list[str]) -> list[Any]:
        return [stage.get_signature(stage.get_shingles(text)) for text in texts]

    return signatures


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/fineweb.json."""
    options = common.parser(__doc__).parse_args(arguments)
    if not installed("datatrove"):
        raise SystemExit("datatrove is not installed: nothing measured")
    one = fastlsh.preset("fineweb")
    hasher = fastlsh.MinHasher(one.num_perm, shingler=one.shingler, threads=1)
    at_whitespace = theirs(Whitespace())
    results = {}
    for corpus, texts in corpora(60 if options.quick else 300).items():
        # They take hundreds of times as long, so they get a part; ratios are per character.
        few = texts[:: 10 if options.quick else 6]
        work = {
            "fastlsh": partial(hasher.signatures, texts),
            "datatrove": partial(theirs(), few),
            "datatrove, words at whitespace": partial(at_whitespace, few),
        }
        times = common.interleave(work, common.rounds(options), time.process_time)
        speed = {name: sum(map(len, call.args[0])) / 1e6 for name, call in work.items()}
        results[corpus] = {
            name: {"M characters/s": common.summary(speed[name] / t for t in times[name])}
            for name in work
        }
        for name in ("datatrove", "datatrove, words at whitespace"):
            results[corpus][name]["time / fastlsh"] = common.ratio(
                times[name], times["fastlsh"], speed["fastlsh"] / speed[name]
            )
    common.write("fineweb", options, results)
