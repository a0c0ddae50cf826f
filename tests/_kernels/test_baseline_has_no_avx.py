"""Nothing that older processors lack strays into the modules that every processor loads."""

import importlib.util
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fastlsh import _kernels

pytestmark = [
    pytest.mark.skipif(
        sys.platform != "linux" or platform.machine() != "x86_64", reason="x86-64 Linux only"
    ),
    pytest.mark.skipif(shutil.which("objdump") is None, reason="needs objdump (binutils)"),
]

# AVX and AVX-512 (v..., k... on mask registers), PCLMUL, BMI, LZCNT. Not TZCNT: compilers write it
# for BSF, which is the same to older processors.
TOO_NEW = re.compile(
    r"v(?!err|erw)\w+|k(?:mov|and|andn|or|xor|xnor|not|test|ortest|add|shift[lr]|unpck)[bwdq]+"
    r"|pclmul\w+|andn|bextr|bls(?:i|r|msk)|bzhi|mulx|pdep|pext|rorx|sarx|shlx|shrx|lzcnt"
)


def instructions(module):
    path = importlib.util.find_spec(f"fastlsh._kernels.{module}").origin
    listing = subprocess.run(
        ["objdump", "--disassemble", "--no-show-raw-insn", path],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return set(re.findall(r"^\s+[0-9a-f]+:\t(\w+)", listing, re.MULTILINE))


def modules():
    folder = Path(_kernels.__file__).parent
    paths = sorted(folder.glob("*/*.so"))
    names = [f"{path.parent.name}.{path.name.split('.')[0]}" for path in paths]
    return [name for name in names if "._avx" not in name]


@pytest.mark.parametrize("module", modules())
def test_every_processor_can_run_it(module):
    found = instructions(module)
    assert {"mov", "call", "ret"} <= found
    assert not {name for name in found if TOO_NEW.fullmatch(name)}


@pytest.mark.parametrize("module", ["loops._avx2", "loops._avx512"])
def test_the_check_sees_avx(module):
    if importlib.util.find_spec(f"fastlsh._kernels.{module}") is None:
        pytest.skip(f"{module} was not built: FASTLSH_BUILD=all builds it")
    assert any(TOO_NEW.fullmatch(name) for name in instructions(module))
