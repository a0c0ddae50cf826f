"""What all pages share: text of users that is shown and does nothing, and the frame around it."""

from fastlsh.html.escape import escaped, escaped_attribute, marked
from fastlsh.html.page import whole_page
from fastlsh.html.visible import replaced, text_of

__all__ = ["escaped", "escaped_attribute", "marked", "replaced", "text_of", "whole_page"]
