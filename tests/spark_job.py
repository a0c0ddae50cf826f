"""A job that `tests/integrations/spark` starts in a process of its own.

    python tests/spark_job.py SETTINGS

SETTINGS is JSON: "rows", a Parquet file with id and text; "calls", a list of [function, options];
"config", for the session; "remote" instead of "config" for Spark Connect; "harm", a folder, makes
each kind of task kill its executor once, and the last one delete the shuffle files, too; "key",
in hexadecimal digits, is given to each call, whose plan is then printed as a message.
Prints the rows of each answer as JSON.
"""

import json
import os
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

from pyspark.sql import SparkSession

from fastlsh import Key
from fastlsh.integrations.spark import functions, workers


def once(folder, name):
    """Return whether this is the first task on any executor that asks."""
    try:
        os.close(os.open(Path(folder) / name, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def parent_of(process):
    """Return the parent of a process."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def kill_executor(with_worker):
    """Kill the JVM that runs this Python worker, and the Spark worker that started it."""
    executor = parent_of(os.getppid())  # below the daemon
    command = Path(f"/proc/{executor}/cmdline").read_bytes()
    assert b"CoarseGrainedExecutorBackend" in command, command
    if with_worker:
        above = parent_of(executor)
        assert b"deploy.worker.Worker" in Path(f"/proc/{above}/cmdline").read_bytes()
        os.kill(above, signal.SIGKILL)
    os.kill(executor, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def lose_shuffle_files():
    """Delete what the tasks before have written for others to fetch."""
    folders = os.environ["SPARK_LOCAL_DIRS"].split(",")
    lost = [path for folder in folders for path in Path(folder).rglob("shuffle_*.data")]
    assert lost
    for path in lost:
        path.unlink()


def harmed(worker, name, harm, with_worker):
    """Return a worker that does its work, but for once."""

    def work(batches):
        for i, batch in enumerate(worker(batches)):
            if i == 0 and name == "decide" and once(harm, "lost"):
                lose_shuffle_files()
            elif i == 0 and once(harm, f"killed-{name}"):
                kill_executor(with_worker)
            yield batch

    return work


def harm_workers(harm, with_worker):
    """Let the workers that are sent from here on do harm."""
    signer, link, answers_of = workers.signer, workers.link, workers.Answers
    workers.signer = lambda *given: harmed(signer(*given), "sign", harm, with_worker)
    workers.link = harmed(link, "link", harm, with_worker)

    def harmed_answers(*given):
        answers = answers_of(*given)
        methods = {
            name: harmed(getattr(answers, name), "decide", harm, with_worker)
            for name in ("proofs", "pairs")
        }
        return SimpleNamespace(**methods)

    workers.Answers = harmed_answers


def main(settings):
    """Run the calls."""
    builder = SparkSession.builder
    if "remote" in settings:
        builder = builder.remote(settings["remote"])
    for name, value in settings.get("config", {}).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    if "harm" in settings:
        harm_workers(settings["harm"], settings.get("with_worker", False))
    answers = []
    for function, options in settings["calls"]:
        df = spark.read.parquet(settings["rows"])
        if "key" in settings:
            options["key"] = Key(bytes.fromhex(settings["key"]))
        found = getattr(functions, function)(df, **options)
        if "key" in settings:
            print(found._jdf.queryExecution().toString(), file=sys.stderr)
        answers.append(sorted(map(tuple, found.collect())))
    spark.stop()
    print(json.dumps(answers))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
