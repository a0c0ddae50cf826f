"""Object storage for the page about large sizes, and the pages about other systems."""

import pytest

from object_storage import cut, s3_port, storage
from pages import run_here

__all__ = ["cut", "s3_port", "storage"]


@pytest.fixture(scope="module")
def page(request, tmp_path_factory):
    """The page of docs/systems that a module tests, when it has run; its folder is a name, too."""
    name = request.module.__name__.rpartition("test_systems_")[2]
    folder = tmp_path_factory.mktemp(name)
    page = run_here(f"docs/systems/{name}.md", folder)
    page.names["folder"] = folder
    return page
