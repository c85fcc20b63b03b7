"""
Scenarios, runs and tables of the package `lasthop`.
"""

from _typeshed import SupportsGetItem
from os import PathLike
from typing import Any, Final, SupportsIndex, final

__all__ = ["__version__", "Ack", "Arrival", "Backlog", "Comparison", "Due", "Gap", "Loss", "LostSegment", "Packet", "PathEstimate", "QueueState", "Recovered", "Runs", "Scenario", "SenderCounts", "Start", "Sweep", "Table", "UplinkCounts", "compare", "mechanisms", "merge_stores", "read_store", "ready_paths", "run", "run_orders", "schema"]

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
        The application had too little to send: the path may be faster.
        """
    @property
    def collects(self, /) -> bool:
        """
        Whether the counting wants credit to be collected until it makes a segment (RFC 3465 §2.1).
        """
    @property
    def credit_bytes(self, /) -> int:
        """
        What it is worth by the scenario's `ack_counting`, bytes; 0 where there is no reason to grow: duplicates, in recovery,
        held.
        """
    @property
    def delivered_bytes(self, /) -> int:
        """
        Bytes that it reports for the first time, SACK included.
        """
    @property
    def held(self, /) -> bool:
        """
        No reason to grow: it echoes a congestion mark, or the window was not used.
        """
    @property
    def in_flight_bytes(self, /) -> int:
        """
        Bytes in the network after it.
        """
    @property
    def lost_bytes(self, /) -> int:
        """
        Bytes found lost since the last one.
        """
    @property
    def marked_bytes(self, /) -> int:
        """
        Bytes that it says arrived with a congestion mark and were not known to (AccECN, RFC 9768).
        """
    @property
    def now_s(self, /) -> float:
        """
        When it came, virtual time, s.
        """
    @property
    def nxt(self, /) -> int:
        """
        First byte that was not sent before it.
        """
    @property
    def phase(self, /) -> str:
        """
        "open", "recovery" (fast recovery, the ACK that ends it included) or "restart" (after a timeout).
        """
    @property
    def rate_bps(self, /) -> float | None:
        """
        The rate at which the path delivers, bit/s; only for classes with `rate_samples = True`.
        """
    @property
    def reported_bytes(self, /) -> int:
        """
        Of these, bytes that SACK reports beyond it.
        """
    @property
    def rtt_s(self, /) -> float | None:
        """
        The round-trip time it measured, s; None if it did not.
        """
    @property
    def segments(self, /) -> int:
        """
        Segments completed by it.
        """
    @property
    def srtt_s(self, /) -> float | None:
        """
        The smoothed round-trip time after it, s.
        """
    @property
    def una(self, /) -> int:
        """
        First byte that is not acknowledged after it.
        """

@final
class Arrival:
    """
    A data segment that arrived.
    """
    @property
    def grows(self, /) -> bool:
        """
        The advertised window opens further with it.
        """
    @property
    def now_s(self, /) -> float:
        """
        When, virtual time, s.
        """
    @property
    def repeated(self, /) -> bool:
        """
        All of it had arrived before.
        """
    @property
    def segment_bytes(self, /) -> int:
        """
        A full segment's payload, bytes.
        """
    @property
    def unacknowledged_bytes(self, /) -> int:
        """
        Bytes by which the cumulative ACK can advance since the last ACK sent.
        """
    @property
    def urgent(self, /) -> bool:
        """
        It opened a gap, filled one, repeated something or carried a mark: told at once (RFC 5681 §4.2).
        """

@final
class Backlog:
    """
    What waits in a host's own uplink interface.
    """
    @property
    def bytes(self, /) -> int:
        """
        Bytes that wait.
        """
    @property
    def in_service(self, /) -> bool:
        """
        Whether a packet is in transmission.
        """
    @property
    def packets(self, /) -> int:
        """
        Packets that wait, the one in transmission not counted.
        """

@final
class Comparison:
    """
    The same scenario with other values, paired by repetition.
    """
    def flows(self, /) -> Table:
        """
        A row per case, repetition and flow: the varied keys, then every metric.
        """
    def json(self, /) -> str:
        """
        What `lasthop compare --format json` prints: an object a line.
        """
    def links(self, /) -> Table:
        """
        A row per case, repetition and direction of a link.
        """
    def notes(self, /) -> list[str]:
        """
        What the author of the scenarios should know, each note once.
        """
    @property
    def paths(self, /) -> list[str]:
        """
        The varied keys.
        """
    @property
    def runs(self, /) -> int:
        """
        How many repetitions each case has.
        """

@final
class Due:
    """
    An acknowledgement that is due.
    """
    @property
    def end(self, /) -> int:
        """
        The byte behind the last; equal to `start` for a duplicate.
        """
    @property
    def segment_bytes(self, /) -> int:
        """
        A full segment's payload, bytes.
        """
    @property
    def start(self, /) -> int:
        """
        First byte that it acknowledges for the first time.
        """
    @property
    def uplink_packets(self, /) -> int:
        """
        Packets that wait in this host's uplink queue; only for classes with `needs_uplink = True`.
        """

@final
class Gap:
    """
    A gap that has just opened in the sequence space.
    """
    @property
    def end(self, /) -> int:
        """
        The byte behind the last.
        """
    @property
    def segment_bytes(self, /) -> int:
        """
        A full segment's payload, bytes.
        """
    @property
    def start(self, /) -> int:
        """
        First missing byte.
        """

@final
class Loss:
    """
    What went wrong.
    """
    @property
    def flight_bytes(self, /) -> int:
        """
        FlightSize: bytes outstanding (RFC 5681 §3.1 Eq. 4).
        """
    @property
    def marked(self, /) -> bool:
        """
        The duplicate ACK that told it echoes a congestion mark.
        """
    @property
    def now_s(self, /) -> float:
        """
        When, virtual time, s.
        """
    @property
    def nxt(self, /) -> int:
        """
        First byte that was not sent yet.
        """
    @property
    def una(self, /) -> int:
        """
        First byte that is not acknowledged.
        """
    @property
    def window_bytes(self, /) -> int:
        """
        min(cwnd, advertised window), bytes.
        """

@final
class LostSegment:
    """
    A segment that is found lost.
    """
    @property
    def app_limited(self, /) -> bool:
        """
        The application had too little to send then.
        """
    @property
    def delivered_bytes(self, /) -> int:
        """
        All bytes delivered so far.
        """
    @property
    def end(self, /) -> int:
        """
        The byte behind its last.
        """
    @property
    def in_flight_bytes(self, /) -> int:
        """
        Bytes in the network when it was sent, itself included.
        """
    @property
    def lost_bytes(self, /) -> int:
        """
        Bytes found lost since then, itself included.
        """
    @property
    def now_s(self, /) -> float:
        """
        When it is found lost, virtual time, s.
        """
    @property
    def start(self, /) -> int:
        """
        Its first byte.
        """

@final
class Packet:
    """
    A packet on its way.
    """
    def __repr__(self, /) -> str: ...
    @property
    def can_be_marked(self, /) -> bool:
        """
        Whether a mark reaches its endpoints (ECN, RFC 3168).
        """
    @property
    def flow(self, /) -> int:
        """
        Which flow it belongs to, by its place in the scenario.
        """
    @property
    def forward(self, /) -> bool:
        """
        Whether it travels from the flow's source to its destination.
        """
    @property
    def low_priority(self, /) -> bool:
        """
        Whether its sender gave it low priority.
        """
    @property
    def number(self, /) -> int:
        """
        Its number in the run.
        """
    @property
    def payload_bytes(self, /) -> int:
        """
        Payload, bytes.
        """
    @property
    def wire_bytes(self, /) -> int:
        """
        What links charge for it, bytes.
        """

@final
class PathEstimate:
    """
    The path as the receiver estimates it.
    """
    @property
    def cwnd_r_segments(self, /) -> float:
        """
        The sender's window as the receiver sees it, segments.
        """
    @property
    def latest_rtt_s(self, /) -> float:
        """
        The latest RTT, s.
        """
    @property
    def max_rtt_s(self, /) -> float:
        """
        Largest RTT, s.
        """
    @property
    def min_rtt_s(self, /) -> float:
        """
        Smallest RTT, s.
        """
    @property
    def srtt_s(self, /) -> float:
        """
        Smoothed RTT, s; 0 before the first sample.
        """

@final
class QueueState:
    """
    A queue when a packet arrives.
    """
    @property
    def bytes(self, /) -> int:
        """
        Bytes that wait.
        """
    @property
    def idle_s(self, /) -> float:
        """
        How long the transmitter has had nothing to send, s; 0 while it sends.
        """
    @property
    def in_service(self, /) -> bool:
        """
        Whether a packet is in transmission.
        """
    @property
    def packets(self, /) -> int:
        """
        Packets that wait, the one in transmission not counted.
        """

@final
class Recovered:
    """
    What becomes of the reduction with which a recovery began.
    """
    @property
    def kind(self, /) -> str:
        """
        "kept": it was right. "revised": it is taken back. "probed": two segments are to find out (RFC 5682).
        """
    @property
    def ssthresh_bytes(self, /) -> int | None:
        """
        ssthresh to go on with, bytes; only if it is taken back.
        """
    @property
    def window_bytes(self, /) -> int | None:
        """
        cwnd to go on with, bytes; None if it was kept.
        """

@final
class Runs:
    """
    Repetitions of a scenario.
    """
    def events(self, /) -> Table | None:
        """
        Every packet and event of the first repetition; None if it was not observed.
        """
    def flows(self, /) -> Table:
        """
        A row per repetition and flow, with every metric.
        """
    def json(self, /) -> str:
        """
        What `lasthop run --format json` prints: an object a line.
        """
    def links(self, /) -> Table:
        """
        A row per repetition and direction of a link, with every metric.
        """
    def queues(self, /) -> Table | None:
        """
        The first repetition's queues over time; None if it was not sampled.
        """
    @property
    def runs(self, /) -> int:
        """
        How many repetitions there are.
        """
    def samples(self, /) -> Table | None:
        """
        The first repetition's flows over time; None if it was not sampled.
        """

@final
class Scenario:
    """
    A scenario, checked.
    """
    def __new__(cls, /, source: str, name: str | None = None, changes: SupportsGetItem[int, tuple[str, str]] = ..., strategies: SupportsGetItem[int, tuple[str, str, Any]] = ...) -> Scenario:
        """
        A ready path's name, a file or a line; or, with a name for messages, the text of a document. Then changes of single
        values, and the mechanisms that it may name beside the project's own: the seam of each, its name and the object
        that is copied for each use.
        """
    @property
    def duration_s(self, /) -> float:
        """
        Length of a run, virtual time, s.
        """
    @property
    def flows(self, /) -> list[str]:
        """
        The flows' names.
        """
    @property
    def has_strategies(self, /) -> bool:
        """
        Whether something in it is a Python object.
        """
    @property
    def is_deterministic(self, /) -> bool:
        """
        Whether nothing in it is random, so that one run says it all.
        """
    @property
    def links(self, /) -> list[str]:
        """
        The links' names.
        """
    def notes(self, /) -> list[str]:
        """
        What its author should know, a sentence each; mostly nothing.
        """
    @property
    def runs(self, /) -> int:
        """
        Its own number of repetitions.
        """
    @property
    def seed(self, /) -> int:
        """
        Its own first seed.
        """
    def show(self, /) -> str:
        """
        The whole scenario as commented TOML.
        """
    @property
    def title(self, /) -> str:
        """
        One line that says what it is.
        """

@final
class SenderCounts:
    """
    What the sender has counted since the start, as an option could carry it to the receiver (miyoshi §2.3).
    """
    @property
    def sent(self, /) -> int:
        """
        Segments with data sent, retransmissions included.
        """
    @property
    def retransmitted(self, /) -> int:
        """
        Of these, those sent again, for whatever reason.
        """
    @property
    def detected_by_duplicates(self, /) -> int:
        """
        Losses that duplicate ACKs told.
        """

@final
class Start:
    """
    What the window's rules start from.
    """
    @property
    def mss_bytes(self, /) -> int:
        """
        A full segment's payload, bytes.
        """
    @property
    def seed(self, /) -> int:
        """
        For random.Random: another number for each flow and repetition.
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
    A sweep under way, the only one who writes to its store; nobody does any more once it is closed.
    """
    def __new__(cls, /, scenario: Scenario, keys: SupportsGetItem[int, tuple[str, SupportsGetItem[int, str]]], store: str | PathLike[str], runs: SupportsIndex | None = None, until: float | None = None, metrics: SupportsGetItem[int, str] = ..., seed: SupportsIndex | None = None, shard: tuple[SupportsIndex, SupportsIndex] = ...) -> Sweep:
        """
        Begins, or goes on with, a sweep: every combination of the values of `keys`, `runs` times each or `until` the means
        of `metrics` are so exact, in this store.
        """
    def abandon(self, /, digest: str, seed: SupportsIndex, why: str) -> None:
        """
        A run that cannot be done, and why.
        """
    def close(self, /) -> None:
        """
        Makes safe what came back, and lets go of the store.
        """
    def failed(self, /) -> list[str]:
        """
        What the runs said that failed.
        """
    def inexact(self, /) -> int:
        """
        Points that are not as exact as asked for although they were run as often as they may be.
        """
    def notes(self, /) -> list[str]:
        """
        What the author of the scenarios should know, each note once.
        """
    @property
    def number(self, /) -> int:
        """
        The sweep's number in its store.
        """
    def orders(self, /, most: SupportsIndex) -> list[tuple[str, str, int]]:
        """
        Up to so many runs to be done elsewhere: digest, scenario and seed of each. None: nothing to do for now.
        """
    def progress(self, /) -> tuple[int, int, int]:
        """
        Runs that came back, and those that are still to come, as far as one knows; then those that were there before.
        """
    def store_results(self, /, packed: bytes) -> float:
        """
        Takes back what `run_orders` gave; how long the runs took, s.
        """
    def work(self, /, jobs: SupportsIndex | None = None, on_progress: Any | None = None) -> None:
        """
        Does all runs on this machine's threads; calls `on_progress` periodically. Ctrl-C ends it.
        """

@final
class Table:
    """
    A table of named columns; each column's name has its unit.
    """
    def __arrow_c_schema__(self, /) -> Any:
        """
        The columns' names and types (Arrow PyCapsule interface).
        """
    def __arrow_c_stream__(self, /, requested_schema: Any | None = None) -> Any:
        """
        The table as a stream of one batch (Arrow PyCapsule interface); nothing is copied.
        """
    def column(self, /, name: str) -> list[Any]:
        """
        A column's values as a list; None where one is undefined.
        """
    @property
    def column_names(self, /) -> list[str]:
        """
        The columns' names, in order.
        """
    @property
    def column_types(self, /) -> list[str]:
        """
        The columns' types, as Arrow calls them: `Float64`, `Utf8`.
        """
    def doc(self, /, name: str) -> str:
        """
        What a column is, one line.
        """
    @property
    def num_rows(self, /) -> int:
        """
        Number of rows.
        """

@final
class UplinkCounts:
    """
    What the receiver's own uplink interface has counted since the start.
    """
    @property
    def dropped(self, /) -> int:
        """
        Of these, those that the queue dropped.
        """
    @property
    def offered(self, /) -> int:
        """
        Packets that joined its queue or tried to.
        """

def compare(scenario: Scenario, vary: SupportsGetItem[int, tuple[str, SupportsGetItem[int, str]]], runs: SupportsIndex | None = None, seed: SupportsIndex | None = None, jobs: SupportsIndex | None = None, metrics: SupportsGetItem[int, str] = ...) -> Comparison:
    """
    Runs every combination of the values, paired: each meets the same losses.
    """

def mechanisms() -> list[tuple[str, str, str, str]]:
    """
    Every mechanism and ready path: kind, name, what it is, where it comes from.
    """

def merge_stores(store: str | PathLike[str], others: SupportsGetItem[int, str | PathLike[str]]) -> list[tuple[int, int]]:
    """
    Adds what other stores have: how many runs are new, and how many were there, of each.
    """

def ready_paths() -> list[str]:
    """
    The names of the ready paths.
    """

def read_store(store: str | PathLike[str], sweep: SupportsIndex | None = None) -> Table:
    """
    Every run of a sweep in a store: a row for each run and flow. The number may be left out if there is one sweep only.
    """

def run(scenario: Scenario, runs: SupportsIndex | None = None, seed: SupportsIndex | None = None, jobs: SupportsIndex | None = None, samples: bool = False, events: bool = False) -> Runs:
    """
    Runs a scenario several times.
    """

def run_orders(orders: SupportsGetItem[int, tuple[str, str, SupportsIndex]]) -> bytes:
    """
    Does runs for a sweep in another process: what `Sweep.take` takes.
    """

def schema() -> str:
    """
    JSON Schema of scenarios.
    """
