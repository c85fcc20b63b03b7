"""Options of all environments, and their conversion for the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypedDict, cast

import numpy
from gymnasium import spaces
from numpy.typing import NDArray

from lasthop import _lasthop
from lasthop._error import Error
from lasthop.scenario import Scenario, Source, ready_paths

PathSource: TypeAlias = "Source | Sequence[Source]"
"""A scenario, or several scenarios from which each episode draws one."""

RangeSource: TypeAlias = "tuple[str | float, str | float] | tuple[str | float, str | float, Literal['log']]"
"""Smallest and largest value: text with a unit, or numbers in bit/s, s, packets and shares. With "log", the logarithm is
uniformly distributed."""

DEFAULT_PATH = "rate=10Mbit/s,rtt=60ms,congestion=external"
FACTORS = (0.8, 0.95, 1.0, 1.05, 1.25)
"""Factors of `actions="discrete"`."""
WEIGHTS = {"goodput": 1.0, "delay": 2.0, "loss": 0.5}
"""Default weights of the reward."""
_RANGES = ("rate", "rtt", "queue", "loss")


class Options(TypedDict, total=False):
    """Options of `lasthop/CongestionControl-v0`, its vectorised form, and `parallel_env`.

    The agent's flow has `congestion = "external"`. An action multiplies its pacing rate; cwnd is `window` times the
    pacing rate times the smoothed RTT, and at least 10 segments.

    reward = weight_goodput * goodput_bps / capacity_bps
           - weight_delay * max(mean_rtt_s / base_rtt_s - 1, 0)
           - weight_loss * lost_share

    All values are in `info`. `capacity_bps` is the mean rate of the path's slowest link, and `base_rtt_s` is the RTT of
    the idle path.
    """

    path: PathSource
    """Path: a ready path, a file, a one-line scenario, a dict or a `Scenario`, or a list of them. Each episode draws one
    scenario of a list. At least one flow has `congestion = "external"`; for the name of a ready path, its first TCP flow
    gets this value. Default: 10 Mbit/s and 60 ms."""
    ranges: Mapping[str, RangeSource]
    """Ranges from which each episode draws values of the path's slowest link: `rate`, `rtt` (of the whole path), `queue`
    (packets, or "1 bdp") and `loss`."""
    beside: str | Mapping[str, object] | Sequence[str | Mapping[str, object]]
    """Congestion controls of further flows on the agent's route: for example "cubic", or ["cubic", "bbr"]."""
    time_limit_s: float
    """Length of an episode, virtual time, s; at its end, `truncated` is true. Default: 30."""
    step: Literal["rtt", "srtt"] | str | float
    """Length of a step: "rtt" (RTT of the idle path, the default), "srtt" (smoothed RTT), or a time of at
    most 10 s."""
    actions: Literal["continuous", "discrete"] | Sequence[float]
    """"continuous" (default): a number `a` from -1 to 1; the rate is multiplied by `1 + alpha a`, or divided by
    `1 - alpha a` if `a` is negative. "discrete": index of one of the factors 0.8, 0.95, 1, 1.05 and 1.25. A sequence:
    index of one of these factors."""
    alpha: float
    """Largest relative change of the rate by a continuous action. Default: 0.2."""
    observation: Literal["aurora", "full"]
    """Set of features. Default: "aurora"."""
    history: int | None
    """Number of steps in an observation, the newest step last. Default: 10 for "aurora", 1 for "full"."""
    reward: Mapping[str, float]
    """Weights `goodput`, `delay` and `loss`. Default: 1, 2 and 0.5."""
    rate_bounds: tuple[str | float, str | float] | None
    """Lowest and highest pacing rate. Default: a twentieth of the smallest rate of the paths, and twice the largest."""
    first_rate: tuple[float, float]
    """Range of the first pacing rate, as shares of the path's rate. Default: 0.3 to 1.5, as in Aurora's training."""
    window: float
    """cwnd as a multiple of the pacing rate times the smoothed RTT. Default: 2."""


