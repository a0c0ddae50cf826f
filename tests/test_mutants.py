"""The list of small mistakes: each can still be made, and its tests can still be run."""

from mutants import ROOT, groups


def test_each_mistake_can_be_made_at_one_place_in_its_source():
    places = {
        (group.source, old): (ROOT / group.source).read_text(encoding="utf-8").count(old)
        for group in groups()
        for old, _ in group.changes
    }
    assert len(places) > 100
    assert {place: count for place, count in places.items() if count != 1} == {}
    assert all(old != new for group in groups() for old, new in group.changes)


def test_the_tests_of_each_source_exist():
    named = {test for group in groups() for test in group.tests}
    for path, _, function in (test.partition("::") for test in named):
        assert (ROOT / path).exists(), path
        if function:
            text = (ROOT / path).read_text(encoding="utf-8")
            assert f"\ndef {function}(" in text, f"{path}::{function}"
