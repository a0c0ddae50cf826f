"""What all pages share: text of users that is shown and does nothing, and the frame around it."""

from fastlsh.html.page import (
    described,
    escaped,
    escaped_attribute,
    marked,
    replaced,
    shortened,
    text_of,
    whole_page,
)

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
