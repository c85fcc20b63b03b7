"""Tests of `lasthop/Video-v0`: the model of the client in closed form, rewards, draws by seed, baselines, and messages."""

import math
import statistics
import warnings
from itertools import pairwise
from typing import Any

import gymnasium
import numpy
import pytest
from gymnasium.utils.env_checker import check_env

import lasthop
from lasthop.gym import BufferBased, FixedQuality, RateBased, Video, play

# No drops: the queue holds a whole chunk of the lowest quality.
FAST = "rate=10Mbit/s,rtt=60ms,queue=200packets"
SLOW = "rate=200kbit/s,rtt=60ms,queue=200packets"
LOSSY = "rate=4Mbit/s,rtt=60ms,loss=1%"
LOWEST = FixedQuality(0)
RATES = [300, 750, 1200, 1850, 2850, 4300]
CHUNK_BYTES = 300_000 * 4 // 8
# 104 segments of at most 1448 bytes, each with 52 bytes of headers: IPv4, TCP, timestamps.
WIRE_BITS = 8 * (CHUNK_BYTES + 52 * math.ceil(CHUNK_BYTES / 1448))
REQUEST_BITS = 8 * (300 + 52)
# ACKs of the preceding chunk that the request waits for on the uplink: at most two.
ACK_BITS = 2 * 8 * 52


def download_s(bps: float, rtt_s: float) -> float:
    """Time of a chunk of the lowest quality if the window holds the whole chunk."""
    return rtt_s + (REQUEST_BITS + WIRE_BITS) / bps


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"path": ["lte", "geo-satellite"], "size_spread": 0.3, "set": {"congestion": "bbr3"}},
        {"path": FAST, "ranges": {"rate": ("1 Mbit/s", "6 Mbit/s", "log"), "rtt": (0.02, 0.1)}, "chunks": 3},
        {"path": SLOW, "time_limit_s": 20, "history": 1, "startup": False},
        {"path": "umts", "set": {"flow.bulk.kind": "quic"}, "chunks": 4},
        {"path": "l4s", "flow": "cubic", "start_s": 2.0, "chunks": 2},
    ],
)
def test_gymnasiums_checks_are_clean(options: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make("lasthop/Video-v0", **options).unwrapped)


def test_a_download_takes_the_round_trip_and_the_time_on_the_link() -> None:
    played = play(Video(path=FAST), LOWEST)
    exact = download_s(10e6, 0.060)
    # In slow start, the window is below the link's 50 packets for three round trips (10, 20, 40: RFC 6928), and the link
    # idles in each for less than a round trip. The first chunk also has the handshake.
    assert exact + 0.060 < played[0]["download_s"] < exact + 4 * 0.060 + 0.001
    for chunk in played[1:16]:
        # cwnd has grown by each of the 104 segments, so that the window holds the chunk.
        assert exact <= chunk["download_s"] + 1e-9 and chunk["download_s"] < exact + ACK_BITS / 10e6 + 1e-9
        assert chunk["throughput_kbps"] == pytest.approx(8 * CHUNK_BYTES / 1000 / chunk["download_s"])
    # The silence while the buffer is full lasts longer than the RTO: cwnd restarts at 10 segments (RFC 5681 §4.1).
    for chunk in played[16:]:
        assert exact + 0.060 < chunk["download_s"] < exact + 3 * 0.060


def test_the_buffer_grows_to_its_limit_without_rebuffering() -> None:
    played = play(Video(path=FAST), LOWEST)
    assert len(played) == 48
    assert all(chunk["rebuffer_s"] == 0 for chunk in played)
    for index, chunk in enumerate(played[:15]):
        # Playback begins with the first chunk. Each later chunk adds 4 s, and its download plays the buffer.
        spent = sum(one["download_s"] for one in played[1 : index + 1])
        assert chunk["buffer_s"] == pytest.approx(4 * (index + 1) - spent)
        assert chunk["wait_s"] == 0
    assert 4 * 16 - 15 * download_s(10e6, 0.060) > 60
    for chunk in played[16:]:
        assert chunk["buffer_s"] == 60
        # Download and wait play one chunk.
        assert chunk["download_s"] + chunk["wait_s"] == pytest.approx(4)
    total = sum(chunk["download_s"] + chunk["wait_s"] for chunk in played)
    assert played[-1]["time_s"] == pytest.approx(total)
    # All of the video except the full buffer is played since the first chunk.
    assert total - played[0]["download_s"] == pytest.approx(48 * 4 - 60)


