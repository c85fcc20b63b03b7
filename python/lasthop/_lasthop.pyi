"""
Scenarios, runs and tables of the package `lasthop`.
"""

from _typeshed import SupportsGetItem
from os import PathLike
from typing import Any, Final, SupportsFloat, SupportsIndex, final
from typing_extensions import disjoint_base

__all__ = ["__version__", "Ack", "Arrival", "Backlog", "Comparison", "Due", "Environment", "Environments", "FlowLook", "Gap", "GymPath", "GymSettings", "LinkLook", "Loss", "LostSegment", "Packet", "PathEstimate", "QueueState", "Recovered", "Runs", "Scenario", "SenderCounts", "Session", "Start", "Sweep", "Table", "UplinkCounts", "compare", "mechanisms", "merge_stores", "read_store", "ready_paths", "run", "run_orders", "schema"]

__version__: Final[str]

@final
class Ack:
    """
    One acknowledgement, new or duplicate.
    """
    @property
    def acked_bytes(self, /) -> int:
        """
        Bytes newly and cumulatively acknowledged; 0 for a duplicate.
        """
    @property
    def app_limited(self, /) -> bool:
        """
        Whether the application limits the rate sample, so that the path may be faster than the sample.
        """
    @property
    def collects(self, /) -> bool:
        """
        Whether congestion avoidance adds a whole segment per window of credit (RFC 3465 §2.1), not a fraction per ACK.
        """
    @property
    def credit_bytes(self, /) -> int:
        """
        Window credit of this ACK by the scenario's ACK counting, bytes; 0 for a duplicate ACK, during recovery, and if
        `held` is true.
        """
    @property
    def delivered_bytes(self, /) -> int:
        """
        Bytes that this ACK reports as delivered for the first time, SACK included.
        """
    @property
    def held(self, /) -> bool:
        """
        Whether the window must not grow: the ACK echoes a congestion mark, or the window was not fully used.
        """
    @property
    def in_flight_bytes(self, /) -> int:
        """
        Bytes in flight after this ACK.
        """
    @property
    def lost_bytes(self, /) -> int:
        """
        Bytes declared lost since the previous ACK.
        """
    @property
    def marked_bytes(self, /) -> int:
        """
        Bytes newly reported as received with a congestion mark (AccECN, RFC 9768).
        """
    @property
    def now_s(self, /) -> float:
        """
        Arrival time, virtual time, s.
        """
    @property
    def nxt(self, /) -> int:
        """
        First byte not sent before this ACK (SND.NXT).
        """
    @property
    def phase(self, /) -> str:
        """
        Phase of the sender: "open", "recovery" (fast recovery, including its last ACK) or "restart" (after a timeout).
        """
    @property
    def rate_bps(self, /) -> float | None:
        """
        Delivery rate of the path, bit/s; only with `rate_samples = True`.
        """
    @property
    def reported_bytes(self, /) -> int:
        """
        Part of `delivered_bytes` that SACK reports above the cumulative ACK.
        """
    @property
    def rtt_s(self, /) -> float | None:
        """
        RTT sample of this ACK, s; None if there is none.
        """
    @property
    def segments(self, /) -> int:
        """
        Number of segments completely acknowledged by this ACK.
        """
    @property
    def srtt_s(self, /) -> float | None:
        """
        Smoothed RTT after this ACK, s.
        """
    @property
    def una(self, /) -> int:
        """
        First byte not acknowledged after this ACK (SND.UNA).
        """

@final
class Arrival:
    """
    An arrived data segment.
    """
    @property
    def grows(self, /) -> bool:
        """
        Whether the advertised window grows with this segment.
        """
    @property
    def now_s(self, /) -> float:
        """
        Arrival time, virtual time, s.
        """
    @property
    def repeated(self, /) -> bool:
        """
        Whether all of the segment had arrived before.
        """
    @property
    def segment_bytes(self, /) -> int:
        """
        Payload of a full segment, bytes.
        """
    @property
    def unacknowledged_bytes(self, /) -> int:
        """
        Bytes received in order that the receiver has not acknowledged yet.
        """
    @property
    def urgent(self, /) -> bool:
        """
        Whether an ACK is due at once: the segment opened or filled a gap, was a duplicate, or carried a mark (RFC 5681
        §4.2).
        """

