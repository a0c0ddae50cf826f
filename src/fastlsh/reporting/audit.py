"""The page of an audit: pairs to judge with keys, and answers that stay in the browser."""

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from fastlsh.html import whole_page
from fastlsh.reporting import frame
from fastlsh.reporting.differences import beside
from fastlsh.texts import Shingler

STYLE = """
body { max-width: 90rem; padding-bottom: 0; }
.texts { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit,
  minmax(min(100%, 20rem), 1fr)); }
.texts div { background: var(--soft); border-radius: 8px; padding: .25rem 1rem .75rem; }
.texts h3 { font-size: 1rem; margin: .5rem 0; }
.texts p { max-width: none; }
.texts bdi { white-space: pre-wrap; }
.keys { background: Canvas; border-top: 1px solid var(--line); bottom: 0; margin-top: 1rem;
  padding: .75rem 0 1rem; position: sticky; }
button { background: var(--soft); border: 1px solid var(--faint); border-radius: 6px;
  color: inherit; font: inherit; margin: .25rem .5rem .25rem 0; padding: .5rem 1rem; }
button:disabled { border-color: var(--line); color: var(--faint); }
button[aria-pressed="true"] { outline: 3px solid var(--bar); }
h2:focus { outline: none; }
""".strip()

SCRIPT = """
const sample = JSON.parse(document.querySelector("#sample").textContent);
const end = sample.pairs.length;
const parts = [...document.querySelectorAll("section")];  // those of the pairs, and the end
const buttons = Object.fromEntries(
  [...document.querySelectorAll("button")].map(button => [button.dataset.key, button]));
const answers = {};
let at = 0;
const refused = () => {
  document.querySelector("[role=alert]").textContent =
    "This browser does not keep the answers: download them before you close the page.";
};
const load = () => {  // of this page in another tab, too
  try {
    Object.assign(answers, JSON.parse(localStorage.getItem(sample.key)));
  } catch { refused(); }
};
const show = () => {
  const judged = Object.keys(answers).length;
  parts.forEach((part, number) => { part.hidden = number != at; });
  document.querySelector("[role=status]").textContent =
    `${judged.toLocaleString("en")} of ${end.toLocaleString("en")} pairs are judged.`;
  buttons.d.ariaPressed = answers[at]?.duplicate === true;
  buttons.n.ariaPressed = answers[at]?.duplicate === false;
  buttons.d.disabled = buttons.n.disabled = at == end;
  buttons.b.disabled = at == 0;
  buttons.download.disabled = !judged;
};
const go = number => {
  at = number;
  show();
  scrollTo(0, 0);
  parts[at].querySelector("h2").focus({preventScroll: true});
};
const following = () => {
  const number = sample.pairs.findIndex((_, number) => !answers[number]);
  return number < 0 ? end : number;
};
const answer = duplicate => {
  load();
  answers[at] = {duplicate, time: new Date().toISOString()};
  try {
    localStorage.setItem(sample.key, JSON.stringify(answers));
  } catch { refused(); }
  go(following());
};
const download = () => {
  const lines = sample.pairs.map((pair, number) =>
    answers[number] ? JSON.stringify({...pair, ...answers[number]}) + "\\n" : "");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(lines, {type: "application/jsonl"}));
  link.download = "answers.jsonl";
  link.click();
};
const acts = {d: () => answer(true), n: () => answer(false), b: () => go(at - 1), download};
for (const key in acts) buttons[key].addEventListener("click", acts[key]);
addEventListener("keydown", event => {
  if (event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
  const key = event.key.toLowerCase();
  if (key.length == 1) buttons[key]?.click();
});
addEventListener("storage", () => { load(); show(); });
document.querySelector(".keys").hidden = false;
load();
at = following();
show();
""".strip()
"""The keys d (duplicate), n (not a duplicate) and b (back); a disabled button does not click."""


def audit_page(pairs: Sequence[Any], shingler: Shingler) -> str:
    """Return a page that shows pairs, takes an answer for each, and downloads them as JSON lines.

    The browser keeps the answers under a name that other pairs, in another order, do not have.
    Without JavaScript the page shows all pairs.

    Parameters
    ----------
    pairs
        With id, kept_id, similarity, text and kept_text.
    shingler
        By which differences are found.
    """
    known, named = sha256(), []
    for pair in pairs:
        known.update(json.dumps([pair.id, pair.kept_id, pair.text, pair.kept_text]).encode())
        named.append({"id": pair.id, "kept_id": pair.kept_id})
        if pair.similarity == pair.similarity:
            named[-1]["similarity"] = pair.similarity
    # Nothing in JSON ends a script, or begins a comment, without this character.
    sample = json.dumps({"key": f"fastlsh audit {known.hexdigest()}", "pairs": named})
    sample = sample.replace("<", "\\u003c")
    shown = "\n".join(_shown(pair, n, len(pairs), shingler) for n, pair in enumerate(pairs, 1))
    body = f"""<main>
<h1>Is the removed document a duplicate of the kept one?</h1>
<noscript><p>All pairs are shown. Answering them needs JavaScript.</p></noscript>
{shown}
<section hidden><h2 tabindex="-1">All pairs are judged</h2>
<p>Download the answers, and run the command that has written this page with --answers and the
downloaded file, and --results, instead of --page.</p></section>
<div class="keys" hidden>
<p role="status"></p>
<p role="alert"></p>
<button data-key="d">Duplicate (d)</button>
<button data-key="n">Not a duplicate (n)</button>
<button data-key="b">Back (b)</button>
<button data-key="download">Download the answers</button>
</div>
</main>
<script type="application/json" id="sample">{sample}</script>"""
    return whole_page("Audit of removals", f"{frame.PAGE}\n{STYLE}", body, SCRIPT)


def _shown(pair: Any, number: int, count: int, shingler: Shingler) -> str:
    kept, removed = beside(pair.kept_text, pair.text, shingler)
    return f"""<section><h2 tabindex="-1">Pair {number:,} of {count:,}</h2>
<p>Similarity: {frame.similarity_text(pair.similarity)}</p>
<div class="texts">
<div><h3>Kept: {frame.identifier(pair.kept_id)}</h3><p>{kept}</p></div>
<div><h3>Removed: {frame.identifier(pair.id)}</h3><p>{removed}</p></div>
</div></section>"""
