"""The pages of `report`, `explain`, `overlap_files` and ``fastlsh audit`` as a browser shows them.

Skipped where there is no Chromium; FASTLSH_CHROMIUM=required makes that a failure.
"""

import json
import os
import time

import pytest

import chromium
from fastlsh import Shingler, deduplicate, deduplicate_lines, explain, overlap, report
from fastlsh.files import AuditPair, answers_of
from fastlsh.reporting import audit_page, overlap_page
from report_page import NASTY, family
from required import missing

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.filterwarnings("ignore::fastlsh.RecallWarning"),  # of low thresholds
]

SCREENS = [(360, 640), (1280, 900)]  # a small phone, and a desk

WIDTH = "document.documentElement.scrollWidth"
# What stands out of the screen; what plots and labels of rows have inside is clipped, and what wide
# tables have is scrolled.
OUTSIDE = """
[...document.querySelectorAll("body *")]
    .filter(e => !e.closest("svg *, th *, .wide *") && e.getBoundingClientRect().width > 0)
    .filter(e => e.getBoundingClientRect().right > innerWidth + 0.5
              || e.getBoundingClientRect().left < -0.5)
    .map(e => e.outerHTML.slice(0, 80))
"""
# Labels of plots that are cut off, or that cover each other.
LABELS = """
(() => {
    const bad = [];
    for (const svg of document.querySelectorAll("svg")) {
        const frame = svg.getBoundingClientRect();
        const boxes = [...svg.querySelectorAll("text")].map(e => [e, e.getBoundingClientRect()]);
        boxes.forEach(([e, box], n) => {
            if (box.left < frame.left - 0.5 || box.right > frame.right + 0.5
                || box.top < frame.top - 0.5 || box.bottom > frame.bottom + 0.5)
                bad.push("cut off: " + e.textContent);
            for (const [other, o] of boxes.slice(n + 1))
                if (box.left < o.right && o.left < box.right
                    && box.top < o.bottom && o.top < box.bottom)
                    bad.push(e.textContent + " covers " + other.textContent);
        });
    }
    return bad;
})()
"""
# Text and the colour behind it, as WCAG 2 compares them: everything must reach 4.5.
CONTRAST = """
(() => {
    const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    const paint = colours => {  // one upon the other
        canvas.clearRect(0, 0, 1, 1);
        for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
        return canvas.getImageData(0, 0, 1, 1).data;
    };
    const light = data => {
        const [r, g, b] = [...data].slice(0, 3).map(v => v / 255)
            .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const probe = document.body.appendChild(document.createElement("div"));
    probe.style.background = "Canvas";
    const ground = getComputedStyle(probe).backgroundColor;
    probe.remove();
    const found = {};
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const e = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || !e.getClientRects().length) continue;
        const style = getComputedStyle(e);
        const behind = [];
        for (let b = e; b; b = b.parentElement) behind.unshift(getComputedStyle(b).backgroundColor);
        behind.unshift(ground);
        const ink = e instanceof SVGElement ? style.fill : style.color;
        const [a, b] = [light(paint(behind)), light(paint([...behind, ink]))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) found[e.tagName + "." + e.className] = ratio;
    }
    return found;
})()
"""
# How light the page is behind its text, 0 to 1.
GROUND = CONTRAST[: CONTRAST.index("    const found")] + "return light(paint([ground])); })()"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if not hasattr(os, "posix_spawn"):
        missing("Chromium", "it is started with posix_spawn, which this system has not")
    if chromium.find() is None:
        missing("Chromium", f"none of {', '.join(chromium.NAMES)} is on the path")
    each = chromium.Chromium(tmp_path_factory.mktemp("chromium"))
    yield each
    each.close()


def plain(path):
    texts = [*family("alpha", 8), *family("beta", 3), "", "tiny", *["the same text again"] * 3]
    report(deduplicate(texts, 0.5), texts, path, title="Plain", notes={"input": "a.jsonl"})


def nasty(path):
    """Everything that could act, and words that do not fit on a line."""
    wide = "W" * 3000
    texts = [f"{NASTY}{'a' * n} end" for n in range(1, 9)]
    texts += [f"{wide}{'b' * 30 * n}" for n in range(3)] + ["<b>", "\x00", "\u202e", ""]
    report(
        deduplicate(texts, 0.3, max_candidates=1), texts, path,
        title=f"{NASTY} {wide}", ids=[f"{NASTY}{wide}{n}" for n in range(len(texts))],
        notes={NASTY: wide, wide: NASTY}, seconds={wide: 1e6, "none": 0.0, NASTY: 1.0},
    )  # fmt: skip


