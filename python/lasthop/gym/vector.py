"""The vectorised form of `lasthop/CongestionControl-v0`: environments that are stepped on all cores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from lasthop import _lasthop
from lasthop._error import Error
from lasthop.gym._options import Options, Paths, Setup, as_seed, checked_options, observation_size

Observations = NDArray[numpy.float32]
Array = NDArray[Any]


class CongestionControlVectorEnv(VectorEnv[Observations, Any, Array]):
    """`num_envs` environments, which are stepped without Python's global interpreter lock.

    Environment number `i` with the seed `s` has the results of `CongestionControlEnv` after `reset(seed=s + i)`. The
    results do not depend on `threads`, by default one thread for each core. `autoreset_mode` is Gymnasium's: `NEXT_STEP`
    (default), `SAME_STEP` or `DISABLED`. The other options are as in `lasthop.gym.Options`.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        num_envs: int = 1,
        *,
        threads: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        **options: Unpack[Options],
    ) -> None:
        setup = Setup(**options)
        settings = setup.settings()
        try:
            mode = AutoresetMode(autoreset_mode)
        except ValueError:
            raise Error(
                f"autoreset_mode = {autoreset_mode!r}: expected a mode of Gymnasium",
                ", ".join(mode.value for mode in AutoresetMode),
            ) from None
        self._environments = _lasthop.Environments(settings, setup.paths(), num_envs, 0, threads, mode.value)
        self._paths = Paths(setup)
        self._is_seeded = False
        self._names = _lasthop.Environments.names()
        self.metadata = {**self.metadata, "autoreset_mode": mode}
        self.num_envs = num_envs
        self.single_observation_space = setup.observation_space(settings)
        self.single_action_space = setup.action_space()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._shape = (num_envs, observation_size(settings))
        self._is_same_step = mode is AutoresetMode.SAME_STEP

    @property
    def threads(self) -> int:
        """Number of threads that step the environments."""
        return self._environments.threads

    @property
    def rate_bounds(self) -> tuple[float, float]:
        """Lowest and highest pacing rate, bit/s."""
        return self._environments.rate_bounds

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observations, dict[str, Any]]:
        """Begins an episode in each environment, or in the environments of `options["reset_mask"]`. An integer `seed` gives
        environment number `i` the seed `seed + i`. `options["path"]` is a path for all these environments."""
        super().reset(seed=seed if isinstance(seed, int) else None)
        checked_options(options, ["path", "reset_mask"])
        mask = None if not options else options.get("reset_mask")
        seeds = None
        if isinstance(seed, Sequence):
            seeds = [self._drawn_seed() if one is None else as_seed(one) for one in seed]
        elif seed is not None:
            seeds = [as_seed(seed + index) for index in range(self.num_envs)]
        elif not self._is_seeded:
            seeds = [self._drawn_seed() for _ in range(self.num_envs)]
        self._is_seeded = True
        chosen = None if mask is None else [bool(one) for one in mask]
        out = self._arrays()
        self._environments.reset(seeds, chosen, self._paths.of(options), *out)
        observations, _, _, numbers = out
        infos = self._infos(
            numbers, numpy.ones(self.num_envs, numpy.bool_) if mask is None else numpy.array(chosen)
        )
        infos["seed"] = numpy.array(self._environments.episode_seeds(), numpy.int64)
        infos["_seed"] = infos["_time_s"]
        return observations, infos

    def step(self, actions: Any) -> tuple[Observations, Array, Array, Array, dict[str, Any]]:
        """Carries out one step in each environment."""
        try:
            flat = numpy.ascontiguousarray(actions, numpy.float64).reshape(-1)
        except (TypeError, ValueError):
            raise Error(f"the actions are {actions!r}: expected an array of numbers") from None
        observations, rewards, ends, numbers = out = self._arrays()
        self._environments.step(flat, *out)
        infos = self._infos(numbers, numpy.ones(self.num_envs, numpy.bool_))
        if self._is_same_step and ends.any():
            infos.update(self._finals())
        terminations = numpy.zeros(self.num_envs, numpy.bool_)
        return observations, rewards, terminations, ends.view(numpy.bool_), infos

    def _drawn_seed(self) -> int:
        return int(self.np_random.integers(2**63))

    def _arrays(self) -> tuple[Observations, Array, Array, Array]:
        return (
            numpy.empty(self._shape, numpy.float32),
            numpy.empty(self.num_envs, numpy.float64),
            numpy.empty(self.num_envs, numpy.uint8),
            numpy.empty((self.num_envs, len(self._names)), numpy.float64),
        )

    def _infos(self, numbers: Array, mask: Array) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        for index, name in enumerate(self._names):
            infos[name] = numbers[:, index]
            infos["_" + name] = mask
        return infos

    def _finals(self) -> dict[str, Any]:
        """Observations and measurements at the ends of episodes, with Gymnasium's names."""
        observations = numpy.full(self.num_envs, None, dtype=object)
        numbers = numpy.zeros((self.num_envs, len(self._names)))
        mask = numpy.zeros(self.num_envs, numpy.bool_)
        for index, observation, final in self._environments.finals():
            observations[index] = numpy.array(observation, numpy.float32)
            numbers[index], mask[index] = final, True
        return {
            "final_obs": observations,
            "_final_obs": mask,
            "final_info": self._infos(numbers, mask),
            "_final_info": mask,
        }