def test_below_the_lowest_bit_rate_each_chunk_stalls() -> None:
    played = play(Video(path=SLOW), LOWEST)
    exact = download_s(200e3, 0.060)
    assert exact > 4
    for chunk in played[1:]:
        # The buffer holds one chunk at each request.
        assert chunk["rebuffer_s"] == pytest.approx(exact - 4, abs=ACK_BITS / 200e3 + 1e-9)
        assert chunk["buffer_s"] == pytest.approx(4)
        assert chunk["qoe_rebuffer"] == pytest.approx(-4.3 * chunk["rebuffer_s"])
    assert sum(chunk["rebuffer_s"] for chunk in played) == pytest.approx(47 * (exact - 4), rel=0.002)
    # The first chunk needs the handshake, too: a round trip and two segments of 60 bytes.
    handshake_s = 0.060 + 2 * 60 * 8 / 200e3
    assert played[0]["startup_s"] == pytest.approx(exact + handshake_s, abs=ACK_BITS / 200e3 + 1e-9)
    assert played[0]["rebuffer_s"] == 0


@pytest.mark.parametrize("startup", [True, False])
@pytest.mark.parametrize(("mu", "smoothness", "utilities"), [(4.3, 1.0, None), (2.66, 0.5, [0, 1, 2, 4, 8, 9])])
def test_rewards_add_up_to_the_qoe_of_the_papers(
    startup: bool, mu: float, smoothness: float, utilities: list[float] | None
) -> None:
    env = Video(path="rate=1Mbit/s,rtt=60ms", mu=mu, smoothness=smoothness, utilities=utilities, startup=startup)
    actions = iter([0, 3, 3, 1, 5, 0] * 8)
    played = play(env, lambda _: next(actions))
    q = utilities or [rate / 1000 for rate in RATES]
    values = [q[chunk["quality"]] for chunk in played]
    stalls = sum(chunk["rebuffer_s"] for chunk in played)
    assert stalls > 0
    if startup:
        stalls += played[0]["download_s"]
    changes = sum(abs(later - earlier) for earlier, later in pairwise(values))
    expected = sum(values) - mu * stalls - smoothness * changes
    assert sum(chunk["reward"] for chunk in played) == pytest.approx(expected)
    for chunk in played:
        parts = (chunk["qoe_quality"], chunk["qoe_rebuffer"], chunk["qoe_smoothness"])
        assert chunk["reward"] == pytest.approx(sum(parts))


def test_an_episode_is_a_session_with_these_requests() -> None:
    env = Video(path=LOSSY, chunks=6)
    played = play(env, FixedQuality(2), seed=5)
    request = {"request": "300 bytes", "response": "external", "duration": "1200 s", "nagle": False}
    session = lasthop.Session(LOSSY, set=request, seed=5)
    for chunk in played:
        session.ask(chunk["bytes"])
        assert session.run_until(response=True)
        assert session.time_s == pytest.approx(chunk["time_s"] - chunk["wait_s"], abs=1e-9)
        session.run_for(chunk["wait_s"])


def test_the_same_seed_gives_the_same_episodes() -> None:
    options: dict[str, Any] = {"path": [LOSSY, "geo-satellite"], "size_spread": 0.3, "chunks": 5}
    env, other = Video(**options), Video(**options)
    first = [play(env, FixedQuality(3), seed=11), play(env, FixedQuality(3)), play(env, FixedQuality(3))]
    play(other, LOWEST, seed=1)
    assert first == [play(other, FixedQuality(3), seed=11), play(other, FixedQuality(3)), play(other, FixedQuality(3))]
    assert len({episode[-1]["time_s"] for episode in first}) == 3
    assert play(env, FixedQuality(3), seed=12) != first[0]


