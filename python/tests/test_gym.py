"""Tests of the environments with Gymnasium and PettingZoo: their checkers, determinism, closed forms, bad input."""

import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import lasthop
import lasthop.gym
from lasthop.gym._options import WEIGHTS

NAME = "lasthop/CongestionControl-v0"
PATH = "rate=10Mbit/s,rtt=60ms,loss=1%,congestion=external"
RANGES: dict[str, Any] = {
    "rate": ("5 Mbit/s", "50 Mbit/s", "log"),
    "rtt": (0.03, 0.1),
    "queue": ("0.5 bdp", "2 bdp"),
    "loss": ("0 %", "2 %"),
}


def make(**options: Any) -> gymnasium.Env[Any, Any]:
    return gymnasium.make(NAME, **options)


def make_vec(count: int, **options: Any) -> Any:
    return gymnasium.make_vec(NAME, num_envs=count, vectorization_mode="vector_entry_point", **options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"observation": "full", "actions": "discrete"},
        {"step": "srtt", "history": 3},
        {"ranges": RANGES, "beside": "cubic", "step": "20 ms"},
        {"path": ["lte", "umts", PATH]},
    ],
    ids=["default", "full", "srtt", "ranges", "paths"],
)
def test_gymnasium_accepts_the_environment_without_warnings(options: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(**options).unwrapped)


def test_pettingzoo_accepts_the_parallel_environment_without_warnings() -> None:
    from pettingzoo.test import parallel_api_test  # type: ignore[import-untyped]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(lasthop.gym.parallel_env(agents=3, path=PATH, time_limit_s=5), num_cycles=200)


def episode(
    env: gymnasium.Env[Any, Any], seed: int | None, action: Any = np.array([0.3], np.float32)
) -> bytes:
    observation, _ = env.reset(seed=seed)
    parts = [observation.tobytes()]
    has_ended = False
    while not has_ended:
        observation, reward, terminated, has_ended, info = env.step(action)
        assert not terminated
        parts += [observation.tobytes(), np.float64(reward).tobytes(), repr(sorted(info.items())).encode()]
    return b"".join(parts)


def test_the_same_seed_gives_the_same_bytes() -> None:
    first, second = (make(ranges=RANGES, time_limit_s=3, path=PATH) for _ in range(2))
    one = [episode(first, 5), episode(first, None)]
    assert one == [episode(second, 5), episode(second, None)]
    assert one[0] != one[1]
    assert one[0] != episode(second, 6)


def test_the_seed_of_info_repeats_the_run_as_a_session() -> None:
    """A session with the seed and the orders of an episode has the goodput of the episode."""
    env = make(path=PATH, rate_bounds=(8e6, 8e6), step=0.5, time_limit_s=3)
    _, info = env.reset(seed=1)
    session = lasthop.Session(f"{PATH},duration=3s", seed=info["seed"])
    session.steer(pacing_bps=8e6, cwnd_bytes=2 * 8e6 * info["base_rtt_s"] / 8)
    session.run_until(info["time_s"])
    session.look()
    for _ in range(4):
        session.steer(pacing_bps=8e6, cwnd_bytes=2 * 8e6 * info["srtt_s"] / 8)
        info = env.step([0.0])[4]
        session.run_until(info["time_s"])
        assert session.look().delivered_bytes == info["delivered_bytes"] > 0


def test_at_a_constant_rate_below_the_bottleneck_goodput_and_rtt_are_those_of_the_idle_path() -> None:
    """60 ms of propagation, and the transmission of 1500 bytes and of an ACK with 52 bytes at 10 Mbit/s. A second at
    8 Mbit/s has 690.6 segments: the count differs by at most one segment, 0.15 %."""
    env = make(
        path="rate=10Mbit/s,rtt=60ms,ack_policy=immediate,congestion=external",
        rate_bounds=("8Mbit/s", 8e6),
        step=1,
    )
    env.reset(seed=1)
    env.step([0.0])
    for _ in range(20):
        info = env.step(np.zeros(1, np.float32))[4]
        assert info["goodput_bps"] == pytest.approx(8e6, rel=0.0015)
        assert info["mean_rtt_s"] == pytest.approx(0.060 + 8 * 1552 / 10e6, abs=1e-6)
        assert info["lost_share"] == 0


@pytest.mark.parametrize("weights", [{}, {"goodput": 3.0, "delay": 0.1, "loss": 7.0}])
def test_the_reward_is_the_documented_formula(weights: dict[str, float]) -> None:
    env = make(path=PATH, reward=weights)
    env.reset(seed=2)
    weight = {**WEIGHTS, **weights}
    losses = 0.0
    for _ in range(100):
        _, reward, _, _, info = env.step([0.2])
        losses += info["lost_share"]
        expected = (
            weight["goodput"] * info["goodput_bps"] / info["capacity_bps"]
            - weight["delay"] * max(info["mean_rtt_s"] / info["base_rtt_s"] - 1, 0)
            - weight["loss"] * info["lost_share"]
        )
        assert reward == pytest.approx(expected, abs=1e-12)
    assert losses > 0


