"""What a run has written and is there, in whichever job: all else is written again."""

import os
import shutil
from pathlib import Path

import pytest

from fastlsh import InputError, deduplicate_files
from fastlsh.files.disk import write
from fastlsh.files.plan import OutputPlan
from fastlsh.files.run import workdir
from fastlsh.files.run.workdir import WorkDirectory, outputs_there, recording
from fastlsh.io import replacing_together
from fastlsh.io import rows as rewriting
from jobs import FILES, JOBS, staged_job
from killed_runs import StoppedError, stopped_in
from shards import contents, rows_of, small_budget, write_shards

NAMES = ["documents", "lines", "passages", "items"]


@pytest.fixture(params=NAMES)
def job(request, tmp_path, monkeypatch):
    """A function that runs a job, writes to a directory of its folder, and stops if it is told."""
    of_name = JOBS[request.param]
    small_budget(monkeypatch, **of_name.sizes)
    monkeypatch.setattr(write, "_OUTPUTS", 1)
    monkeypatch.setattr("fastlsh.files.run.manifest.UNIT", 2_000)
    monkeypatch.chdir(tmp_path)
    more = of_name.prepared(tmp_path)
    more.pop("against", None)  # all files keep something without it
    if "evals" not in more:
        more |= {"engine": "disk", "keep_work": True}
    written, again = [], rewriting._written

    def run(output, stop_after=None, **other):
        def counted(each, *arguments, **keywords):
            if len(written) == stop_after:
                raise StoppedError
            written.append(each.output.path)
            return again(each, *arguments, **keywords)

        written.clear()
        keywords = {"work": "work", **more, **other}
        with monkeypatch.context() as patch:
            patch.setattr(rewriting, "_written", counted)
            try:
                of_name.function(output=output, **keywords)
            except StoppedError:
                assert stop_after is not None
        return [Path(path).name for path in written]

    return run


OUTPUTS = [f"in{number}.jsonl" for number in range(FILES)]


def test_another_output_is_complete(job):
    """Whatever an interrupted run has written elsewhere, or in another format."""
    job("right/", work="else")
    job("right/", work="else2", convert_to="csv")
    right = contents(Path("right"))
    assert job("a/", stop_after=2) == OUTPUTS[:2]
    assert job("b/", stop_after=3) == OUTPUTS[:3]
    job("b/", stop_after=4, convert_to="csv")
    job("c/")
    assert contents(Path("c")) == {name: right[name] for name in OUTPUTS}


