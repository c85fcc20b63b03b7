"""Paths of the episodes: a scenario or a list of scenarios, and values drawn from ranges."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from random import Random
from typing import Any, Literal, TypeAlias

from lasthop._error import Error
from lasthop.gym._checks import number
from lasthop.scenario import Scenario, Source
from lasthop.session import Session

PathSource: TypeAlias = "Source | Sequence[Source]"
"""A scenario, or several scenarios from which each episode draws one."""

RangeSource: TypeAlias = "tuple[str | float, str | float] | tuple[str | float, str | float, Literal['log']]"
"""Smallest and largest value: text with a unit, or numbers. With "log", the logarithm is uniformly distributed."""

_UNITS = {"rate": "bit/s", "up_rate": "bit/s", "rtt": "s", "queue": "packets"}
"""Units of bare numbers."""
_FACTORS = {
    **{prefix + "bit/s": ("bit/s", factor) for prefix, factor in (("k", 1e3), ("M", 1e6), ("G", 1e9))},
    **{prefix + "bps": ("bit/s", factor) for prefix, factor in (("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9))},
    "ms": ("s", 1e-3),
    "us": ("s", 1e-6),
    "%": ("", 0.01),
}
"""Units that are converted: the unit without prefix, and the factor. Other units must be equal in both bounds."""
_EXAMPLE = 'for instance ranges={"rate": ("1 Mbit/s", "6 Mbit/s", "log")}'


class Paths:
    """Paths from which each episode draws one. The flow requests responses (`response = "external"`).

    A path without ranges is made once.
    """

    def __init__(
        self,
        path: PathSource,
        changes: Mapping[str, object] | None,
        ranges: Mapping[str, RangeSource] | None,
        flow: str | None,
        start_s: float,
        time_limit_s: float,
    ) -> None:
        sources: list[Any] = [*path] if isinstance(path, list | tuple) else [path]
        if not sources:
            raise Error("the list of paths is empty", 'for instance path=["lte", "umts"]')
        if changes is not None and not isinstance(changes, Mapping):
            raise Error(f"set = {changes!r}: expected a dict", 'for instance set={"congestion": "bbr3"}')
        for key, option in (("duration", "time_limit_s"), ("start", "start_s")):
            if changes and key in changes:
                raise Error(f"set: {option} decides {key}", f"give {option}, a number of seconds")
        if ranges is not None and not isinstance(ranges, Mapping):
            raise Error(f"ranges = {ranges!r}: expected a dict", _EXAMPLE)
        self._changes = dict(changes or {})
        self._flow = flow
        self._start_s = start_s
        self._time_limit_s = time_limit_s
        self._ranges = {str(key): _Range(str(key), value) for key, value in (ranges or {}).items()}
        self._scenarios = [self.made(source) for source in sources]
        self._sessions: dict[int, Session] = {}
        # A key or a unit that the language refuses is an error now, not in an episode.
        for scenario in self._scenarios if self._ranges else []:
            for share in (0.0, 1.0):
                Scenario(scenario, set={key: one.at(share) for key, one in self._ranges.items()})

    def made(self, source: Source) -> Scenario:
        """Returns the scenario of a path, in which the flow requests responses.

        Web servers turn Nagle's algorithm off (nginx: `tcp_nodelay on` by default; from memory). With Nagle's algorithm,
        the last segment of a response would wait for a delayed ACK.
        """
        scenario = Scenario(source)
        flow = self.flow(scenario)
        application = {"request": "300 bytes", "response": "external"}
        times = {"start": f"{self._start_s:.9f} s", "start_spread": "0 s"}
        keys = {f"flow.{flow}.{key}": value for key, value in (application | times).items()}
        keys["duration"] = f"{self._time_limit_s:.9f} s"
        # QUIC has no such key.
        with suppress(Error):
            return Scenario(source, set={**keys, f"flow.{flow}.nagle": False, **self._changes})
        return Scenario(source, set={**keys, **self._changes})

    def flow(self, scenario: Scenario) -> str:
        """Returns the name of the flow that carries the video."""
        flow = scenario.flows[0] if self._flow is None else self._flow
        if flow not in scenario.flows:
            raise Error(f"flow = {flow!r}: the path has no such flow", f"available: {', '.join(scenario.flows)}")
        if "." in flow:
            raise Error(f"flow {flow} is one of several replicas", "give the video a [flow.NAME] without count and arrivals")
        return flow

    def begin(self, seed: int) -> tuple[Session, str]:
        """Returns a session at the flow's start, and the name of its flow. The random streams "path" and "range of KEY" of
        the seed draw the path."""
        index = int(Random(f"{seed}: path").random() * len(self._scenarios))
        scenario = self._scenarios[index]
        if self._ranges:
            drawn = {key: one.at(Random(f"{seed}: range of {key}").random()) for key, one in self._ranges.items()}
            return self.session(Scenario(scenario, set=drawn), seed)
        if index in self._sessions:
            session = self._sessions[index]
            session.reset(seed)
            session.run_until(self._start_s)
            return session, self.flow(scenario)
        session, flow = self.session(scenario, seed)
        self._sessions[index] = session
        return session, flow

    def session(self, scenario: Scenario, seed: int) -> tuple[Session, str]:
        """Returns a session of this scenario at the flow's start, and the name of its flow."""
        session = Session(scenario, seed=seed, link_delays=False)
        session.run_until(self._start_s)
        return session, self.flow(scenario)


class _Range:
    """Values of a key between two bounds."""

    def __init__(self, key: str, value: Any) -> None:
        parts = tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else ()
        if len(parts) not in (2, 3) or (len(parts) == 3 and parts[2] != "log"):
            raise Error(f"ranges: {key} = {value!r}: expected a pair of values", _EXAMPLE)
        (self._low, unit), (self._high, other) = (_split(key, part) for part in parts[:2])
        unit, other = (one or _UNITS.get(key, "") for one in (unit, other))
        if unit != other:
            raise Error(f"ranges: {key} has the units {unit!r} and {other!r}", "write both values with the same unit")
        if self._low > self._high:
            raise Error(f"ranges: {key} = {value!r}: expected the smaller value first", _EXAMPLE)
        self._is_log = len(parts) == 3
        if self._is_log and self._low <= 0:
            raise Error(f"ranges: {key} = {value!r}: a logarithm needs values above 0", 'leave "log" out')
        self._unit = unit

    def at(self, share: float) -> object:
        """Returns the value at this share of the range, with 9 significant digits: rounding hides differences between the
        logarithms of different machines."""
        if self._is_log:
            low, high = math.log(self._low), math.log(self._high)
            value = math.exp(low + share * (high - low))
        else:
            value = self._low + share * (self._high - self._low)
        rounded = float(f"{value:.9g}")
        if self._unit == "packets":
            rounded = max(round(value), 1)
        return f"{rounded!r} {self._unit}" if self._unit else rounded


def _split(key: str, value: Any) -> tuple[float, str]:
    """Returns number and unit of a value. The unit has no prefix."""
    if not isinstance(value, str):
        return number(f"ranges: {key}", value, 0), ""
    matched = re.fullmatch(r"\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*(\D*?)\s*", value)
    try:
        if matched is not None:
            unit, factor = _FACTORS.get(matched[2], (matched[2], 1.0))
            return float(matched[1]) * factor, unit
    except ValueError:
        pass
    raise Error(f"ranges: {key} = {value!r}: expected a number with its unit", _EXAMPLE)