def test_aurora_features_follow_from_info() -> None:
    env = make(path=PATH, history=2)
    env.reset(seed=2)
    before = smallest = env.step([0.0])[4]["mean_rtt_s"]
    smallest = min(smallest, 0.0601)
    for _ in range(50):
        observation, _, _, _, info = env.step([0.1])
        assert observation.shape == (6,)
        smallest = min(smallest, info["mean_rtt_s"])
        gradient = (info["mean_rtt_s"] - before) / info["span_s"]
        ratio = info["sent_bytes"] / max(info["acknowledged_bytes"], 1) - 1
        expected = [gradient, info["mean_rtt_s"] / smallest - 1, min(ratio, 10)]
        assert observation[3:] == pytest.approx(expected, abs=2e-3)
        before = info["mean_rtt_s"]


@pytest.mark.parametrize("options", [{}, {"actions": [0.5, 1.0, 2.0]}], ids=["continuous", "factors"])
def test_actions_multiply_the_rate(options: dict[str, Any]) -> None:
    env = make(path=PATH, **options)
    rate = env.reset(seed=3)[1]["rate_bps"]
    pairs = [(0, 0.5), (1, 1.0)] if options else [(1.0, 1.2), (-1.0, 1 / 1.2), (0.0, 1.0), (5.0, 1.2)]
    for action, factor in pairs:
        rate *= factor
        assert env.step(action if options else [action])[4]["rate_bps"] == pytest.approx(rate, rel=1e-12)


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_the_vectorised_form_has_the_results_of_single_environments(mode: AutoresetMode) -> None:
    """Environment number i with seed 7 + i, through the end of an episode: 2 s are 32 steps of an RTT."""
    options: dict[str, Any] = {"path": PATH, "ranges": RANGES, "time_limit_s": 2}
    vector = make_vec(3, autoreset_mode=mode, **options)
    singles = [make(**options) for _ in range(3)]
    observations, infos = vector.reset(seed=7)
    has_ended = [False] * 3
    for index, single in enumerate(singles):
        observation, info = single.reset(seed=7 + index)
        assert (observations[index] == observation).all() and infos["seed"][index] == info["seed"]
    generator = np.random.default_rng(1)
    ends = 0
    for _ in range(80):
        actions = generator.uniform(-1, 1, (3, 1)).astype(np.float32)
        if mode is AutoresetMode.DISABLED and any(has_ended):
            mask = np.array(has_ended)
            observations, _ = vector.reset(options={"reset_mask": mask})
            for index in np.flatnonzero(mask).tolist():
                assert (observations[index] == singles[index].reset()[0]).all()
        observations, rewards, terminations, truncations, infos = vector.step(actions)
        assert observations in vector.observation_space and not terminations.any()
        for index, single in enumerate(singles):
            reward: Any = 0.0
            if mode is AutoresetMode.NEXT_STEP and has_ended[index]:
                observation, info = single.reset()
                has_ended[index] = False
            else:
                observation, reward, _, has_ended[index], info = single.step(actions[index])
            assert (rewards[index], truncations[index]) == (reward, has_ended[index])
            if mode is AutoresetMode.SAME_STEP and has_ended[index]:
                assert (infos["final_obs"][index] == observation).all() and infos["_final_obs"][index]
                assert infos["final_info"]["time_s"][index] == info["time_s"] == 2.0
                observation, info = single.reset()
            assert (observations[index] == observation).all()
            assert infos["goodput_bps"][index] == info["goodput_bps"]
        ends += int(truncations.sum())
    assert ends >= 3


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    def run(threads: int) -> bytes:
        vector = make_vec(5, threads=threads, path=PATH, ranges=RANGES, time_limit_s=1)
        assert vector.threads == threads
        parts = [vector.reset(seed=1)[0].tobytes()]
        for _ in range(60):
            observations, rewards, *_ = vector.step(np.full((5, 1), 0.2))
            parts += [observations.tobytes(), rewards.tobytes()]
        return b"".join(parts)

    assert run(1) == run(2) == run(4)


