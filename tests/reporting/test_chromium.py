"""The pages of `report`, `explain`, `overlap_files` and ``fastlsh audit`` as a browser shows them.

Skipped where there is no Chromium; FASTLSH_CHROMIUM=required makes that a failure.
"""

import json
import os
from threading import Thread

import pytest

import chromium
from fastlsh import (
    Shingler,
    audit_files,
    deduplicate,
    deduplicate_files,
    deduplicate_lines,
    explain,
    overlap,
    report,
)
from fastlsh.files.audit import Answers
from fastlsh.files.audit.server import AuditServer
from fastlsh.reporting import overlap_page
from report_page import NASTY, family
from required import missing

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.filterwarnings("ignore::fastlsh.RecallWarning"),  # of low thresholds
]

SCREENS = [(360, 640), (390, 844), (1280, 900)]  # small phone, phone, desk

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


def explained(path):
    path.write_text(explain(*family("alpha", 2)).to_html(("a", "b")), encoding="utf-8")


def explained_nasty(path):
    a, b, _ = family("alpha", 3)
    path.write_text(explain(a + NASTY, b + "W" * 3000).to_html((NASTY, "b")), encoding="utf-8")


def lines(path):
    """Repeated lines, alike ones among them, one of which comes from elsewhere."""
    texts = ["\n".join(["Menu", *family("alpha", 4)[n:], NASTY, "W" * 900]) for n in range(4)]
    known = ["Menu\n" + family("beta", 1)[0]]
    result = deduplicate_lines(texts, against=known, threshold=0.5)
    report(result, texts, path, against=known, ids=[NASTY, "b", "W" * 200, "d"], title=NASTY)


def equal_lines(path):
    texts = ["Menu\n" + text for text in family("alpha", 3)]
    report(deduplicate_lines(texts), texts, path)


def overlapping(path):
    """Two data sets with names that do not fit on a line, and shades of all strengths."""
    names = ["W" * 300, NASTY, "c"]
    texts = [*family("alpha", 10)]
    data_sets = {name: texts[:4] + texts[4 + n : 6] for n, name in enumerate(names)}
    found = overlap({**data_sets, "empty": [""]}, 0.5)
    notes = {"input": "W" * 300}
    path.write_text(overlap_page(found, 0.5, notes, {}), encoding="utf-8")


@pytest.mark.parametrize(
    "write",
    [
        plain,
        nasty,
        strict,
        low,
        nothing,
        explained,
        explained_nasty,
        lines,
        equal_lines,
        overlapping,
    ],
)
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
            browser.screenshot(tmp_path / "shown.png")
            assert (tmp_path / "shown.png").read_bytes()[:4] == b"\x89PNG"


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


@pytest.fixture
def audited(tmp_path):
    texts = [f"{NASTY.encode('utf-8', 'replace').decode()} {each}" for each in family("alpha", 4)]
    rows = [json.dumps({"id": f"<b>{n}", "text": text}) for n, text in enumerate(texts)]
    (tmp_path / "in.jsonl").write_text("\n".join(rows), encoding="utf-8")
    removed = str(tmp_path / "r.tsv")
    deduplicate_files(tmp_path / "in.jsonl", tmp_path / "k.jsonl", 0.3, removed=removed)
    inputs = [str(tmp_path / "in.jsonl")]
    audit = audit_files(inputs, removed, sample=3)
    answers = tmp_path / "answers.jsonl"
    server = AuditServer(audit, Answers(audit.pairs, str(answers)), Shingler(), 0.95)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server, answers
    server.shutdown()
    thread.join()
    server.server_close()


def press(browser, key):
    """Press a key, and wait until the next page is there."""
    browser.events.clear()
    for kind in ("keyDown", "keyUp"):
        browser.send("Input.dispatchKeyEvent", type=kind, key=key, text=key * (kind == "keyDown"))
    browser.loaded()


def test_an_audit_with_keys(browser, audited):
    server, answers = audited
    browser.open(server.url, 1280, 900)
    assert browser.evaluate("location.pathname") == f"{server.base}0"
    assert browser.evaluate("document.scripts.length") == 1
    assert browser.evaluate("document.images.length") == 0
    assert "alert(1)" in browser.evaluate("document.body.innerText")
    assert browser.evaluate(CONTRAST) == {}
    press(browser, "d")
    assert browser.evaluate("location.pathname") == f"{server.base}1"
    press(browser, "n")
    assert browser.evaluate("location.pathname") == f"{server.base}2"
    press(browser, "b")
    assert browser.evaluate("document.querySelector('.chosen').dataset.key") == "n"
    browser.events.clear()
    browser.evaluate("document.querySelector('[data-key=d]').click()")
    browser.loaded()
    press(browser, "d")
    assert browser.evaluate("location.pathname") == f"{server.base}results"
    assert "3 of 3 pairs are judged" in browser.evaluate("document.body.innerText")
    found = [json.loads(line)["duplicate"] for line in answers.read_text().splitlines()]
    assert found == [True, False, True, True]
    assert all(request.startswith(server.url) for request in browser.requests)
    assert browser.complaints == []


def test_the_page_of_an_audit_says_what_was_not_saved(browser, audited):
    server, answers = audited
    browser.open(server.url, 390, 844)
    answers.mkdir()
    browser.evaluate("document.querySelector('[data-key=d]').click()")
    browser.wait_for("document.querySelector('#error').textContent")
    assert "was not saved" in browser.evaluate("document.querySelector('#error').textContent")
    assert browser.evaluate("location.pathname") == f"{server.base}0"
    assert browser.evaluate(WIDTH) == 390


def test_another_page_cannot_answer(browser, audited, tmp_path):
    """Not even one that knows the address, from a file or from another port of this machine."""
    server, answers = audited
    page = tmp_path / "other.html"
    body = json.dumps({"pair": 0, "duplicate": True})
    page.write_text(
        f"<script>for (const type of ['application/json', 'text/plain'])"
        f" fetch('{server.url}answer', {{method: 'POST', mode: type[0] == 't' ? 'no-cors' : 'cors',"
        f" headers: {{'Content-Type': type}}, body: '{body}'}}).finally(() => document.title += 1)"
        f"</script><iframe src='{server.url}0'></iframe>"
    )
    browser.show(page, 1280, 900)
    browser.wait_for("document.title.length == 2")
    assert not answers.exists()
    assert browser.evaluate("window.frames[0].length === 0")