def damaged(folder, kind):
    """Change one of the outputs; all their bytes, or only where they are."""
    path, spare = folder / "in0.jsonl", folder.parent / "spare"
    status, code = path.stat(), path.read_bytes()
    if kind == "truncated":
        os.truncate(path, len(code) // 2)
    elif kind == "removed":
        path.unlink()
    elif kind == "another one":
        shutil.copy2(folder / "in1.jsonl", path)
    elif kind == "a byte, and the old time":
        path.write_bytes(code[:-2] + b" \n")
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    elif kind == "a directory":
        path.unlink()
        path.mkdir()
    elif kind == "touched":
        os.utime(path, ns=(1, 1))
    elif kind == "copied":
        path.rename(spare)
        shutil.copy2(spare, path)
    elif kind == "moved":
        folder.rename(spare)
        shutil.copytree(spare, folder)


CHANGES = [
    ("as it was", 0), ("truncated", 1), ("removed", 1), ("another one", 1), ("touched", 0),
    ("copied", 0), ("moved", 0), ("a byte, and the old time", 1),
]  # fmt: skip
"""What happens to the first output, or to all of them, and how many outputs are written again."""


@pytest.mark.parametrize(
    ("job", "change"),
    [*(("documents", change) for change in CHANGES), *((job, CHANGES[1]) for job in NAMES)],
    indirect=["job"],
)
def test_what_does_not_fit_is_written_again(job, tmp_path, monkeypatch, change):
    kind, again = change
    job("right/", work="else")
    with monkeypatch.context() as patch:  # a run that ends when all its outputs have appeared
        patch.setattr("fastlsh.files.run.workdir.WorkDirectory.empty", lambda *_: None)
        assert job("out/") == OUTPUTS
    if kind == "a byte, and the old time":  # of another file: the inode differs
        (tmp_path / "out/in0.jsonl").rename(tmp_path / "old")
        shutil.copy2(tmp_path / "old", tmp_path / "out/in0.jsonl")
    damaged(tmp_path / "out", kind)
    assert job("out/") == OUTPUTS[:again]
    assert contents(Path("out")) == contents(Path("right"))


@pytest.mark.parametrize("damage", [False, True])
@pytest.mark.parametrize("name", ["documents", "items"])
def test_finish_in_stages_checks_what_is_there(tmp_path, monkeypatch, name, damage):
    """On another machine the device has another number, and nothing is read for that."""
    small_budget(monkeypatch)
    identity = workdir._file_record

    def elsewhere(path, file):
        found = identity(path, file)
        return found if path == file else [*found[:3], -1, *found[4:]]

    monkeypatch.setattr(workdir, "_file_record", elsewhere)
    run = staged_job(tmp_path, JOBS[name])
    run.parts(2, stages=run.stages[:-1])
    if damage:
        (run.folder / run.keywords["output"] / "in1.jsonl").write_bytes(b"{}\n")
        with pytest.raises(InputError, match="of the stage write, part"):
            run.call(stage="finish")
        run.call(stage="write")
    else:
        monkeypatch.setattr(workdir, "_checksum", None)
    run.call(stage="finish")
    assert run.written() == run.expected


@pytest.mark.parametrize("path", ["o.jsonl", "memory://bucket/o.jsonl"])
def test_a_checksum_decides_where_nothing_else_can(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    if "://" in path:
        fsspec = pytest.importorskip("fsspec")
        files = fsspec.filesystem("memory")
        files.makedirs("bucket", exist_ok=True)

        def put(code):
            files.pipe(path, code)
    else:

        def put(code):
            Path(path).write_bytes(code)

    work = WorkDirectory("work")
    os.mkdir("work")
    work.begin({})
    record = ("written.json", None, {3: path, 4: "absent.txt"})
    with replacing_together() as together, recording(together, work, *record):
        with together.file(path) as temporary:
            Path(temporary).write_bytes(b"some rows")
        together.absent("absent.txt")
    assert outputs_there(work, *record) == {3, 4}
    put(b"some rows")
    assert outputs_there(work, *record) == {3, 4}
    assert outputs_there(work, "written.json", "csv", {3: path}) == set()
    put(b"same size")
    Path("absent.txt").touch()
    assert outputs_there(work, *record) == set()
    assert outputs_there(work, *record, elsewhere=True) == ({3} if "://" in path else set())


def same_index(one, other):
    """Whether two index files differ in nothing but the random number in bytes 60 to 62."""
    return one[:60] + one[63:] == other[:60] + other[63:]


def test_a_saved_index_is_written_once(tmp_path, monkeypatch):
    """A run goes on though its index is there already; another index there is refused."""
    small_budget(monkeypatch)
    monkeypatch.chdir(tmp_path)
    inputs = write_shards(tmp_path, rows_of(3, 36), 3)
    keywords = {
        "inputs": inputs, "output": "out/", "engine": "disk", "work": "work", "threads": 1,
        "save_index": "i.db", "keep_work": True,
    }  # fmt: skip
    for owner, name in ((rewriting, "_written"), (OutputPlan, "all_outputs")):
        assert not Path("i.db").exists()
        stopped_in(monkeypatch, owner, name, 0, deduplicate_files, **keywords)
    first = os.stat("i.db")
    deduplicate_files(**keywords)
    assert len(os.listdir("out")) == 3
    assert os.stat("i.db") == first
    whole = Path("i.db").read_bytes()
    deduplicate_files(**{**keywords, "save_index": "j.db"})
    assert same_index(Path("j.db").read_bytes(), whole)
    for more in ({"restart": True}, {"index_texts": "compressed"}, {"engine": "memory"}):
        with pytest.raises(ValueError, match="it exists already"):
            deduplicate_files(**{**keywords, "save_index": "j.db", **more})
    Path("j.db").write_bytes(whole[:-1] + b"x")
    with pytest.raises(ValueError, match="it exists already"):
        deduplicate_files(**{**keywords, "save_index": "j.db"})
    Path("j.db").unlink()
    deduplicate_files(**{**keywords, "save_index": "j.db"})
    assert same_index(Path("j.db").read_bytes(), whole)
