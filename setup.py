"""Builds the extension modules; everything else is in pyproject.toml.

Switches, read from the environment:

FASTLSH_DEBUG=1                     bounds checks, assertions, no optimisation
FASTLSH_SANITIZE=address,undefined  AddressSanitizer and UBSan (gcc, clang); with fuzzer-no-link,
                                    and clang, counters for .ci/fuzz; or thread: ThreadSanitizer
FASTLSH_BUILD=all                   for every processor, as wheels are. By default only up to the
                                    newest instruction set of this machine; or up to a named one
"""

import gc
import os
import platform
import shlex
import sys
from hashlib import sha256
from itertools import takewhile
from pathlib import Path

import Cython
from Cython.Build import cythonize
from Cython.Compiler import Options
from setuptools import Extension, setup

KERNELS = "src/fastlsh/_kernels/"
LOOPS = Path(KERNELS, "loops/_loops.pyx")

# The loops are one source and one module per instruction set: name -> flags of (gcc and clang,
# MSVC). All other modules are compiled with the flags of the first set.
# Features are listed one by one, for naming a processor would tune for 256-bit vectors.
INSTRUCTION_SETS = {
    "x86_64": {
        "baseline": ("-msse4.2 -mpopcnt -mcx16", ""),
        "avx2": ("-mavx2 -mfma -mpclmul -mbmi -mbmi2 -mlzcnt -mpopcnt", "/arch:AVX2"),
        "avx512": (
            "-mavx512f -mavx512cd -mavx512bw -mavx512dq -mavx512vl "
            "-mfma -mpclmul -mbmi -mbmi2 -mlzcnt -mpopcnt -mprefer-vector-width=512",
            "/arch:AVX512",
        ),
    },
    "arm64": {"baseline": ("", "")},  # NEON is part of every arm64
    "other": {"baseline": ("", "")},
}
PLAIN_MODULES = [
    "common._common", "rows._rows", "text._texts", "text._plans", "text._normal",
    "minhash._signatures", "candidates._candidates", "sets._sets", "index._index",
    "passages._passages", "compat._compat",
]  # fmt: skip

# Optimisation costs most of the time of a build, so only modules that lose more than 3 % of their
# speed by it are optimised fully: docs/development.md says how to decide. In all others, loops
# still become vectors and small functions are inlined. Measured with gcc; macOS is left at -O3.
FULL = "-O3"
HOT = "-O2 -ftree-vectorize -fvect-cost-model=dynamic -fpeel-loops -funswitch-loops -fsplit-loops"
QUICK = "-O1 -ftree-vectorize -finline-functions -finline-small-functions -fpeel-loops"
HOT_MODULES = {"text._normal", "minhash._signatures", "sets._sets", "index._index"}
FULL_MODULES = {"compat._compat"}

# Arrays have two dimensions at most, and a memoryview has room for 8: less to copy wherever it is
# handed on. All modules must have the same room.
Options.buffer_max_dims = 3

# What Cython needs for memoryviews, compiled once and not in each module. Python knows it by its
# last name alone, too, so that is one which no other package has.
SHARED = "fastlsh._kernels.common._fastlsh_views"

