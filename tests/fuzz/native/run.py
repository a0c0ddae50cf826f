"""Runs a native target: what .ci/fuzz calls, once for each.

    python tests/fuzz/native/run.py FOLDER TARGET [OPTION of libFuzzer | FOLDER | FILE]...

FOLDER is what build.py has filled. FASTLSH_ISA chooses the instruction set.
"""

import importlib
import importlib.util
import os
import sys
import types


def main():
    folder, name, *rest = sys.argv[1:]
    # Without what their modules import nothing but a few kernels is loaded, and libFuzzer need
    # not look through the counters of all others after each input.
    for package in ("fastlsh", "fastlsh._kernels"):
        found = importlib.util.find_spec(package)
        sys.modules[package] = types.ModuleType(package)
        sys.modules[package].__path__ = found.submodule_search_locations
    sys.path.insert(0, os.path.join(folder, os.environ.get("FASTLSH_ISA") or "avx2"))
    target = importlib.import_module(name)
    if hasattr(target, "prepare"):
        target.prepare()
    target.run([name, *rest])


if __name__ == "__main__":
    main()
