"""`lasthop/CongestionControl-v0`: one flow whose pacing rate follows actions."""

from __future__ import annotations

from typing import Any, TypeAlias, Unpack

import gymnasium
import numpy
from numpy.typing import NDArray

from lasthop import _lasthop
from lasthop._error import Error
from lasthop.gym._options import Options, Paths, Setup, as_seed, checked_options, observation_size

Observation: TypeAlias = NDArray[numpy.float32]


class CongestionControlEnv(gymnasium.Env[Observation, Any]):
    """An environment with one agent: a flow on a path. The options are as in `lasthop.gym.Options`.

    `reset(seed=…)` determines this episode and all further episodes. `reset(options={"path": …})` runs one episode on this
    path, without `ranges`. `terminated` is always false, because a path has no end; `truncated` is true at the time limit.
    `info` has the measurements of the step, and after `reset` also the `seed` of the run.

    The time between two actions is the virtual time of a step: the flow goes on while the agent computes nothing.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    feature_names: list[str]
    """Names of the features of one step."""

    def __init__(self, **options: Unpack[Options]) -> None:
        setup = Setup(**options)
        settings = setup.settings()
        self._environment = _lasthop.Environment(settings, setup.paths(), 0)
        self._paths = Paths(setup)
        self._is_seeded = False
        self.feature_names = [name for name, _, _ in settings.features]
        self.observation_space = setup.observation_space(settings)
        self.action_space = setup.action_space()
        self._size = observation_size(settings)

    @property
    def rate_bounds(self) -> tuple[float, float]:
        """Lowest and highest pacing rate, bit/s."""
        return self._environment.rate_bounds

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins an episode. The run goes on until the end of the handshake, so that an RTT is known."""
        super().reset(seed=seed)
        checked_options(options, ["path"])
        if seed is None and not self._is_seeded:
            seed = int(self.np_random.integers(2**63))
        self._is_seeded = True
        observation = numpy.empty(self._size, numpy.float32)
        run = self._environment.reset(
            None if seed is None else as_seed(seed), self._paths.of(options), observation
        )
        info = self._environment.info(0)
        info["seed"] = run
        return observation, info

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Changes the pacing rate, and runs one step."""
        observation = numpy.empty(self._size, numpy.float32)
        reward, has_ended, info = self._environment.step(as_number(action), observation)
        return observation, reward, False, has_ended, info


def as_number(action: Any) -> float:
    """Returns the value of an action, which may be an array with one value."""
    try:
        return float(action[0])
    except (TypeError, IndexError, ValueError):
        pass
    try:
        return float(action)
    except (TypeError, ValueError):
        raise Error(
            f"the action is {action!r}: expected one number", "for instance env.action_space.sample()"
        ) from None
