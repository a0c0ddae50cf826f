"""Compiles the native targets of the fuzzers with clang, once for each instruction set.

    CC=clang python tests/fuzz/native/build.py FOLDER

A target includes the kernels that it calls as text, so that libFuzzer sees nothing but them. The
modules are in FOLDER/avx2 and FOLDER/baseline.
"""

import ast
import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from Cython.Compiler import Options
from setuptools import Distribution, Extension

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
# As for the modules, but optimised, and without notes of all comparisons: these cost most of the
# time, and no kernel waits for a magic number.
SANITIZE = "-fsanitize=address,undefined"
FLAGS = [
    "-O2", "-g", "-fno-omit-frame-pointer", "-fno-sanitize-recover=all", "-Wno-unused-function",
    "-Wno-sign-compare", SANITIZE, "-fsanitize-coverage=inline-8bit-counters,pc-table",
]  # fmt: skip


Options.buffer_max_dims = 3  # as in setup.py


def instruction_sets():
    """Return the flags of each, from setup.py."""
    for node in ast.parse(ROOT.joinpath("setup.py").read_text()).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "INSTRUCTION_SETS":
            return {n: f.split() for n, (f, _) in ast.literal_eval(node.value)["x86_64"].items()}
    raise LookupError("INSTRUCTION_SETS")


def build(folder, names=()):
    os.chdir(ROOT)
    sources = [f"tests/fuzz/native/{name}.pyx" for name in names] or ["tests/fuzz/native/*.pyx"]
    flags = instruction_sets()
    for isa in ("avx2", "baseline"):
        made = cythonize(
            [Extension(Path(path).stem if names else "*", [path]) for path in sources],
            build_dir=f"{folder}/c",
            include_path=["src", "src/fastlsh/_kernels", "tests"],
            compiler_directives={
                "language_level": 3, "boundscheck": False, "wraparound": False,
                "initializedcheck": False, "cdivision": True,
            },
        )  # fmt: skip
        for each in made:
            each.name = each.name.rpartition(".")[2]
            each.extra_compile_args = [*FLAGS, *flags[isa]]
            each.extra_link_args = [SANITIZE]
        command = Distribution({"ext_modules": made}).get_command_obj("build_ext")
        command.build_lib = f"{folder}/{isa}"
        command.build_temp = f"{folder}/{isa}/objects"
        command.ensure_finalized()
        command.run()


if __name__ == "__main__":
    build(sys.argv[1], sys.argv[2:])
