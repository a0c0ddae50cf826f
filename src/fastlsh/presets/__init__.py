"""Parameters of well-known pipelines, each with its source and what differs here."""

from fastlsh.presets.definition import Preset
from fastlsh.presets.named import PRESETS, about, preset
from fastlsh.presets.sources import (
    course,
    datasketch,
    fineweb,
    lecture,
    lee2022,
    lsh,
    nemo,
    olmo3,
    questions,
    riskiq,
    stack,
)
from fastlsh.presets.texts import code_words, simplified

__all__ = [
    "PRESETS",
    "Preset",
    "about",
    "code_words",
    "course",
    "datasketch",
    "fineweb",
    "lecture",
    "lee2022",
    "lsh",
    "nemo",
    "olmo3",
    "preset",
    "questions",
    "riskiq",
    "simplified",
    "stack",
]
