"""What the tests share: processes, instruction sets, test data, hypothesis without chance."""

import functools
import gc
import gzip
import importlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import fastlsh
from fastlsh import _kernels
from fastlsh.cli import command, main
from fastlsh.index.sqlite import connection

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))  # for oracle, strategies and files

import processor_times  # noqa: E402
from combinations import every_isa  # noqa: E402
from every_kernel import KERNELS  # noqa: E402
from object_storage import cut, s3_port, storage  # noqa: E402

__all__ = ["cut", "s3_port", "storage"]

# The same examples in every run; a failure is never a matter of luck. .ci/run tries more of them,
# and FASTLSH_EXAMPLES=5000 digs deeper.
settings.register_profile(
    "fastlsh",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=int(os.environ.get("FASTLSH_EXAMPLES", "12")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("fastlsh")


# A shell ignores Ctrl-C on behalf of what runs in its background, and children would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Where Python writes no bytecode, as in many containers, each process that a test starts would
# compile all of an editable fastlsh anew: they share what the first one compiles.
if sys.dont_write_bytecode and not list(Path(fastlsh.__file__).parent.glob("__pycache__/*.pyc")):
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ.setdefault("PYTHONPYCACHEPREFIX", str(HERE.parent / "build" / "bytecode"))
    # So does this process: pytest spends most of the time of collection on rewriting assertions.
    sys.dont_write_bytecode, sys.pycache_prefix = False, os.environ["PYTHONPYCACHEPREFIX"]

# A test ends processes, never the machine: nothing has to wait until the disk has it. That was most
# of the time of the tests with files in SQLite. Processes that tests start do wait.
SYNCHRONOUS = connection.SYNCHRONOUS
connection.SYNCHRONOUS = "OFF"
os.fsync = lambda number: os.fstat(number) and None

# A process builds the parser of all commands once; here it would be most of what many tests take.
command.parser = functools.cache(command.parser)

MOST_PROCESSES = 8

# What .ci/run tries and the default run leaves out: the tools of the project, and what needs other
# programs, libraries or collections.
OF_CI = (
    "_kernels/test_baseline_has_no_avx.py", "bench", "docs/test_integrations.py",
    "docs/test_published.py", "docs/test_systems.py", "fuzz", "integrations", "ports",
    "systems", "test_layers.py",
)  # fmt: skip


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Run the whole suite in as many processes as there are processors; a part of it in one.

    What is slow measures time and memory, and has the machine for itself. ``-n`` decides otherwise.
    """
    options = config.option
    whole = config.args_source != pytest.Config.ArgsSource.ARGS
    given = getattr(options, "numprocesses", 0) is not None or hasattr(config, "workerinput")
    slow = "not slow" not in options.markexpr
    if given or not whole or slow or options.keyword or options.capture == "no":
        return
    options.numprocesses = "auto"
    options.dist = "worksteal" if options.dist == "no" else options.dist
    options.maxprocesses = options.maxprocesses or MOST_PROCESSES


@functools.cache
def paths_of_ci():
    return {path for name in OF_CI for path in HERE.glob(name)}


def pytest_ignore_collect(collection_path, config):
    """Do not even read what is left to .ci/run, unless it is named."""
    if collection_path in paths_of_ci() and "not exhaustive" in config.option.markexpr:
        start = config.invocation_params.dir
        named = [(start / each.partition("::")[0]).resolve() for each in config.args]
        return not any(collection_path in (path, *path.parents) for path in named) or None
    return None


def pytest_collection_modifyitems(config, items):
    """Mark the tests that are left to .ci/run: `OF_CI`, and those of large collections.

    These take long and seldom find what small ones do not. What .ci/run tries in a larger form is
    left out of its small form.
    """
    if "not exhaustive" not in config.option.markexpr:
        items[:] = [item for item in items if item.get_closest_marker("small") is None]
    of_ci = paths_of_ci()
    for item in items:
        if not of_ci.isdisjoint([item.path, *item.path.parents]):
            item.add_marker("exhaustive")
        given = item.callspec.params.values() if hasattr(item, "callspec") else ()
        server = "redis_address" in item.fixturenames or "redis" in item.path.name
        if server or any(isinstance(value, str) and value == "redis" for value in given):
            item.add_marker("exhaustive")
        if "corpus" in item.fixturenames:
            item.add_marker("exhaustive")


def pytest_configure(config):
    """Write the processor time of each test to a file, if the environment names one."""
    config.addinivalue_line("markers", "small: tried in a larger form by the exhaustive run")
    if processor_times.FILE in os.environ:
        config.pluginmanager.register(processor_times, "processor_times")


@pytest.hookimpl(tryfirst=True)
def pytest_collection():
    """Let the garbage collector not look again and again at thousands of tests, which stay."""
    gc.disable()


def pytest_collection_finish():
    gc.enable()
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter):
    """Tell what lets the tests run that were skipped."""
    reports = terminalreporter.stats.get("skipped", ())
    reasons = " ".join(str(report.longrepr) for report in reports)
    absent = set(re.findall(r"[Nn]o module named '(\w+)", reasons))
    absent |= set(re.findall(r"pip install (\w+)", reasons))
    if absent:
        names = " ".join("moto[server]" if name == "moto" else name for name in sorted(absent))
        terminalreporter.write_line(f"More would run after: pip install {names}")


def pytest_report_header():
    return f"fastlsh: instruction set {_kernels.isa} of {', '.join(_kernels.instruction_sets())}"


@pytest.fixture(scope="module", params=every_isa())
def isa(request):
    """The kernels with the loops of each instruction set that this machine has."""
    loops = {
        name: importlib.import_module(f"fastlsh._kernels.loops._{name}").LOOPS
        for name in (request.param, _kernels.isa)
    }
    _kernels.use_loops(loops[request.param])
    yield KERNELS
    _kernels.use_loops(loops[_kernels.isa])


@pytest.fixture(scope="session")
def pa():
    """pyarrow; the test is skipped where it is absent."""
    return pytest.importorskip("pyarrow")


@pytest.fixture(scope="session")
def examples():
    """The folder with the example collection; the test is skipped where it is absent."""
    folder = HERE.parent / "examples"
    if not folder.is_dir():
        pytest.skip("no examples here")
    return folder


@pytest.fixture(scope="session")
def data():
    """The folder with the large collections; the test is skipped where it is absent."""
    folder = Path(os.environ.get("FASTLSH_DATA", HERE.parents[1] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("no test data: set FASTLSH_DATA")
    return folder


@pytest.fixture(scope="session", params=["mixed", "descriptions"])
def corpus(request, data, pa):
    """(ids, texts, {(id, id): exact similarity of 5-character shingles, from 0.5 up})."""
    with pa.input_stream(str(data / f"{request.param}.jsonl.zst")) as stream:
        documents = [json.loads(line) for line in stream.read().splitlines()]
    with gzip.open(data / f"{request.param}.truth-char5-j50.tsv.gz", "rt") as lines:
        next(lines)
        rows = [line.rstrip("\n").split("\t") for line in lines]
    truth = {frozenset((a, b)): float(similarity) for a, b, similarity in rows}
    return [d["id"] for d in documents], [d["text"] for d in documents], truth


@pytest.fixture(scope="session", autouse=True)
def _nothing_waits_at_the_end():
    yield
    if "warm" in sys.modules:
        sys.modules["warm"].stop()


@pytest.fixture
def durable(monkeypatch):
    """SQLite waits for the disk, as it does outside of the tests."""
    monkeypatch.setattr(connection, "SYNCHRONOUS", SYNCHRONOUS)


@pytest.fixture(scope="session")
def run_python():
    """A function that runs code in a fresh interpreter, with changes to the environment."""

    def run(code, **environment):
        return subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def redis_address(tmp_path_factory):
    """A Redis server: redis://host:port/0."""
    import redis_server

    with redis_server.started(tmp_path_factory.mktemp("redis")) as ((host, port), _):
        yield f"redis://{host}:{port}/0"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    """Run a command in an empty directory; return status, standard output and error lines.

    `run.done` is for a command that succeeds, and returns the standard output and error lines;
    `run.refused` is for one that is refused, and returns its only line.
    """
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        status = main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return status, out, err.splitlines()

    def done(*arguments):
        status, *said = call(*arguments)
        assert status == 0, (arguments, said)
        return said

    def refused(*arguments):
        status, out, lines = call(*arguments)
        assert (status, out, len(lines)) == (2, "", 1), (arguments, lines)
        return lines[0]

    call.done, call.refused = done, refused
    return call


@pytest.fixture
def page(tmp_path):
    """A function that writes a report, and returns what is on its page."""
    from report_page import Page

    def make(result, texts, **options):
        path = tmp_path / "report.html"
        fastlsh.report(result, texts, path, **options)
        return Page(path.read_text(encoding="utf-8"))

    return make


@pytest.fixture
def small_disk(tmp_path):
    """A function that mounts a folder as a disk of so many KB, or mounts it with other options."""
    mounted = []

    def mount(size, *more):
        folder = tmp_path / "small"
        folder.mkdir(exist_ok=True)
        options = ",".join([*more, f"size={size}k"])
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            pytest.skip("no small disk: run as root on Linux, where mount is allowed")
        mounted.append(folder)
        return folder

    yield mount
    gc.collect()  # an ExitStack is in a cycle with the error that it raises, and its open files
    for folder in dict.fromkeys(mounted):
        if subprocess.run(["umount", str(folder)], capture_output=True).returncode:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)
            pytest.fail("files of the disk are still open")
