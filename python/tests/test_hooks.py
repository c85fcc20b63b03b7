"""Tests the hooks that no other test file covers: their arguments, and that a mechanism in Python gives the same runs
as the engine's mechanism with the same algorithm."""

from collections import deque
from typing import Any

import pytest

import lasthop


def same(path: str, key: str, ours: Any, theirs: Any, **further: Any) -> lasthop.Results:
    """Runs a mechanism in Python and one of the engine, and compares every packet and event of the two runs."""
    one, other = (lasthop.run(path, set={**further, key: it}, runs=2, events=True) for it in (ours, theirs))
    assert one.to_json() == other.to_json()
    assert one.events.to_dict() == other.events.to_dict()
    return one


class ByLoss(lasthop.AckSplitting):
    """ACK splitting of miyoshi §2.3, from counters of the sender and of the receiver's uplink queue.

    The engine has the same algorithm (crates/tcp/src/receiver/ack_splitting/by_loss.rs) and must send the same packets.
    """

    draws = False

    def __init__(self) -> None:
        self.ends, self.times = 0.0, 1
        self.shares: list[float | None] = [None, None]
        self.now, self.before = [(0, 0), (0, 0)], [(0, 0), (0, 0)]

    def on_counts(self, sender: lasthop.SenderCounts, uplink: lasthop.UplinkCounts) -> None:
        self.now = [(sender.sent, sender.retransmitted), (uplink.offered, uplink.dropped)]

    def on_arrival(self, now_s: float, missing_segments: int, repeated: bool) -> None:
        if now_s < self.ends:
            return
        self.ends = now_s + 1.0
        for at, ((sent, lost), (sent_before, lost_before)) in enumerate(zip(self.now, self.before, strict=True)):
            if sent > sent_before:
                latest = min((lost - lost_before) / (sent - sent_before), 1.0)
                old = self.shares[at]
                self.shares[at] = latest if old is None else 0.875 * latest + (1.0 - 0.875) * old
                self.before[at] = (sent, lost)
        p, buffer = self.shares
        if p is not None:
            survives = (1.0 - min(p, 1.0)) / (1.0 - (min(buffer, 0.999) if buffer is not None else 0.0))
            half, rest = (1.0 + 2.5) / 2.0, 1.0 - survives
            error = 0.0 if survives >= 1.0 else rest / (half + max(half * half - 2.5 * rest, 0.0) ** 0.5)
            self.times = 2 if error > 0.02 else 1

    def split(self, due: lasthop.Due, path: lasthop.PathEstimate) -> int:
        return self.times


def test_counts_of_the_sender_and_the_uplink() -> None:
    theirs = {"kind": "by_loss", "source": "retransmissions", "buffer": "counted", "threshold": 0.02}
    line = "rate=2Mbit/s,rtt=60ms,queue=10packets,loss=7%,duration=40s"
    twice = same(line, "ack_splitting", ByLoss, theirs)
    once = lasthop.run(line, runs=1, events=True)
    of_receiver = [results.events["from"].count("destination") for results in (twice, once)]
    data = [results.events["from"].count("source") for results in (twice, once)]
    assert of_receiver[0] / data[0] > of_receiver[1] / data[1], "some ACKs went out twice"


class Split(lasthop.AckSplitting):
    """ACK splitting of hasegawa §3.4, with the same algorithm as crates/tcp/src/receiver/ack_splitting/split.rs."""

    draws = False
    needs_uplink = needs_estimate = True
    target: float | None = None
    after: int | None = None

    def split(self, due: lasthop.Due, path: lasthop.PathEstimate) -> int | lasthop.Slices:
        if due.start == due.end:
            return 1
        if self.target is not None and path.cwnd_r_segments >= self.target:
            self.target = None
        if self.target is None:
            return 1
        before, pieces = due.uplink_packets, 1
        if self.after is not None:
            left = max(self.after - before, 0)
            pieces = left + 1 if before == 0 else max(left - before, 0)
        return lasthop.Slices(min(max(pieces, 1), due.end - due.start), due.start)

    def on_loss(self, cause: str, path: lasthop.PathEstimate) -> None:
        if cause == "congestion":
            self.target = None
        elif self.target is None:
            self.target, self.after = path.cwnd_r_segments, None

    def on_sent(self, before: lasthop.Backlog, after: lasthop.Backlog) -> int:
        self.after = after.packets + (after.in_service and not before.in_service)
        return self.after


