from typing_extensions import Self, disjoint_base

from fastlsh._kernels._arrays import I64, U32
from fastlsh._kernels.text._texts import Spans

FORMS: tuple[str | None, ...]
MARKS: tuple[str | None, ...]
BLANKS: tuple[str | None, ...]

@disjoint_base
class Normaliser:
    def __new__(
        cls,
        form: str | None = None,
        lowercase: bool = False,
        numbers: bool = False,
        punctuation: str | None = None,
        characters: U32 | None = None,
        accents: bool = False,
        blanks: str | None = None,
    ) -> Self: ...
    def normalised(self, spans: Spans) -> Spans: ...
    def traced(self, spans: Spans) -> tuple[Spans, I64]: ...
