from typing import Any

LOOPS: Any
