"""Tests of sessions: results of a run without acts, acts, forks, conditions, and messages."""

import math
import signal
import threading
import time
from collections.abc import Callable

import pytest

import lasthop

PATH = "rate=10Mbit/s,rtt=60ms,queue=50packets,loss=1%,duration=10s"
STEERED = f"{PATH},congestion=external"
ASKED = "rate=8Mbit/s,rtt=100ms,queue=200packets,duration=20s,request=100bytes,response=external"
WITH_OTHERS = {
    "duration": "6 s",
    "headers": "none",
    "link": {"air": {"from": "bs", "to": "phone", "rate": "8 Mbit/s", "one_way_delay": "20 ms"}},
    "flow": {
        "bulk": {"from": "bs", "to": "phone", "sender": {"congestion": "cubic"}},
        "call": {"from": "bs", "to": "phone", "kind": "cbr", "rate": "64 kbit/s", "packet": "160 bytes"},
    },
}


def mean(results: lasthop.Results, metric: str) -> float:
    estimate = results.mean(metric)
    assert estimate is not None
    return estimate.mean


@pytest.mark.parametrize("path", [f"{PATH},congestion=cubic", "umts", "lte-am", WITH_OTHERS])
@pytest.mark.parametrize("step", [0.013, 1.0])
def test_without_acts_the_results_are_those_of_a_run(path: str | dict[str, object], step: float) -> None:
    set = {"duration": "5 s"}
    session = lasthop.Session(path, set=set, seed=3)
    while session.run_for(step):
        session.look()
    assert session.has_ended
    assert session.finish().to_json() == lasthop.run(path, set=set, seed=3, runs=1).to_json()


def test_samples_and_events_are_those_of_a_run() -> None:
    session = lasthop.Session(PATH, samples=True, events=True)
    for until in range(1, 10):
        assert session.run_until(float(until))
    one, other = session.finish(), lasthop.run(PATH, runs=1, samples=True, events=True)
    assert one.samples.to_dict() == other.samples.to_dict()
    assert one.queues.to_dict() == other.queues.to_dict()
    assert one.events.to_dict() == other.events.to_dict()


def test_a_pacing_rate_below_the_links_sets_the_goodput() -> None:
    session = lasthop.Session(STEERED, set={"path.down.channel": "none"})
    session.steer(cwnd_bytes=1e6, pacing_bps=4e6)
    session.run_for(2)
    session.look()
    session.run_for(2)
    look = session.look()
    assert look.span_s == pytest.approx(2)
    assert look.goodput_bps == pytest.approx(4e6, rel=0.01)
    # The segment's transmission and the ACK's add 1.3 ms to the propagation delay: no queue builds up.
    assert look.mean_rtt_s is not None and 0.060 < look.mean_rtt_s < 0.0620
    session.steer(pacing_factor=0.5)
    session.run_for(0.2)
    session.look()
    session.run_for(2)
    assert session.look().goodput_bps == pytest.approx(2e6, rel=0.01)
    # Without pacing, a window of 10 segments per round trip: 61.3 ms for a single segment, 72 ms for a burst of ten.
    session.steer(pacing_bps=math.inf, cwnd_bytes=10 * 1448)
    session.run_for(0.5)
    session.look()
    session.run_for(2)
    assert 0.0612 < 10 * 1448 * 8 / session.look().goodput_bps < 0.0725


def test_totals_and_parts_agree() -> None:
    session = lasthop.Session(PATH)
    parts = []
    while session.run_for(0.5):
        parts.append(session.look())
        session.look(total=True)
    parts.append(session.look())
    total, link = session.look(total=True), session.look_at_link("path.down", total=True)
    assert sum(part.delivered_bytes for part in parts) == total.delivered_bytes
    assert sum(part.lost_packets for part in parts) == total.lost_packets == sum(total.lost_by_reason.values())
    results = session.finish()
    assert mean(results, "goodput_kbps") == pytest.approx(total.delivered_bytes * 8 / 10 / 1e3)
    assert link.lost_packets == total.lost_packets


