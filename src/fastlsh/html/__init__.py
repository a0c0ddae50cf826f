"""What all pages share: text of users that is shown and does nothing, and the frame around it."""

from fastlsh.html.escape import escaped, escaped_attribute, marked, shortened
from fastlsh.html.page import described, whole_page
from fastlsh.html.visible import replaced, text_of

__all__ = [
    "described",
    "escaped",
    "escaped_attribute",
    "marked",
    "replaced",
    "shortened",
    "text_of",
    "whole_page",
]
