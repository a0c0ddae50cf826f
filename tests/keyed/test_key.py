"""A key: what it derives, what it accepts, and that its secret stays with it."""

import copy
import os
import pickle
import subprocess
import sys
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlsh
from combinations import every
from fastlsh import InputError, Key, KeyFileWarning, LockedKeyError, MinHasher, Shingler
from fastlsh.keyed import is_irreducible
from oracle_keyed import Keyed
from oracle_keyed import is_irreducible as by_rabin
from refusals import refuses
from strategies import share

SECRET = bytes(range(32))
TEXTS = ["the quick brown fox jumps", "the quick brown fox jumped", "something else"]


@share(10)
@given(st.binary(min_size=16, max_size=200))
def test_what_is_derived(secret):
    check_derived(secret)


@pytest.mark.parametrize("number", every(3, range(12)))
def test_what_is_derived_in_every_case(number):
    """Numbers that are made odd are so or are not, and the polynomial takes more or fewer draws."""
    check_derived(bytes([number] * 16))


def check_derived(secret):
    key, keyed = Key(secret), Keyed(secret)
    assert key.fingerprint == keyed.fingerprint
    assert Shingler(key=key).hashes("123456789").tolist() == [keyed.window_hash("123456789")]
    a, b = key.functions(5, 7)
    assert list(zip(a.tolist(), b.tolist(), strict=True)) == keyed.functions(5, 7)


@pytest.mark.parametrize("degree", [2, 3, 4, 8, 9])
def test_irreducible_polynomials(degree):
    # Counted by Gauss.
    count = {2: 1, 3: 2, 4: 3, 8: 30, 9: 56}[degree]
    assert sum(map(is_irreducible, range(2**degree, 2 ** (degree + 1)))) == count


@share(5)
@given(st.integers(0, 2**64 - 1))
def test_irreducible_by_two_tests(number):
    assert is_irreducible(2**64 | number) == by_rabin(2**64 | number)


def test_a_key_is_made_of_enough_bytes():
    for secret in ("sixteen letters!", 5, None, [1] * 16, Shingler()):
        with pytest.raises(TypeError, match="a key is made of bytes, got") as error:
            Key(secret)
        assert "sixteen" not in str(error.value)
    for length in (0, 1, 15):
        refuses(ValueError, f"at least 16 bytes, got {length}$", Key, b"x" * length)


@pytest.mark.parametrize("given", [SECRET, SECRET.decode("latin-1"), 5])
def test_a_key_is_a_key(given):
    for call in (
        lambda: MinHasher(key=given),
        lambda: Shingler(key=given),
        lambda: fastlsh.near_duplicates(TEXTS, key=given),
        lambda: fastlsh.deduplicate(TEXTS, key=given),
        lambda: fastlsh.Index(key=given),
    ):
        with pytest.raises(TypeError, match=r"key must be a Key, got \w+: fastlsh.Key") as error:
            call()
        assert "\x01\x02" not in str(error.value)
        assert r"\x01\x02" not in str(error.value)


def test_two_keys():
    shingler = Shingler(key=Key(SECRET))
    said = r"the shingler has another key than key=: .* give one of them"
    other = Key(b"another key, of 26 letters")
    refuses(ValueError, said, MinHasher, shingler=shingler, key=other)
    assert MinHasher(shingler=shingler, key=Key(SECRET)).shingler is shingler


def kept_in(key):
    """Return all that a key holds which must not be told: the root and what it gives."""
    a, b = key.functions(128, 1)
    key.plan(0, 9)
    numbers = [*a.tolist(), *b.tolist(), *key._secret.tolist()]
    return [SECRET, key._root], [number for number in numbers if number > 10**6]


def assert_silent(told, key):
    """Check that bytes or a text hold nothing of the key."""
    data = told if isinstance(told, bytes) else told.encode()
    secrets, numbers = kept_in(key)
    for secret in secrets:
        for form in (
            secret,
            secret.hex().encode(),
            repr(secret).encode(),
            str(list(secret)).encode(),
        ):
            assert form not in data
    for number in numbers:
        assert str(number).encode() not in data
        for width in (4, 8):
            if number < 2 ** (8 * width):
                for order in ("little", "big"):
                    assert number.to_bytes(width, order) not in data


@pytest.mark.parametrize(("unit", "megabytes"), [("char", 2.2), ("byte", 2.2), ("word", 6.4)])
def test_the_tables_of_a_key_are_as_large_as_its_docstring_says(unit, megabytes):
    MinHasher(shingler=Shingler(unit, 5)).signatures(TEXTS)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        hasher = MinHasher(shingler=Shingler(unit, 5), key=Key(SECRET))
        hasher.signatures(TEXTS)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert hasher.key is not None
    assert abs((after - before) / 1e6 - megabytes) < 0.1
    assert f"{megabytes} MB" in Key.__doc__