@final
class Backlog:
    """
    Backlog of a host's own uplink interface.
    """
    @property
    def bytes(self, /) -> int:
        """
        Bytes waiting.
        """
    @property
    def in_service(self, /) -> bool:
        """
        Whether a packet is in transmission.
        """
    @property
    def packets(self, /) -> int:
        """
        Packets waiting, without the packet in transmission.
        """

@final
class Comparison:
    """
    Results of several variants of a scenario, paired by repetition.
    """
    def classes(self, /) -> Table:
        """
        One row per case, repetition and class of flows.
        """
    def completions(self, /) -> Table:
        """
        One row per case, repetition, and finite transfer or request.
        """
    def flows(self, /) -> Table:
        """
        One row per case, repetition and flow: the varied keys, then every metric.
        """
    def json(self, /) -> str:
        """
        Output of `lasthop compare --format json`: one object a line.
        """
    def links(self, /) -> Table:
        """
        One row per case, repetition and link direction.
        """
    def notes(self, /) -> list[str]:
        """
        Notes on the scenarios, without duplicates.
        """
    @property
    def paths(self, /) -> list[str]:
        """
        Varied keys.
        """
    @property
    def runs(self, /) -> int:
        """
        Number of repetitions of each case.
        """

@final
class Due:
    """
    An ACK that is due.
    """
    @property
    def end(self, /) -> int:
        """
        Last byte newly acknowledged plus one; equal to `start` for a duplicate.
        """
    @property
    def segment_bytes(self, /) -> int:
        """
        Payload of a full segment, bytes.
        """
    @property
    def start(self, /) -> int:
        """
        First byte newly acknowledged.
        """
    @property
    def uplink_packets(self, /) -> int:
        """
        Packets waiting in this host's uplink queue; only with `needs_uplink = True`.
        """

@final
class Environment:
    """
    An environment: episodes of steps.
    """
    def __new__(cls, /, settings: GymSettings, paths: SupportsGetItem[int, GymPath], seed: SupportsIndex) -> Environment:
        """
        Each episode draws one of the paths, which all have the same number of agents.
        """
    def info(self, /, agent: SupportsIndex) -> Any:
        """
        Measurements of an agent in the last step.
        """
    @property
    def packets_sent(self, /) -> int:
        """
        Number of packets that all hosts have sent in this episode.
        """
    @property
    def rate_bounds(self, /) -> tuple[float, float]:
        """
        Lowest and highest pacing rate, bit/s.
        """
    def reset(self, /, seed: SupportsIndex | None, path: GymPath | None, out: Any) -> int:
        """
        Begins an episode, on `path` or on one of the environment's paths, and writes the observations of all agents to `out`.
        With `seed`, `seed` determines this episode and all further episodes. Returns the seed of the run.
        """
    def step(self, /, action: SupportsFloat | SupportsIndex, out: Any) -> tuple[float, bool, Any]:
        """
        Carries out a step of one agent, and writes its observation to `out`. Returns the reward, whether the episode has
        ended, and the measurements of the step.
        """
    def step_all(self, /, actions: SupportsGetItem[int, SupportsFloat | SupportsIndex], out: Any) -> tuple[list[float], bool]:
        """
        Carries out a step with an action of each agent, and writes the observations of all agents to `out`, one after the
        other. Returns the rewards, and whether the episode has ended.
        """

