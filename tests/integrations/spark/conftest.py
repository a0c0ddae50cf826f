"""Spark on this machine. FASTLSH_SPARK=required makes its absence a failure."""

import importlib.util
import shutil
import sys

import pytest

from required import missing
from spark_collections import SHORT_LIVED

QUIET = ["ignore::FutureWarning:pyspark", "ignore::ResourceWarning"]


def pytest_collection_modifyitems(items):
    for item in items:
        if "integrations/spark" in item.path.as_posix():
            for warning in QUIET:
                item.add_marker(pytest.mark.filterwarnings(warning))


@pytest.fixture(scope="session")
def installed():
    """Skip without pyspark and Java."""
    for name in ("pyspark", "pyarrow", "pandas"):
        if importlib.util.find_spec(name) is None:
            missing("Spark", f"there is no {name}: pip install pyspark pyarrow pandas")
    if shutil.which("java") is None:
        missing("Spark", "there is no java: apt-get install default-jre-headless")


@pytest.fixture(scope="session")
def spark(installed, tmp_path_factory):
    """A session with two tasks at a time."""
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.driver.memory", "1g")
            .config("spark.checkpoint.dir", str(tmp_path_factory.mktemp("checkpoints")))
            .config("spark.driver.extraJavaOptions", SHORT_LIVED)
            .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
            .config("spark.sql.session.timeZone", "UTC")
            .config("spark.log.level", "ERROR")
            # To compile each plan takes longer than to interpret it for so few rows. The jobs in
            # processes of their own compile, as Spark does by default.
            .config("spark.sql.codegen.wholeStage", "false")
            .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
            .getOrCreate()
        )
        yield session
        session.stop()
