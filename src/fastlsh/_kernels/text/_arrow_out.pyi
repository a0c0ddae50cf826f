from typing import Any

from numpy.typing import NDArray

def arrow_stream(columns: list[tuple[str, str, list[NDArray[Any]]]], length: int) -> object: ...