def test_each_episode_draws_a_path_and_values_of_ranges() -> None:
    env = Video(path=["lte", "umts", FAST])
    titles = [env.reset(seed=seed)[1]["path"] for seed in range(60)]
    # Binomial with 60 trials of 1/3: mean 20, standard deviation 3.7. Four standard deviations.
    assert len(set(titles)) == 3 and all(5 < titles.count(title) < 35 for title in titles)
    ranges: Any = {"rate": ("2 Mbit/s", "2000 kbit/s"), "rtt": (0.1, "100 ms"), "queue": (300, 300)}
    fixed = Video(path=FAST, ranges=ranges, chunks=9)
    same = Video(path="rate=2Mbit/s,rtt=100ms,queue=300packets", chunks=9)
    assert play(fixed, LOWEST, seed=1) == play(same, LOWEST, seed=1)
    drawn = Video(path=FAST, ranges={"rate": ("1 Mbit/s", "4 Mbit/s", "log")}, chunks=5)
    rates = [play(drawn, FixedQuality(5), seed=seed)[-1]["throughput_kbps"] for seed in range(40)]
    # The share below the geometric mean, 2 Mbit/s, is 1/2: mean 20, standard deviation 3.2. A chunk of 2.15 MB fills the
    # link for all but a round trip, and headers need 3.5 %.
    assert 7 < sum(rate < 2000 * 0.94 for rate in rates) < 33
    assert 800 < min(rates) < max(rates) < 4000


def test_sizes_are_constant_drawn_or_given() -> None:
    env = Video(chunks=1)
    env.reset(seed=1)
    assert env.step(4)[4]["bytes"] == 2850 * 1000 // 8 * 4
    env = Video(size_spread=0.25, chunks=400, path=FAST)
    observation, _ = env.reset(seed=3)
    factors = []
    for _ in range(200):
        offered = [float(observation[env.features.index(f"next_mb_{quality}")]) for quality in range(6)]
        observation, *_, info = env.step(1)
        assert offered[1] == pytest.approx(info["bytes"] / 1e6)
        factors.append(info["bytes"] / 375_000)
        assert [mb / 0.5 * 1000 for mb in offered] == pytest.approx([rate * factors[-1] for rate in RATES], rel=1e-4)
    assert 0.75 <= min(factors) < 0.78 and 1.22 < max(factors) <= 1.25
    # Uniform: standard deviation 0.25/sqrt(3), of the mean of 200 a fourteenth. Four standard errors.
    assert statistics.mean(factors) == pytest.approx(1, abs=4 * 0.25 / math.sqrt(3 * 200))
    given = Video(sizes=[[1000, 2000], [3000, 4000], [5000, 6000]], bitrates_kbps=[1, 2], path=FAST)
    choices = iter([0, 1, 0])
    assert [chunk["bytes"] for chunk in play(given, lambda _: next(choices))] == [1000, 4000, 5000]


def test_observations_have_the_newest_chunk_last() -> None:
    env = Video(path=FAST, history=3, chunks=4)
    first, info = env.reset(seed=1)
    assert first.tolist() == pytest.approx([0, 0, 4, *[0] * 6, 0.15, 0.375, 0.6, 0.925, 1.425, 2.15])
    assert (info["time_s"], info["seed"]) == (0, 1)
    infos = []
    for action in (1, 2, 0, 5):
        observation, *_, info = env.step(action)
        infos.append(info)
    named = dict(zip(env.features, observation.tolist(), strict=True))
    assert named["quality_mbps"] == pytest.approx(4.3)
    assert named["buffer_s"] == pytest.approx(infos[-1]["buffer_s"])
    assert named["chunks_left"] == 0 == named["next_mb_0"]
    for place, info in enumerate(infos[1:], 1):
        assert named[f"throughput_mbps_{place}"] == pytest.approx(info["throughput_kbps"] / 1000)
        assert named[f"download_s_{place}"] == pytest.approx(info["download_s"])


