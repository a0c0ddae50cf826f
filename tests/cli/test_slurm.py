"""The plan for Slurm, submitted to a real one: of this machine, or a node that is started here."""

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from contaminated_files import collection
from fastlsh.cli import main
from files import put_table
from redis_server import free_port
from shards import contents, rows_of, write_shards

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("sbatch") is None, reason="needs Slurm: sbatch"),
]

CONFIGURATION = """\
ClusterName=one
SlurmctldHost={host}
AuthInfo=socket={folder}/munge.socket
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={controller}
SlurmdPort={daemon}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=2000
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def answers(command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    """A Slurm that takes jobs: without systemd, the daemons of one node run in the foreground."""
    if answers(["sinfo", "-h"]).stdout.strip():
        yield
        return
    for name in ("slurmctld", "slurmd", "munged"):
        if shutil.which(name) is None:
            pytest.skip(f"no Slurm answers, and there is no {name} to start one")
    folder = tmp_path_factory.mktemp("slurm")
    for path in (folder, *folder.parents):
        if path.name.startswith("pytest-"):
            path.chmod(0o755)  # munge insists
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "key").write_bytes(os.urandom(1024))
    (folder / "key").chmod(0o600)
    host = socket.gethostname().partition(".")[0]
    (folder / "slurm.conf").write_text(
        CONFIGURATION.format(
            folder=folder, host=host, user=answers(["id", "-un"]).stdout.strip(),
            controller=free_port(), daemon=free_port(),
        )
    )  # fmt: skip
    munge = [f"--{name}={folder}/{name}" for name in ("key-file", "pid-file", "log-file")]
    munge[0] = f"--key-file={folder}/key"
    os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
    daemons = []
    try:
        for command in (
            ["munged", "-F", "--force", *munge, f"--socket={folder}/munge.socket",
             f"--seed-file={folder}/seed"],
            ["slurmctld", "-D"], ["slurmd", "-D", "-N", host],
        ):  # fmt: skip
            log = open(folder / f"{command[0]}.out", "wb")  # noqa: SIM115
            daemons.append((subprocess.Popen(command, stdout=log, stderr=log), log))
            time.sleep(1)
        until = time.time() + 60
        while "idle" not in answers(["sinfo", "-h"]).stdout:
            if time.time() > until:
                pytest.skip("the daemons of Slurm do not start here")
            time.sleep(1)
        yield
    finally:
        for daemon, log in reversed(daemons):
            daemon.terminate()
            daemon.wait()
            log.close()
        del os.environ["SLURM_CONF"]


@pytest.mark.parametrize("command", ["dedup", "decontaminate"])
def test_a_plan_is_submitted_and_does_all_of_the_work(slurm, tmp_path, monkeypatch, capfd, command):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"])
    if command == "dedup":
        words = [command, *write_shards(Path(), rows_of(5, 400), 4), "--threshold", "0.7"]
        table = "--removed"
    else:
        rows, items = collection(5, 200)
        for shard in range(4):
            put_table(tmp_path / "train" / f"in{shard}.jsonl", rows[shard::4])
        put_table(tmp_path / "evals.jsonl", items)
        words, table = [command, "train", "--evals", "evals.jsonl"], "--hits"
    words += ["--threads", "1", "--memory", "300M"]
    assert main([*words, "-o", "one/", table, "one.tsv", "-q"]) == 0
    capfd.readouterr()
    plan = ["--work", "work", "--plan", "slurm", "--parts", "3"]
    assert main([*words, "-o", "two/", table, "two.tsv", *plan]) == 0
    Path("plan.sh").write_text(capfd.readouterr().out)
    done = answers(["bash", "plan.sh"])
    assert done.returncode == 0, done.stderr
    last = done.stdout.split()[-1]
    until = time.time() + 300
    while answers(["squeue", "-h", "-j", last]).stdout.strip():
        assert time.time() < until, answers(["squeue"]).stdout
        time.sleep(1)
    logs = {path.name: path.read_text() for path in Path().glob("slurm-*.out")}
    assert os.listdir("work") == ["finished.json"], logs
    assert contents(Path("two")) == contents(Path("one"))
    assert Path("two.tsv").read_bytes() == Path("one.tsv").read_bytes()
    assert len(logs) == {"dedup": 3 + 5 * 3, "decontaminate": 2 + 2 * 3}[command]
