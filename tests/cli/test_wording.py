"""Messages of the library, in the words of the command."""

import pytest

from fastlsh.cli.wording import with_options


@pytest.mark.parametrize(
    ("message", "worded"),
    [
        ("threshold must be positive", "--threshold must be positive"),
        ("the threshold must be positive", "the threshold must be positive"),
        ("bands and rows must be given together", "--bands and --rows must be given together"),
        ("text must name a column", "--text must name a column"),
        ("use deduplicate(), or raise max_pairs", "use fastlsh dedup, or raise --max-pairs"),
        ("more than max_pairs=1,000", "more than --max-pairs=1,000"),
        ('give at least memory="312M"', "give at least --memory=312M"),
        ("saved with recall=0.95, not 0.9", "saved with --recall=0.95, not 0.9"),
        ("give another one as work=", "give another one as --work"),
        ("a work directory (work=), because", "a work directory (--work), because"),
        ("start over with restart=True", "start over with --restart"),
        ("; quotes=False takes quotes as text", "; --no-quotes takes quotes as text"),
        ('on_known="replace" replaces it', "--replace replaces it"),
        ("give key=", "give --key-file"),
        ("lowercase=False, not True", "lowercase=False, not True"),
        ("in out/size=3/format=x.work", "in out/size=3/format=x.work"),
    ],
)
def test_parameters_are_called_as_options(message, worded):
    assert with_options(message) == worded