def test_the_time_limit_truncates_and_the_last_chunk_terminates() -> None:
    env = Video(path=FAST, chunks=2)
    env.reset(seed=1)
    assert env.step(0)[2:4] == (False, False)
    assert env.step(0)[2:4] == (True, False)
    with pytest.raises(lasthop.Error, match="no episode is under way"):
        env.step(0)
    env = Video(path=SLOW, time_limit_s=15)
    env.reset(seed=1)
    first, second = env.step(0)[4], env.step(0)[4]
    _, reward, terminated, truncated, third = env.step(0)
    assert (terminated, truncated, third["is_complete"], third["time_s"]) == (False, True, False, 15)
    # The buffer of 4 s lasts longer than the rest of the run: no stall. An incomplete chunk has no quality.
    assert 15 - second["time_s"] < 4
    assert (reward, third["rebuffer_s"], third["throughput_kbps"]) == (0, 0, 0)
    assert third["buffer_s"] == pytest.approx(4 - (15 - second["time_s"]))
    env = Video(path=SLOW, time_limit_s=first["time_s"] + 5)
    env.reset(seed=1)
    env.step(0)
    # The highest quality takes 87 s. The stall ends with the run.
    _, reward, _, truncated, info = env.step(5)
    assert truncated and info["rebuffer_s"] == pytest.approx(1) and reward == pytest.approx(-4.3)
    env = Video(path=FAST, time_limit_s=2, max_buffer_s=4)
    env.reset(seed=1)
    assert env.step(0)[2:4] == (False, False)
    # The run ends while the client waits.
    *_, terminated, truncated, info = env.step(0)
    assert (terminated, truncated, info["is_complete"], info["time_s"]) == (False, True, True, 2)
    assert info["buffer_s"] == pytest.approx(8 - info["download_s"] - info["wait_s"])


def test_the_flow_begins_at_the_start() -> None:
    env = Video(path="l4s", flow="cubic", start_s=2.5, chunks=1)
    _, info = env.reset(seed=1)
    assert info["time_s"] == 2.5
    info = env.step(0)[4]
    assert info["time_s"] == pytest.approx(2.5 + info["download_s"])


def test_a_path_of_the_options_is_for_one_episode() -> None:
    env = Video(path=FAST, chunks=3)
    usual = play(env, LOWEST, seed=1)
    assert play(env, LOWEST, seed=1, options={"path": SLOW}) == play(Video(path=SLOW, chunks=3), LOWEST, seed=1)
    assert play(env, LOWEST, seed=1) == usual


def test_vectorised_environments_play() -> None:
    envs = gymnasium.make_vec("lasthop/Video-v0", num_envs=2, vectorization_mode="sync", path=LOSSY, chunks=3)
    envs.reset(seed=4)
    for _ in range(3):
        _, _, terminated, _, info = envs.step(numpy.array([2, 2]))
    assert terminated.all()
    one = play(Video(path=LOSSY, chunks=3), FixedQuality(2), seed=5)
    assert info["download_s"][1] == one[-1]["download_s"]


def observed(env: Video, **values: float) -> Any:
    observation = numpy.zeros(len(env.features), numpy.float32)
    for name, value in values.items():
        observation[env.features.index(name)] = value
    return observation


def test_the_rate_based_policy_takes_the_harmonic_mean() -> None:
    env = Video(history=6)
    policy = RateBased(env)
    assert policy(observed(env)) == 0
    # Harmonic mean of 1, 2 and 4: 12/7 = 1.71 Mbit/s.
    three = {"throughput_mbps_4": 1.0, "throughput_mbps_5": 2.0, "throughput_mbps_6": 4.0}
    assert policy(observed(env, **three)) == RATES.index(1200)
    # The oldest of six is left out.
    six = {f"throughput_mbps_{place}": 3.0 for place in range(2, 7)} | {"throughput_mbps_1": 0.1}
    assert policy(observed(env, **six)) == RATES.index(2850)
    assert policy(observed(env, throughput_mbps_6=0.2)) == 0
    assert RateBased(env, chunks=1)(observed(env, throughput_mbps_5=0.2, throughput_mbps_6=9)) == 5


@pytest.mark.parametrize(
    ("buffer_s", "last", "expected"),
    [
        (5.0, 4.3, 0),  # the reservoir
        (15.0, 0.3, 5),  # reservoir and cushion
        (10.0, 0.3, 3),  # f = 0.3 + 4 / 2 = 2.3 Mbit/s: the highest bit rate below f is 1.85
        (10.0, 1.85, 3),  # neither 2.85 nor 1.2 is reached
        (10.0, 2.85, 4),  # 1.85 is not reached
        (10.0, 4.3, 4),  # f is below 2.85: the lowest bit rate above f
        (10.0, 0.0, 3),  # before the first chunk
    ],
)
def test_the_buffer_based_policy_is_algorithm_1_of_huang(buffer_s: float, last: float, expected: int) -> None:
    env = Video()
    assert BufferBased(env)(observed(env, buffer_s=buffer_s, quality_mbps=last)) == expected


