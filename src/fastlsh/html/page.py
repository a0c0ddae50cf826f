"""The frame of every page, and the rules of style that text of users needs."""

from fastlsh.html.escape import escaped_attribute

STYLE = """
:root { color-scheme: light dark; --mark: #c9ebd0; --only: #ffd9d2; --faint: #656d76; }
@media (prefers-color-scheme: dark) {
  :root { --mark: #12512b; --only: #6b2119; --faint: #9aa4af; }
}
bdi { unicode-bidi: isolate; white-space: pre-wrap; overflow-wrap: anywhere; }
mark { background: var(--mark); color: inherit; border-radius: 2px; }
.control { border: 1px solid; border-radius: 3px; font: .7em/1 monospace; padding: 0 .2em; }
""".strip()
"""The rules that `escaped` and `marked` need, for light and dark pages."""


def whole_page(title: str, style: str, body: str) -> str:
    """Return a page that loads nothing and runs nothing, for any screen.

    Parameters
    ----------
    title
        Text of a user.
    style
        Rules besides `STYLE`.
    body
        HTML.
    """
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
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