def test_nothing_is_told():
    key = Key(SECRET)
    made = [
        key,
        Shingler(key=key),
        MinHasher(key=key),
        fastlsh.near_duplicates(TEXTS, 0.7, key=key),
        fastlsh.deduplicate(TEXTS, 0.7, key=key),
        fastlsh.explain(*TEXTS[:2], shingler=Shingler(key=key)),
    ]
    for value in made:
        assert_silent(repr(value), key)
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            assert_silent(pickle.dumps(value, protocol), key)
    assert key.fingerprint in repr(key)


def test_the_check_for_silence_hears():
    key = Key(SECRET)
    key.plan(0, 9)
    for told in (
        SECRET,
        key._root.hex(),
        key._secret.tobytes(),
        repr(key.functions(9, 1)[0].tolist()),
    ):
        with pytest.raises(AssertionError):
            assert_silent(told, key)


def test_a_pickle_is_locked_until_it_is_unlocked():
    hasher = MinHasher(key=Key(SECRET))
    expected = hasher.signatures(TEXTS)
    again = pickle.loads(pickle.dumps(hasher))
    assert again.key == hasher.key
    assert again.key.locked
    assert "locked" in repr(again)
    for call in (
        lambda: again.signatures(TEXTS),
        lambda: again.from_tokens([["a"]]),
        lambda: again.shingler.hashes("abc"),
        lambda: fastlsh.near_duplicates(TEXTS, shingler=again.shingler),
        lambda: fastlsh.jaccard("a", "b", again.shingler),
    ):
        refuses(LockedKeyError, r"Key\.unlock", call)
    said = r"this is another key: its fingerprint is \w{32}, not \w{32}"
    refuses(ValueError, said, again.key.unlock, b"another key, of 26 letters")
    locked = pickle.loads(pickle.dumps(hasher.key))
    refuses(LockedKeyError, r"Key\.unlock", again.key.unlock, locked)
    again.key.unlock(SECRET)
    assert not again.key.locked
    for unlocked in (again, copy.copy(hasher), copy.deepcopy(hasher)):
        assert (unlocked.signatures(TEXTS) == expected).all()


@pytest.mark.exhaustive
def test_a_worker_process_reads_the_file_that_the_environment_names(tmp_path):
    path = tmp_path / "key"
    path.write_bytes(SECRET)
    path.chmod(0o600)
    hasher = MinHasher(4, key=Key(SECRET))
    (tmp_path / "hasher").write_bytes(pickle.dumps(hasher))
    program = (
        "import pickle, sys; hasher = pickle.load(open(sys.argv[1], 'rb'));"
        "print(hasher.signatures(['some text here']).tolist())"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "hasher")]
    environment = {name: value for name, value in os.environ.items() if name != "FASTLSH_KEY_FILE"}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "LockedKeyError" in ran.stderr
    environment["FASTLSH_KEY_FILE"] = str(path)
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == str(hasher.signatures(["some text here"]).tolist())


@pytest.mark.parametrize(
    "content",
    [SECRET, SECRET + b"\n", b" \r\n" + SECRET, b"1" * (1 << 16)],
    ids=["plain", "a line", "blanks", "the longest"],
)
def test_the_file_of_a_key(tmp_path, content):
    """All of its bytes count, those at the ends, too."""
    path = tmp_path / "key"
    path.write_bytes(content)
    path.chmod(0o600)
    assert Key.from_file(path) == Key(content)


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"", "the file of the key is empty"), (b"short", "at least 16 bytes, got 5"),
     (bytes(2**16 + 1), "larger than 65,536 bytes")],
)  # fmt: skip
def test_a_file_that_is_no_key(tmp_path, content, reason):
    path = tmp_path / "key"
    path.write_bytes(content)
    refuses(InputError, reason, Key.from_file, path)


def test_a_missing_file(tmp_path):
    refuses(InputError, "none: cannot read the key: No such file", Key.from_file, tmp_path / "none")


@pytest.mark.skipif(os.name != "posix", reason="no such permissions")
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_file_that_others_can_read(tmp_path, mode):
    path = tmp_path / "key"
    path.write_bytes(SECRET)
    path.chmod(mode)
    with pytest.warns(KeyFileWarning, match="others can read the key: chmod 600"):
        Key.from_file(path)
