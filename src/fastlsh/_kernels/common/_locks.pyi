from threading import RLock
from types import TracebackType

from typing_extensions import disjoint_base

@disjoint_base
class Hold:
    def __new__(cls, lock: RLock) -> Hold: ...
    def __enter__(self) -> bool: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
