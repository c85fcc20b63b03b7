"""Tests mechanisms that users write in Python: equality with the engine, errors, and speed."""

import importlib.util
import math
import time
from collections import deque
from pathlib import Path
from typing import Any

import pytest

import lasthop

# Together, the scenarios cover timeouts, fast recoveries, congestion marks and several kinds of ACK counting.
PATHS = [
    "rate=10Mbit/s,rtt=40ms,queue=20packets,loss=0.5%,duration=20s",
    "rate=2Mbit/s,rtt=100ms,queue=10packets,loss=5%,duration=30s,ack_counting=bytes",
    'rate=10Mbit/s,rtt=40ms,queue={kind="red",marks=true},ecn=true,duration=10s,ack_counting=packets',
    "rate=10Mbit/s,rtt=40ms,queue=20packets,loss=1%,recovery=tahoe,sack=false,duration=10s,ack_counting=per_ack",
    "rate=10Mbit/s,rtt=40ms,queue=20packets,loss=1%,recovery=rack,reduction=prr,duration=10s",
    "rate=10Mbit/s,rtt=40ms,queue=1bdp,slow_start=hystart,duration=10s",
    "umts",
    "hasegawa",
]


# The engine's Reno with the same halving rule as the class below: half of FlightSize (RFC 5681). The default of a
# profile may be a different rule.
RENO = {"kind": "reno", "halve": "flight"}


