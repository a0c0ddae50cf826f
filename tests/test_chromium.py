"""The pages of `report` and `explain` in a real browser.

Skipped where there is no Chromium; FASTLSH_CHROMIUM=required makes that a failure.
"""

import html
import json
import os
import re
import shutil
import subprocess

import pytest

from fastlsh import deduplicate, explain, report
from test_explain_shown import NASTY
from test_report import TEXTS

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)

if CHROMIUM is None and os.environ.get("FASTLSH_CHROMIUM") != "required":
    pytest.skip("needs Chromium", allow_module_level=True)

LONG = "".join(chr(0x61 + n * 7 % 26) for n in range(3000))
NASTY_TEXTS = [f"{NASTY}{LONG}{n}" for n in range(3)]

# The page inside a frame as wide as a phone, which a script outside may measure.
FRAME = """<!DOCTYPE html><html><body style="margin: 0">
<iframe srcdoc="{page}" style="border: 0; width: {width}px; height: 3000px"></iframe>
<script>
document.querySelector("iframe").onload = (event) => {{
  const page = event.target.contentDocument, root = page.documentElement;
  for (const details of page.querySelectorAll("details")) details.open = true;
  document.title = JSON.stringify({{
    scroll: root.scrollWidth, width: root.clientWidth, height: root.scrollHeight,
    text: getComputedStyle(page.body).color, mark: getComputedStyle(page.querySelector("mark") ??
    page.body).backgroundColor, scripts: page.scripts.length,
  }});
}};
</script></body></html>"""


def run(folder, *arguments):
    done = subprocess.run(
        [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--no-first-run", "--hide-scrollbars", "--disable-background-networking",
            "--disable-sync", "--enable-logging=stderr",
            f"--user-data-dir={folder / 'profile'}", *arguments,
        ],
        capture_output=True, timeout=120, check=True,
    )  # fmt: skip
    return done.stdout.decode(), done.stderr.decode()


@pytest.fixture(params=["report", "report of nasty texts", "explain", "explain nasty texts"])
def page(request, tmp_path):
    """The file of a page."""
    path = tmp_path / "page.html"
    if request.param.startswith("report"):
        texts = NASTY_TEXTS if "nasty" in request.param else TEXTS
        result = deduplicate(texts, 0.7, ids=[f"{NASTY}{n}" for n, _ in enumerate(texts)])
        report(result, texts, path, title=LONG, notes={"input": LONG})
    else:
        pair = NASTY_TEXTS[:2] if "nasty" in request.param else TEXTS[:2]
        path.write_text(explain(*pair).to_html((LONG, NASTY)), encoding="utf-8")
    return path


def measured(page, width, *arguments):
    framed = page.with_name("frame.html")
    source = html.escape(page.read_text(encoding="utf-8"))
    framed.write_text(FRAME.format(page=source, width=width), encoding="utf-8")
    dom, _ = run(page.parent, "--dump-dom", *arguments, framed.as_uri())
    title = re.search("<title>(.*?)</title>", dom, re.DOTALL)
    return json.loads(html.unescape(title[1]))


@pytest.mark.parametrize("width", [340, 390, 1280])
def test_it_fits_the_width(page, width):
    seen = measured(page, width)
    assert seen["width"] == width
    assert seen["scroll"] == width
    assert seen["height"] > 500
    assert seen["scripts"] == 0


def test_light_and_dark(page):
    light = measured(page, 390, "--blink-settings=preferredColorScheme=1")
    dark = measured(page, 390, "--blink-settings=preferredColorScheme=0")
    assert light["text"] == "rgb(0, 0, 0)"
    assert dark["text"] == "rgb(255, 255, 255)"
    assert light["mark"] != dark["mark"]


def test_nothing_is_asked_for_and_nothing_complained_of(page):
    log = page.with_name("net.json")
    dom, said = run(page.parent, "--dump-dom", f"--log-net-log={log}", page.as_uri())
    assert "</html>" in dom
    assert "<script" not in dom
    assert "CONSOLE" not in said
    asked = set(re.findall(r'"(?:url|original_url)":\s*"([^"]*)"', log.read_text()))
    its_own = re.compile(r"https?://[\w.]*(google|googleapis|gvt1)\.com/")  # updates, the time
    theirs = {url for url in asked if not url.startswith("file:") and not its_own.match(url)}
    assert theirs == set()


def test_a_screenshot(page):
    picture = page.with_name("page.png")
    run(page.parent, f"--screenshot={picture}", "--window-size=1280,2000", page.as_uri())
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) > 20_000  # a blank one has about 10,000 bytes
