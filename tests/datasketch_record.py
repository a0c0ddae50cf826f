"""Records what the installed datasketch answers: ``python tests/datasketch_record.py``."""

import json

import datasketch
import numpy as np

from datasketch_calls import CALLS, RECORDED, digest, outcome


def main():
    answers = {
        name: {label: digest(outcome(call, datasketch)) for label, call in of_name.items()}
        for name, of_name in CALLS.items()
    }
    RECORDED.write_text(json.dumps(answers, indent=0) + "\n", encoding="utf-8")
    count = sum(map(len, answers.values()))
    print(f"{count:,} calls of datasketch {datasketch.__version__}, numpy {np.__version__}")


if __name__ == "__main__":
    main()