def strict(path):
    texts = ["x" * 30] * 4 + family("many words ", 4)
    result = deduplicate(texts, 1.0, shingler=Shingler("word", 2), priority=range(8))
    report(result, texts, path)


def low(path):
    texts = family("alpha", 5)
    report(deduplicate(texts, 0.04, num_perm=512, bands=256, rows=1), texts, path)


def nothing(path):
    report(deduplicate([]), [], path)


def explained_nasty(path):
    a, b, _ = family("alpha", 3)
    path.write_text(explain(a + NASTY, b + "W" * 3000).to_html((NASTY, "b")), encoding="utf-8")


def lines(path):
    """Repeated lines, alike ones among them, one of which comes from elsewhere."""
    texts = ["\n".join(["Menu", *family("alpha", 4)[n:], NASTY, "W" * 900]) for n in range(4)]
    known = ["Menu\n" + family("beta", 1)[0]]
    result = deduplicate_lines(texts, against=known, threshold=0.5)
    report(result, texts, path, against=known, ids=[NASTY, "b", "W" * 200, "d"], title=NASTY)


def overlapping(path):
    """Two data sets with names that do not fit on a line, and shades of all strengths."""
    names = ["W" * 300, NASTY, "c"]
    texts = [*family("alpha", 10)]
    data_sets = {name: texts[:4] + texts[4 + n : 6] for n, name in enumerate(names)}
    found = overlap({**data_sets, "empty": [""]}, 0.5)
    notes = {"input": "W" * 300}
    path.write_text(overlap_page(found, 0.5, notes, {}), encoding="utf-8")


def pairs_of(count=3):
    texts = [f"{NASTY} {each}" for each in family("alpha", count + 1)]
    return [
        AuditPair(n, f"<b>{n}{NASTY}", "W" * 300, 0.9, text, texts[0])
        for n, text in enumerate(texts[1:])
    ]


def audited(path, pairs=None):
    path.write_text(audit_page(pairs or pairs_of(), Shingler()), encoding="utf-8")


PAGES = [
    plain, nasty, strict, low, nothing, explained_nasty, lines, overlapping, audited,
]  # fmt: skip


@pytest.mark.parametrize("write", PAGES)
def test_on_screens_light_and_dark(browser, tmp_path, write):
    path = tmp_path / "page.html"
    write(path)
    for width, height in SCREENS:
        for dark in (False, True):
            browser.show(path, width, height, dark)
            assert browser.requests == [path.as_uri()]
            assert browser.complaints == []
            browser.evaluate("document.querySelectorAll('details').forEach(e => e.open = true)")
            assert browser.evaluate(OUTSIDE) == []
            assert browser.evaluate(WIDTH) == width
            assert browser.evaluate(LABELS) == []
            assert (browser.evaluate(GROUND) < 0.1) == dark
            assert (browser.evaluate(GROUND) > 0.9) != dark
            assert browser.evaluate(CONTRAST) == {}


def test_text_does_nothing(browser, tmp_path):
    path = tmp_path / "page.html"
    nasty(path)
    browser.show(path, 1280, 900)
    assert browser.evaluate("document.scripts.length + document.images.length") == 0
    assert browser.evaluate("document.body.innerText.includes('<script>alert(1)</script>')")
    assert browser.evaluate("document.title").startswith("</mark></bdi><script>alert(1)")
    assert not any("dialog" in event["method"].lower() for event in browser.events)


def test_the_page_may_not_do_anything(browser, tmp_path):
    """Its policy holds: what would come in nevertheless is neither run nor loaded."""
    path = tmp_path / "page.html"
    plain(path)
    strange = "<script>console.log(1)</script><img src='https://127.0.0.1:9/x.png' onerror='x()'>"
    path.write_text(path.read_text(encoding="utf-8").replace("<body>", f"<body>{strange}"))
    browser.show(path, 1280, 900)
    assert browser.requests == [path.as_uri()]
    blocked = [note["entry"]["text"] for note in browser.complaints]
    assert blocked
    assert all("Content Security Policy" in text for text in blocked)


def test_all_clusters_are_printed(browser, tmp_path):
    path = tmp_path / "page.html"
    texts = [text for n in range(6) for text in family(f"w{n}x", 2)]
    report(deduplicate(texts, 0.5), texts, path)
    browser.show(path, 794, 1123, media="print")
    shown = "[...document.querySelectorAll('details li p')].map(e => e.checkVisibility())"
    assert browser.evaluate(shown) == [True] * 12


def press(browser, keys):
    for key in keys:
        for kind in ("keyDown", "keyUp"):
            text = key if kind == "keyDown" else ""
            browser.send("Input.dispatchKeyEvent", type=kind, key=key, text=text)