class Mac(lasthop.LossDiscriminator):
    """Loss discrimination of hasegawa §3.2.1, with the algorithm of .../receiver/loss_discrimination/reported.rs."""

    draws = False

    def __init__(self) -> None:
        self.reports: deque[tuple[int, int]] = deque(maxlen=1024)

    def on_report(self, start: int, end: int) -> None:
        if all(known != start for known, _ in self.reports):
            self.reports.append((start, end))

    def discriminate(self, gap: lasthop.Gap, path: lasthop.PathEstimate, uniform: float) -> str:
        reported = sum(max(min(end, gap.end) - max(start, gap.start), 0) for start, end in self.reports)
        self.reports.clear()
        return "wireless" if reported >= gap.end - gap.start else "congestion"


@pytest.mark.parametrize(
    "key, ours, theirs, further",
    [("ack_splitting", Split, "split", {"receiver.loss_discrimination": "mac"}), ("receiver.loss_discrimination", Mac, "mac", {"ack_splitting": "split"})],
)
def test_splitting_and_what_the_link_layer_reports(key: str, ours: Any, theirs: str, further: dict[str, Any]) -> None:
    path = 'hasegawa,duration=100s,queue=8packets,channel={kind="bit_error",rate=4e-5}'
    results = same(path, key, ours, theirs, **further)
    assert {"congestion", "wireless"} <= {verdict for verdict in results.events["verdict"] if verdict}
    assert max(acks for acks in results.events["acks"] if acks) > 1


class LinkRate(lasthop.AdvertisedWindow):
    """Advertised window of koga §5.2.2, with the same algorithm as crates/tcp/src/receiver/window/link_rate.rs."""

    rate = 384e3

    def on_link_rate(self, rate_bps: int) -> None:
        self.rate = rate_bps

    def window_bytes(self, unread_bytes: int, segment_bytes: int) -> float:
        segments = 4.0 + 6.0 * min(max((self.rate - 64e3) / (384e3 - 64e3), 0.0), 1.0)
        return max(int(segments + 0.5) * segment_bytes - unread_bytes, 0)


def test_a_window_that_follows_the_links_rate() -> None:
    plan = {"path.down.plan": "384 kbit/s for 4 s, 64 kbit/s for 6 s", "path.down.arq": "rlc"}
    line = "rate=384kbit/s,rtt=200ms,queue=30packets,duration=30s"
    followed = same(line, "window", LinkRate, "link_rate", **plan)
    fixed = lasthop.run(line, set={"window": {"kind": "link_rate", "adaptive": False}, **plan}, runs=1)
    assert followed.to_json() != fixed.to_json(), "the reported rate must change the run"


class Growing(lasthop.AdvertisedWindow):
    largest_bytes = 1 << 20
    room = 20_000

    def on_arrival(self, now_s: float, payload_bytes: int, rtt_s: float | None) -> None:
        self.is_growing = now_s < 1
        self.room += payload_bytes * self.is_growing

    def window_bytes(self, unread_bytes: int, segment_bytes: int) -> float:
        return self.room - unread_bytes


def test_a_timing_sees_that_the_window_grows() -> None:
    seen: dict[bool, list[float]] = {True: [], False: []}

    class Watches(lasthop.AckPolicy):
        def on_data(self, arrival: lasthop.Arrival) -> float:
            seen[arrival.grows].append(arrival.now_s)
            return 0.0

    line = "rate=5Mbit/s,rtt=40ms,queue=20packets,duration=3s"
    lasthop.run(line, set={"window": Growing, "ack_policy": Watches}, runs=1)
    assert seen[True] and max(seen[True]) < 1 <= min(seen[False])
    # The engine's own mechanism `autotuned` also sets `arrival.grows`.
    seen[True].clear()
    lasthop.run(line, set={"window": "autotuned", "ack_policy": Watches}, runs=1)
    assert seen[True]


class Shaper(lasthop.Queue):
    """Sends a packet every 10 ms, although the link is faster."""

    draws = False

    def __init__(self) -> None:
        self.waiting: deque[lasthop.Packet] = deque()
        self.next_s = 0.0

    def enqueue(self, now_s: float, packet: lasthop.Packet) -> None:
        self.waiting.append(packet)
        if len(self.waiting) > 30:
            self.drop(packet)
            self.waiting.pop()

    def dequeue(self, now_s: float) -> lasthop.Packet | None:
        if not self.waiting or now_s < self.next_s:
            return None
        self.next_s = now_s + 0.01
        return self.waiting.popleft()

    def ready_at(self, now_s: float) -> float | None:
        return self.next_s


def test_a_queue_that_holds_back_is_asked_again() -> None:
    results = lasthop.run("rate=5Mbit/s,rtt=40ms,duration=20s", set={"path.down.queue": Shaper}, events=True)
    # The queue sends 100 packets of 1448 bytes a second, for any backlog. This rate is the goodput.
    goodput = results.flows["goodput_kbps"][0]
    assert goodput == pytest.approx(100 * 1448 * 8 / 1000, rel=0.03)

    class Silent(Shaper):
        def ready_at(self, now_s: float) -> float | None:
            return None

    # If the class has no `ready_at`, the engine calls `dequeue` only at arrivals, so that the queue sends less.
    silent = lasthop.run("rate=5Mbit/s,rtt=40ms,duration=20s", set={"path.down.queue": Silent})
    assert silent.flows["goodput_kbps"][0] < 0.9 * goodput