class Reno(lasthop.CongestionControl):
    """Reno (RFC 5681), with the same rules as crates/tcp/src/sender/congestion/reno.rs."""

    draws = False
    collected: float = 0

    def on_ack(self, ack: lasthop.Ack) -> None:
        credit = ack.credit_bytes
        if ack.acked_bytes == 0 or ack.held or ack.phase == "recovery":
            return
        slow_start = self.cwnd < self.ssthresh
        if slow_start and not ack.collects:
            self.cwnd += credit
        elif slow_start:
            room = max(0, self.ssthresh - int(self.cwnd))
            taken = min(credit, room if room > 0 else self.mss)
            self.cwnd += taken
            self.collected = min(self.collected + credit - taken, int(self.cwnd))
        elif ack.collects:
            self.collected += credit
            if credit and self.collected >= int(self.cwnd):
                self.collected -= int(self.cwnd)
                self.cwnd += self.mss
        else:
            self.cwnd += self.mss * credit / self.cwnd

    def halve(self, whole: int) -> None:
        self.ssthresh = max(min(whole // 2, int(self.cwnd)), 2 * self.mss)
        self.collected = 0

    def on_loss(self, loss: lasthop.Loss) -> None:
        self.halve(loss.flight_bytes)
        self.cwnd = self.ssthresh

    def on_restart(self, loss: lasthop.Loss) -> None:
        self.halve(loss.flight_bytes)
        self.cwnd = self.mss

    def on_timeout(self, loss: lasthop.Loss, first: bool) -> None:
        if first:
            self.halve(min(loss.flight_bytes, int(self.cwnd)))
        self.collected = 0
        self.cwnd = self.mss

    def on_mark(self, loss: lasthop.Loss) -> None:
        self.halve(min(loss.flight_bytes, int(self.cwnd)))
        self.cwnd = min(self.cwnd, self.ssthresh)

    def on_idle(self, window_bytes: int) -> None:
        self.collected = 0
        super().on_idle(window_bytes)


@pytest.mark.parametrize("path", PATHS)
def test_a_reno_in_python_gives_the_bytes_of_the_engines(path: str) -> None:
    ours = lasthop.run(path, set={"congestion": Reno}, runs=2, events=True, samples=True)
    theirs = lasthop.run(path, set={"congestion": RENO}, runs=2, events=True, samples=True)
    assert ours.to_json() == theirs.to_json()
    assert ours.events.to_dict() == theirs.events.to_dict()
    assert ours.samples.to_dict() == theirs.samples.to_dict()


class Delayed(lasthop.AckPolicy):
    def on_data(self, arrival: lasthop.Arrival) -> float:
        return 0.0 if arrival.urgent or arrival.unacknowledged_bytes >= 2 * arrival.segment_bytes else 0.04


class Copies(lasthop.AckSplitting):
    def __init__(self, times: int = 2) -> None:
        self.times = times

    def split(self, due: lasthop.Due, path: lasthop.PathEstimate) -> int:
        return self.times


class Buffer(lasthop.AdvertisedWindow):
    largest_bytes = 65535

    def window_bytes(self, unread_bytes: int, segment_bytes: int) -> float:
        return self.largest_bytes - unread_bytes


class DropTail(lasthop.Admission):
    draws = False

    def admit(self, now_s: float, packet: lasthop.Packet, queue: lasthop.QueueState) -> bool:
        return queue.packets < 20 or (queue.packets == 0 and not queue.in_service)


LOSSY = "rate=5Mbit/s,rtt=40ms,queue=20packets,loss=1%,duration=10s"


@pytest.mark.parametrize(
    "key, ours, theirs",
    [
        ("ack_policy", Delayed, {"kind": "delayed", "after": "40 ms", "every": 2}),
        ("ack_splitting", Copies, {"kind": "copies", "count": 2}),
        ("window", Buffer, {"kind": "buffer", "size": "65535 bytes"}),
        ("path.down.queue", DropTail, "20 packets"),
    ],
)
def test_a_strategy_in_python_gives_the_bytes_of_the_engines(key: str, ours: Any, theirs: Any) -> None:
    one, other = (
        lasthop.run(LOSSY, set={key: mechanism}, runs=2, events=True) for mechanism in (ours, theirs)
    )
    assert one.to_json() == other.to_json()
    assert one.events.to_dict() == other.events.to_dict()


def test_a_loss_discriminator_answers_as_the_engines() -> None:
    class Always(lasthop.LossDiscriminator):
        draws = False

        def discriminate(self, gap: lasthop.Gap, path: lasthop.PathEstimate, uniform: float) -> str:
            return "wireless"

    changes = {"receiver.loss_discrimination": Always, "ack_splitting": "by_loss"}
    results = lasthop.run(LOSSY, set=changes, runs=1, events=True)
    verdicts = {verdict for verdict in results.events["verdict"] if verdict}
    assert verdicts == {"wireless"}
    # Every loss is classified as wireless, which is correct for all losses on the air. The accuracy is therefore 1, or
    # None if the air loses no packet.
    assert results.flows["accuracy_wireless"] in ([1.0], [None])


class DropFront(lasthop.Queue):
    """Drops the packet that has waited longest."""

    draws = False

    def __init__(self, packets: int) -> None:
        self.packets = packets
        self.waiting: deque[lasthop.Packet] = deque()

    def enqueue(self, now_s: float, packet: lasthop.Packet) -> None:
        self.waiting.append(packet)
        if len(self.waiting) > self.packets:
            self.drop(self.waiting.popleft())

    def dequeue(self, now_s: float) -> lasthop.Packet | None:
        return self.waiting.popleft() if self.waiting else None


def test_a_queue_loses_what_it_says() -> None:
    line = "rate=5Mbit/s,rtt=40ms,duration=10s"
    by_front = lasthop.run(line, set={"path.down.queue": DropFront(20)}, samples=True)
    by_tail = lasthop.run(line, set={"path.down.queue": "20 packets"}, samples=True)
    lost = by_front.flows["lost_queue_full"][0]
    assert lost > 0
    assert max(by_front.queues["queue_packets"]) <= 20
    # The path loses no packets at random. The two queues therefore give nearly the same goodput.
    front, tail = (results.flows["goodput_kbps"][0] for results in (by_front, by_tail))
    assert front == pytest.approx(tail, rel=0.05)
    # Each packet that the queue drops causes one event `lost`.
    sent = lasthop.run(line, set={"path.down.queue": DropFront(20)}, events=True).events
    assert sum(kind == "lost" for kind in sent["kind"]) == lost


def test_marks_reach_the_sender() -> None:
    class Threshold(lasthop.Admission):
        marks = True
        draws = False

        def admit(self, now_s: float, packet: lasthop.Packet, queue: lasthop.QueueState) -> bool | str:
            return "mark" if queue.packets > 10 and packet.can_be_marked else queue.packets < 100

    change = {"ecn": True, "path.down.queue": Threshold}
    results = lasthop.run("rate=5Mbit/s,rtt=40ms,duration=10s", set=change, events=True)
    assert "mark_echoed" in results.events["event"]
    assert results.flows["retransmissions"] == [0.0]


def test_every_flow_has_a_copy_of_its_own_and_a_seed() -> None:
    seen: list[int] = []

    class Seeded(Reno):
        began = 0

        def on_start(self, start: lasthop.Start) -> None:
            assert self.began == 0
            self.began += 1
            seen.append(start.seed)

        def __deepcopy__(self, _: Any) -> "Seeded":
            return Seeded()

    lasthop.run(
        "rate=10Mbit/s,rtt=40ms,queue=20packets,duration=1s,count=3", set={"congestion": Seeded}, runs=1
    )
    assert len(set(seen)) == 3
    first = list(seen)
    lasthop.run(
        "rate=10Mbit/s,rtt=40ms,queue=20packets,duration=1s,count=3", set={"congestion": Seeded}, runs=1
    )
    assert set(seen) == set(first), "equal seeds of the run give equal seeds of the mechanisms"


def test_an_object_has_its_own_parameters_and_stands_beside_others_of_its_class() -> None:
    class Keeps(Reno):
        def __init__(self, share: float) -> None:
            self.share = share

        def on_loss(self, loss: lasthop.Loss) -> None:
            self.ssthresh = self.cwnd = max(self.share * loss.flight_bytes, 2 * self.mss)

    values = [Keeps(0.5), Keeps(0.9), RENO, Reno]
    comparison = lasthop.compare(LOSSY, vary={"congestion": values}, runs=4)
    means = {one["x"]["congestion"]: one["goodput_kbps"]["mean"] for one in comparison.summary}
    assert list(means) == ["Keeps", "Keeps_2", '{ kind = "reno", halve = "flight" }', "Reno"]
    assert means["Keeps_2"] > means["Keeps"]
    assert means['{ kind = "reno", halve = "flight" }'] == means["Reno"]


def test_pacing_and_rates() -> None:
    class Paced(Reno):
        rate_samples = True
        rates: list[float] = []

        def on_ack(self, ack: lasthop.Ack) -> None:
            if ack.rate_bps is not None:
                self.rates.append(ack.rate_bps)
            self.cwnd, self.pacing_rate_bps = 1e6, 2e6

    results = lasthop.run("rate=10Mbit/s,rtt=40ms,duration=10s", set={"congestion": Paced})
    # After the initial window, the sender paces at 2 Mbit/s. Goodput and the median rate sample are therefore near 2
    # Mbit/s.
    assert results.flows["goodput_kbps"][0] == pytest.approx(2000, rel=0.03)
    assert sorted(Paced.rates)[len(Paced.rates) // 2] == pytest.approx(2e6, rel=0.05)


def test_pacing_without_its_flag_is_noted() -> None:
    class Unpaced(Reno):
        def on_ack(self, ack: lasthop.Ack) -> None:
            super().on_ack(ack)
            self.pacing_rate_bps = 2e6

    class Paced(Unpaced):
        rate_samples = True

    line = "rate=10Mbit/s,rtt=40ms,duration=1s"
    with pytest.warns(UserWarning, match="Unpaced: the engine ignores `pacing_rate_bps`; write rate_samples") as warned:
        lasthop.compare(line, vary={"congestion": ["reno", Unpaced, Paced]}, runs=1)
    assert len(warned) == 1
    assert len(lasthop.Scenario(line, set={"congestion": Unpaced}).notes) == 1
    assert lasthop.Scenario(line, set={"congestion": Paced}).notes == []
    assert lasthop.Scenario(line, set={"congestion": Reno}).notes == []


def test_a_strategy_of_another_kind_is_an_error() -> None:
    class AtOnce(lasthop.AckPolicy):
        def on_data(self, arrival: lasthop.Arrival) -> float:
            return 0.0

    class Wireless(lasthop.LossDiscriminator):
        def discriminate(self, gap: lasthop.Gap, path: lasthop.PathEstimate, uniform: float) -> str:
            return "wireless"

    message = "`congestion` cannot be `AtOnce`: a strategy of the kind AckPolicy belongs to the key `ack_policy`"
    with pytest.raises(lasthop.Error, match=message):
        lasthop.compare("umts", vary={"congestion": ["reno", AtOnce]}, runs=1)
    message = "`sender.loss_discrimination` cannot be `Wireless`: .* belongs to the key `receiver.loss_discrimination`"
    with pytest.raises(lasthop.Error, match=message):
        lasthop.run("umts", set={"sender.loss_discrimination": Wireless}, runs=1)
    with pytest.raises(lasthop.Error, match="`wireless.down.queue` cannot be `Reno`"):
        lasthop.run("umts", set={"wireless.down.queue": Reno()}, runs=1)
    with pytest.raises(lasthop.Error, match="`metrics` is 5: expected a list of names"):
        lasthop.compare("umts", vary={"congestion": ["reno", "cubic"]}, metrics=5, runs=1)  # type: ignore[arg-type]


def test_names_that_nothing_calls_are_an_error() -> None:
    class Misspelt(Reno):
        def on_timeoutt(self, loss: lasthop.Loss, first: bool) -> None:
            pass

    class Unknown(Reno):
        def on_weather(self) -> None:
            pass

    class Near(lasthop.AckPolicy):
        def on_dat(self, arrival: lasthop.Arrival) -> float:
            return 0.0

    class Old(Reno):
        samples = True

    class OldFlag(Reno):
        judges_by_mark = True

    class OldSplitting(lasthop.AckSplitting):
        def shape(self, due: lasthop.Due, path: lasthop.PathEstimate) -> int:
            return 1

    class OldDiscriminator(lasthop.LossDiscriminator):
        def judge(self, gap: lasthop.Gap, path: lasthop.PathEstimate, uniform: float) -> str:
            return "wireless"

    class Own(Reno):
        samples = [1.0]

        def grow(self) -> None:
            pass

        def _on_helper(self) -> None:
            pass

    wrong: list[tuple[str, type, str]] = [
        ("congestion", Misspelt, "`Misspelt.on_timeoutt` is not a hook.*did you mean `on_timeout`"),
        ("congestion", Unknown, "`Unknown.on_weather` is not a hook.*on_restart"),
        ("ack_policy", Near, "`Near.on_dat` is not a hook.*did you mean `on_data`"),
        ("congestion", Old, "`Old.samples` has been renamed to `rate_samples`"),
        ("congestion", OldFlag, "`OldFlag.judges_by_mark` has been renamed to `discriminates_by_mark`"),
        ("ack_splitting", OldSplitting, "`OldSplitting.shape` has been renamed to `split`.*def split"),
        (
            "receiver.loss_discrimination",
            OldDiscriminator,
            "`OldDiscriminator.judge` has been renamed to `discriminate`.*def discriminate",
        ),
    ]
    for key, given, message in wrong:
        with pytest.raises(lasthop.Error, match=f"(?s){message}"):
            lasthop.Scenario("umts", set={key: given})
    assert lasthop.Scenario("umts", set={"congestion": Own}).notes == []


class Failing(Reno):
    def on_ack(self, ack: lasthop.Ack) -> None:
        if ack.now_s > 1:
            raise RuntimeError(f"at {ack.now_s:.0f} s")
        super().on_ack(ack)


def test_an_exception_stops_the_run_and_comes_back_with_its_traceback() -> None:
    with pytest.raises(RuntimeError, match="at 1 s") as caught:
        lasthop.run("rate=10Mbit/s,rtt=40ms,duration=1000000s", set={"congestion": Failing}, runs=1000)
    assert caught.traceback[-1].name == "on_ack"
    assert lasthop.run(LOSSY, set={"congestion": Reno}, runs=1).runs == 1


@pytest.mark.parametrize(
    "value, shown", [(math.nan, "nan"), ("big", "'big'"), (-1.0, "-1.0"), (None, "None"), (0, "0")]
)
def test_a_window_that_is_none_is_an_error(value: Any, shown: str) -> None:
    class Wrong(Reno):
        def on_ack(self, ack: lasthop.Ack) -> None:
            self.cwnd = value

    with pytest.raises(lasthop.Error) as caught:
        lasthop.run(LOSSY, set={"congestion": Wrong}, runs=1)
    assert caught.value.message == f"Wrong.cwnd is {shown}: expected a number, at least 1"


@pytest.mark.parametrize(
    "key, base, hooks, words",
    [
        (
            "ack_policy",
            lasthop.AckPolicy,
            {"on_data": lambda *_: "soon"},
            "on_data() is 'soon': expected a number",
        ),
        ("ack_splitting", lasthop.AckSplitting, {"split": lambda *_: 0}, "split() is 0: expected a number of copies"),
        ("window", lasthop.AdvertisedWindow, {"window_bytes": lambda *_: math.nan}, "window_bytes() is nan"),
        ("receiver.loss_discrimination", lasthop.LossDiscriminator, {"discriminate": lambda *_: "rain"}, "discriminate() is 'rain'"),
        ("path.down.queue", lasthop.Admission, {"admit": lambda *_: "perhaps"}, "admit() is 'perhaps'"),
        (
            "path.down.queue",
            lasthop.Queue,
            {"enqueue": lambda *_: None, "dequeue": lambda *_: 7},
            "dequeue() is 7: expected a packet that waits",
        ),
        (
            "window",
            lasthop.AdvertisedWindow,
            {"window_bytes": lambda *_: 1, "largest_bytes": "huge"},
            "Mine.largest_bytes is 'huge'",
        ),
    ],
)
def test_answers_of_the_wrong_kind(key: str, base: type, hooks: dict[str, Any], words: str) -> None:
    change: dict[str, Any] = {key: type("Mine", (base,), hooks)}
    if key == "receiver.loss_discrimination":
        change["ack_splitting"] = "by_loss"
    with pytest.raises(lasthop.Error) as caught:
        lasthop.run(LOSSY, set=change, runs=1)
    assert words in caught.value.message


def test_a_class_without_a_hook_is_told_which() -> None:
    class Half(lasthop.CongestionControl):
        def on_ack(self, ack: lasthop.Ack) -> None: ...

    with pytest.raises(lasthop.Error, match="`Half` has no `on_loss`") as caught:
        lasthop.run("umts", set={"congestion": Half})
    assert "def on_loss(self, loss)" in str(caught.value.help)


def test_what_is_no_strategy_or_answers_another_question() -> None:
    class Nothing: ...

    class Needs(Reno):
        def __init__(self, beta: float) -> None: ...

    for value, words in (
        (Nothing, "`Nothing` is not a strategy"),
        (lasthop.CongestionControl, "`CongestionControl` is not a strategy"),
        (Needs, "`Needs` cannot be constructed without arguments"),
        (Delayed, "`congestion` cannot be `Delayed`"),
    ):
        with pytest.raises(lasthop.Error) as caught:
            lasthop.run("umts", set={"congestion": value})
        assert words in caught.value.message


def test_given_to_the_run_alone() -> None:
    lasthop.run(LOSSY, set={"congestion": Reno}, runs=1)
    with pytest.raises(lasthop.Error, match="no congestion is called `Delayed`"):
        lasthop.run(LOSSY, set={"congestion": "Delayed"})
    # A text names a mechanism of the engine: "Reno" is the engine's `reno`, and not the class `Reno` of this file.
    assert lasthop.Scenario(LOSSY, set={"congestion": "Reno"}).to_toml().count('kind = "reno"') == 1


def test_300_000_callbacks_a_second() -> None:
    calls = 0

    class Counted(lasthop.CongestionControl):
        draws = False

        def on_ack(self, ack: lasthop.Ack) -> None:
            nonlocal calls
            calls += 1
            if self.cwnd < self.ssthresh:
                self.cwnd += ack.credit_bytes
            else:
                self.cwnd += self.mss * ack.credit_bytes / self.cwnd

        def on_loss(self, loss: lasthop.Loss) -> None:
            self.ssthresh = self.cwnd = max(loss.flight_bytes / 2, 2 * self.mss)

    def rate() -> float:
        nonlocal calls
        calls = 0
        began = time.process_time()
        lasthop.run(
            "rate=1Gbit/s,rtt=10ms,queue=1bdp,duration=5s,ack_policy=immediate", set={"congestion": Counted}
        )
        return calls / (time.process_time() - began)

    assert max(rate() for _ in range(3)) >= 300_000


class Bursts(lasthop.Stack):
    """Sends each accepted byte at once, in full datagrams, and never retransmits."""

    def on_start(self, is_source: bool, datagram_bytes: int, seed: int) -> None:
        self.size, self.unsent, self.readable, self.arrived = datagram_bytes, 0, 0, 0

    def write(self, now_s: float, nbytes: int) -> int:
        self.unsent += nbytes
        return nbytes

    def handle_datagram(self, now_s: float, datagram: bytes, is_marked: bool) -> None:
        self.readable += len(datagram)

    def poll_datagram(self, now_s: float) -> bytes | None:
        nbytes = min(self.unsent, self.size)
        self.unsent -= nbytes
        return bytes(nbytes) if nbytes else None

    def read(self, now_s: float) -> int:
        nbytes, self.readable = self.readable, 0
        self.arrived += nbytes
        return nbytes

    def is_at_end(self) -> bool:
        return self.arrived >= 150_000


STACK = {"flow.bulk.kind": "quic"}


def test_a_stack_carries_a_flow() -> None:
    path = "rate=10Mbit/s,rtt=40ms,queue=unlimited,transfer=150KB,duration=5s"
    results = lasthop.run(path, set=STACK | {"stack": Bursts}, runs=1)
    # 101 datagrams of 1472 bytes and one datagram of 1328 bytes, with 28 bytes of headers each, and 20 ms of
    # propagation.
    expected_s = (150_000 + 102 * 28) * 8 / 10e6 + 0.02
    completed = results.mean("completed_s")
    assert completed is not None and completed.mean == pytest.approx(expected_s, abs=1e-6)


def test_aioquic_carries_a_flow() -> None:
    """Runs the example's stack: 2 MB take at least 1.7 s at 10 Mbit/s, and must arrive within 20 s despite losses."""
    folder = Path(__file__).resolve().parents[2] / "examples/aioquic"
    spec = importlib.util.spec_from_file_location("aioquic_stack", folder / "aioquic_stack.py")
    assert spec is not None and spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    path = "rate=10Mbit/s,rtt=60ms,queue=50packets,loss=0.5%,transfer=2MB"
    completed = lasthop.run(path, runs=3, set=STACK | {"stack": example.Aioquic}).mean("completed_s")
    assert completed is not None and 1.7 < completed.mean < 20


def test_mistakes_of_a_stack_are_reported() -> None:
    class Greedy(Bursts):
        def write(self, now_s: float, nbytes: int) -> int:
            return nbytes + 1

    class Text(Bursts):
        def poll_datagram(self, now_s: float) -> str:  # type: ignore[override]
            return "text"

    class Raises(Bursts):
        def handle_datagram(self, now_s: float, datagram: bytes, is_marked: bool) -> None:
            raise KeyError("mine")

    path = "rate=10Mbit/s,rtt=40ms,transfer=150KB,duration=5s"
    for stack, words in ((Greedy, "write"), (Text, "poll_datagram")):
        with pytest.raises(lasthop.Error, match=words):
            lasthop.run(path, set=STACK | {"stack": stack}, runs=1)
    with pytest.raises(KeyError, match="mine"):
        lasthop.run(path, set=STACK | {"stack": Raises}, runs=1)
    with pytest.raises(lasthop.Error, match="belongs to the key `stack`"):
        lasthop.run(path, set={"congestion": Bursts}, runs=1)
