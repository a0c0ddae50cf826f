"""A power cut at every instant of a run: the next one completes or removes what is left.

What has not been brought to the disk may or may not be there afterwards: a name that was made,
renamed or removed since its directory was last synchronised, and the bytes that were written since
their file was.
"""

import contextlib
import itertools
import json
import os
import random
import shutil
import warnings

import pytest

from combinations import larger
from fastlsh.io import replacing_together
from fastlsh.io.recovery import recover
from files import get, put

OUTPUTS = ["a/one", "a/two", "b/one", "new/deep/one", "a/last"]


class Disk:
    """Records in what order the files below a directory change, and makes what a cut may leave."""

    def __init__(self, root, monkeypatch):
        self.root = root
        self.durable = {}  # of each directory: names to inodes
        self.bytes = {}  # of each inode: what is durable of its contents
        self.cuts = []
        self.calls = []
        for name in ("fsync", "sync", "replace", "unlink", "mkdir", "rmdir", "write"):
            monkeypatch.setattr(os, name, self.recording(name, getattr(os, name)))
        self.sync_all()

    def recording(self, name, original):
        def call(*arguments, **keywords):
            self.cut()
            done = original(*arguments, **keywords)
            self.calls.append(name)
            if name == "fsync":
                path = os.readlink(f"/proc/self/fd/{arguments[0]}")
                if path.startswith(self.root):
                    self.sync_one(path)
            elif name == "sync":
                self.sync_all()
            return done

        return call

    def look(self, folder):
        found = {}
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            found[name] = None if os.path.isdir(path) else os.lstat(path).st_ino
        return found

    def sync_one(self, path):
        if os.path.isdir(path):
            self.durable[path] = self.look(path)
        else:
            self.bytes[os.lstat(path).st_ino] = get(path)

    def sync_all(self):
        for folder, _, files in os.walk(self.root):
            self.sync_one(folder)
            for name in files:
                self.sync_one(os.path.join(folder, name))

    def cut(self):
        """Remember what is there, and what of it is durable."""
        now, data = {}, {}
        for folder, _, files in os.walk(self.root):
            now[folder] = self.look(folder)
            for name in files:
                path = os.path.join(folder, name)
                data[os.lstat(path).st_ino] = get(path)
        self.cuts.append((now, data, dict(self.durable), dict(self.bytes), len(self.calls)))

    def restore(self, cut, draw, target):
        """Make what a cut may have left; the identities in journals are those of new files."""
        now, data, durable, lasting, _ = cut
        inodes = {}
        for folder in sorted({*now, *durable}):
            place = target + folder[len(self.root) :]
            if not os.path.isdir(place):
                continue
            before, after = durable.get(folder, {}), now.get(folder, {})
            source = {inode: name for name, inode in before.items() if inode is not None}
            states = {name: draw.choice([before, after]) for name in sorted({*before, *after})}
            for name in states:  # a rename changes both names, or none
                kept = states[source.get(after.get(name), name)]
                if name not in kept:
                    continue
                inode = kept[name]
                path = os.path.join(place, name)
                if inode is None:
                    os.mkdir(path)
                else:
                    contents = draw.choice(
                        [each[inode] for each in (lasting, data) if inode in each] or [b""]
                    )
                    put(path, contents)
                    inodes[path] = inode
        return inodes


def write():
    with replacing_together() as together:
        for name in OUTPUTS:
            file = together.file(name, folders=True, place=int(name == "a/last"))
            with file as temporary:
                put(temporary, f"new {name}")
        together.absent("b/gone")


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="names of open files")
@pytest.mark.parametrize("many", [64, 2])
@pytest.mark.parametrize("seeds", larger(1, 2))
def test_all_or_none_appear_after_a_power_cut(here, monkeypatch, many, seeds):
    for folder in ("disk/a", "disk/b"):
        os.makedirs(folder)
    earlier = ("a/one", "a/last", "b/gone")
    for name in earlier:
        put(f"disk/{name}", f"old {name}")
    old = {name: f"old {name}".encode() for name in earlier}
    new = {name: f"new {name}".encode() for name in OUTPUTS}
    root = os.path.realpath("disk")
    os.chdir(root)
    monkeypatch.setattr("fastlsh.io.journal.MANY", many)
    monkeypatch.setattr("fastlsh.io.replacement.MANY", many)
    with monkeypatch.context() as patch:
        disk = Disk(root, patch)
        write()
        disk.cut()
    ends = set()
    os.chdir("..")
    for number, seed in itertools.product(range(len(disk.cuts)), range(seeds)):
        cut = disk.cuts[number]
        os.rename(root, "aside")  # the folders keep their names, which journals contain
        os.mkdir(root)
        inodes = disk.restore(cut, random.Random(f"{number} {seed}"), root)
        with monkeypatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            patch.setattr("fastlsh.io.recovery.inode_of", recorded(inodes, cut))
            folders = [folder for folder, _, _ in os.walk(root)]
            recover(folders)
            recover([folder for folder in folders if os.path.isdir(folder)])
        found = {
            os.path.relpath(os.path.join(folder, name), root): get(os.path.join(folder, name))
            for folder, _, files in os.walk(root)
            for name in files
        }
        hidden = [name for name in found if ".fastlsh-" in name]
        if many == 2:  # the names of journals in many folders are not waited for
            found = {name: found[name] for name in found if name not in hidden}
            hidden = []
        got = {k: v for k, v in found.items() if old.get(k) != v}
        assert (found == old, found == new, hidden) in ((True, False, []), (False, True, [])), (
            number, seed, got, disk.calls[: cut[-1]][-6:],
        )  # fmt: skip
        ends.add(found == new)
        shutil.rmtree(root)
        os.rename("aside", root)
    assert ends == {False, True}


def recorded(inodes, cut):
    """Return `identity` for files that were made anew: as the journals have recorded it."""
    known = {}
    for names in cut[0].values():
        for name, inode in names.items():
            if name.endswith(".journal"):
                for line in cut[1][inode].splitlines():
                    with contextlib.suppress(ValueError):
                        entry = json.loads(line)
                        for *_, mine, theirs in entry.get("files", ()):
                            known[mine[0]] = mine
                            if theirs is not None:
                                known[theirs[0]] = theirs
                        for _, theirs in entry.get("absent", ()):
                            known[theirs[0]] = theirs

    def identity(path):
        if not os.path.lexists(path):
            return None
        return known.get(inodes.get(path), [inodes.get(path), 0, 0])

    return identity
