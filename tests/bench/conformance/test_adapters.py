"""Adapters that raise, answer nonsense or hang get a verdict; those that are none, an error."""

import threading
import time

import numpy as np
import pytest

from bench import conformance
from bench.conformance import Fastlsh, Verdict
from fastlsh import LSHParams, MinHasher, Shingler

SOUND = MinHasher(threads=1)


class Words:
    """Sets of elements, signatures only."""

    name, shingle_size = "words", None

    def signatures(self, documents):
        return SOUND.from_tokens(documents)


class Estimating:
    """Estimates only."""

    name, shingle_size, num_perm = "estimates", None, 128

    def estimates(self, left, right):
        left, right = SOUND.from_tokens(left), SOUND.from_tokens(right)
        return (left == right).mean(axis=1) * (left != 2**32 - 1).any(axis=1)


def answering(answer):
    """Return an adapter whose signatures are what the function makes of the right ones."""

    class Answering(Words):
        def signatures(self, documents):
            return answer(super().signatures(documents))

    return Answering()


def raising(error):
    def answer(_):
        raise error

    return answering(answer)


@pytest.mark.parametrize(
    ("adapter", "applicable"),
    [(Words(), 9), (Estimating(), 5)],
    ids=lambda value: getattr(value, "name", None),
)
def test_missing_parts_are_not_praised(adapter, applicable):
    report = conformance.check(adapter, trials=100)
    verdicts = [finding.verdict for finding in report.findings]
    assert verdicts.count(Verdict.NOT_APPLICABLE) == len(conformance.CHECKS) - applicable
    assert verdicts.count(Verdict.PASSED) == applicable


def test_nothing_applicable_does_not_conform():
    report = conformance.check(Words(), checks=["filter", "S-curve"])
    assert not report.conforms


@pytest.mark.parametrize(
    ("adapter", "said"),
    [
        (raising(ValueError("no\nluck\x1b[31m")), "raises ValueError: no luck[U+001B][31m"),
        (raising(SystemExit(3)), "raises SystemExit: 3"),
        (raising(KeyboardInterrupt()), "raises KeyboardInterrupt"),
        (answering(lambda rows: rows[:-1]), "have the shape"),
        (answering(lambda rows: rows[0]), "have the shape"),
        (answering(lambda rows: rows[:, :0]), "have the shape"),
        (answering(lambda rows: rows.astype(float)), "are float64, expected integers"),
        (answering(lambda rows: None), "are of type NoneType, expected an array"),
        (answering(lambda rows: (row for row in rows)), "are of type generator, expected an array"),
        (answering(lambda rows: [[1, 2], [3]]), "are no array: "),
        (answering(lambda rows: [[2.5] * 4] * len(rows)), "are float64, expected integers"),
        (answering(lambda rows: [["a"] * 4] * len(rows)), "expected integers"),
        (answering(lambda rows: [[2**64, 1]] * len(rows)), "values of more than 64 bits"),
    ],
)
def test_what_is_no_answer_is_a_verdict(adapter, said):
    report = conformance.check(adapter, checks=["bias", "threads"], trials=100)
    assert {finding.verdict for finding in report.findings} == {Verdict.ERROR}
    assert said in report["bias"].text
    assert "\n" not in str(report).splitlines()[2]


class Wide(Words):
    """Signatures of 64 bits, as lists of int: numpy alone would make floats of some of them."""

    num_perm, offset = 128, 0

    def signatures(self, documents):
        minima = super().signatures(documents).astype(object) * 2**32
        return [[value + self.offset for value in row] for row in minima.tolist()]


@pytest.mark.parametrize("offset", [0, -(2**63)], ids=["unsigned", "signed"])
def test_lists_of_wide_integers_are_signatures(offset):
    adapter = Wide()
    adapter.offset = offset
    assert conformance.check(adapter, trials=100).conforms


def test_values_of_one_byte_are_flipped_only_where_they_have_bits():
    class Bytes(Fastlsh):
        def signatures(self, documents):
            return super().signatures(documents).astype(np.uint8)

    checks = ["band key collisions", "band key avalanche"]
    adapter = Bytes(SOUND)
    adapter.band_keys = lambda rows: Fastlsh(SOUND).band_keys(rows.astype(np.uint32))
    assert conformance.check(adapter, checks=checks).conforms


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_an_estimate_that_is_no_number_is_a_verdict(value):
    class Strange(Estimating):
        def estimates(self, left, right):
            return np.full(len(left), value)

    report = conformance.check(Strange(), checks=["short documents", "empty documents"])
    assert {finding.verdict for finding in report.findings} == {Verdict.ERROR}
    assert f"estimates contain {value}, expected finite" in report["short documents"].text


