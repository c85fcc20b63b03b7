"""Converts scenarios given in Python to TOML, so that keys, errors and documentation are the same as for files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from os import PathLike, fspath

from lasthop._error import Error
from lasthop.strategy import Strategies


def document(table: Mapping[str, object], strategies: Strategies) -> str:
    """Returns a scenario as a TOML document."""
    return "\n".join(_section("", table, strategies)).strip() + "\n"


def typed(path: str, value: object, strategies: Strategies) -> str:
    """Returns a single value as written after `--set path=`."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return strategies.name_at(path, value) or _value(path, value, strategies)


def _section(path: str, table: Mapping[str, object], strategies: Strategies) -> list[str]:
    """Returns the lines of a table: first its values, then its sub-tables with their headings."""
    lines = []
    below = []
    for key, value in table.items():
        if not isinstance(key, str):
            raise Error(f"a key is {key!r}: expected text", f"in {path or 'the scenario'}")
        if isinstance(value, Mapping):
            inner = f"{path}.{_key(key)}" if path else _key(key)
            below += ["", f"[{inner}]", *_section(inner, value, strategies)]
        elif value is not None:
            inner = f"{path}.{key}" if path else key
            lines.append(f"{_key(key)} = {_value(inner, value, strategies)}")
    return lines + below


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _quoted(key)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + '"'


def _value(path: str, value: object, strategies: Strategies) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, PathLike):
        return _quoted(str(fspath(value)))
    if isinstance(value, Mapping):
        inner = (
            f"{_key(str(key))} = {_value(f'{path}.{key}', one, strategies)}" for key, one in value.items()
        )
        return "{ " + ", ".join(inner) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(path, one, strategies) for one in value) + "]"
    if (item := getattr(value, "item", None)) is not None and callable(item):
        return _value(path, item(), strategies)  # a numpy number
    name = strategies.name_at(path, value)
    if name is not None:
        return _quoted(name)
    shown = repr(value)
    raise Error(
        f"`{path}` is {shown[:60]}: a scenario cannot hold a {type(value).__name__}",
        'expected text with its unit ("2 Mbit/s"), a number, True or False, a table (dict), '
        "or a strategy (a class derived from lasthop.CongestionControl, …)",
    )
