"""What the tests of refusals share."""

import pytest


def refuses(error, message, call, *arguments, **options):
    """Check that a call raises such an error, whose message has the pattern."""
    with pytest.raises(error, match=message):
        call(*arguments, **options)
