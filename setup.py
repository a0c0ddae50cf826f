"""Builds the extension modules; everything else is in pyproject.toml.

Switches, read from the environment:

FASTLSH_DEBUG=1                     bounds checks, assertions, no optimisation
FASTLSH_SANITIZE=address,undefined  AddressSanitizer and UBSan (gcc, clang)
"""

import os
import platform
import shlex
import sys

from Cython.Build import cythonize
from setuptools import Extension, setup

KERNELS = "src/fastlsh/_kernels/"

# One source, one module per instruction set: name -> flags of (gcc and clang, MSVC).
# Features are listed one by one, for naming a processor would tune for 256-bit vectors.
INSTRUCTION_SETS = {
    "x86_64": {
        "baseline": ("-msse4.2 -mpopcnt -mcx16", ""),
        "avx2": ("-mavx2 -mfma -mbmi -mbmi2 -mlzcnt -mpopcnt", "/arch:AVX2"),
        "avx512": (
            "-mavx512f -mavx512cd -mavx512bw -mavx512dq -mavx512vl "
            "-mfma -mbmi -mbmi2 -mlzcnt -mpopcnt -mprefer-vector-width=512",
            "/arch:AVX512",
        ),
    },
    "arm64": {"baseline": ("", "")},  # NEON is part of every arm64
    "other": {"baseline": ("", "")},
}
PLAIN_MODULES = [
    "common._cpu", "text._texts", "text._normal", "candidates._candidates", "sets._exact_join",
    "sets._numbers", "index._ids", "compat._datasketch",
]  # fmt: skip

debug = os.environ.get("FASTLSH_DEBUG", "0") not in ("", "0")
sanitize = os.environ.get("FASTLSH_SANITIZE", "")
msvc = sys.platform == "win32"
macos = sys.platform == "darwin"
# A changed switch is no reason to recompile, so each kind of build has a folder of its own.
build_base = "build/sanitize" if sanitize else "build/debug" if debug else "build"


def target() -> str:
    """Return the processor family that is built for (macOS may cross-compile by ARCHFLAGS)."""
    archs = os.environ.get("ARCHFLAGS", "").replace("-arch", " ").split()
    if len(archs) > 1:
        raise SystemExit(f"build for one of {', '.join(archs)} at a time: the flags differ")
    name = (archs[0] if archs else platform.machine()).lower()
    return {"amd64": "x86_64", "x86_64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}.get(
        name, "other"
    )


def flags(instruction_set: str) -> list[str]:
    """Return the compiler flags of one instruction set."""
    gcc, cl = INSTRUCTION_SETS[target()][instruction_set]
    if msvc:
        return ["/Od" if debug else "/O2", *cl.split()]
    # Joining the four hash streams into one vector would trade four fast multiplications for
    # one slow one.
    # Short loops must not straddle a cache line by the chance of what stands before them.
    layout = ["-fno-tree-slp-vectorize", "-falign-functions=64"]
    common = ["-O0", "-g", "-UNDEBUG"] if debug else ["-O3", "-g0", *layout]
    if sanitize:
        common = ["-O1", "-g", "-fno-omit-frame-pointer", f"-fsanitize={sanitize}"]
        common += ["-fno-sanitize-recover=all"]
    return [*common, *shlex.split(gcc), *one_arch()]


def one_arch() -> list[str]:
    """Return what keeps a universal Python on macOS from building for the other processor too."""
    return ["-arch", target()] if macos else []


def extension(module: str, instruction_set: str) -> Extension:
    """Return one extension module of the kernel package."""
    return Extension(
        f"fastlsh._kernels.{module}",
        [f"{KERNELS}{module.replace('.', '/')}.pyx"],
        define_macros=[("FASTLSH_DEBUG", "1")] if debug else [],
        extra_compile_args=flags(instruction_set),
        extra_link_args=[f"-fsanitize={sanitize}", *one_arch()] if sanitize else one_arch(),
        depends=["setup.py"],
    )


extensions = [extension(f"api._{name}", name) for name in INSTRUCTION_SETS[target()]]
extensions += [extension(name, "baseline") for name in PLAIN_MODULES]

setup(
    ext_modules=cythonize(
        extensions,
        build_dir=f"{build_base}/cython",
        include_path=["src", KERNELS],
        compiler_directives={
            "language_level": 3,
            "boundscheck": debug,
            "wraparound": False,
            "initializedcheck": debug,
            "cdivision": True,
            "embedsignature": True,
            "freethreading_compatible": True,
        },
    ),
    options={
        "build": {"build_base": build_base},
        "build_ext": {"parallel": None if msvc else os.cpu_count()},
    },
)
