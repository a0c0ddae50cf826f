"""What the figures show, taken from the results."""

from typing import Any

from bench.report.records import Records, results

Data = dict[str, Any]


def by_length(records: Records) -> Data:
    """M characters/s of each contender, by the length of the documents."""
    found = results(records, "throughput", "raw texts, characters")
    lines: Data = {}
    for size, contenders in found.items():
        for name, values in contenders.items():
            point = [int(size.replace(",", "")), values["M characters/s"]["median"]]
            lines.setdefault(name, []).append(point)
    return lines


def by_hashes(records: Records) -> Data:
    """M hashes/s of each contender, by the hashes of a document."""
    lines: Data = {}
    for size, contenders in results(records, "throughput", "ready hashes").items():
        for name, values in contenders.items():
            point = [int(size.replace(",", "")), values["M hashes/s"]["median"]]
            lines.setdefault(name, []).append(point)
    return lines


OF_LIMIT = {
    "ready hashes": "from_hashes / limit",
    "raw texts": "raw text / limit",
    "raw texts, fss": "raw text, fss / limit",
}


def limits(records: Records) -> Data:
    """M hashes/s of the bare loop and ours, by the instruction set."""
    found = results(records, "kernels", "instruction sets, 1,100 characters")
    shown: Data = {}
    for name, values in found.items():
        rate = 1e3 / values["limit, ns per hash"]["median"]
        shown[name] = {"bare loop": rate} | {
            label: rate / values[key]["median"] for label, key in OF_LIMIT.items() if key in values
        }
    return shown


def growth(records: Records) -> Data:
    """Documents, processor seconds and peak MB of both functions, for each size."""
    return {
        job: [
            [
                leading_number(size),
                found["processor seconds, one thread"]["median"],
                found[PEAK]["median"] * leading_number(size) / 1e6,
            ]
            for size, found in sizes.items()
        ]
        for job, sizes in results(records, "scale", "doubling").items()
    }


PEAK = "peak bytes a document above the texts"


def leading_number(text: str) -> int:
    """Return 10,000 of "10,000 documents"."""
    return int(text.split()[0].replace(",", ""))


def errors(records: Records) -> Data:
    """RMSE / ideal of each contender, by the size of the sets."""
    lines: Data = {}
    for size, contenders in results(records, "estimates").items():
        for name, values in contenders.items():
            point = [int(size.replace(",", "")), values["RMSE / ideal"], values["standard error"]]
            lines.setdefault(name, []).append(point)
    return lines


def answers(records: Records) -> Data:
    """Recall, precision and the time as a multiple of ours, of each contender's pairs."""
    pairs = results(records, "peers", "all pairs")
    return {
        name: {
            "recall": found["recall"],
            "precision": found["precision"],
            "time": pairs["speed"][name]["time / fastlsh"]["median"] if name != "fastlsh" else 1,
        }
        for name, found in pairs.get("accuracy", {}).items()
        if isinstance(found, dict) and name != "fastlsh, 16 x 8"
    }
