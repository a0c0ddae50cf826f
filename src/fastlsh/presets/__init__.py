"""Parameters of well-known pipelines, each with its source and what differs here."""

from fastlsh.presets.decontamination import DECONTAMINATION_PRESETS, decontamination_preset
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
from fastlsh.presets.texts import FINEWEB_PUNCTUATION

__all__ = [
    "DECONTAMINATION_PRESETS",
    "FINEWEB_PUNCTUATION",
    "PRESETS",
    "Preset",
    "about",
    "course",
    "datasketch",
    "decontamination_preset",
    "fineweb",
    "lecture",
    "lee2022",
    "lsh",
    "nemo",
    "olmo3",
    "preset",
    "questions",
    "riskiq",
    "stack",
]
