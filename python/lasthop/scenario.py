"""Scenarios from a ready path, a file, a one-line scenario, or a dict."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from lasthop import _lasthop, _toml
from lasthop._error import Error
from lasthop.strategy import Strategies

if TYPE_CHECKING:
    from lasthop.keys import ScenarioKeys

Source: TypeAlias = "str | PathLike[str] | Mapping[str, object] | ScenarioKeys | Scenario"
"""Source of a scenario: a ready path's name, a file, a one-line scenario, a dict with TOML's keys, or a Scenario."""


class Scenario:
    """A checked scenario.

    `source` is a scenario as on the command line (`"umts"`, `"mine.toml"`, `"rate=10Mbit/s,rtt=20ms,loss=1%"`), a dict
    with the same keys as a TOML file, or another Scenario. `set` changes single values: `{"recovery": "reno",
    "wireless.down.rate": "4 Mbit/s"}`; the value None removes a key. A value that names a mechanism may also be a
    strategy: a class or an object derived from `lasthop.CongestionControl` or a similar class.

    Invalid input raises an `Error` that gives the place of the problem.
    """

    __slots__ = ("_given", "_made", "_strategies")
    _given: tuple[Source, list[tuple[str, object]]]
    _made: _lasthop.Scenario
    _strategies: Strategies

    def __init__(self, source: Source, *, set: Mapping[str, object] | None = None) -> None:
        self._make(source, set, Strategies())

    def _make(self, source: Source, set: Mapping[str, object] | None, strategies: Strategies) -> None:
        changes: list[tuple[str, object]] = []
        if isinstance(source, Scenario):
            source, changes = source._given
        if set is not None and not isinstance(set, Mapping):
            raise Error(f"`set` is {set!r}: expected a dict", 'for instance set={"recovery": "reno"}')
        changes = [*changes, *(set or {}).items()]
        for path, _ in changes:
            if not isinstance(path, str):
                raise Error(
                    f"`set` has the key {path!r}: expected text", 'for instance set={"recovery": "reno"}'
                )
        name: str | None = None
        if isinstance(source, Mapping):
            text, name = _toml.document(source, strategies), "scenario"
        elif isinstance(source, _Text):
            text, name = str(source), source.name
        elif isinstance(source, str | PathLike):
            text = str(fspath(source))
        else:
            raise Error(
                f"a scenario cannot be made from a {type(source).__name__}",
                "expected a ready path's name, a file, a line of text such as rate=10Mbit/s,rtt=20ms, or a dict",
            )
        typed = [(path, _toml.typed(path, value, strategies)) for path, value in changes]
        self._given = (source, changes)
        self._strategies = strategies
        self._made = _lasthop.Scenario(text, name, typed, strategies.for_engine())

    @classmethod
    def from_toml(cls, text: str, *, name: str = "scenario.toml") -> Self:
        """Makes a scenario from TOML text. Messages use `name`; relative files are searched in the folder of `name`."""
        return cls(_Text(text, name))

    @property
    def title(self) -> str:
        """Title of the scenario, one line."""
        return self._made.title

    @property
    def duration_s(self) -> float:
        """Duration of a run, virtual time, s."""
        return self._made.duration_s

    @property
    def flows(self) -> list[str]:
        """Names of the flows."""
        return self._made.flows

    @property
    def links(self) -> list[str]:
        """Names of the links."""
        return self._made.links

    @property
    def is_deterministic(self) -> bool:
        """Whether the scenario uses no random numbers, so that one run is enough."""
        return self._made.is_deterministic

    @property
    def _has_strategies(self) -> bool:
        return self._made.has_strategies

    @property
    def notes(self) -> list[str]:
        """Notes for the scenario's author, one sentence each; usually empty."""
        return [*self._made.notes(), *self._strategies.notes()]

    def to_toml(self) -> str:
        """The complete scenario as commented TOML: every key with its value and meaning."""
        return self._made.show()

    def __repr__(self) -> str:
        return f"<lasthop.Scenario {self.title!r}: flows {', '.join(self.flows)}; {self.duration_s:g} s>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (_lasthop.__version__, *self._given)


class _Text(str):
    """Text of a TOML document, with the name that messages use."""

    name: str

    def __new__(cls, text: str, name: str) -> Self:
        new = super().__new__(cls, text)
        new.name = name
        return new

    def __reduce__(self) -> tuple[Any, ...]:
        return _Text, (str(self), self.name)


def _unpickled(version: str, source: Source, changes: list[tuple[str, object]]) -> Scenario:
    if version != _lasthop.__version__:
        raise Error(
            f"this scenario was pickled by lasthop {version}; the installed version is {_lasthop.__version__}",
            "versions may read a scenario differently: keep scenarios as TOML, scenario.to_toml()",
        )
    return Scenario(source, set=dict(changes))


def ready_paths() -> list[str]:
    """Returns the names of the ready paths, for example "umts" for `lasthop.run("umts")`."""
    return _lasthop.ready_paths()


def mechanisms(kind: str | None = None) -> list[tuple[str, str, str, str]]:
    """Returns kind, name, summary and source of all mechanisms, or of one kind of mechanism ("congestion", "queue")."""
    every = _lasthop.mechanisms()
    if kind is None:
        return every
    kinds = sorted({one for one, *_ in every})
    if kind not in kinds:
        raise Error(f"there is no kind of mechanisms called {kind!r}", f"expected one of {', '.join(kinds)}")
    return [entry for entry in every if entry[0] == kind]