def test_a_link_changes_in_rate_delay_loss_and_queue() -> None:
    session = lasthop.Session(PATH, set={"duration": "30 s"}, changing=["path"])
    session.change("path", loss=0.0)
    session.run_for(2)
    session.change("path.down", rate="2 Mbit/s", queue={"kind": "codel", "target": "5 ms"})
    session.run_for(1)
    session.look_at_link("path.down")
    session.run_for(3)
    look = session.look_at_link("path.down")
    # CoDel may empty the queue for a moment.
    assert 1.9e6 < look.carried_bps <= 2.001e6
    assert "channel" not in look.lost_by_reason and look.lost_by_reason["early_drop"] > 0
    session.change("path.down", rate=0)
    session.run_for(1)
    session.look_at_link("path.down")
    session.run_for(1)
    assert session.look_at_link("path.down").carried_bytes == 0
    session.change("path.down", rate=2e6, delay="130 ms", queue="200 packets")
    session.run_for(10)
    session.look()
    session.run_for(5)
    mean = session.look().mean_rtt_s
    # 130 ms there and 30 ms back.
    assert mean is not None and mean > 0.160


def test_conditions_end_a_step() -> None:
    session = lasthop.Session(PATH)
    assert session.run_until(acks=1)
    # The first data leaves after the handshake; its first ACK arrives after the second round trip.
    assert 0.120 < session.time_s < 0.125
    assert session.run_until(loss=True)
    assert session.look(total=True).believed_lost_bytes > 0
    at = session.time_s
    assert not session.run_until(at + 0.001, acks=1000)
    assert session.time_s == pytest.approx(at + 0.001)
    assert session.run_until(5)
    assert session.time_s == 5


def test_a_response_is_asked_for() -> None:
    session = lasthop.Session(ASKED)
    session.run_for(1)
    assert session.responses() == []
    session.ask(5 * 1448)
    assert session.run_until(loss=False, response=True)
    ((requested, size, took),) = session.responses()
    assert (requested, size) == (1.0, 5 * 1448)
    # 5 packets of 1500 bytes take 7.5 ms at 8 Mbit/s, the request of 152 bytes 0.15 ms.
    assert took is not None and took == pytest.approx(0.10765, abs=0.0001)
    assert session.time_s == pytest.approx(1 + took)
    session.close()
    session.run_for(1)
    with pytest.raises(lasthop.Error, match="has ended"):
        session.ask(100)


def test_a_transfer_is_fed() -> None:
    session = lasthop.Session("rate=8Mbit/s,rtt=100ms,queue=200packets,duration=20s,transfer=external")
    session.run_for(1)
    session.write(5 * 1448)
    assert session.run_until(complete=True)
    # 5 packets of 1500 bytes take 7.5 ms at 8 Mbit/s, and the last one arrives 50 ms later.
    assert session.time_s == pytest.approx(1.0575, abs=0.0001)
    assert session.look(total=True).delivered_bytes == 5 * 1448
    session.close()
    # The FIN arrives 50 ms after the close, and completes the transfer.
    assert mean(session.finish(), "completed_s") == pytest.approx(1.1076, abs=0.0002)


def test_a_fork_goes_on_as_the_session_would() -> None:
    session = lasthop.Session(STEERED, changing="path.down")
    for step in range(60):
        session.steer(cwnd_bytes=20_000 + 7919 * step % 50_000)
        if step % 10 == 0:
            session.change("path.down", rate=1e6 * (1 + step % 7), queue=f"{10 + step} packets")
        session.run_until(session.time_s + 0.06, loss=step % 2 == 0)
    fork = session.fork()
    assert fork.time_s == session.time_s
    for one in (session, fork):
        one.steer(cwnd_bytes=40_000, pacing_bps=3e6)
        one.run_for(0.5)
    assert session.finish().to_json() == fork.finish().to_json()


class Aimd(lasthop.CongestionControl):
    """Window that grows by a segment per round trip, with an own mechanism in Python."""

    draws = False

    def on_ack(self, ack: lasthop.Ack) -> None:
        self.cwnd += self.mss * ack.credit_bytes / self.cwnd

    def on_loss(self, loss: lasthop.Loss) -> None:
        self.ssthresh = self.cwnd = max(0.7 * loss.flight_bytes, 2.0 * self.mss)


class Fails(Aimd):
    """Congestion control with a hook that fails."""

    def on_loss(self, loss: lasthop.Loss) -> None:
        raise ZeroDivisionError("at the first loss")


def test_mechanisms_in_python_take_part() -> None:
    session = lasthop.Session(PATH, set={"congestion": Aimd})
    while session.run_for(0.1):
        pass
    fork = session.fork()
    run = lasthop.run(PATH, set={"congestion": Aimd}, runs=1)
    assert session.finish().to_json() == fork.finish().to_json() == run.to_json()
    session = lasthop.Session(PATH, set={"congestion": Fails})
    with pytest.raises(ZeroDivisionError, match="at the first loss"):
        session.run_for(10)


