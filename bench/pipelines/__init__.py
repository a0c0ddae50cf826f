"""From texts to answers: where time and memory go, and how right the answers are."""