@final
class Environments:
    """
    Several environments with one agent each.
    """
    def __new__(cls, /, settings: GymSettings, paths: SupportsGetItem[int, GymPath], count: SupportsIndex, seed: SupportsIndex, threads: SupportsIndex | None, autoreset: str) -> Environments:
        """
        Environment number `i` has the seed `seed + i`. `threads`: number of threads, by default one for each core.
        `autoreset`: value of Gymnasium's AutoresetMode.
        """
    def episode_seeds(self, /) -> list[int]:
        """
        Seed of the run of each environment's episode.
        """
    def finals(self, /) -> list[tuple[int, list[float], list[float]]]:
        """
        Ends of those episodes that the last step has ended, if the same step has begun the next episode: number of the
        environment, observation, measurements.
        """
    @staticmethod
    def names() -> list[str]:
        """
        Names of the measurements.
        """
    @property
    def rate_bounds(self, /) -> tuple[float, float]:
        """
        Lowest and highest pacing rate, bit/s.
        """
    def reset(self, /, seeds: SupportsGetItem[int, SupportsIndex] | None, mask: SupportsGetItem[int, bool] | None, path: GymPath | None, observations: Any, rewards: Any, ends: Any, numbers: Any) -> None:
        """
        Begins an episode in each environment whose `mask` is not 0. With `seeds`, each of these environments gets its seed.
        """
    def step(self, /, actions: Any, observations: Any, rewards: Any, ends: Any, numbers: Any) -> None:
        """
        Carries out one step in each environment, and writes observations, rewards, ends of episodes and measurements to
        arrays. An environment whose episode has ended ignores its action and begins an episode.
        """
    @property
    def threads(self, /) -> int:
        """
        Number of threads that step the environments.
        """

@final
class FlowLook:
    """
    Counts of a flow over a span of time, and its state at the end of the span.
    """
    def __repr__(self, /) -> str: ...
    @property
    def acknowledged_bytes(self, /) -> int:
        """
        Payload newly acknowledged at the source, by SACK or cumulatively, bytes.
        """
    @property
    def acks_sent(self, /) -> int:
        """
        ACKs without data that the destination sent.
        """
    @property
    def believed_lost_bytes(self, /) -> int:
        """
        Bytes that the source has marked lost. This count is the source's belief: reordered segments may be included.
        """
    @property
    def cwnd_bytes(self, /) -> int:
        """
        Congestion window at the end of the span, bytes.
        """
    @property
    def delivered_bytes(self, /) -> int:
        """
        Payload delivered in order to the destination, bytes.
        """
    @property
    def goodput_bps(self, /) -> float:
        """
        Goodput over the span, bit/s; 0 for an empty span.
        """
    @property
    def in_flight_bytes(self, /) -> int:
        """
        Bytes in flight at the end of the span, as the source estimates them.
        """
    @property
    def lost_by_reason(self, /) -> dict[str, int]:
        """
        Packets of the source that were lost on the path, by reason ("queue_full", "channel"); reasons without losses are
        absent.
        """
    @property
    def lost_packets(self, /) -> int:
        """
        Packets of the source that were lost on the path.
        """
    @property
    def marked_segments(self, /) -> int:
        """
        Segments that arrived at the destination with a congestion mark (CE).
        """
    @property
    def mean_rtt_s(self, /) -> float | None:
        """
        Mean of these RTT samples, s; None without samples.
        """
    @property
    def recoveries(self, /) -> int:
        """
        Fast recoveries that the source entered.
        """
    @property
    def retransmitted_segments(self, /) -> int:
        """
        Segments with data that the source retransmitted.
        """
    @property
    def rto_s(self, /) -> float:
        """
        Retransmission timeout at the end of the span, s.
        """
    @property
    def rtt_samples(self, /) -> int:
        """
        Number of RTT samples of the source.
        """
    @property
    def sent_segments(self, /) -> int:
        """
        Segments with data that the source sent, retransmissions included.
        """
    @property
    def smallest_rtt_s(self, /) -> float | None:
        """
        Smallest RTT sample since the start of the connection, s; None without samples.
        """
    @property
    def span_s(self, /) -> float:
        """
        Length of the span that the counts cover, s.
        """
    @property
    def srtt_s(self, /) -> float | None:
        """
        Smoothed RTT at the end of the span (RFC 6298), s; None before the first sample.
        """
    @property
    def ssthresh_bytes(self, /) -> int:
        """
        Slow start threshold at the end of the span, bytes.
        """
    @property
    def time_s(self, /) -> float:
        """
        Virtual time, s.
        """
    @property
    def timeouts(self, /) -> int:
        """
        Expiries of the source's retransmission timer.
        """
    @property
    def unsent_bytes(self, /) -> int:
        """
        Data that the application has written and that the source has not sent, bytes.
        """

@final
class Gap:
    """
    A new gap in the sequence space.
    """
    @property
    def end(self, /) -> int:
        """
        Last missing byte plus one.
        """
    @property
    def segment_bytes(self, /) -> int:
        """
        Payload of a full segment, bytes.
        """
    @property
    def start(self, /) -> int:
        """
        First missing byte.
        """