def test_policies_of_made_environments_play() -> None:
    env = gymnasium.make("lasthop/Video-v0", path="umts")
    for policy in (LOWEST, RateBased(env), BufferBased(env)):
        assert len(play(env, policy, seed=1)) == 48
    with pytest.raises(lasthop.Error, match="make the environment with history=5"):
        RateBased(Video(history=4))
    with pytest.raises(lasthop.Error, match="the policy is for lasthop/Video-v0"):
        RateBased(gymnasium.make("CartPole-v1"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bitrates_kbps": []}, "bitrates_kbps = "),
        ({"bitrates_kbps": [300, 200]}, "expected ascending bit rates"),
        ({"bitrates_kbps": [-1, 200]}, "bitrates_kbps = -1: expected a number"),
        ({"utilities": [1, 2]}, "utilities has 2 values, and there are 6 bit rates"),
        ({"chunk_s": 0}, "chunk_s = 0"),
        ({"chunk_s": math.nan}, "chunk_s = nan"),
        ({"chunks": 0}, "chunks = 0"),
        ({"chunks": 2.5}, "chunks = 2.5: expected a whole number"),
        ({"size_spread": 1.0}, "size_spread = 1.0"),
        ({"sizes": [[1, 2]]}, "a row of sizes has 2 values"),
        ({"sizes": [[1] * 6], "chunks": 2}, "chunks = 2, and sizes has 1 rows"),
        ({"sizes": [[1] * 6], "size_spread": 0.1}, "both sizes and size_spread"),
        ({"sizes": [[0] * 6]}, "sizes = 0"),
        ({"max_buffer_s": 3}, "a chunk of 4 s does not fit"),
        ({"mu": -1}, "mu = -1"),
        ({"smoothness": "much"}, "smoothness = 'much'"),
        ({"history": 0}, "history = 0"),
        ({"time_limit_s": 0}, "time_limit_s = 0"),
        ({"start_s": 1200}, "start_s = 1200"),
        ({"path": []}, "the list of paths is empty"),
        ({"path": "umtss"}, "umtss"),
        ({"path": f"{FAST},count=2"}, "one of several replicas"),
        ({"flow": "video"}, "the path has no such flow"),
        ({"set": {"congestion": "cubik"}}, "cubik"),
        ({"set": {"duration": "5 s"}}, "time_limit_s decides duration"),
        ({"set": {"start": "5 s"}}, "start_s decides start"),
        ({"set": "reno"}, "set = 'reno': expected a dict"),
        ({"path": FAST, "ranges": {"rate": ("6 Mbit/s", "700 kbit/s")}}, "the smaller value first"),
        ({"path": FAST, "ranges": {"rate": ("6 Mbit/s", "7 ms")}}, "has the units 'bit/s' and 's'"),
        ({"path": FAST, "ranges": {"rate": "6 Mbit/s"}}, "expected a pair of values"),
        ({"path": FAST, "ranges": {"loss": (0, 0.1, "log")}}, "a logarithm needs values above 0"),
        ({"path": FAST, "ranges": {"rate": ("fast", "faster")}}, "a number with its unit"),
        ({"path": FAST, "ranges": {"speed": (1, 2)}}, "speed"),
        ({"path": FAST, "ranges": {"loss": (0, 2)}}, "loss"),
        ({"path": FAST, "ranges": [1]}, "ranges = "),
    ],
)
def test_wrong_options_are_one_message(options: dict[str, Any], message: str) -> None:
    with pytest.raises(lasthop.Error, match=message):
        Video(**options)


@pytest.mark.parametrize("action", [-1, 6, 1.5, math.nan, "high", None])
def test_a_wrong_action_has_no_effect(action: Any) -> None:
    env = Video(path=FAST)
    with pytest.raises(lasthop.Error, match="no episode is under way"):
        env.step(0)
    env.reset(seed=1)
    with pytest.raises(lasthop.Error, match="a whole number from 0 to 5"):
        env.step(action)
    assert env.step(numpy.int64(0))[4]["chunk"] == 0
    with pytest.raises(lasthop.Error, match="there is no 'paths'"):
        env.reset(options={"paths": SLOW})
