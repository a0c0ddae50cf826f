"""The frame of every page, with the style that all have."""

from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256

from fastlsh.html.escape import escaped_attribute

STYLE = """
:root { color-scheme: light dark; --mark: #c9ebd0; --only: #ffd9d2; --faint: #656d76; }
@media (prefers-color-scheme: dark) {
  :root { --mark: #12512b; --only: #6b2119; --faint: #9aa4af; }
}
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; overflow-wrap: anywhere; }
dl { display: grid; }
dd { margin: 0; }
bdi { unicode-bidi: isolate; white-space: pre-wrap; overflow-wrap: anywhere; }
mark { background: var(--mark); color: inherit; border-radius: 2px; }
.control { border: 1px solid; border-radius: 3px; font: .7em/1 monospace; padding: 0 .2em; }
""".strip()
"""What all pages have, light and dark; the rules that `escaped` and `marked` need."""


NOTHING = "default-src 'none'; style-src 'unsafe-inline'"
"""The policy of a page that loads nothing and runs nothing."""


def whole_page(title: str, style: str, body: str, script: str = "") -> str:
    """Return a page that loads nothing and, by its policy, runs no other script, for any screen.

    Parameters
    ----------
    title
        Text of a user.
    style
        Rules besides `STYLE`.
    body
        HTML.
    script
        JavaScript without text of users, behind the body.
    """
    policy = NOTHING
    if script:
        known = b64encode(sha256(script.encode()).digest()).decode()
        policy += f"; script-src 'sha256-{known}'"
        body += f"\n<script>{script}</script>"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{escaped_attribute(title)}</title>
<style>
{STYLE}
{style}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def described(rows: Iterable[tuple[str, str]]) -> str:
    """Return a list of labels, each with what it is about; nothing if there is none.

    Parameters
    ----------
    rows
        (label, value), both HTML.
    """
    inner = "\n".join(f"<dt>{label}</dt><dd>{value}</dd>" for label, value in rows)
    return f"<dl>\n{inner}\n</dl>" if inner else ""