@final
class GymPath:
    """
    Path of an environment.
    """
    def __new__(cls, /, scenario: Scenario, agents: SupportsIndex, beside: SupportsGetItem[int, Scenario], limit_s: SupportsFloat | SupportsIndex, *, rate: tuple[str, str, bool] | None = None, rtt: tuple[str, str, bool] | None = None, queue: tuple[str, str, bool] | None = None, loss: tuple[str, str, bool] | None = None) -> GymPath:
        """
        `agents`: number of flows with actions. `beside`: scenarios equal to `scenario` but for the first agent's congestion
        control; this flow of each scenario is added. `limit_s`: length of an episode, s. `rate`, `rtt`, `queue` and `loss`:
        ranges from which each episode draws.
        """
    @staticmethod
    def external_flows(scenario: Scenario) -> list[str]:
        """
        Names of the flows with `congestion = "external"`.
        """

@final
class GymSettings:
    """
    Settings of an environment.
    """
    def __new__(cls, /, *, observation: str, history: SupportsIndex | None, alpha: SupportsFloat | SupportsIndex, factors: SupportsGetItem[int, SupportsFloat | SupportsIndex] | None, step: str, weights: tuple[SupportsFloat | SupportsIndex, SupportsFloat | SupportsIndex, SupportsFloat | SupportsIndex], rate_bounds: tuple[str, str] | None, first_rate: tuple[SupportsFloat | SupportsIndex, SupportsFloat | SupportsIndex], window: SupportsFloat | SupportsIndex) -> GymSettings:
        """
        `observation`: "aurora" or "full". `history`: number of steps in an observation. `alpha`: largest change of a
        continuous action. `factors`: factors of discrete actions, instead of continuous actions. `step`: "rtt", "srtt" or a
        number of seconds. `weights`: goodput, delay, loss. `rate_bounds`: lowest and highest pacing rate, bit/s, or None.
        `first_rate`: range of the first pacing rate, shares of the path's rate. `window`: cwnd as a multiple of pacing rate
        times SRTT.
        """
    @property
    def features(self, /) -> list[tuple[str, float, float]]:
        """
        Features of a step: name, smallest and largest value.
        """
    @property
    def history(self, /) -> int:
        """
        Number of steps in an observation.
        """

@final
class LinkLook:
    """
    Counts of a direction of a link over a span of time, and its state at the end of the span.
    """
    def __repr__(self, /) -> str: ...
    @property
    def carried_bps(self, /) -> float:
        """
        Carried bytes over the span, bit/s; 0 for an empty span.
        """
    @property
    def carried_bytes(self, /) -> int:
        """
        Bytes that entered the direction and were not lost.
        """
    @property
    def lost_by_reason(self, /) -> dict[str, int]:
        """
        Lost packets by reason ("queue_full", "channel"); reasons without losses are absent.
        """
    @property
    def lost_packets(self, /) -> int:
        """
        Packets lost in the queue and on the channel.
        """
    @property
    def offered_packets(self, /) -> int:
        """
        Packets that entered the direction, or that its queue dropped.
        """
    @property
    def queue_bytes(self, /) -> int:
        """
        Bytes that wait in the queue at the end of the span.
        """
    @property
    def queue_packets(self, /) -> int:
        """
        Packets that wait in the queue at the end of the span.
        """
    @property
    def span_s(self, /) -> float:
        """
        Length of the span that the counts cover, s.
        """
    @property
    def time_s(self, /) -> float:
        """
        Virtual time, s.
        """

@final
class Loss:
    """
    A congestion event: loss, timeout or mark.
    """
    @property
    def flight_bytes(self, /) -> int:
        """
        FlightSize: bytes outstanding (RFC 5681 §3.1 Eq. 4).
        """
    @property
    def marked(self, /) -> bool:
        """
        Whether the duplicate ACK that reports the loss echoes a congestion mark.
        """
    @property
    def now_s(self, /) -> float:
        """
        Virtual time, s.
        """
    @property
    def nxt(self, /) -> int:
        """
        First byte not sent yet (SND.NXT).
        """
    @property
    def una(self, /) -> int:
        """
        First byte not acknowledged (SND.UNA).
        """
    @property
    def window_bytes(self, /) -> int:
        """
        min(cwnd, advertised window), bytes.
        """

