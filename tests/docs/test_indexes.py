"""The page about indexes runs."""

import json

from pages import run_here


def test_the_page_runs(tmp_path):
    for name in ("yesterday", "today", "other"):
        rows = [json.dumps({"id": f"{name}{d}", "text": f"{name} {d}" * 9}) for d in range(9)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows) + "\n")
    page = run_here("docs/indexes.md", tmp_path)
    assert page.ran == 4
    assert not page.left_out
