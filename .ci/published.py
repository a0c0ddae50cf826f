#!/usr/bin/env python3
"""Prepares README.md and pyproject.toml for the package index, which does not know the repository.

    .ci/published.py https://HOST/OWNER/NAME v1.2.3

Relative links of the README become absolute, of that tag, and `[project.urls]` is added. The
release workflow runs it on a clone before it builds the sdist; its changes are not committed.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"(?<=\]\()(?!https?:|#)[^)\s]+(?=\))")


def readme(text: str, address: str, tag: str) -> str:
    """Return the README with absolute links; pictures lead to the files themselves."""

    def absolute(match: re.Match[str]) -> str:
        target = match[0]
        if target.startswith("../../"):  # of the repository's pages on its host
            return f"{address}/{target.removeprefix('../../')}"
        kind = "raw" if target.endswith((".svg", ".png")) else "blob"
        return f"{address}/{kind}/{tag}/{target}"

    return LINK.sub(absolute, text)


def project(text: str, address: str, tag: str) -> str:
    """Return pyproject.toml with the addresses of the project."""
    pages = {
        "Source": address,
        "Documentation": f"{address}/blob/{tag}/docs/index.md",
        "Changelog": f"{address}/blob/{tag}/CHANGELOG.md",
        "Issues": f"{address}/issues",
        "Security": f"{address}/blob/{tag}/SECURITY.md",
    }
    urls = "".join(f'{name} = "{page}"\n' for name, page in pages.items())
    head = "[project.scripts]\n"
    if text.count(head) != 1 or "[project.urls]" in text:
        raise SystemExit("pyproject.toml: expected one [project.scripts] and no [project.urls]")
    return text.replace(head, f"[project.urls]\n{urls}\n{head}")


def main(address: str, tag: str, folder: Path = ROOT) -> None:
    """Rewrite both files."""
    for name, change in (("README.md", readme), ("pyproject.toml", project)):
        path = folder / name
        path.write_text(change(path.read_text("utf-8"), address.rstrip("/"), tag), "utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