@final
class LostSegment:
    """
    A segment declared lost.
    """
    @property
    def app_limited(self, /) -> bool:
        """
        Whether the application limited the sender when the segment was sent.
        """
    @property
    def delivered_bytes(self, /) -> int:
        """
        Bytes delivered so far on the connection.
        """
    @property
    def end(self, /) -> int:
        """
        Last byte plus one.
        """
    @property
    def in_flight_bytes(self, /) -> int:
        """
        Bytes in flight when the segment was sent, including the segment.
        """
    @property
    def lost_bytes(self, /) -> int:
        """
        Bytes declared lost since the segment was sent, including the segment.
        """
    @property
    def now_s(self, /) -> float:
        """
        Time of the declaration, virtual time, s.
        """
    @property
    def start(self, /) -> int:
        """
        First byte.
        """

@final
class Packet:
    """
    A packet in the network.
    """
    def __repr__(self, /) -> str: ...
    @property
    def can_be_marked(self, /) -> bool:
        """
        Whether the packet is ECN-capable, so that a queue may mark it (RFC 3168).
        """
    @property
    def flow(self, /) -> int:
        """
        Index of the packet's flow in the scenario.
        """
    @property
    def forward(self, /) -> bool:
        """
        Whether the packet travels from the flow's source to its destination.
        """
    @property
    def low_priority(self, /) -> bool:
        """
        Whether the sender gave the packet low priority.
        """
    @property
    def number(self, /) -> int:
        """
        Number of the packet in the run.
        """
    @property
    def payload_bytes(self, /) -> int:
        """
        Payload, bytes.
        """
    @property
    def wire_bytes(self, /) -> int:
        """
        Size of the packet on a link, bytes.
        """

@final
class PathEstimate:
    """
    The receiver's estimate of the path.
    """
    @property
    def cwnd_r_segments(self, /) -> float:
        """
        Estimate of the sender's window, segments.
        """
    @property
    def latest_rtt_s(self, /) -> float:
        """
        Latest RTT, s.
        """
    @property
    def max_rtt_s(self, /) -> float:
        """
        Maximum RTT, s.
        """
    @property
    def min_rtt_s(self, /) -> float:
        """
        Minimum RTT, s.
        """
    @property
    def srtt_s(self, /) -> float:
        """
        Smoothed RTT, s; 0 before the first sample.
        """

@final
class QueueState:
    """
    State of a queue at the arrival of a packet.
    """
    @property
    def bytes(self, /) -> int:
        """
        Bytes waiting.
        """
    @property
    def idle_s(self, /) -> float:
        """
        Time for which the transmitter has been idle, s; 0 during a transmission.
        """
    @property
    def in_service(self, /) -> bool:
        """
        Whether a packet is in transmission.
        """
    @property
    def packets(self, /) -> int:
        """
        Packets waiting, without the packet in transmission.
        """

@final
class Recovered:
    """
    Outcome of the window reduction at the end of a recovery.
    """
    @property
    def kind(self, /) -> str:
        """
        "kept": the reduction remains in effect. "revised": the reduction is undone. "probed": F-RTO tests the reduction
        with two segments (RFC 5682).
        """
    @property
    def ssthresh_bytes(self, /) -> int | None:
        """
        New ssthresh, bytes; only if revised.
        """
    @property
    def window_bytes(self, /) -> int | None:
        """
        New cwnd, bytes; None if kept.
        """

@final
class Runs:
    """
    Repetitions of a scenario.
    """
    def classes(self, /) -> Table:
        """
        One row per repetition and class of flows (the replicas of one flow).
        """
    def completions(self, /) -> Table:
        """
        One row per repetition and finite transfer or request.
        """
    def events(self, /) -> Table | None:
        """
        Every packet and event of the first repetition; None if not requested.
        """
    def flows(self, /) -> Table:
        """
        One row per repetition and flow, with every metric.
        """
    def json(self, /) -> str:
        """
        Output of `lasthop run --format json`: one object a line.
        """
    def links(self, /) -> Table:
        """
        One row per repetition and link direction, with every metric.
        """
    def queues(self, /) -> Table | None:
        """
        Samples of the first repetition's queues; None if not requested.
        """
    @property
    def runs(self, /) -> int:
        """
        Number of repetitions.
        """
    def samples(self, /) -> Table | None:
        """
        Samples of the first repetition's flows; None if not requested.
        """

