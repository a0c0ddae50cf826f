"""What other tools do from a file of JSON lines to another one, as their users would write it.

    python tools_jobs.py TOOL INPUT OUTPUT FOLDER PROCESSES

Runs in an environment that has the tool; nothing of fastlsh is imported. Parameters are those of
fastlsh as far as the tool has them: threshold 0.8, 128 minima, 17 bands of 7 rows.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

THRESHOLD, K, BANDS, ROWS, SIZE, SEED = 0.8, 128, 17, 7, 9, 1


def shingles(text: str) -> set[str]:
    """Return the windows of nine characters."""
    return {text[i : i + SIZE] for i in range(max(len(text) - SIZE + 1, 1))}


def rows(path: str) -> Iterator[tuple[str, str]]:
    """Yield each line, and its text."""
    with open(path, encoding="utf-8") as stream:
        for line in stream:
            yield line, json.loads(line)["text"]


def datasketch(source: str, target: str, *_: Any) -> None:
    """Keep a document unless a kept one shares a bucket with it: candidates are not verified."""
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(num_perm=K, params=(BANDS, ROWS))
    with open(target, "w", encoding="utf-8") as out:
        for number, (line, text) in enumerate(rows(source)):
            sketch = MinHash(K, SEED)
            sketch.update_batch([each.encode() for each in shingles(text)])
            if not index.query(sketch):
                index.insert(number, sketch)
                out.write(line)


def rensa(source: str, target: str, *_: Any) -> None:
    """Keep a document unless an estimate of 0.8 with a kept one of its buckets says otherwise."""
    from rensa import RMinHash, RMinHashDeduplicator

    index = RMinHashDeduplicator(THRESHOLD, K, use_lsh=True, num_bands=16, seed=SEED)
    with open(target, "w", encoding="utf-8") as out:
        for number, (line, text) in enumerate(rows(source)):
            sketch = RMinHash(K, SEED)
            sketch.update(list(shingles(text)))
            if index.add(str(number), sketch):
                out.write(line)


def text_dedup(source: str, target: str, folder: str, processes: str) -> None:
    """Keep one of each cluster of its command, shingles of 5 words: nothing is verified."""
    import datasets

    output = f"{folder}/text-dedup"
    command = [
        sys.executable, "-m", "text_dedup.minhash", "--path", "json", "--data_files", source,
        "--split", "train", "--cache_dir", f"{folder}/cache", "--output", output, "--column",
        "text", "--threshold", str(THRESHOLD), "--num_perm", str(K), "--b", str(BANDS), "--r",
        str(ROWS), "--ngram", "5", "--hash_func", "xxh3", "--num_proc", processes,
    ]  # fmt: skip
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    datasets.load_from_disk(output).to_json(target)


def datatrove(source: str, target: str, folder: str, processes: str) -> None:
    """Keep one of each cluster of its four stages, shingles of 5 words: nothing is verified."""
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import (
        MinhashDedupBuckets,
        MinhashDedupCluster,
        MinhashDedupFilter,
        MinhashDedupSignature,
    )
    from datatrove.pipeline.dedup.minhash import MinhashConfig
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter

    config = MinhashConfig(num_buckets=BANDS, hashes_per_bucket=ROWS)
    count = int(processes)
    reader = JsonlReader(str(Path(source).parent), glob_pattern=f"{Path(source).stem}-*.jsonl")
    write = JsonlWriter(f"{folder}/kept", "${rank}.jsonl", compression=None)
    lines = Path(source).read_bytes().splitlines(keepends=True)
    for number in range(count):  # it shares files among its processes
        part = lines[len(lines) * number // count : len(lines) * (number + 1) // count]
        Path(source).with_name(f"{Path(source).stem}-{number}.jsonl").write_bytes(b"".join(part))
    del lines
    stages: list[tuple[list[Any], int]] = [
        ([reader, MinhashDedupSignature(f"{folder}/signatures", config)], count),
        ([MinhashDedupBuckets(f"{folder}/signatures", f"{folder}/buckets", config=config)], BANDS),
        ([MinhashDedupCluster(f"{folder}/buckets", f"{folder}/remove", config=config)], 1),
        ([reader, MinhashDedupFilter(f"{folder}/remove"), write], count),
    ]
    for number, (pipeline, tasks) in enumerate(stages):
        executor = LocalPipelineExecutor(
            pipeline, tasks=tasks, workers=min(count, tasks), logging_dir=f"{folder}/log{number}"
        )
        executor.run()
    with open(target, "wb") as out:
        for path in sorted(Path(folder, "kept").iterdir()):
            out.write(path.read_bytes())


JOBS = {"datasketch": datasketch, "rensa": rensa, "text-dedup": text_dedup, "datatrove": datatrove}

if __name__ == "__main__":
    JOBS[sys.argv[1]](*sys.argv[2:])