@dataclass
class Setup:
    """Checked options. The fields are as in `Options`."""

    path: PathSource = DEFAULT_PATH
    ranges: Mapping[str, RangeSource] = field(default_factory=dict)
    beside: str | Mapping[str, object] | Sequence[str | Mapping[str, object]] = ()
    time_limit_s: float = 30.0
    step: str | float = "rtt"
    actions: str | Sequence[float] = "continuous"
    alpha: float = 0.2
    observation: str = "aurora"
    history: int | None = None
    reward: Mapping[str, float] = field(default_factory=dict)
    rate_bounds: tuple[str | float, str | float] | None = None
    first_rate: tuple[float, float] = (0.3, 1.5)
    window: float = 2.0
    agents: int = 1

    def settings(self) -> _lasthop.GymSettings:
        """Returns the settings for the engine."""
        weights = {**WEIGHTS, **_checked_names("reward", self.reward, WEIGHTS)}
        bounds = None if self.rate_bounds is None else _pair("rate_bounds", self.rate_bounds)
        first = _pair("first_rate", self.first_rate)
        return _lasthop.GymSettings(
            observation=str(self.observation),
            history=None if self.history is None else int(self.history),
            alpha=_number("alpha", self.alpha),
            factors=self.factors(),
            step=str(self.step),
            weights=(
                _number("reward: goodput", weights["goodput"]),
                _number("reward: delay", weights["delay"]),
                _number("reward: loss", weights["loss"]),
            ),
            rate_bounds=None if bounds is None else (str(bounds[0]), str(bounds[1])),
            first_rate=(_number("first_rate", first[0]), _number("first_rate", first[1])),
            window=_number("window", self.window),
        )

    def factors(self) -> list[float] | None:
        """Returns the factors of discrete actions; None for continuous actions."""
        if self.actions == "continuous":
            return None
        if self.actions == "discrete":
            return list(FACTORS)
        if isinstance(self.actions, str):
            raise Error(
                f"actions = {self.actions!r}: expected continuous, discrete or factors of the rate",
                "for instance actions=[0.8, 1.0, 1.25]",
            )
        return [_number("actions", factor) for factor in self.actions]

    def paths(self) -> list[_lasthop.GymPath]:
        """Returns the paths for the engine."""
        several = isinstance(self.path, Sequence) and not isinstance(self.path, str)
        sources: Sequence[Source] = self.path if several else [self.path]  # type: ignore[assignment,list-item]
        if not sources:
            raise Error("the list of paths is empty", 'for instance path=["lte", "umts"]')
        return [self.made(source, ranges=self.ranges) for source in sources]

    def made(self, source: Source, ranges: Mapping[str, RangeSource] | None = None) -> _lasthop.GymPath:
        """Returns one path for the engine. Without `ranges`, all episodes have the scenario's values."""
        scenario = with_agent(source)
        names = _lasthop.GymPath.external_flows(scenario._made)
        controls = [self.beside] if isinstance(self.beside, str | Mapping) else list(self.beside)
        if controls and not names:
            names = scenario.flows
        others = [
            Scenario(scenario, set={f"flow.{names[0]}.sender.congestion": control}) for control in controls
        ]
        given = _checked_names("ranges", ranges or {}, dict.fromkeys(_RANGES))
        return _lasthop.GymPath(
            scenario._made,
            _whole("agents", self.agents),
            [other._made for other in others],
            _number("time_limit_s", self.time_limit_s),
            **{name: _range(name, value) for name, value in given.items()},
        )

    def observation_space(self, settings: _lasthop.GymSettings) -> spaces.Space[NDArray[numpy.float32]]:
        """Returns the space of observations: the features of `history` steps, the newest step last."""
        low, high = (
            numpy.tile(
                numpy.array([bounds[side] for bounds in settings.features], numpy.float32), settings.history
            )
            for side in (1, 2)
        )
        return cast(spaces.Space[NDArray[numpy.float32]], spaces.Box(low, high, dtype=numpy.float32))

    def action_space(self) -> spaces.Space[Any]:
        """Returns the space of actions."""
        factors = self.factors()
        return (
            spaces.Box(-1.0, 1.0, (1,), numpy.float32) if factors is None else spaces.Discrete(len(factors))
        )


def observation_size(settings: _lasthop.GymSettings) -> int:
    """Returns the number of values in an observation."""
    return settings.history * len(settings.features)


def with_agent(source: Source) -> Scenario:
    """Returns the scenario. In a ready path, the first TCP flow gets `congestion = "external"`."""
    scenario = source if isinstance(source, Scenario) else Scenario(source)
    if not (isinstance(source, str) and source in ready_paths()):
        return scenario
    if _lasthop.GymPath.external_flows(scenario._made):
        return scenario
    for flow in scenario.flows:
        try:
            external = Scenario(source, set={f"flow.{flow}.sender.congestion": "external"})
        except Error:
            continue
        if _lasthop.GymPath.external_flows(external._made):
            return external
    return scenario


class Paths:
    """Paths that `reset` receives in its options. A path is made once for each text."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._made: dict[str, _lasthop.GymPath] = {}

    def of(self, options: Mapping[str, Any] | None) -> _lasthop.GymPath | None:
        """Returns the path of the options of `reset`, or None."""
        source = options.get("path") if options else None
        if source is None:
            return None
        if not isinstance(source, str):
            return self._setup.made(source)
        if source not in self._made:
            self._made[source] = self._setup.made(source)
        return self._made[source]


def checked_options(options: Mapping[str, Any] | None, known: Sequence[str]) -> None:
    """Refuses options of `reset` that have no meaning."""
    _checked_names("options", options or {}, dict.fromkeys(known))


def as_seed(seed: int) -> int:
    """Returns the seed as a number of 64 bits."""
    return int(seed) % 2**64


def _checked_names(what: str, given: Mapping[str, Any], known: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise Error(f"{what} = {given!r}: expected a dict", f"with the keys {', '.join(known)}")
    for name in given:
        if name not in known:
            raise Error(f"{what}: there is no {name!r}", f"expected {', '.join(known)}")
    return given


def _range(name: str, value: Any) -> tuple[str, str, bool]:
    if isinstance(value, Sequence) and not isinstance(value, str):
        match tuple(value):
            case (low, high):
                return str(low), str(high), False
            case (low, high, "log"):
                return str(low), str(high), True
    raise Error(
        f"ranges: {name} = {value!r}: expected a pair of values",
        'for instance ranges={"rate": ("5 Mbit/s", "50 Mbit/s", "log")}',
    )


def _pair(name: str, value: Any) -> tuple[Any, Any]:
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2:
        return value[0], value[1]
    raise Error(f"{name} = {value!r}: expected two values", "the smaller value first")


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise Error(f"{name} = {value!r}: expected a number") from None


def _whole(name: str, value: Any) -> int:
    number = _number(name, value)
    if not number.is_integer():
        raise Error(f"{name} = {value!r}: expected a whole number")
    return int(number)