@final
class Scenario:
    """
    A checked scenario.
    """
    def __new__(cls, /, source: str, name: str | None = None, changes: SupportsGetItem[int, tuple[str, str]] = ..., strategies: SupportsGetItem[int, tuple[str, str, Any]] = ...) -> Scenario:
        """
        `source` is the name of a ready path, a file, or a one-line scenario. If `name` is given, `source` is the text
        of a TOML document with this name. `changes` are pairs of a key and its new value. `strategies` are mechanisms
        in Python: kind of mechanism (seam), name, and the object, which is copied for each use.
        """
    @property
    def duration_s(self, /) -> float:
        """
        Duration of a run, virtual time, s.
        """
    @property
    def flows(self, /) -> list[str]:
        """
        Names of the flows.
        """
    @property
    def has_strategies(self, /) -> bool:
        """
        Whether at least one mechanism of the scenario is a Python object.
        """
    @property
    def is_deterministic(self, /) -> bool:
        """
        Whether the scenario has no randomness, so that one run is enough.
        """
    @property
    def links(self, /) -> list[str]:
        """
        Names of the links.
        """
    def notes(self, /) -> list[str]:
        """
        Notes for the scenario's author, one sentence each; usually empty.
        """
    @property
    def runs(self, /) -> int:
        """
        Number of repetitions in the scenario.
        """
    @property
    def seed(self, /) -> int:
        """
        First seed in the scenario.
        """
    def show(self, /) -> str:
        """
        The complete scenario as commented TOML.
        """
    @property
    def title(self, /) -> str:
        """
        Title, one line.
        """

@final
class SenderCounts:
    """
    Counters of the sender since the start of the connection. A TCP option could carry the counters (miyoshi §2.3).
    """
    @property
    def detected_by_duplicates(self, /) -> int:
        """
        Losses detected by duplicate ACKs.
        """
    @property
    def retransmitted(self, /) -> int:
        """
        Segments retransmitted, for any reason.
        """
    @property
    def sent(self, /) -> int:
        """
        Data segments sent, retransmissions included.
        """

