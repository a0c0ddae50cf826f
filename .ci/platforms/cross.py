"""Compiles and links all modules for other systems, with the compiler of the package ziglang.

    python cross.py FOLDER [TARGET...]
    python cross.py FOLDER --for ROOT TARGET    with the Python 3.13 of a Debian in ROOT; what is
                                                built goes beside the sources in ROOT/fastlsh

It runs in the folder of setup.py, which says what is compiled, and with which flags.
"""

import os
import platform
import runpy
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import setuptools

# Target of the compiler -> (processor for setup.py, processor for import libraries).
TARGETS = {
    "x86_64-windows-gnu": ("x86_64", "i386:x86-64"),
    "aarch64-windows-gnu": ("arm64", "arm64"),
    "x86_64-macos": ("x86_64", ""),
    "aarch64-macos": ("arm64", ""),
    "x86_64-linux-musl": ("x86_64", ""),
    "aarch64-linux-musl": ("arm64", ""),
}
EMULATED = {
    "aarch64-linux-gnu": ("arm64", ""),
    "s390x-linux-gnu": ("s390x", ""),
}
ZIG = [sys.executable, "-m", "ziglang"]

# What CPython's own file says of Windows, as far as its headers ask; the compiler is no MSVC.
WINDOWS = """\
#include <io.h>
#define MS_WIN32
#define MS_WIN64
#define MS_WINDOWS
#define NT_THREADS
#define HAVE_DECLSPEC_DLL
#define Py_ENABLE_SHARED
#define HAVE_SSIZE_T 1
#define HAVE_STDINT_H 1
#define HAVE_INTTYPES_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_STDDEF_H 1
#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_FLOAT 4
#define SIZEOF_DOUBLE 8
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_WCHAR_T 2
#define SIZEOF_OFF_T 4
#define SIZEOF_FPOS_T 8
#define SIZEOF_TIME_T 8
#define SIZEOF_PID_T 4
#define ALIGNOF_SIZE_T 8
#define ALIGNOF_MAX_ALIGN_T 8
"""


def extensions(processor: str) -> list[Any]:
    """Return what setup.py builds for a processor: sources, flags and macros."""
    found: dict[str, Any] = {}
    setuptools.setup = found.update
    os.environ["FASTLSH_BUILD"] = "all"
    platform.machine = lambda: processor
    runpy.run_path("setup.py", run_name="__main__")
    return list(found["ext_modules"])


def headers(folder: Path, windows: bool, root: Path | None, multiarch: str) -> Path:
    """Return a folder with a Python's headers, and a configuration that asks for no system."""
    target = folder / "include" / ("windows" if windows else "posix")
    shutil.rmtree(target, ignore_errors=True)
    include = root / "usr/include/python3.13" if root else Path(sysconfig.get_path("include"))
    shutil.copytree(include, target)
    # Debian's includes the one of a processor, and knows no other systems.
    own = (root or Path("/")) / "usr/include" / multiarch / include.name / "pyconfig.h"
    here = Path(sysconfig.get_config_h_filename())
    text = (own if own.exists() else here).read_text()
    (target / "pyconfig.h").write_text(WINDOWS if windows else text)
    return target


def import_library(folder: Path, processor: str) -> Path:
    """Return a library for Windows that promises every name of this machine's Python."""
    config = sysconfig.get_config_vars()
    shared = Path(config["LIBDIR"], config["LDLIBRARY"])
    python = shared if shared.suffix == ".so" and shared.exists() else Path(sys.executable)
    listed = subprocess.run(
        ["nm", "--dynamic", "--defined-only", python.resolve()],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    names = sorted({line.split()[-1].partition("@")[0] for line in listed.splitlines()})
    names = [name for name in names if name.startswith(("Py", "_Py"))]
    definition = folder / "python.def"
    definition.write_text("\n".join(["LIBRARY python3.dll", "EXPORTS", *names, ""]))
    library = folder / f"python-{processor.replace(':', '-')}.lib"
    run([*ZIG, "dlltool", "-m", processor, "-d", str(definition), "-l", str(library)])
    return library


def run(command: list[str]) -> None:
    """Run a command; where it fails, show what it said."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def build(folder: Path, target: str, root: Path | None = None) -> int:
    """Compile and link everything for a target; return how many modules these are."""
    processor, importing = (EMULATED if root else TARGETS)[target]
    windows = "windows" in target
    multiarch = target if root else str(sysconfig.get_config_var("MULTIARCH") or "")
    include = headers(folder, windows, root, multiarch)
    linking = {"windows": [], "macos": ["-undefined", "dynamic_lookup"]}.get(
        target.split("-")[1], []
    )
    if windows:
        linking = [str(import_library(folder, importing))]
    made = folder / target
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()

    def one(extension: Any) -> None:
        macros = [f"-D{name}={value}" for name, value in extension.define_macros]
        compiled = made / f"{extension.name}.o"
        output = made / f"{extension.name}{'.pyd' if windows else '.so'}"
        if root:
            output = root / "fastlsh/src" / f"{extension.name.replace('.', '/')}.so"
        run([
            *ZIG, "cc", "-target", target, "-c", "-fPIC", "-DNDEBUG",
            "-Werror=implicit-function-declaration", "-I", str(include), *macros,
            *extension.extra_compile_args, *extension.sources, "-o", str(compiled),
        ])  # fmt: skip
        # By itself, for with the flags of an instruction set the system's libraries are built anew.
        run([*ZIG, "cc", "-target", target, "-shared", str(compiled), *linking, "-o", str(output)])

    modules = extensions(processor)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(one, modules))
    return len(modules)


def main() -> None:
    """Build for the targets that are given, or for all."""
    folder = Path(sys.argv[1])
    os.environ.setdefault("ZIG_GLOBAL_CACHE_DIR", str(folder.parent / "zig-cache"))
    os.environ.setdefault("ZIG_LOCAL_CACHE_DIR", str(folder.parent / "zig-cache"))
    root, targets = None, sys.argv[2:]
    if targets[:1] == ["--for"]:
        root, targets = Path(targets[1]), targets[2:]
    for target in targets or TARGETS:
        print(f"{target}: {build(folder, target, root)} modules compiled and linked", flush=True)


if __name__ == "__main__":
    main()
