"""Executors that die or lack a key, and Spark Connect; each in a process of its own."""

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import fastlsh
from fastlsh import Key
from made_texts import made
from spark_collections import JOB, SHORT_LIVED, memory_proofs, run_job, started

TEXTS = made(300, 4)
IDS = [f"d{i:04}" for i in range(300)]
SECRET = bytes(range(32))


@pytest.fixture
def rows(tmp_path):
    """Return the path of the collection as several Parquet files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    (tmp_path / "rows").mkdir()
    for i in range(4):
        part = pa.table({"id": IDS[i::4], "text": TEXTS[i::4]})
        pq.write_table(part, tmp_path / "rows" / f"{i}.parquet")
    return str(tmp_path / "rows")


def config(tmp_path, master):
    """Return the settings of a session with executors of their own."""
    return {
        "spark.master": master,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.default.parallelism": "4",
        "spark.sql.files.maxPartitionBytes": "10k",  # several tasks read
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
        "spark.executor.memory": "700m",
        "spark.executor.cores": "1",
        "spark.checkpoint.dir": str(tmp_path / "checkpoints"),
        "spark.log.level": "ERROR",
        "spark.driver.extraJavaOptions": SHORT_LIVED,
        "spark.executor.extraJavaOptions": SHORT_LIVED,
    }


def test_connect(installed, tmp_path, rows):
    pytest.importorskip("grpc")
    checkpoints = {"spark.checkpoint.dir": str(tmp_path / "checkpoints")}
    options = {"partitions": 2}
    (by_driver, by_rounds, pairs, kept), _ = run_job(
        tmp_path, remote="local[2]", rows=rows, config={"spark.ui.enabled": "false", **checkpoints},
        calls=[["proofs", options], ["proofs", {**options, "families": "rounds"}],
               ["near_duplicates", options], ["deduplicate", options]],
    )  # fmt: skip
    assert by_driver == by_rounds == memory_proofs(TEXTS, IDS)
    assert pairs == [(IDS[a], IDS[b], s) for a, b, s in fastlsh.near_duplicates(TEXTS)]
    assert [row[0] for row in kept] == [IDS[i] for i in fastlsh.deduplicate(TEXTS).selected]


@pytest.mark.parametrize("families", ["driver", "rounds"])
def test_executors_die_and_files_are_lost(installed, tmp_path, rows, families):
    (tmp_path / "harm").mkdir()
    (found,), _ = run_job(
        tmp_path, config=config(tmp_path, "local-cluster[2,1,1024]"), rows=rows,
        harm=str(tmp_path / "harm"), calls=[["proofs", {"families": families}]],
    )  # fmt: skip
    happened = {path.name for path in (tmp_path / "harm").iterdir()}
    assert happened == {"killed-sign", "killed-link", "killed-decide", "lost"}
    assert found == memory_proofs(TEXTS, IDS)


class Standalone:
    """A master and two workers on the loopback interface; a worker that dies has a successor."""

    def __init__(self, folder):
        import pyspark

        home = Path(pyspark.__file__).parent
        self._class = str(home / "bin" / "spark-class")
        self._folder = folder
        self._environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        self.url = f"spark://127.0.0.1:{port}"
        self._ending = False
        self.died = 0
        self._master = self._start(
            "master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"
        )
        self._workers = [None, None]
        self._threads = [threading.Thread(target=self._keep, args=(i,)) for i in range(2)]
        for thread in self._threads:
            thread.start()

    def _start(self, name, *arguments):
        with (self._folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                [self._class, f"org.apache.spark.deploy.{name}", *arguments],
                env=self._environment, stdout=log, stderr=log,
            )  # fmt: skip

    def _keep(self, place):
        while not self._ending:
            self._workers[place] = self._start(
                "worker.Worker", "--host", "127.0.0.1", "--webui-port", "0", "--cores", "1",
                "--memory", "1g", "--work-dir", str(self._folder / "work"), self.url,
            )  # fmt: skip
            self._workers[place].wait()
            self.died += not self._ending

    def end(self):
        """Stop everything."""
        self._ending = True
        for process in (*self._workers, self._master):
            if process is not None:
                process.terminate()
        for thread in self._threads:
            thread.join(30)
        self._master.wait(30)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_workers_die_with_their_executors(installed, tmp_path, rows):
    (tmp_path / "harm").mkdir()
    cluster = Standalone(tmp_path)
    try:
        (found,), _ = run_job(
            tmp_path, config=config(tmp_path, cluster.url), rows=rows,
            harm=str(tmp_path / "harm"), with_worker=True, calls=[["proofs", {}]],
        )  # fmt: skip
        assert cluster.died == 3
    finally:
        cluster.end()
    assert found == memory_proofs(TEXTS, IDS)


def keyed(tmp_path, rows, **more):
    """Return the settings of a job with a key, which executors read from a file, if they have one.

    They are processes of their own, which know the key by their environment alone.
    """
    options = {"threshold": 0.6, "num_perm": 32, "bands": 8, "rows": 4}
    settings = config(tmp_path, "local-cluster[1,1,1024]")
    return {
        "config": {**settings, "spark.task.maxFailures": "1", **more}, "rows": rows,
        "key": SECRET.hex(), "calls": [["proofs", options], ["near_duplicates", options]],
    }  # fmt: skip


def test_executors_with_the_file_of_the_key(installed, tmp_path, rows):
    path = tmp_path / "key"
    path.write_bytes(SECRET)
    path.chmod(0o600)
    settings = keyed(tmp_path, rows, **{"spark.executorEnv.FASTLSH_KEY_FILE": str(path)})
    (removed, pairs), said = run_job(tmp_path, **settings)
    options = settings["calls"][0][1]
    assert removed == memory_proofs(TEXTS, IDS, key=Key(SECRET), **options)
    assert len(pairs) >= len(removed) > 0
    assert "Physical Plan" in said
    for secret in (SECRET.hex(), repr(SECRET)):
        assert secret not in said


def test_executors_without_it(installed, tmp_path, rows):
    job = started(tmp_path, sys.executable, JOB, json.dumps(keyed(tmp_path, rows)))
    assert job.returncode == 1
    assert "LockedKeyError" in job.stderr
    for secret in (SECRET.hex(), repr(SECRET)):
        assert secret not in job.stderr