def test_episodes_draw_from_ranges_and_paths() -> None:
    env = make(path=PATH, ranges={"rate": ("5 Mbit/s", "50 Mbit/s", "log"), "rtt": ("30 ms", "100 ms")})
    rates = []
    env.reset(seed=1)
    for _ in range(200):
        info = env.reset()[1]
        rates.append(info["capacity_bps"])
        transmission = 8 * 1552 / info["capacity_bps"]
        assert 0.030 <= info["base_rtt_s"] - transmission <= 0.1001
    assert 5e6 <= min(rates) < 8e6 and 30e6 < max(rates) <= 50e6
    # Half of log-uniform values are below the geometric mean. The tolerance is four standard errors of 200 draws.
    assert abs(sum(rate < (5e6 * 50e6) ** 0.5 for rate in rates) - 100) < 4 * 50**0.5
    several = make(
        path=["rate=1Mbit/s,rtt=20ms,congestion=external", "rate=2Mbit/s,rtt=20ms,congestion=external"]
    )
    several.reset(seed=1)
    assert {several.reset()[1]["capacity_bps"] for _ in range(40)} == {1e6, 2e6}


def test_a_recorded_rate_is_a_path_whose_rate_cannot_be_drawn(tmp_path: Path) -> None:
    """One opportunity of 1504 bytes in each ms: 12.032 Mbit/s."""
    (tmp_path / "rate").write_text("".join(f"{millisecond}\n" for millisecond in range(1, 1001)))
    line = f"trace={tmp_path / 'rate'},up=1Mbit/s,rtt=40ms,queue=100packets,congestion=external"
    env = make(path=line, ranges={"loss": (0.5, 0.5)})
    assert env.reset(seed=1)[1]["capacity_bps"] == 12_032_000
    assert sum(env.step([0.0])[4]["lost_bytes"] for _ in range(20)) > 0
    with pytest.raises(lasthop.Error, match="planned or recorded"):
        make(path=line, ranges={"rate": (1e6, 2e6)})


def test_wrappers_of_gymnasium_count_episodes_of_the_vectorised_form() -> None:
    """Episodes of 1 s are 16 steps of 61 ms. In 50 steps, three episodes end, with a reset between them."""
    vector = gymnasium.wrappers.vector.RecordEpisodeStatistics(make_vec(2, time_limit_s=1.0))
    vector.reset(seed=1)
    lengths: list[int] = []
    for _ in range(50):
        infos = vector.step(np.zeros((2, 1), np.float32))[4]
        lengths += infos["episode"]["l"][infos["_episode"]].tolist() if "episode" in infos else []
    assert lengths == [16] * 6


def test_reset_takes_a_path_for_one_episode() -> None:
    env = make(ranges=RANGES)
    _, info = env.reset(seed=1, options={"path": "rate=3Mbit/s,rtt=40ms,congestion=external"})
    assert info["capacity_bps"] == 3e6
    assert env.reset()[1]["capacity_bps"] >= 5e6


def test_a_flow_beside_the_agent_takes_its_share() -> None:
    """On 10 Mbit/s, an agent at 8 Mbit/s and a CUBIC flow exceed the rate: packets of the agent are lost."""
    bounds = {"path": "rate=10Mbit/s,rtt=60ms,congestion=external", "rate_bounds": (8e6, 8e6), "step": 1}
    losses = []
    for options in ({}, {"beside": ["cubic"]}):
        env = make(**bounds, **options)
        env.reset(seed=1)
        losses.append(sum(env.step([0.0])[4]["lost_bytes"] for _ in range(20)))
    assert losses[0] == 0 < losses[1]


def test_agents_of_the_parallel_environment_share_one_bottleneck() -> None:
    env = lasthop.gym.parallel_env(agents=2, path="rate=10Mbit/s,rtt=60ms,congestion=external", step=1)
    _, infos = env.reset(seed=1)
    assert infos["agent_0"]["rate_bps"] != infos["agent_1"]["rate_bps"]
    for _ in range(10):
        _, rewards, _, truncated, infos = env.step({agent: [1.0] for agent in env.agents})
    assert not any(truncated.values()) and set(rewards) == {"agent_0", "agent_1"}
    # 1448 bytes of payload in 1500 at 10 Mbit/s. The data acknowledged in a second may differ by a few segments.
    both = sum(info["acknowledged_bytes"] for info in infos.values())
    assert both == pytest.approx(10e6 / 8 * 1448 / 1500, rel=0.02)


