"""The page of an audit: its texts do nothing, and its script knows the pairs exactly."""

import base64
import hashlib
import json
import re
from typing import ClassVar

import numpy as np

from fastlsh import Shingler
from fastlsh.files import AuditPair
from fastlsh.reporting import audit_page
from report_page import NASTY, TAGS, Page, family, words


class AuditPage(Page):
    tags: ClassVar = {
        **TAGS, "main": set(), "noscript": set(), "h3": set(), "section": {"hidden"},
        "h2": {"tabindex"}, "div": {"class", "hidden"}, "p": {"role"}, "button": {"data-key"},
        "script": {"type", "id"},
    }  # fmt: skip


def pairs_of(names=("b", "c"), similarity=0.9):
    kept, *others = family("alpha", 3)
    return [
        AuditPair(row, name, "a", similarity, text, kept)
        for row, (name, text) in enumerate(zip(names, others, strict=True))
    ]


def page_of(pairs, shingler=None):
    return audit_page(pairs, shingler or Shingler())


def sample_of(page):
    (data,) = re.findall(r'<script type="application/json" id="sample">(.*?)</script>', page)
    return json.loads(data)


def test_the_page_shows_all_pairs_with_their_differences():
    found = AuditPage(page_of(pairs_of()))
    assert words(found.sections["Pair 1 of 2"]).startswith(
        "Similarity: 0.9000 Kept: a changed0 alpha1 alpha2 "
    )
    assert found.marked[0] == "changed0 alpha"
    assert "Removed: c alpha0 alpha1 changed2" in words(found.sections["Pair 2 of 2"])
    assert "--results" in found.sections["All pairs are judged"]
    assert "not verified" in page_of(pairs_of(similarity=float("nan")))


def test_the_only_script_is_known_to_the_policy():
    page = page_of(pairs_of())
    assert page.count("<script") == 2  # with the data
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in page
    assert not re.search(r"https?:|src=|href=|@import|url\(", page)


def test_hostile_texts_and_ids_do_nothing():
    texts = [f"{NASTY} {text}" for text in family("alpha", 2)]
    names = [f"{NASTY}</script><!--<script>{n}" for n in range(2)]
    pair = AuditPair(0, names[1], names[0], 0.5, texts[1], texts[0])
    page = page_of([pair])
    AuditPage(page)  # knows no other tag or attribute
    assert page.count("<script") == page.count("</script") == 2
    assert "<!--" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert not set("\u202e\u2028\x1b\ud800") & set(page)
    (named,) = sample_of(page)["pairs"]
    assert named == {"id": names[1], "kept_id": names[0], "similarity": 0.5}
    assert "similarity" not in sample_of(page_of(pairs_of(similarity=np.nan)))["pairs"][0]


def test_answers_are_kept_under_a_name_of_the_sample():
    pairs = pairs_of()
    key = sample_of(page_of(pairs))["key"]
    assert sample_of(page_of(pairs, Shingler("word", 2)))["key"] == key
    others = [
        pairs[::-1], pairs[:1], pairs_of(("b", "d")), [pairs[0], pairs[1]._replace(text="other")],
        [pairs[0], pairs[1]._replace(kept_id="b")],
        [pairs[0], pairs[1]._replace(kept_text="other")],
    ]  # fmt: skip
    keys = [sample_of(page_of(each))["key"] for each in others]
    assert len({key, *keys}) == 7
