"""What pipelines do with a text before they compare it."""

from string import punctuation

FINEWEB_PUNCTUATION = (
    punctuation
    + "—”％〈、━【「」，】；“《„’∶´．（–？！：～«〉》）。…►»１"
    + "".join(map(chr, [*range(9), *range(11, 32), *range(127, 160)]))
)
"""What datatrove counts as punctuation: control characters too, but neither tab nor line feed."""
