"""The tokens of a tokenizer.json, as stretches of the text. They need the package tokenizers."""

import json
from hashlib import sha256
from pathlib import Path

from fastlsh.errors import InputError


class TokenizerFile:
    """A function from a text to where its tokens begin and end there.

    Parameters
    ----------
    path
        A file tokenizer.json, as the package tokenizers writes it. Truncation and padding are
        turned off, and no special tokens are added.

    Raises
    ------
    InputError
        The package is missing, the file cannot be read, or its tokens depend on chance.
    """

    def __init__(self, path: str) -> None:
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise InputError(path, "tokenizers need a package: pip install tokenizers") from None
        try:
            data = Path(path).read_bytes()
            dropout = (json.loads(data).get("model") or {}).get("dropout")
            self._tokenizer = Tokenizer.from_buffer(data)
        except OSError as error:
            raise InputError(path, str(error.strerror)) from error
        except Exception as error:  # the package raises plain ones
            raise InputError(path, f"is no tokenizer.json: {error}") from error
        if dropout:
            raise InputError(
                path,
                f"has a dropout of {dropout}, so its tokens are not the same in each call:"
                " passages need a tokenizer that is deterministic",
            )
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._digest = sha256(data).hexdigest()

    def __repr__(self) -> str:
        """Return a text that is the same for the same tokenizer: a work directory has it."""
        return f"TokenizerFile({self._digest[:32]})"

    def __call__(self, text: str) -> list[tuple[int, int]]:
        """Return the bounds of the tokens in code points."""
        # A lone surrogate has no UTF-8; "?" is as long.
        encoded = text.encode("utf-8", "replace").decode()
        bounds: list[tuple[int, int]] = self._tokenizer.encode(
            encoded, add_special_tokens=False
        ).offsets
        return bounds