def test_early_results_refer_to_the_time_until_now() -> None:
    session = lasthop.Session(PATH)
    session.run_for(4)
    delivered = session.look(total=True).delivered_bytes
    assert mean(session.finish(early=True), "goodput_kbps") == pytest.approx(delivered * 8 / 4 / 1e3)


def test_reset_begins_anew() -> None:
    session = lasthop.Session(STEERED, seed=1)
    session.steer(cwnd_bytes=50_000)
    session.run_for(2)
    session.reset(7)
    assert (session.time_s, session.seed) == (0, 7)
    assert session.finish().to_json() == lasthop.run(STEERED, seed=7, runs=1).to_json()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.run_for(-1), "seconds = -1"),
        (lambda s: s.run_for(math.nan), "seconds = NaN"),
        (lambda s: s.run_until(acks=0), "acks = 0"),
        (lambda s: s.run_until(acks=1, loss=True), "more than one condition"),
        (lambda s: s.run_until(0.5, loss=True), "already at 1 s"),
        (lambda s: s.steer(cwnd_bytes=math.nan), "cwnd_bytes = NaN"),
        (lambda s: s.steer(pacing_bps=-1), "pacing_bps = -1"),
        (lambda s: s.steer(pacing_bps=0), "pacing_bps = 0"),
        (lambda s: s.steer(pacing_factor=2), "not paced"),
        (lambda s: s.steer(pacing_bps=1e6, pacing_factor=2), "both pacing_bps and pacing_factor"),
        (lambda s: s.steer(cwnd_bytes=1, flow="bulks"), "no flow `bulks`"),
        (lambda s: s.look("x"), "no flow `x`"),
        (lambda s: s.look_at_link("pth"), "did you mean `path`"),
        (lambda s: s.change("path.up", rate=1e6), "not named as a link that changes"),
        (lambda s: s.change("path.down", rate=-1), "rate = -1"),
        (lambda s: s.change("path.down", rate="fast"), 'rate = "fast"'),
        (lambda s: s.change("path.down", loss=1.5), "loss = 1.5"),
        (lambda s: s.change("path.down", delay=math.nan), "delay = NaN"),
        (lambda s: s.change("path.down", queue="coddle"), "no queue is called `coddle`"),
        (lambda s: s.change("path.down", queue={"kind": "codel", "goal": "1 ms"}), "goal"),
        (lambda s: s.ask(100), "no responses that are decided during the run"),
        (lambda s: s.write(100), "its size is not external"),
        (lambda s: s.close(), "neither its size nor its responses are external"),
    ],
)
def test_what_cannot_be_is_one_message(call: Callable[[lasthop.Session], object], message: str) -> None:
    session = lasthop.Session(STEERED, changing="path.down")
    session.run_for(1)
    before = session.look(total=True).delivered_bytes
    with pytest.raises(lasthop.Error, match=message):
        call(session)
    # The refused call has no effect.
    assert (session.time_s, session.look(total=True).delivered_bytes) == (1, before)


def test_a_finished_session_and_an_unsteered_flow_refuse() -> None:
    session = lasthop.Session(PATH)
    with pytest.raises(lasthop.Error, match="congestion control is not external"):
        session.steer(cwnd_bytes=1e5)
    session.finish()
    with pytest.raises(lasthop.Error, match="the session is finished"):
        session.look()
    with pytest.raises(lasthop.Error, match="the session is finished"):
        session.finish()
    with pytest.raises(lasthop.Error, match="there is no link `x`"):
        lasthop.Session(PATH, changing=["x"])


def test_other_threads_run_meanwhile_and_ctrl_c_interrupts() -> None:
    session = lasthop.Session("rate=1Gbit/s,rtt=20ms,queue=1bdp,duration=100000s")
    counted, stop = [0], threading.Event()

    def count() -> None:
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(KeyboardInterrupt):
            session.run_for(100_000)
    finally:
        stop.set()
        thread.join()
    assert counted[0] > 20
    # The session is still usable, and its past is that of an uninterrupted run.
    at = session.time_s
    assert at > 0
    other = lasthop.Session("rate=1Gbit/s,rtt=20ms,queue=1bdp,duration=100000s")
    other.run_until(at)
    assert other.look(total=True).delivered_bytes == session.look(total=True).delivered_bytes
