"""Checks of options, with messages that name the option."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lasthop._error import Error


def number(name: str, value: Any, low: float, high: float = math.inf, *, above: bool = False) -> float:
    """Returns a finite number from `low` to `high`; with `above`, greater than `low`."""
    try:
        given = math.nan if isinstance(value, str | bool) else float(value)
    except (TypeError, ValueError):
        given = math.nan
    if math.isfinite(given) and low <= given <= high and not (above and given == low):
        return given
    least = f"above {low:g}" if above else f"at least {low:g}"
    most = "" if math.isinf(high) else f", at most {high:g}"
    raise Error(f"{name} = {value!r}: expected a number", f"{least}{most}")


def whole(name: str, value: Any, low: int, high: int) -> int:
    """Returns a whole number from `low` to `high`."""
    given = number(name, value, low, high)
    if not given.is_integer():
        raise Error(f"{name} = {value!r}: expected a whole number", f"at least {low}, at most {high}")
    return int(given)


def numbers(name: str, values: Any, example: str) -> list[Any]:
    """Returns a list with at least one value."""
    listed = list(values) if isinstance(values, Iterable) and not isinstance(values, str | Mapping) else []
    if not listed:
        raise Error(f"{name} = {values!r}: expected a sequence of numbers", example)
    return listed


def names(what: str, given: Any, known: Sequence[str]) -> Mapping[str, Any]:
    """Returns a dict whose keys are all in `known`."""
    if not isinstance(given, Mapping):
        raise Error(f"{what} = {given!r}: expected a dict", f"with the keys {', '.join(known)}")
    for name in given:
        if name not in known:
            raise Error(f"{what}: there is no {name!r}", f"expected {', '.join(known)}")
    return given