def click(browser, key):
    browser.evaluate(f"document.querySelector('[data-key={key}]').click()")


SHOWN = (
    "[...document.querySelectorAll('h2')].filter(e => e.checkVisibility()).map(e => e.innerText)"
)
JUDGED = "document.querySelector('[role=status]').textContent"
CHOSEN = "document.querySelector('[aria-pressed=true]')?.dataset.key"


def downloaded(browser, folder):
    """Click on the button, and return the file when it is there."""
    folder.mkdir()
    browser.send("Page.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    click(browser, "download")
    end = time.monotonic() + chromium.PATIENCE
    while not (folder / "answers.jsonl").exists():
        assert time.monotonic() < end
        time.sleep(0.01)
    return folder / "answers.jsonl"


def test_an_audit_with_keys(browser, tmp_path):
    pairs, path = pairs_of(), tmp_path / "page.html"
    audited(path)
    browser.show(path, 1280, 900)
    assert browser.evaluate(SHOWN) == ["Pair 1 of 3"]
    assert browser.evaluate("document.images.length") == 0
    assert "alert(1)" in browser.evaluate("document.body.innerText")
    press(browser, "bdn")  # the first pair has none before it
    assert browser.evaluate(SHOWN) == ["Pair 3 of 3"]
    assert browser.evaluate("document.activeElement.innerText") == "Pair 3 of 3"
    press(browser, "b")
    assert browser.evaluate(CHOSEN) == "n"
    click(browser, "d")
    assert browser.evaluate(JUDGED) == "2 of 3 pairs are judged."

    browser.show(path, 1280, 900)  # again
    assert browser.evaluate(SHOWN) == ["Pair 3 of 3"]
    assert browser.evaluate(JUDGED) == "2 of 3 pairs are judged."
    file = downloaded(browser, tmp_path / "two")
    assert answers_of(pairs, file) == ([True, True, None], 0)
    press(browser, "nd")  # the end takes no answer
    assert browser.evaluate(SHOWN) == ["All pairs are judged"]
    press(browser, "b")
    assert browser.evaluate(CHOSEN) == "n"
    file = downloaded(browser, tmp_path / "all")
    rows = [json.loads(line) for line in file.read_bytes().splitlines()]
    assert answers_of(pairs, file) == ([True, True, False], 0)
    assert [list(row) for row in rows] == [
        ["id", "kept_id", "similarity", "duplicate", "time"]
    ] * 3  # fmt: skip
    assert [row["id"] for row in rows] == [pair.id for pair in pairs]
    assert {url for url in browser.requests if not url.startswith("blob:")} == {path.as_uri()}
    assert browser.complaints == []


def test_the_answers_of_another_sample_are_not_mixed_in(browser, tmp_path):
    path = tmp_path / "page.html"
    audited(path, pairs_of(5))
    browser.show(path, 1280, 900)
    press(browser, "ddd")
    assert browser.evaluate(JUDGED) == "3 of 5 pairs are judged."
    audited(path, pairs_of(4))
    browser.show(path, 1280, 900)
    assert browser.evaluate(JUDGED) == "0 of 4 pairs are judged."
    assert browser.evaluate("document.querySelector('[data-key=download]').disabled")


def test_a_browser_that_keeps_nothing(browser, tmp_path):
    path = tmp_path / "page.html"
    audited(path, pairs_of(6))
    refuse = "Object.defineProperty(window, 'localStorage', {get() { throw Error('no'); }})"
    script = browser.send("Page.addScriptToEvaluateOnNewDocument", source=refuse)
    browser.show(path, 390, 844)
    browser.send("Page.removeScriptToEvaluateOnNewDocument", **script)
    told = browser.evaluate("document.querySelector('[role=alert]').textContent")
    assert told.startswith("This browser does not keep the answers: download them")
    press(browser, "dn")
    assert answers_of(pairs_of(6), downloaded(browser, tmp_path / "two"))[0][:3] == [
        True, False, None,
    ]  # fmt: skip
    assert browser.evaluate(WIDTH) == 390


def test_an_audit_without_javascript_is_a_page_to_read(browser, tmp_path):
    path = tmp_path / "page.html"
    audited(path)
    browser.send("Emulation.setScriptExecutionDisabled", value=True)
    browser.show(path, 1280, 900)
    browser.send("Emulation.setScriptExecutionDisabled", value=False)
    assert browser.evaluate(SHOWN) == [f"Pair {n} of 3" for n in (1, 2, 3)]
    assert "Answering them needs JavaScript" in browser.evaluate("document.body.innerText")
    assert browser.evaluate("document.querySelector('.keys').checkVisibility()") is False
