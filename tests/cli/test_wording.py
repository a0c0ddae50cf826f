"""Messages of the library, in the words of the command."""

import pytest

from fastlsh.cli.messages import with_options


@pytest.mark.parametrize(
    ("message", "worded"),
    [
        ("the threshold must be positive", "the threshold must be positive"),
        ("memory (needs 1 MB)", "memory (needs 1 MB)"),
        ("join and keep_least have no effect with annotate=True: no text is cut",
         "--join and --keep-least have no effect with --annotate: no text is cut"),
        ("containment must be above 0", "--containment must be above 0"),
        ("work=, memory= and stage=: give them", "--work, --memory and --stage: give them"),
        ("rule='a.b', not x", "--rule='a.b', not x"),
        ("max_share must be above 0", "--max-share must be above 0"),
        ("merge_gap must be at least 0", "--merge-gap must be at least 0"),
        ('give at least memory="312M"', "give at least --memory=312M"),
        ("give another one as work=", "give another one as --work"),
        ("a work directory (work=), because", "a work directory (--work), because"),
        ("start over with restart=True", "start over with --restart"),
        ("; quotes=False takes quotes as text", "; --no-quotes takes quotes as text"),
        ("give key=", "give --key-file"),
        ("within= and save_index= cannot", "--within and --save-index cannot"),
        ("num_perm.key: others can read the key", "num_perm.key: others can read the key"),
        ("stop_words: Permission denied", "stop_words: Permission denied"),
        ("split=train/a.parquet: row 3", "split=train/a.parquet: row 3"),
        ("source=web.jsonl: row 3", "source=web.jsonl: row 3"),
        ("raise max_pairs.", "raise --max-pairs."),
        ("threshold=0.9, not 0.8", "--threshold=0.9, not 0.8"),
        ("working on disk in w (needs 690 MB, memory= is 256M)",
         "working on disk in w (needs 690 MB, --memory is 256M)"),
        ('text="messages" reads a chat', "--text messages reads a chat"),
        ("text= names another key", "--text names another key"),
        ("if columns end at ';', say so with delimiter=",
         "if columns end at ';', say so with --delimiter"),
        ("in out/size=3/format=x.work", "in out/size=3/format=x.work"),
    ],
)  # fmt: skip
def test_parameters_are_called_as_options(message, worded):
    assert with_options(message) == worded
