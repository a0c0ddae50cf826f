"""Journals that nobody of fastlsh has written in this place: they came with a clone or archive."""

import json
import os

import pytest

from fastlsh.io import replacing_together
from fastlsh.io.journal import inode_of
from fastlsh.io.recovery import recover
from files import get, put

RUN = "1-0123456789abcdef"
HIDDEN = f".fastlsh-{RUN}-1.tmp"
NAME = f".fastlsh-{RUN}.journal"
HEAD = {"lead": None, "made": True}


def plant(folder, *lines, name=NAME):
    path = os.path.join(folder, name)
    put(path, "".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in lines))


def state(folder):
    """Everything below a folder, with the contents and targets of links."""
    found = {}
    for place, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(place, name)
            link = os.path.islink(path)
            data = os.readlink(path) if link else get(path) if os.path.isfile(path) else None
            found[os.path.relpath(path, folder)] = data
    return found


@pytest.fixture
def home(here):
    """A folder with files of a user, and a clone in it with a journal."""
    os.makedirs("clone/empty")
    os.mkdir("empty")
    for name in ("thesis.txt", "clone/evil", "clone/victim", f"clone/{HIDDEN}", "evil"):
        put(name, name)
    put(".bashrc", "mine")
    os.symlink("../thesis.txt", "clone/link")
    return os.getcwd()


def moves(source, target, known=None, before=None):
    known = known or [12345, 1, 5]
    return {"files": [[0, source, target, known, before]]}


def exact(source, target):
    """The best guess of an attacker who knows everything."""
    folder = f"{os.getcwd()}/clone"
    source, target = (os.path.join(folder, each) for each in (source, target))
    return inode_of(source), inode_of(target)


PLANTED = {
    "a format of earlier versions": lambda home: [{"temporary": f"{home}/thesis.txt"}],
    "no JSON": lambda home: [HEAD, "no JSON", {"decided": True}],
    "a list": lambda home: ["[]"],
    "nested JSON": lambda home: ["[" * 100_000],
    "a number of many digits": lambda home: ["1" * 5_000],
    "no head": lambda home: [{"decided": True}],
    "a lead that is no path": lambda home: [{"lead": 7, "made": True}],
    "a lead with NUL": lambda home: [{"lead": "/\0", "made": True}],
    "a relative lead": lambda home: [{"lead": "..", "made": True}],
    "another folder leads": lambda home: [{"lead": home, "made": True}],
    "a folder is no path": lambda home: [HEAD, {"folder": None}],
    "an identity is guessed": lambda home: [HEAD, moves(HIDDEN, "victim"), {"decided": True}],
    "a device": lambda home: [HEAD, moves("/dev/null", "victim"), {"decided": True}],
    "no list of moves": lambda home: [HEAD, {"files": 3}, {"decided": True}],
    "a surrogate": lambda home: [HEAD, moves("\ud800", "victim"), {"decided": True}],
    "an index decides": lambda home: [HEAD, moves(HIDDEN, "victim"), {"index": "x"}],
    **{
        f"from {source}": lambda home, source=source: [
            HEAD, moves(source, "victim", *exact(source, "victim")), {"decided": True}
        ]
        for source in ("evil", "../evil", "link", "/etc/passwd", "empty", "..", "")
    },
    **{
        f"onto {target}": lambda home, target=target: [
            HEAD, moves(HIDDEN, target, *exact(HIDDEN, target)), {"decided": True}
        ]
        for target in ("../.bashrc", "../new", "/tmp/new", "..", ".", "", "empty/../victim")
    },
    "an absent file elsewhere": lambda home: [
        HEAD, {"absent": [["../thesis.txt", inode_of("thesis.txt")]]}, {"decided": True}
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_is_left_alone_and_named_in_one_warning(home, name):
    plant("clone", *PLANTED[name](home))
    before = state(home)
    with pytest.warns(UserWarning, match=r"left alone: .*\.journal") as caught:
        recover([f"{home}/clone"])
    assert len(caught) == 1
    assert f"{home}/clone/{NAME}" in str(caught[0].message)
    assert state(home) == before


@pytest.mark.parametrize("known", [None, [1, 2, 3]])
def test_a_file_to_be_absent_whose_identity_is_guessed_stays(home, known):
    plant("clone", HEAD, {"absent": [["victim", known]]}, {"decided": True})
    with pytest.warns(UserWarning, match="removed temporary files of a run that was killed: 1"):
        recover([f"{home}/clone"])
    assert get("clone/victim") == b"clone/victim"


def test_what_names_a_folder_has_no_effect_there(home):
    plant("clone", HEAD, {"folder": home}, {"folder": f"{home}/empty"}, {"decided": True})
    os.unlink(f"clone/{HIDDEN}")
    before = state(home)
    del before[f"clone/{NAME}"]
    recover([f"{home}/clone"])
    assert state(home) == before


def test_one_wrong_move_keeps_all_from_being_made(home):
    other = f".fastlsh-{RUN}-2.tmp"
    put(f"clone/{other}", "other")
    right = moves(HIDDEN, "new", inode_of(f"clone/{HIDDEN}"))
    plant("clone", HEAD, right, moves(other, "newer"), {"decided": True})
    before = state(home)
    with pytest.warns(UserWarning, match="is not the file that the journal has recorded"):
        recover([f"{home}/clone"])
    assert state(home) == before


@pytest.mark.skipif(os.name == "nt", reason="no such files there")
def test_a_journal_that_is_no_file(home):
    os.mkfifo(f"clone/{NAME}")
    os.symlink("evil", "clone/.fastlsh-2-0123456789abcdef.journal")
    os.mkdir("clone/.fastlsh-3-0123456789abcdef.journal")
    recover([f"{home}/clone"])
    assert sum(name.endswith(".journal") for name in os.listdir("clone")) == 3


def test_an_output_can_be_written_beside_it(home):
    plant("clone", HEAD, moves(HIDDEN, "victim"), {"decided": True})
    before = state(home)
    with (
        pytest.warns(UserWarning, match="left alone"),
        replacing_together() as together,
        together.file("clone/new") as temporary,
    ):
        put(temporary, "new")
    assert state(home) == {**before, "clone/new": b"new"}