# The names in Linux of what a processor needs for a set; one that has the next has these, too.
NEEDED = {
    "avx2": {"avx2", "fma", "pclmulqdq", "bmi1", "bmi2", "abm"},
    "avx512": {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"},
}

debug = os.environ.get("FASTLSH_DEBUG", "0") not in ("", "0")
sanitize = os.environ.get("FASTLSH_SANITIZE", "")
msvc = sys.platform == "win32"
macos = sys.platform == "darwin"
# A changed switch is no reason to recompile, so each kind of build has a folder of its own.
build_base = "build/sanitize" if sanitize else "build/debug" if debug else "build"
if "fuzzer" in sanitize:
    build_base = "build/fuzz"
if "thread" in sanitize:
    build_base = "build/threads"
CHOSEN = f"{build_base}/instruction-sets"
"""A file that changes if other instruction sets are to be built: then all is recompiled."""


def target() -> str:
    """Return the processor family that is built for (macOS may cross-compile by ARCHFLAGS)."""
    archs = os.environ.get("ARCHFLAGS", "").replace("-arch", " ").split()
    if len(archs) > 1:
        raise SystemExit(f"build for one of {', '.join(archs)} at a time: the flags differ")
    name = (archs[0] if archs else platform.machine()).lower()
    return {"amd64": "x86_64", "x86_64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}.get(
        name, "other"
    )


def instruction_sets() -> list[str]:
    """Return what the loops are built for."""
    names = list(INSTRUCTION_SETS[target()])
    if newest != "all" and newest not in names:
        raise SystemExit(f"FASTLSH_BUILD={newest} is none of all, {', '.join(names)}")
    return names if newest == "all" else names[: names.index(newest) + 1]


def newest_here() -> str:
    """Return the newest set of this machine; "all" where that is not known."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return "all"
    found = next((set(line.split()) for line in lines if line.startswith("flags")), None)
    if found is None or target() != "x86_64":
        return "all"
    return ["baseline", *takewhile(lambda name: NEEDED[name] <= found, NEEDED)][-1]


def flags(instruction_set: str, level: str) -> list[str]:
    """Return the compiler flags of one instruction set."""
    gcc, cl = INSTRUCTION_SETS[target()][instruction_set]
    if msvc:
        return ["/Od" if debug else "/O2", *cl.split()]
    # Joining the four hash streams into one vector would trade four fast multiplications for
    # one slow one.
    # Short loops must not straddle a cache line by the chance of what stands before them.
    layout = ["-fno-tree-slp-vectorize", "-falign-functions=64"]
    common = ["-O0", "-g", "-UNDEBUG"] if debug else [*level.split(), "-g0", *layout]
    if sanitize:
        common = ["-O1", "-g", "-fno-omit-frame-pointer", f"-fsanitize={sanitize}"]
        common += ["-fno-sanitize-recover=all"]
        if "fuzzer" in sanitize:
            # Notes of all comparisons cost much, and no kernel waits for a magic number.
            common += ["-fno-sanitize-coverage=trace-cmp"]
    return [*common, *shlex.split(gcc), *one_arch()]


def one_arch() -> list[str]:
    """Return what keeps a universal Python on macOS from building for the other processor too."""
    return ["-arch", target()] if macos else []


def extension(module: str, source: str, instruction_set: str, level: str) -> Extension:
    """Return one extension module."""
    return Extension(
        module,
        [source],
        define_macros=[("FASTLSH_DEBUG", "1")] if debug else [],
        extra_compile_args=flags(instruction_set, level),
        extra_link_args=[f"-fsanitize={sanitize}", *one_arch()] if sanitize else one_arch(),
        depends=["setup.py", CHOSEN],
    )


newest = os.environ.get("FASTLSH_BUILD") or newest_here()
built = instruction_sets()
# Each is compiled from the same C, which is made once.
vector_modules = [
    extension(f"fastlsh._kernels.loops._{name}", f"{LOOPS.parent}/_{name}.c", name, FULL)
    for name in built
]
loops = Extension("fastlsh._kernels.loops._loops", [LOOPS.as_posix()])
plain_modules = [
    extension(
        f"fastlsh._kernels.{name}",
        f"{KERNELS}{name.replace('.', '/')}.pyx",
        "baseline",
        FULL if name in FULL_MODULES or macos else HOT if name in HOT_MODULES else QUICK,
    )
    for name in PLAIN_MODULES
]
# What was not built is not chosen at run time.
plain_modules[0].define_macros.append(("FASTLSH_BUILT", str(len(built))))
# Generated; what is in it is called a few times for each batch.
shared = extension(SHARED, f"src/{SHARED.replace('.', '/')}.c", "baseline", "-O1")


def write_if_new(path: Path, text: str) -> None:
    """Write a file, unless that is in it: what depends on it would be compiled again."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def vectors(folder: Path) -> list[Extension]:
    """Return the modules of the instruction sets: the same C, under other names."""
    c_file = folder / LOOPS.with_suffix(".c")
    for each in vector_modules:
        name = each.name.rpartition(".")[2]
        source = c_file.with_name(f"{name}.c")
        lines = [f"#define {kind}__loops {kind}_{name}" for kind in ("PyInit", "PyModExport")]
        write_if_new(source, "\n".join([*lines, f'#include "{c_file.name}"', ""]))
        each.sources = [source.as_posix()]
        each.depends.append(c_file.as_posix())
    return vector_modules


def translated() -> list[Extension]:
    """Return the extensions with C for their sources, which is made only where they changed.

    pip installs Cython anew for each build, so its own declarations are newer than any C that was
    made before, and Cython would make all of it again, and the compiler after it.
    """
    folder = Path(build_base, "cython")
    extensions = [loops, *plain_modules, shared]
    c_files = [folder / Path(each.sources[0]).with_suffix(".c") for each in extensions]
    sources = sorted(
        path for kind in ("pyx", "pxd", "pxi") for path in Path("src").rglob(f"*.{kind}")
    )
    how = sha256(Cython.__version__.encode() + Path("setup.py").read_bytes()).hexdigest()
    seen = sha256()
    for path in sources:
        seen.update(path.as_posix().encode() + path.read_bytes())
    made_of = f"{how} {seen.hexdigest()}"
    write_if_new(Path(CHOSEN), newest)
    stamp = folder / "made-of"
    before = stamp.read_text() if stamp.exists() else ""
    if before == made_of and all(map(Path.exists, c_files)):
        for each, c_file in zip(extensions, c_files):  # noqa: B905
            each.sources = [c_file.as_posix()]
        return [*vectors(folder), *extensions[1:]]
    stamp.unlink(missing_ok=True)
    # Processes that are no forks would run this file again.
    forks = sys.platform == "linux" and sys.version_info < (3, 14)
    # The syntax trees have little garbage; looking for it took a third of the time.
    gc.set_threshold(200_000)
    made: list[Extension] = cythonize(
        extensions,
        force=not before.startswith(how),  # Cython looks at the sources alone
        nthreads=os.cpu_count() if forks else 0,
        build_dir=str(folder),
        include_path=["src", KERNELS],
        shared_utility_qualified_name=SHARED,
        compiler_directives={
            "language_level": 3,
            "boundscheck": debug,
            "wraparound": False,
            "initializedcheck": debug,
            "cdivision": True,
            "embedsignature": True,
            "emit_code_comments": debug,  # which the compiler would read three times
            "freethreading_compatible": True,
            "auto_pickle": False,  # no class can be pickled, and Python says so by itself
        },
    )
    stamp.write_text(made_of)
    return [*vectors(folder), *made[1:]]


setup(
    ext_modules=translated(),
    options={
        "build": {"build_base": build_base},
        "build_ext": {"parallel": None if msvc else os.cpu_count()},
    },
)
