"""The pages of an audit: a pair to judge, with its keys, and what the answers tell."""

from collections.abc import Sequence
from typing import Any

from fastlsh.evaluation import Precision
from fastlsh.html import escaped, shortened, whole_page
from fastlsh.reporting.differences import beside
from fastlsh.reporting.documents import MOST_ID
from fastlsh.reporting.style import PAGE
from fastlsh.texts import Shingler

STYLE = """
.texts { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit,
  minmax(min(100%, 20rem), 1fr)); }
.texts div { background: var(--soft); border-radius: 8px; max-height: 60vh; overflow-y: auto;
  padding: .75rem 1rem; }
.texts bdi { white-space: pre-wrap; }
body { max-width: 90rem; }
.keys { background: Canvas; bottom: 0; display: flex; flex-wrap: wrap; gap: .75rem;
  padding: 1rem 0; position: sticky; }
button { font: inherit; padding: .5rem 1rem; }
.chosen { outline: 3px solid var(--bar); }
""".strip()

SCRIPT = """
const main = document.querySelector("main");
let busy = false;
const go = path => { busy = true; location.assign(main.dataset.base + path); };
const answer = async duplicate => {
  if (busy) return;
  busy = true;
  const body = JSON.stringify({pair: Number(main.dataset.pair), duplicate});
  try {
    const reply = await fetch(main.dataset.base + "answer", {
      method: "POST", headers: {"Content-Type": "application/json"}, body,
    });
    if (!reply.ok) throw new Error(await reply.text());
    go(await reply.text());
  } catch (error) {
    busy = false;
    document.querySelector("#error").textContent = "The answer was not saved: " + error.message;
  }
};
const keys = {
  d: () => answer(true), n: () => answer(false),
  b: () => { if (main.dataset.before) go(main.dataset.before); },
};
addEventListener("keydown", event => {
  if (event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
  const act = keys[event.key.toLowerCase()];
  if (!busy && act) act();
});
for (const button of document.querySelectorAll("button"))
  button.addEventListener("click", () => keys[button.dataset.key]());
""".strip()
"""The keys d (duplicate), n (not a duplicate) and b (back)."""

HEAD = ("", "removed", "judged", "duplicates", "precision", "95 % interval")
HEADINGS = {
    "all": "All removals", "similarity": "By similarity", "cluster": "By size of the cluster",
    "source": "By source", "threshold": "If the threshold were higher",
}  # fmt: skip


def pair_page(
    pair: Any, number: int, count: int, judged: int, answer: bool | None, shingler: Shingler, *,
    base: str, policy: str, nonce: str,
) -> str:  # fmt: skip
    """Return the page of a pair with id, kept_id, similarity, text and kept_text.

    Parameters
    ----------
    number, count, judged
        The number of the pair, from 0, of how many, and how many were judged.
    answer
        What was answered before.
    shingler
        By which differences are found.
    base
        The path that all addresses begin with; it has nothing to escape, as `nonce` and `policy`.
    """
    kept, gone = beside(pair.kept_text, pair.text, shingler)
    similarity = "not verified" if pair.similarity != pair.similarity else f"{pair.similarity:.4f}"
    before = f"{number - 1}" if number else ""
    chosen = {value: ' class="chosen"' if answer is value else "" for value in (True, False)}
    body = f"""<main data-base="{base}" data-pair="{number}" data-before="{before}">
<h1>Is the removed document a duplicate of the kept one?</h1>
<p>Pair {number + 1:,} of {count:,}, {judged:,} judged; similarity {similarity}.
<a href="{base}results">Results</a></p>
<div class="texts">
<section><h2>Kept: {_id(pair.kept_id)}</h2><div>{kept}</div></section>
<section><h2>Removed: {_id(pair.id)}</h2><div>{gone}</div></section>
</div>
<p id="error" role="alert"></p>
<p class="keys"><button data-key="d"{chosen[True]}>Duplicate (d)</button>
<button data-key="n"{chosen[False]}>Not a duplicate (n)</button>
<button data-key="b">Back (b)</button></p>
</main>
<script nonce="{nonce}">
{SCRIPT}
</script>"""
    return whole_page(f"Pair {number + 1:,}", f"{PAGE}\n{STYLE}", body, policy, nonce)


def results_page(
    found: Sequence[Precision], wanted: str, judged: int, count: int, *, base: str, policy: str,
    nonce: str,
) -> str:  # fmt: skip
    """Return the page about all answers; `wanted` is what they tell about the threshold."""
    parts = []
    for kind, heading in HEADINGS.items():
        rows = [_row(each) for each in found if each.kind == kind]
        if rows:
            head = "".join(f"<th>{name}</th>" for name in HEAD)
            parts.append(
                f'<section><h2>{heading}</h2><div class="wide"><table class="shares"><thead><tr>'
                f"{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div></section>"
            )
    more = "" if judged == count else f'<p><a href="{base}">Go on</a></p>'
    body = (
        f"<h1>Precision of removals</h1><p>{judged:,} of {count:,} pairs are judged.</p>{more}"
        f"<p>{escaped(wanted)}</p>{''.join(parts)}"
    )
    return whole_page("Precision of removals", f"{PAGE}\n{STYLE}", body, policy, nonce)


def _row(each: Precision) -> str:
    texts = [f"{each.removed:,}", f"{each.judged:,}", f"{each.duplicates:,}"]
    texts += (
        [f"{each.precision:.1%}", f"{each.low:.1%} to {each.high:.1%}"] if each.judged else ["", ""]
    )
    level = f"<td><bdi>{escaped(shortened(each.level, MOST_ID))}</bdi></td>"
    return f"<tr>{level}{''.join(f'<td>{text}</td>' for text in texts)}</tr>"


def _id(name: str) -> str:
    return f'<bdi class="id">{escaped(shortened(name, MOST_ID))}</bdi>'