@disjoint_base
class Session:
    """
    A run in steps.
    """
    def __new__(cls, /, scenario: Scenario, seed: SupportsIndex | None, changing: SupportsGetItem[int, str], records: tuple[bool, bool, bool]) -> Session:
        """
        `changing`: names of the links or link directions that may change. `records`: whether to record samples, events and
        link delays.
        """
    def ask(self, /, response_bytes: SupportsIndex, *, flow: str | None = None) -> None:
        """
        Requests a response of `response_bytes` bytes in a flow with `response = "external"`.
        """
    def change_link(self, /, link: str, rate: str | None = None, delay: str | None = None, loss: str | None = None, queue: str | None = None) -> None:
        """
        Changes a link or a link direction now, which must have been named in `changing`. Values have the syntax of scenarios.
        """
    def close(self, /, *, flow: str | None = None) -> None:
        """
        Ends the requests of a flow with `response = "external"`, or the data of a flow with `transfer = "external"`. The
        connection closes after the last response or the last byte.
        """
    @property
    def duration_s(self, /) -> float:
        """
        Duration of the run, virtual time, s.
        """
    def end(self, /, early: bool = False) -> Runs:
        """
        Ends the run at its end, or now if `early`, and returns its results. The session accepts no further calls.
        """
    def follow(self, /, other: Session) -> None:
        """
        Brings this session, which is at time zero, into the state of another session with the same scenario.
        """
    @property
    def has_ended(self, /) -> bool:
        """
        Whether the run has reached its end.
        """
    def look(self, /, flow: str | None = None, *, total: bool = False) -> FlowLook:
        """
        Returns the counts of a flow since the last call, and its state now. With `total`, returns the counts since the start,
        and the next call without `total` ignores this call. `flow` is a name, by default the first flow.
        """
    def look_at_link(self, /, link: str, *, total: bool = False) -> LinkLook:
        """
        Returns the counts of a link direction ("wireless.down") since the last call, and its state now. `total` as in `look`.
        The queue is exact on directions that may change, and with `samples` on all directions.
        """
    @property
    def packets_sent(self, /) -> int:
        """
        Number of packets that all hosts have sent so far, ACKs included.
        """
    def reset(self, /, seed: SupportsIndex) -> None:
        """
        Starts again at time zero, with the same scenario and another seed. Records and acts are discarded.
        """
    def responses(self, /, *, flow: str | None = None) -> list[tuple[float, int, float | None]]:
        """
        Requests of a flow so far: time of the request, s; size of the response, bytes; time from the request to the
        response's last byte, s, or None if the response is incomplete.
        """
    def run_for(self, /, seconds: SupportsFloat | SupportsIndex) -> bool:
        """
        Runs for this virtual time, s, or to the end of the run. Returns whether the run goes on.
        """
    def run_until(self, /, time_s: SupportsFloat | SupportsIndex | None = None, *, acks: SupportsIndex | None = None, loss: bool = False, response: bool = False, complete: bool = False, flow: str | None = None) -> bool:
        """
        Runs until a condition is met, or until the virtual time `time_s`, by default the end of the run. Without a
        condition, returns whether the run reached `time_s`; with a condition, returns whether the condition is met.

        Conditions, of which one may be given: `acks` further ACKs of data at the source of `flow`; the next `loss` that the source
        detects; the end of the next `response`; `complete`: all data that was written or asked for so far has arrived. `flow` is a
        name, by default the first flow.
        """
    @property
    def seed(self, /) -> int:
        """
        Seed of the run.
        """
    def steer(self, /, *, cwnd_bytes: SupportsFloat | SupportsIndex | None = None, pacing_bps: SupportsFloat | SupportsIndex | None = None, pacing_factor: SupportsFloat | SupportsIndex | None = None, flow: str | None = None) -> None:
        """
        Sets the congestion window or the pacing rate of a flow with `congestion = "external"`, now. The values hold until the
        next call. Before the connection is open, the values are kept until then.

        `cwnd_bytes` has at least one segment in effect. `pacing_bps` is the rate of the payload, bit/s; `math.inf` turns
        pacing off. `pacing_factor` multiplies the current pacing rate. `flow` is a name, by default the first flow.
        """
    @property
    def time_s(self, /) -> float:
        """
        Virtual time, s.
        """
    def write(self, /, data_bytes: SupportsIndex, *, flow: str | None = None) -> None:
        """
        Writes data of a flow with `transfer = "external"`: the source sends `data_bytes` more bytes.
        """

@final
class Start:
    """
    Initial state of a congestion control.
    """
    @property
    def mss_bytes(self, /) -> int:
        """
        Payload of a full segment, bytes.
        """
    @property
    def seed(self, /) -> int:
        """
        Seed for random.Random, different for each flow and repetition.
        """
    @property
    def ssthresh_bytes(self, /) -> int:
        """
        Initial slow start threshold, bytes.
        """
    @property
    def window_bytes(self, /) -> int:
        """
        Initial window, bytes.
        """

