"""Runs in stages and parts, as many processes work on them."""

import threading

from fastlsh.files.run.part import STAGES, WHOLE


def in_parts(function, keywords, of, order=lambda parts: parts, stages=STAGES):
    """Run all stages, each in parts; return the result of the last one."""
    for stage in stages:
        for number in order([1] if stage in WHOLE else range(1, of + 1)):
            part = None if stage in WHOLE else (number, of)
            result = function(**keywords, stage=stage, part=part)
    return result


def each_stage_at_once(function, keywords, stages):
    """Run each stage three times at the same moment; none of these runs may fail."""
    for stage in stages:
        failed = []

        def run(stage=stage, failed=failed):
            try:
                function(**keywords, stage=stage)
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=run) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failed, (stage, failed)
