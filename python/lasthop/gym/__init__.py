"""Environments for learned congestion control and adaptive video: Gymnasium, its vectorised form, and PettingZoo.

    import gymnasium
    import lasthop.gym

    env = gymnasium.make("lasthop/CongestionControl-v0", path="rate=10Mbit/s,rtt=60ms,congestion=external")
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

`import lasthop.gym` registers the environments. `gymnasium.make_vec(…, vectorization_mode="vector_entry_point")` makes
environments that are stepped on all cores (`CongestionControlVectorEnv`). `parallel_env` makes an environment with
several agents on one bottleneck. `Options` lists the options of all three. "lasthop/Video-v0" is adaptive video
streaming; `Video` lists its options.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lasthop._extra import needs

with needs("lasthop.gym", "gymnasium"):
    import gymnasium

    from lasthop.gym._options import Options, PathSource, RangeSource
    from lasthop.gym.congestion import CongestionControlEnv
    from lasthop.gym.vector import CongestionControlVectorEnv
    from lasthop.gym.video import Video
    from lasthop.gym.video_policies import BufferBased, FixedQuality, RateBased, play

if TYPE_CHECKING:
    from typing import Unpack

    from lasthop.gym.multi import CongestionControlParallelEnv

__all__ = [
    "BufferBased",
    "CongestionControlEnv",
    "CongestionControlVectorEnv",
    "FixedQuality",
    "Options",
    "PathSource",
    "RangeSource",
    "RateBased",
    "Video",
    "parallel_env",
    "play",
]


def parallel_env(*, agents: int = 2, **options: Unpack[Options]) -> CongestionControlParallelEnv:
    """Makes an environment of PettingZoo's parallel API: `agents` flows on one bottleneck, one flow for each agent.

    If one flow of the path has `congestion = "external"`, this flow is copied. Otherwise the path must have at least
    `agents` such flows. `options` are as in `Options`. The extra `lasthop[gym-multi]` installs PettingZoo.
    """
    with needs("lasthop.gym.parallel_env", "pettingzoo"):
        from lasthop.gym.multi import CongestionControlParallelEnv
    return CongestionControlParallelEnv(agents=agents, **options)


if "lasthop/CongestionControl-v0" not in gymnasium.registry:
    gymnasium.register(
        id="lasthop/CongestionControl-v0",
        entry_point="lasthop.gym.congestion:CongestionControlEnv",
        vector_entry_point="lasthop.gym.vector:CongestionControlVectorEnv",
    )
    gymnasium.register(id="lasthop/Video-v0", entry_point="lasthop.gym.video:Video")