def test_a_queue_marks_on_leaving() -> None:
    class Marks(Shaper):
        marks = True

        def dequeue(self, now_s: float) -> lasthop.Packet | None:
            packet = super().dequeue(now_s)
            if packet is not None and len(self.waiting) > 5 and packet.can_be_marked:
                self.mark(packet)
            return packet

    change = {"ecn": True, "path.down.queue": Marks}
    results = lasthop.run("rate=5Mbit/s,rtt=40ms,duration=10s", set=change, events=True)
    assert "mark_echoed" in results.events["event"]
    assert results.flows["retransmissions"] == [0.0]


def test_hooks_of_a_control_that_samples() -> None:
    calls: dict[str, list[Any]] = {"open": [], "lost": [], "left": [], "reported": []}

    class Watches(lasthop.CongestionControl):
        rate_samples = True

        def on_open(self, rtt_s: float | None) -> None:
            calls["open"].append(rtt_s)

        def on_lost(self, lost: lasthop.LostSegment) -> None:
            calls["lost"].append(lost)

        def leave_slow_start(self) -> None:
            calls["left"].append(self.cwnd)
            super().leave_slow_start()

        def on_ack(self, ack: lasthop.Ack) -> None:
            calls["reported"].append(ack.reported_bytes)
            self.cwnd += ack.credit_bytes if self.cwnd < self.ssthresh else self.mss * ack.credit_bytes / self.cwnd

        def on_loss(self, loss: lasthop.Loss) -> None:
            self.ssthresh = self.cwnd = max(0.5 * loss.flight_bytes, 2 * self.mss)

    line = "rate=10Mbit/s,rtt=40ms,queue=50packets,loss=0.5%,duration=10s,recovery=sack"
    results = lasthop.run(line, set={"congestion": Watches}, runs=1)
    assert len(calls["open"]) == 1 and calls["open"][0] == pytest.approx(0.04, abs=0.005)
    lost = calls["lost"]
    assert len(lost) >= results.flows["lost_channel"][0] > 0
    assert all(one.start < one.end and one.lost_bytes >= one.end - one.start for one in lost)
    assert max(calls["reported"]) > 0 and not calls["left"]
    smooth = "rate=10Mbit/s,rtt=100ms,queue=500packets,duration=5s,slow_start=hystart"
    lasthop.run(smooth, set={"congestion": Watches}, runs=1)
    assert len(calls["left"]) == 1, "HyStart ends slow start by the round trips"


def test_marks_in_proportion_and_at_a_pace() -> None:
    class Scalable(lasthop.CongestionControl):
        is_scalable = True
        marked = 0
        bytes: list[int] = []

        def on_ack(self, ack: lasthop.Ack) -> None:
            self.bytes.append(ack.marked_bytes)
            self.cwnd = max(self.cwnd + self.mss * ack.acked_bytes / self.cwnd - ack.marked_bytes / 2, 2 * self.mss)

        def on_loss(self, loss: lasthop.Loss) -> None:
            self.ssthresh = self.cwnd = max(0.5 * loss.flight_bytes, 2 * self.mss)

        def on_mark(self, loss: lasthop.Loss) -> None:
            raise AssertionError("it learns of marks by on_ack")

    results = lasthop.run("l4s", set={"flow.prague.sender.congestion": Scalable, "duration": "5 s"}, runs=1)
    assert sum(Scalable.bytes) > 0 and results.flows["retransmissions"][0] == 0

    class Paced(Scalable):
        is_scalable = False
        times: list[float] = []

        def on_mark(self, loss: lasthop.Loss) -> None:
            self.times.append(loss.now_s)
            self.cwnd = max(0.9 * self.cwnd, 2 * self.mss)

    class Every(Paced):
        mark_pace = "every"
        times: list[float] = []

    line = 'rate=5Mbit/s,rtt=40ms,queue={kind="red",marks=true},ecn=true,duration=10s'
    for control in (Paced, Every):
        lasthop.run(line, set={"congestion": control}, runs=1)
    assert len(Every.times) > len(Paced.times) > 0

    class Wrong(Paced):
        mark_pace = "often"

    with pytest.raises(lasthop.Error, match="Wrong.mark_pace is 'often': expected \"window\", \"rtt\" or \"every\""):
        lasthop.run(line, set={"congestion": Wrong}, runs=1)