def test_a_slow_library_has_time_for_all_calls_of_its_threads():
    class Slow(Words):
        lock = threading.Lock()

        def signatures(self, documents):
            with self.lock:
                time.sleep(0.1)
            return super().signatures(documents)

    assert conformance.check(Slow(), checks=["threads"], timeout=0.5).conforms


def test_a_width_by_turns_is_a_verdict():
    widths = iter([128, *[64] * 100])
    report = conformance.check(
        answering(lambda rows: rows[:, : next(widths)]), checks=["bias"], trials=300
    )
    assert report["bias"].verdict is Verdict.ERROR
    assert "128 and 64 values by turns" in report["bias"].text


def test_one_that_hangs_is_not_asked_again():
    asked, release = [], threading.Event()

    def hang(rows):
        asked.append(1)
        release.wait()
        return rows

    report = conformance.check(answering(hang), timeout=0.05)
    release.set()
    assert report["bias"].text == "no answer within 0.05 s"
    assert report["threads"].text == "not asked: the library did not answer before"
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (lambda signatures: [[1] * 15] * len(signatures), "are not of shape"),
        (lambda signatures: 7, "raises TypeError: 'int' object is not iterable"),
        (lambda signatures: (1 / 0 for _ in signatures), "raises ZeroDivisionError"),
        (lambda signatures: [["a"] * 16] * len(signatures), "band keys are str"),
        (lambda signatures: np.zeros((len(signatures), 16)), "band keys are float"),
        (lambda signatures: [[2**64] * 16] * len(signatures), "integers of more than 64 bits"),
    ],
)
def test_keys_of_another_kind_are_a_verdict(keys, said):
    adapter = Fastlsh(SOUND)
    adapter.band_keys = keys
    report = conformance.check(adapter, checks=["band key collisions"])
    assert report["band key collisions"].verdict is Verdict.ERROR
    assert said in report["band key collisions"].text


def test_keys_may_be_bytes():
    adapter = Fastlsh(SOUND, LSHParams(8, 4))
    adapter.band_keys = lambda signatures: [
        [bytes(row[4 * i : 4 * i + 4]) for i in range(8)] for row in signatures
    ]
    checks = ["independent bands", "band key collisions", "band key avalanche"]
    assert conformance.check(adapter, checks=checks, trials=200).conforms


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        ({}, "needs a name"),
        ({"name": 3}, "needs a name"),
        ({"name": "x"}, "shingle_size must be None"),
        ({"name": "x", "shingle_size": 0}, "shingle_size must be None"),
        ({"name": "x", "shingle_size": True}, "shingle_size must be None"),
        ({"name": "x", "shingle_size": None}, "neither signatures nor estimates"),
        ({"name": "x", "shingle_size": 9, "estimates": print}, "estimates needs num_perm"),
        ({"name": "x", "shingle_size": 9, "signatures": print, "candidates": print, "bands": 4},
         "candidates needs rows"),
    ],
)  # fmt: skip
def test_what_is_no_adapter_raises(attributes, said):
    with pytest.raises(TypeError, match=said):
        conformance.check(type("Thing", (), attributes)())


def test_a_class_is_no_adapter():
    with pytest.raises(TypeError, match=r"got the class: pass Words\(\)"):
        conformance.check(Words)


def test_numbers_of_numpy_are_numbers():
    adapter = Fastlsh(SOUND)
    adapter.shingle_size, adapter.bands = np.int64(9), np.uint8(16)
    assert conformance.check(adapter, trials=100).conforms


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"checks": ["no such"]}, "checks must be of bias,"),
        ({"checks": []}, "checks must be of bias,"),
        ({"trials": 99}, "trials must be at least 100"),
        ({"seed": -1}, "seed must be between 0"),
        ({"checks": 3}, "checks must be names, got 3"),
        ({"timeout": 0}, "timeout must be a positive"),
        ({"timeout": "5"}, "timeout must be a number"),
        ({"timeout": float("nan")}, "timeout must be a positive"),
        ({"recorded": 5}, "recorded must be a str"),
    ],
)
def test_wrong_arguments_raise(arguments, error):
    with pytest.raises((TypeError, ValueError), match=error):
        conformance.check(Words(), **arguments)


def test_words_are_no_characters():
    with pytest.raises(ValueError, match="unit must be char, got word"):
        Fastlsh(MinHasher(shingler=Shingler(unit="word", size=1)))
