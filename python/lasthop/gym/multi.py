"""PettingZoo's parallel API: several agents on one bottleneck."""

from __future__ import annotations

from typing import Any, Unpack

import numpy
from gymnasium import spaces
from gymnasium.utils import seeding
from numpy.typing import NDArray
from pettingzoo import ParallelEnv  # type: ignore[import-untyped]

from lasthop import _lasthop
from lasthop._error import Error
from lasthop.gym._options import Options, Paths, Setup, as_seed, observation_size
from lasthop.gym.congestion import as_number

Observation = NDArray[numpy.float32]


class CongestionControlParallelEnv(ParallelEnv[str, Observation, Any]):  # type: ignore[misc]
    """An environment with `agents` agents, one flow for each agent. The options are as in `lasthop.gym.Options`.

    The agents are called `agent_0`, `agent_1` … All agents step at the same time, and their episodes end at the same time.
    Each agent has its own reward, with the whole path's rate as `capacity_bps`.
    """

    metadata: dict[str, Any] = {"render_modes": [], "name": "lasthop_congestion_control_v0"}

    def __init__(self, *, agents: int = 2, **options: Unpack[Options]) -> None:
        setup = Setup(**options, agents=agents)
        settings = setup.settings()
        self._environment = _lasthop.Environment(settings, setup.paths(), 0)
        self._paths = Paths(setup)
        self._is_seeded = False
        self.render_mode = None
        self.possible_agents = [f"agent_{index}" for index in range(agents)]
        self.agents: list[str] = []
        self.observation_spaces = {agent: setup.observation_space(settings) for agent in self.possible_agents}
        self.action_spaces = {agent: setup.action_space() for agent in self.possible_agents}
        self._shape = (agents, observation_size(settings))

    def observation_space(self, agent: str) -> spaces.Space[Observation]:
        """Space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Space of an agent's actions."""
        return self.action_spaces[agent]

    @property
    def rate_bounds(self) -> tuple[float, float]:
        """Lowest and highest pacing rate, bit/s."""
        return self._environment.rate_bounds

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Begins an episode. `options` may have a `path`; PettingZoo requires that other options have no effect."""
        if seed is None and not self._is_seeded:
            seed = int(seeding.np_random()[0].integers(2**63))
        self._is_seeded = True
        self.agents = list(self.possible_agents)
        observations = numpy.empty(self._shape, numpy.float32)
        run = self._environment.reset(
            None if seed is None else as_seed(seed), self._paths.of(options), observations
        )
        infos = self._infos()
        for info in infos.values():
            info["seed"] = run
        return dict(zip(self.possible_agents, observations, strict=True)), infos

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[
        dict[str, Observation],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Changes the pacing rate of each agent, and runs one step."""
        agents = self.agents
        missing = [agent for agent in agents if agent not in actions]
        if missing:
            raise Error(
                f"actions: there is no action of {missing[0]}", "give an action for each agent in env.agents"
            )
        if not agents:
            raise Error("no episode is under way", "call reset")
        observations = numpy.empty(self._shape, numpy.float32)
        rewards, has_ended = self._environment.step_all(
            [as_number(actions[agent]) for agent in agents], observations
        )
        if has_ended:
            self.agents = []
        return (
            dict(zip(agents, observations, strict=True)),
            dict(zip(agents, rewards, strict=True)),
            dict.fromkeys(agents, False),
            dict.fromkeys(agents, has_ended),
            self._infos(),
        )

    def _infos(self) -> dict[str, dict[str, Any]]:
        return {agent: self._environment.info(index) for index, agent in enumerate(self.possible_agents)}

    def render(self) -> None:
        """There is no picture."""

    def close(self) -> None:
        """Ends the use of the environment."""
