"""docs/systems/lecture.md: the worked tables of the textbook method."""

import importlib.util


def test_page_runs(page):
    assert page.ran == 22 - 2 * (importlib.util.find_spec("matplotlib") is None)


def test_both_verifications(page):
    found = page.names["found"]
    pairs = {k: set(zip(p.left.tolist(), p.right.tolist(), strict=True)) for k, p in found.items()}
    assert pairs["exact"] <= pairs["none"]
    assert pairs["signature"] <= pairs["none"]
    assert min(found["exact"].similarity) >= 0.8


def test_signatures_first_and_then_the_documents(page):
    assert set(page.names["verified"]) <= set(page.names["similar"])
    found = page.names["found"]["signature"]
    assert page.names["similar"] == list(
        zip(found.left.tolist(), found.right.tolist(), strict=True)
    )