@final
class Sweep:
    """
    A sweep in progress. Until closed, the sweep is the only writer of its store.
    """
    def __new__(cls, /, scenario: Scenario, keys: SupportsGetItem[int, tuple[str, SupportsGetItem[int, str]]], store: str | PathLike[str], runs: SupportsIndex | None = None, until: SupportsFloat | SupportsIndex | None = None, metrics: SupportsGetItem[int, str] = ..., seed: SupportsIndex | None = None, shard: tuple[SupportsIndex, SupportsIndex] = ...) -> Sweep:
        """
        Begins or continues a sweep in this store: every combination of the values of `keys`, each with `runs` runs. If
        `until` is given, a combination has as many runs as the means of `metrics` need for the relative precision
        `until`, and at most `runs`.
        """
    def abandon(self, /, digest: str, seed: SupportsIndex, why: str) -> None:
        """
        Stores a run as failed, with the reason `why`.
        """
    def close(self, /) -> None:
        """
        Commits all results and closes the store.
        """
    def failed(self, /) -> list[str]:
        """
        Messages of failed runs.
        """
    def inexact(self, /) -> int:
        """
        Number of points that lack the requested precision after the maximum number of runs.
        """
    def notes(self, /) -> list[str]:
        """
        Notes on the scenarios, without duplicates.
        """
    @property
    def number(self, /) -> int:
        """
        Number of the sweep in its store.
        """
    def orders(self, /, most: SupportsIndex) -> list[tuple[str, str, int]]:
        """
        Returns up to `most` runs for `run_orders`: digest, scenario and seed of each run. Returns an empty list if no
        run is available now.
        """
    def progress(self, /) -> tuple[int, int, int]:
        """
        Three numbers of runs: finished, remaining as far as known, and found in the store at the start.
        """
    def store_results(self, /, packed: bytes) -> float:
        """
        Stores results of `run_orders`. Returns the sum of the durations of the runs, s.
        """
    def work(self, /, jobs: SupportsIndex | None = None, on_progress: Any | None = None) -> None:
        """
        Performs all runs on threads of this machine, and calls `on_progress` periodically. Ctrl-C interrupts the runs.
        """

@final
class Table:
    """
    A table of named columns; a column's name includes its unit.
    """
    def __arrow_c_schema__(self, /) -> Any:
        """
        Names and types of the columns (Arrow PyCapsule interface).
        """
    def __arrow_c_stream__(self, /, requested_schema: Any | None = None) -> Any:
        """
        The table as an Arrow stream of one batch, without a copy (Arrow PyCapsule interface).
        """
    def column(self, /, name: str) -> list[Any]:
        """
        Values of a column; None if undefined.
        """
    @property
    def column_names(self, /) -> list[str]:
        """
        Names of the columns, in order.
        """
    @property
    def column_types(self, /) -> list[str]:
        """
        Types of the columns in Arrow's notation: `Float64`, `Utf8`.
        """
    def doc(self, /, name: str) -> str:
        """
        Meaning of a column, one line.
        """
    @property
    def num_rows(self, /) -> int:
        """
        Number of rows.
        """

@final
class UplinkCounts:
    """
    Counters of the receiver's own uplink interface since the start.
    """
    @property
    def dropped(self, /) -> int:
        """
        Packets dropped by the queue.
        """
    @property
    def offered(self, /) -> int:
        """
        Packets offered to the queue.
        """

def compare(scenario: Scenario, vary: SupportsGetItem[int, tuple[str, SupportsGetItem[int, str]]], runs: SupportsIndex | None = None, seed: SupportsIndex | None = None, jobs: SupportsIndex | None = None, metrics: SupportsGetItem[int, str] = ..., against: SupportsGetItem[int, tuple[str, str]] = ...) -> Comparison:
    """
    Runs every combination of the values. With the same seed, all combinations have the same losses (paired runs).
    """

def mechanisms() -> list[tuple[str, str, str, str]]:
    """
    All mechanisms and ready paths: kind, name, summary, source.
    """

def merge_stores(store: str | PathLike[str], others: SupportsGetItem[int, str | PathLike[str]]) -> list[tuple[int, int]]:
    """
    Adds the runs of other stores. Returns two numbers for each store: new runs, and runs that were known before.
    """

def read_store(store: str | PathLike[str], sweep: SupportsIndex | None = None) -> Table:
    """
    Table of a sweep in a store: one row for each run and flow. `sweep` may be omitted if the store has only one sweep.
    """

def ready_paths() -> list[str]:
    """
    Names of the ready paths.
    """

def run(scenario: Scenario, runs: SupportsIndex | None = None, seed: SupportsIndex | None = None, jobs: SupportsIndex | None = None, samples: bool = False, events: bool = False) -> Runs:
    """
    Runs a scenario several times.
    """

def run_orders(orders: SupportsGetItem[int, tuple[str, str, SupportsIndex]], strategies: SupportsGetItem[int, tuple[str, str, Any]] = ...) -> bytes:
    """
    Performs runs for a sweep of another process. Returns the bytes for `Sweep.store_results`. `strategies` are
    mechanisms in Python: kind of mechanism (seam), name, and the object, which is copied for each use.
    """

def schema() -> str:
    """
    JSON Schema of scenarios.
    """
