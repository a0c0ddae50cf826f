"""Links from a page to a file of the repository that is no page: to repo_url, or none."""

import re
from pathlib import Path
from typing import Any

LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s:#]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Replace the links that leave docs."""
    docs = Path(config.docs_dir).resolve()
    here = docs / Path(page.file.src_uri).parent

    def replace(link: re.Match[str]) -> str:
        text, target, _ = link.groups()
        path = (here / target).resolve()
        if path.is_relative_to(docs) or not path.exists():
            return link[0]
        if not config.repo_url:
            return text
        return f"[{text}]({config.repo_url}/blob/main/{path.relative_to(docs.parent).as_posix()})"

    return LINK.sub(replace, markdown)
