"""Several executors that die, and Spark Connect; each in a process of its own."""

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import fastlsh
from spark_collections import SHORT_LIVED, made, memory_proofs

TEXTS = made(300, 4)
IDS = [f"d{i:04}" for i in range(300)]
JOB = Path(__file__).resolve().parents[2] / "spark_job.py"


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


def run(tmp_path, **settings):
    """Run a job and return its answers."""
    environment = {
        **os.environ,
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    job = subprocess.run(
        [sys.executable, str(JOB), json.dumps(settings)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip
    assert job.returncode == 0, job.stderr[-4000:]
    answers = json.loads(job.stdout.splitlines()[-1])
    return [list(map(tuple, answer)) for answer in answers]


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
    by_driver, by_rounds, pairs, kept = run(
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
    (found,) = run(
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
        (found,) = run(
            tmp_path, config=config(tmp_path, cluster.url), rows=rows,
            harm=str(tmp_path / "harm"), with_worker=True, calls=[["proofs", {}]],
        )  # fmt: skip
        assert cluster.died == 3
    finally:
        cluster.end()
    assert found == memory_proofs(TEXTS, IDS)
