"""The page about repeated lines and paragraphs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlsh import LineDeduplication, Shingler, deduplicate_lines
from fastlsh.reporting.removals import LISTED, NAMED, SHOWN, VARIANTS, Sharing
from refusals import refuses
from report_page import NASTY, family, words

pytestmark = pytest.mark.filterwarnings("ignore::fastlsh.RecallWarning")  # of low thresholds

TEXTS = ["Menu\nThe first story.\n\nShare this", "Menu\nThe second story.\n\nMenu", "Menu", None]


def test_what_was_removed_most_often_comes_first(page):
    texts = [*TEXTS, "Share this\n1\n2"]
    seen = page(deduplicate_lines(texts), texts, title="Ours", seconds={"all": 1.0})
    told = words(seen.sections["Ours"])
    assert "5 documents 10 lines 4 removed 40.0% duplicates" in told
    assert "documents that lost something 3 documents that lost everything 1" in told
    most = words(seen.sections["Lines removed most often"])
    assert "Menu kept in document 0; removed 3 times from document 1, document 2 Share" in most
    assert "Share this kept in document 0; removed 1 time from document 4" in most
    assert seen.tables["How often lines were removed"][1:] == [
        ["1", "", "1"], ["2", "", "0"], ["3 to 4", "", "1"]
    ]  # fmt: skip
    assert {row[0]: row[2] for row in seen.tables[
        "How much of each document was removed, in lines"][1:]
    } == {
        "nothing": "1", "up to 25 %": "0", "up to 50 %": "1", "up to 75 %": "1",
        "up to 100 %": "0", "everything": "1",
    }  # fmt: skip
    assert "every character counts" in seen.sections["Parameters"]


def test_variants_show_their_differences(page):
    texts = family("alpha", 6)
    result = deduplicate_lines(texts, threshold=0.5, min_length=3, ids=list("abcdef"))
    seen = page(result, texts)
    most = words(seen.sections["Lines removed most often"])
    assert f"removed {len(result)} times" in most
    assert any("changed" in each for each in seen.marked)
    assert most.count("0.") == min(VARIANTS, len(result))
    assert "3 characters; shorter lines stay" in seen.sections["Parameters"]
    assert "A pair exactly at the threshold is compared" in seen.sections["Parameters"]
    lower = [texts[0], texts[0].upper()]
    result = deduplicate_lines(lower, shingler=Shingler(lowercase=True))
    seen = page(result, lower)
    assert lower[1].split()[0] in seen.sections["Lines removed most often"]
    assert "lowercase" in words(seen.sections["Parameters"])


def test_many_are_not_all_shown(page):
    texts = ["\n".join(map(str, range(100, 160)))] * 2
    seen = page(deduplicate_lines(texts), texts)
    most = words(seen.sections["Lines removed most often"])
    assert most.count("removed 1 time") == SHOWN
    assert "10 lines that were removed less often are not shown" in most
    texts = ["Menu"] * (NAMED + 3)
    result = deduplicate_lines(texts, ids=[f"page-{n}" for n in range(len(texts))])
    most = words(page(result, texts).sections["Lines removed most often"])
    assert f"page-{NAMED} and 2 other documents" in most
    assert f"page-{NAMED + 1}" not in most
    for texts in ([], ["a", "", None]):
        seen = page(deduplicate_lines(texts), texts)
        assert "No line" in seen.sections["Lines removed most often"]
    assert "No line was removed." in seen.sections["Lines removed most often"]


def test_who_shares_how_much_with_whom(page):
    ids, known = ["a", "b", "c"], ["A known paragraph."]
    own = ["First.\n\nSecond one.\n\nFirst.", "Second one.\n\nFirst.", "A known paragraph."]
    result = deduplicate_lines(own, "paragraph", against=known, ids=ids, against_ids=["old"])
    table = page(result, own, against=known).tables["Documents that share paragraphs"]
    assert table == [
        ["removed from", "kept in", "paragraphs", "characters"],
        ["c", "oldfrom the reference collection", "1", "18"],
        ["b", "a", "2", "17"],
    ]


@given(st.lists(st.tuples(*[st.integers(-2, 4)] * 2, st.integers(0, 9)), max_size=30))
def test_sharing_counts_as_a_dictionary_does(removals):
    removals = [(kept, abs(document), length) for kept, document, length in removals]
    expected = {}
    for kept, document, length in sorted(removals):
        if kept != document:
            pieces, characters = expected.get((kept, document), (0, 0))
            expected[kept, document] = pieces + 1, characters + length
    columns = np.array(removals, np.int64).reshape(-1, 3).T
    found = Sharing.of(*columns)
    listed = [(removals[i][0], removals[i][1]) for i in found.rows.tolist()]
    counted = list(zip(found.pieces.tolist(), found.characters.tolist(), strict=True))
    assert found.total == len(expected)
    by_size = sorted(expected, key=lambda pair: -expected[pair][1])[:LISTED]
    assert list(zip(listed, counted, strict=True)) == [(pair, expected[pair]) for pair in by_size]


def test_text_is_only_text(page):
    texts, known = [NASTY, f"{NASTY}\n{NASTY}"], [NASTY]
    result = deduplicate_lines(texts, "paragraph", against=known)
    seen = page(result, texts, against=known, ids=[NASTY, "b"], against_ids=[NASTY], title=NASTY)
    assert any(heading.startswith("Paragraphs removed") for heading in seen.sections)


def test_texts_of_another_result(page):
    result = deduplicate_lines(TEXTS, against=["Menu"])
    assert isinstance(result, LineDeduplication)
    for wrong, message in [
        ({"texts": TEXTS[:2]}, "texts has 2 documents, but the result has 4"),
        ({"against": []}, "against has 0 documents, but the result refers to at least 1"),
        ({"ids": ["a"]}, "ids has 1 elements for 4 documents"),
        ({"against_ids": []}, "against_ids has 0 elements for 1 documents"),
    ]:
        arguments = {"texts": TEXTS, "against": ["Menu"], **wrong}
        refuses(ValueError, message, page, result, **arguments)
