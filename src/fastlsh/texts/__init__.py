"""The forms in which texts come, behind one interface."""

from fastlsh.texts.forms import Texts, as_texts, joined

__all__ = ["Texts", "as_texts", "joined"]