BAD: list[tuple[Callable[[], object], str, str]] = [
    (lambda: make(observation="auroa"), "there is no observation `auroa`", "did you mean `aurora`"),
    (lambda: make(ranges={"rate": (2e6, 1e6)}), "the range of rate is upside down", "smaller value first"),
    (lambda: make(ranges={"speed": (1, 2)}), "ranges: there is no 'speed'", "rate, rtt, queue, loss"),
    (lambda: make(ranges={"rate": 3}), "ranges: rate = 3: expected a pair", "log"),
    (lambda: make(ranges={"loss": (0, 0.1, "log")}), "0 has no logarithm", "above 0"),
    (lambda: make(ranges={"queue": ("1 bdp", "9 packets")}), "do not fit", "both"),
    (lambda: make(path="rate=1Mbit/s,rtt=20ms"), "no flow of the path has congestion", "external"),
    (lambda: make(path=[]), "the list of paths is empty", "lte"),
    (lambda: make(step="fast"), "step = fast", "50 ms"),
    (lambda: make(step=0), "step = 0", "50 ms"),
    (lambda: make(step="1 min"), "step = 1 min", "50 ms"),
    (lambda: make(history=0), "history = 0", "history=10"),
    (lambda: make(alpha=-1), "alpha = -1", "0.2"),
    (lambda: make(actions=[1.0, -2.0]), "expected factors of the rate", "1.25"),
    (lambda: make(actions="jump"), "actions = 'jump'", "actions="),
    (lambda: make(reward={"speed": 1}), "reward: there is no 'speed'", "goodput"),
    (lambda: make(reward={"delay": float("nan")}), "not all finite", "delay"),
    (lambda: make(rate_bounds=(2e6, 1e6)), "upside down", "smaller value first"),
    (lambda: make(first_rate=(2, 1)), "first_rate = ", "first_rate="),
    (lambda: make(time_limit_s=0), "time_limit_s = 0", ""),
    (lambda: make_vec(0), "num_envs = 0", "num_envs=8"),
    (lambda: make_vec(2, threads=0), "threads = 0", "threads=2"),
    (lambda: lasthop.gym.parallel_env(agents=0), "agents = 0", "agents=2"),
    (lambda: make().reset(options={"paths": PATH}), "options: there is no 'paths'", "path"),
    (lambda: ready().step(float("nan")), "the action is NaN", "diverged"),
    (lambda: ready().step("up"), "the action is 'up'", "sample"),
    (lambda: ready(actions="discrete").step(9), "expected a whole number from 0 to 4", "index"),
    (lambda: parallel().step({"agent_0": [0.0]}), "there is no action of agent_1", "env.agents"),
    (lambda: parallel(3), 'congestion = "external": 2, fewer than agents', "copied"),
    (lambda: lasthop.gym.CongestionControlEnv().step(0), "no episode has begun", "call reset"),
]


def ready(**options: Any) -> gymnasium.Env[Any, Any]:
    env = make(**options).unwrapped
    env.reset(seed=1)
    return env


def parallel(agents: int = 2) -> Any:
    """Environment on a path with two flows whose congestion control is external."""
    flow = {"from": "server", "to": "client", "sender": {"congestion": "external"}}
    link = {"from": "server", "to": "client", "rate": "10 Mbit/s", "one_way_delay": "20 ms"}
    env = lasthop.gym.parallel_env(
        agents=agents, path={"link": {"path": link}, "flow": {"one": flow, "two": flow}}
    )
    env.reset(seed=1)
    return env


@pytest.mark.parametrize(("call", "message", "help"), BAD, ids=[message[:30] for _, message, _ in BAD])
def test_bad_input_is_answered_with_help(call: Callable[[], object], message: str, help: str) -> None:
    with pytest.raises(lasthop.Error) as caught:
        call()
    assert message in caught.value.message
    assert help in (caught.value.help or "")


def test_nan_among_the_actions_steps_no_environment() -> None:
    vector = make_vec(2, path=PATH)
    vector.reset(seed=1)
    before = vector.step(np.zeros((2, 1)))[4]["time_s"]
    with pytest.raises(lasthop.Error, match="NaN"):
        vector.step(np.array([[0.0], [np.nan]]))
    assert (vector.step(np.zeros((2, 1)))[4]["time_s"] > before).all()
    vector.reset(seed=1)
    vector.step(np.zeros((2, 1)))
    assert (vector.step(np.zeros((2, 1)))[4]["time_s"] > before).all()


def test_steps_after_the_end_are_refused() -> None:
    env = make(time_limit_s=0.2).unwrapped
    env.reset(seed=1)
    while not env.step([0.0])[3]:
        pass
    with pytest.raises(lasthop.Error, match="the episode has ended"):
        env.step([0.0])


@pytest.mark.parametrize(
    ("call", "blocked"),
    [("import lasthop.gym", "gymnasium"), ("import lasthop.gym as g; g.parallel_env()", "pettingzoo")],
)
def test_a_missing_package_is_named(call: str, blocked: str) -> None:
    program = f"import sys; sys.modules[{blocked!r}] = None; {call}"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert f"{blocked} is not installed" in ended.stderr and f"pip install {blocked}" in ended.stderr


def test_the_documentation_lists_all_features_and_measurements() -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/gymnasium.md").read_text()
    names = set(ready().step([0.0])[4])
    sets: tuple[Literal["aurora", "full"], ...] = ("aurora", "full")
    for observation in sets:
        names.update(lasthop.gym.CongestionControlEnv(observation=observation).feature_names)
    assert {name for name in names if f"`{name}`" not in page} == set()
