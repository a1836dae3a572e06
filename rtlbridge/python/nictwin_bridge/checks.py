"""Checks callers' arguments against the limits of frames: a ValueError names the argument and its range."""

from __future__ import annotations

import math
from typing import Any

MAX_U64 = (1 << 64) - 1


def shown(value: Any) -> str:
    """Returns a value as text for a message, shortened if it is long."""
    if isinstance(value, int) and value.bit_length() > 128:
        return f"a number of {value.bit_length()} bits"
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "..."


def ranged(low: int, high: int) -> str:
    return f"{low} to " + ("2^64 - 1" if high == MAX_U64 else str(high))


def whole(what: str, value: Any, low: int = 0, high: int = MAX_U64) -> int:
    """Checks for a whole number; True and 1.0 are rejected."""
    if type(value) is bool or not isinstance(value, int) or not low <= value <= high:
        raise ValueError(f"{what} is {shown(value)}: want a whole number from {ranged(low, high)}")
    return int(value)


def flag(what: str, value: Any) -> bool:
    if type(value) is not bool:
        raise ValueError(f"{what} is {shown(value)}: want True or False")
    return value


def seconds(what: str, value: Any) -> float:
    ok = isinstance(value, (int, float)) and type(value) is not bool and value > 0
    if not ok or isinstance(value, float) and not math.isfinite(value) or value > 1e9:
        raise ValueError(f"{what} is {shown(value)}: want seconds, more than 0 and up to 10^9")
    return float(value)


def words(what: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{what} is {shown(value)}: want a str")
    return value


def octets(what: str, value: Any) -> bytes:
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise ValueError(f"{what} is {shown(value)}: want bytes")
    return bytes(value)


def table(what: str, value: Any) -> dict[Any, Any]:
    """Checks for a dict; None becomes an empty one."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"{what} is {shown(value)}: want a dict")
    return value
