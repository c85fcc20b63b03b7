"""Baselines for `lasthop/Video-v0`: functions from an observation to the quality of the next chunk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium

from lasthop._error import Error
from lasthop.gym._checks import number, whole
from lasthop.gym.video import Observation, Video


class FixedQuality:
    """Requests each chunk in the same quality."""

    def __init__(self, quality: int) -> None:
        self._quality = whole("quality", quality, 0, 1_000_000)

    def __call__(self, observation: Observation) -> int:
        return self._quality


class RateBased:
    """Requests the highest bit rate below the predicted throughput: the harmonic mean of the last throughputs.

    Baseline "rate-based" of Pensieve (SIGCOMM 2017, §5.1; from memory), with the last 5 chunks. The first chunk has the
    lowest quality.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], *, chunks: int = 5) -> None:
        video = _video(env)
        self._rates = [kbps / 1000 for kbps in video.bitrates_kbps]
        count = whole("chunks", chunks, 1, 1000)
        if count > video.history:
            raise Error(
                f"chunks = {count}, and the observation has {video.history}", f"make the environment with history={count}"
            )
        last = video.features.index("throughput_mbps_1") + video.history
        self._recent = slice(last - count, last)

    def __call__(self, observation: Observation) -> int:
        recent = [float(mbps) for mbps in observation[self._recent] if mbps > 0]
        if not recent:
            return 0
        predicted = len(recent) / sum(1 / mbps for mbps in recent)
        return _highest(self._rates, predicted)


class BufferBased:
    """Requests a bit rate by the buffer alone: BBA-0 (Huang et al., SIGCOMM 2014, §4, Algorithm 1; from memory).

    Below the reservoir, the lowest bit rate; above reservoir and cushion, the highest. Between them, a rate f grows
    linearly with the buffer. The bit rate changes only if f reaches the next higher or the next lower bit rate.

    Reservoir (5 s) and cushion (10 s) are those of Pensieve's program (`test/bb.py`). The paper has 90 s and 216 s for a
    buffer of 240 s (from memory). In Pensieve's program, the index grows linearly, without hysteresis.
    """

    def __init__(
        self, env: gymnasium.Env[Any, Any], *, reservoir_s: float = 5.0, cushion_s: float = 10.0
    ) -> None:
        video = _video(env)
        self._rates = [kbps / 1000 for kbps in video.bitrates_kbps]
        self._reservoir_s = number("reservoir_s", reservoir_s, 0)
        self._cushion_s = number("cushion_s", cushion_s, 0, above=True)
        self._buffer, self._quality = (video.features.index(name) for name in ("buffer_s", "quality_mbps"))

    def __call__(self, observation: Observation) -> int:
        rates, mbps = self._rates, float(observation[self._quality])
        share = (float(observation[self._buffer]) - self._reservoir_s) / self._cushion_s
        if share <= 0:
            return 0
        if share >= 1:
            return len(rates) - 1
        last = min(range(len(rates)), key=lambda index: abs(rates[index] - mbps))
        f = rates[0] + share * (rates[-1] - rates[0])
        if last + 1 < len(rates) and f >= rates[last + 1]:
            return _highest(rates, f)
        if last > 0 and f <= rates[last - 1]:
            return next(index for index, rate in enumerate(rates) if rate > f)
        return last


def play(
    env: gymnasium.Env[Any, Any],
    policy: Callable[[Observation], Any],
    *,
    seed: int | None = None,
    options: dict[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Plays one episode. Returns the `info` of each chunk, with its `reward`."""
    observation, _ = env.reset(seed=seed, options=options)
    played = []
    has_ended = False
    while not has_ended:
        observation, reward, terminated, truncated, info = env.step(policy(observation))
        played.append({**info, "reward": float(reward)})
        has_ended = terminated or truncated
    return played


def _video(env: gymnasium.Env[Any, Any]) -> Video:
    video = getattr(env, "unwrapped", None)
    if not isinstance(video, Video):
        raise Error(f"the policy is for lasthop/Video-v0, not for {env!r}", 'gymnasium.make("lasthop/Video-v0")')
    return video


def _highest(rates: list[float], limit: float) -> int:
    """Returns the index of the highest rate that is less than `limit`, or 0."""
    return max((index for index, rate in enumerate(rates) if rate < limit), default=0)
