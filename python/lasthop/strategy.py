"""Base classes for your own mechanisms. The methods of these classes are hooks, which the simulation engine calls.

Derive a class from one of these base classes, and use your class in place of a mechanism's name::

    lasthop.run("umts", set={"congestion": MyControl})
    lasthop.compare("umts", vary={"congestion": ["reno", "cubic", MyControl]})

A class is constructed once, without arguments; an object (`MyControl(beta=0.8)`) is used as it is. In each repetition,
each flow gets a deep copy of the object, before `on_start` is called. Runs with such classes use one thread; `sweep`
uses one process per core. Results depend only on the scenario and the seed if the behaviour of your class depends on
nothing else.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from types import FunctionType
from typing import ClassVar, NamedTuple, Self

from lasthop import _version
from lasthop._error import Error
from lasthop._lasthop import (
    Ack,
    Arrival,
    Backlog,
    Due,
    Gap,
    Loss,
    LostSegment,
    Packet,
    PathEstimate,
    QueueState,
    Recovered,
    SenderCounts,
    Start,
    UplinkCounts,
)

__all__ = [
    "AckPolicy",
    "AckSplitting",
    "Admission",
    "AdvertisedWindow",
    "CongestionControl",
    "LossDiscriminator",
    "Queue",
    "Slices",
    "Strategies",
    "Strategy",
]


class Strategy:
    """Base class of all mechanisms; derive your class from one of the classes below."""

    _seam: ClassVar[str] = ""
    _required: ClassVar[tuple[str, ...]] = ()

    _counts_only: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """For each flag, the attributes and hooks that have no effect without the flag."""

    draws: bool = True
    """Whether the mechanism draws random numbers. If you set this to False, a scenario without other random numbers
    runs only once."""
    version: str | None = None
    """Version of the class in the stores of `sweep`. None: a digest of the source. Runs are repeated if the version, or
    an attribute of the object, differs."""


class CongestionControl(Strategy):
    """Sets the congestion window. Write `on_ack` and `on_loss`; the other hooks default to Reno's behaviour.

    Keep the window in `self.cwnd` and the slow start threshold in `self.ssthresh`, both in bytes; `self.mss` is a full
    segment's payload. The engine sets these attributes before `on_start` and reads them after each hook.
    """

    _seam = "congestion"
    _required = ("on_ack", "on_loss")
    _counts_only = {
        "rate_samples": ("pacing_rate_bps", "holds_back", "on_open", "on_sent", "on_lost"),
    }

    cwnd: float
    """Congestion window, bytes, at least 1."""
    ssthresh: float
    """Slow start threshold, bytes."""
    mss: int
    """Payload of a full segment, bytes."""
    pacing_rate_bps: float | None = None
    """Pacing rate of the payload, bit/s; None: only the window limits the sender. Needs `rate_samples`."""
    rate_samples: bool = False
    """Whether the mechanism uses `ack.rate_bps`, `on_open`, `on_sent`, `on_lost` and pacing."""
    holds_back: bool = False
    """Whether the mechanism now deliberately keeps so little in flight that rate samples count as application-limited.
    Needs `rate_samples`."""
    conserves: bool = False
    """Whether the mechanism, not the window reduction, sets the window during loss recovery (as BBR does)."""
    is_scalable: bool = False
    """Whether the mechanism reduces the window in proportion to the share of marks (L4S, RFC 9331 §4.3). With AccECN
    its packets then carry ECT(1), `ack.marked_bytes` reports marks, and `on_mark` is not called."""
    mark_pace: str = "window"
    """Frequency of `on_mark`: once per "window" of data (RFC 3168), once per "rtt", or for "every" marked ACK."""
    discriminates_by_mark: bool = False
    """Whether statistics count a loss as a random error if the duplicate ACK that reports it is unmarked."""

    def on_start(self, start: Start) -> None:
        """Called when the connection begins."""

    def on_open(self, rtt_s: float | None) -> None:
        """Called after the handshake with the RTT of the handshake; needs `rate_samples`."""

    def on_lost(self, lost: LostSegment) -> None:
        """Called for a segment declared lost, before `on_ack` for the ACK that reports it; needs `rate_samples`."""

    def leave_slow_start(self) -> None:
        """Called when the scenario's `slow_start` (HyStart++) ends slow start without a loss."""
        self.ssthresh = int(self.cwnd)

    def observe(self, now_s: float, acked_bytes: int, duplicate: bool) -> None:
        """Called for each ACK before all other hooks, so that a window reduction can use up-to-date estimates."""

    def on_sent(self, now_s: float, sent_bytes: int, in_flight_bytes: int) -> None:
        """Called for each segment sent; needs `rate_samples`."""

    def on_ack(self, ack: Ack) -> None:
        """Called for each ACK, new or duplicate."""
        raise NotImplementedError

    def on_loss(self, loss: Loss) -> None:
        """Called for a loss that fast recovery repairs: reduce `ssthresh` and `cwnd`."""
        raise NotImplementedError

    def on_restart(self, loss: Loss) -> None:
        """Called for a loss after which the window restarts from one segment (Tahoe)."""
        self.on_loss(loss)
        self.cwnd = self.mss

    def on_timeout(self, loss: Loss, first: bool) -> None:
        """Called when the retransmission timer expires; `first` is True at the first expiry for this data."""
        if first:
            self.on_loss(loss)
        self.cwnd = self.mss

    def on_mark(self, loss: Loss) -> None:
        """Called when the receiver echoes a congestion mark (ECN), at most as often as `mark_pace` allows."""
        before = self.cwnd
        self.on_loss(loss)
        self.cwnd = min(self.cwnd, before)

    def on_idle(self, window_bytes: int) -> None:
        """Called after an idle period of one timeout: limit cwnd to `window_bytes` (RFC 5681 §4.1)."""
        self.cwnd = min(self.cwnd, window_bytes)

    def on_segment(self, mss_bytes: int) -> None:
        """Called when the segment size changes; `self.mss` is already set."""

    def on_recovered(self, flight_bytes: int, recovered: Recovered) -> None:
        """Called at the end of recovery with the number of bytes outstanding, `flight_bytes`."""
        if recovered.ssthresh_bytes is not None:
            self.ssthresh = recovered.ssthresh_bytes
        self.cwnd = self.ssthresh if recovered.window_bytes is None else recovered.window_bytes


class AckPolicy(Strategy):
    """Sets the ACK policy: when data is acknowledged. Write `on_data`."""

    _seam = "ack_policy"
    _required = ("on_data",)

    def on_data(self, arrival: Arrival) -> float:
        """Returns the maximum delay of the segment's ACK, s; 0: acknowledge at once."""
        raise NotImplementedError


class Slices(NamedTuple):
    """ACK splitting: each of `pieces` equal parts of the acknowledged bytes from `start` on gets its own ACK."""

    pieces: int
    start: int


class AckSplitting(Strategy):
    """Sets the number of ACKs (copies or ACK splitting). Write `split`."""

    _seam = "ack_splitting"
    _required = ("split",)

    needs_uplink: bool = False
    """Whether the mechanism reads `due.uplink_packets`."""
    needs_estimate: bool = False
    """Whether the mechanism reads the path estimate."""

    def split(self, due: Due, path: PathEstimate) -> int | Slices:
        """Returns the number of copies of a due ACK, at least 1; or slices of the acknowledged bytes."""
        raise NotImplementedError

    def on_loss(self, cause: str, path: PathEstimate) -> None:
        """Called for a gap classified as "congestion" or "wireless"."""

    def on_arrival(self, now_s: float, missing_segments: int, repeated: bool) -> None:
        """Called for each data segment. If it opens a gap, `missing_segments` is the number of segments in the gap."""

    def on_counts(self, sender: SenderCounts, uplink: UplinkCounts) -> None:
        """Called before each arrival with the counters of the sender and of this host's uplink interface."""

    def on_sent(self, before: Backlog, after: Backlog) -> int:
        """Called when the ACKs of the last `split` are in the uplink queue. Returns the resulting queue length as the
        mechanism counts it (for traces)."""
        return after.packets


class AdvertisedWindow(Strategy):
    """Sets the advertised window. Write `window_bytes`."""

    _seam = "window"
    _required = ("window_bytes",)

    largest_bytes: int = 1 << 20
    """Maximum window that the mechanism ever advertises, bytes."""
    shrinks: bool = False
    """Whether the right edge of the advertised window may move left (RFC 9293 §3.8.6 advises against this)."""
    is_growing: bool = False
    """Whether the last arrival enlarged the window. The engine reads this flag after `on_arrival`, and an ACK policy
    receives it as `arrival.grows`."""

    def window_bytes(self, unread_bytes: int, segment_bytes: int) -> float:
        """Returns the number of bytes to advertise, counted from the next expected byte."""
        raise NotImplementedError

    def on_arrival(self, now_s: float, payload_bytes: int, rtt_s: float | None) -> None:
        """Called for each arriving segment, with an RTT sample if there is one."""

    def on_link_rate(self, rate_bps: int) -> None:
        """Called at the start and after changes: the link layer reports the link rate towards this host."""


class LossDiscriminator(Strategy):
    """Classifies losses as congestion or wireless (loss discrimination). Write `discriminate`."""

    _seam = "receiver.loss_discrimination"
    _required = ("discriminate",)

    needs_estimate: bool = False
    """Whether the mechanism reads the path estimate."""

    def observe(self, now_s: float, start: int, end: int, sent_s: float | None) -> None:
        """Called for each data segment with a higher sequence number than all earlier segments.

        `sent_s` is a time of the sender's clock, so use only differences of such times.
        """

    def on_report(self, start: int, end: int) -> None:
        """Called when this host's link layer reports that the bytes from `start` to `end` are discarded."""

    def discriminate(self, gap: Gap, path: PathEstimate, uniform: float) -> str:
        """Returns "congestion" or "wireless" for a new gap. `uniform` is a random number in [0, 1), or 0
        if the attribute `draws` is False."""
        raise NotImplementedError


class Admission(Strategy):
    """Decides whether a packet may join a FIFO queue. Write `admit`."""

    _seam = "admission"
    _required = ("admit",)

    marks: bool = False
    """Whether `admit` may return "mark"."""

    def on_start(self, rate_bps: int, seed: int) -> None:
        """Called at the start with the link rate and a seed for random.Random. The seed is different for each queue and
        each repetition."""

    def admit(self, now_s: float, packet: Packet, queue: QueueState) -> bool | str:
        """Returns True to enqueue the packet, False if the queue is full, "early_drop" to drop it although the queue
        has room, or "mark" to enqueue it with a mark if `packet.can_be_marked`."""
        raise NotImplementedError


class Queue(Strategy):
    """Queue discipline: sets the order and the drops of waiting packets. Write `enqueue` and `dequeue`."""

    _seam = "queue"
    _required = ("enqueue", "dequeue")

    marks: bool = False
    """Whether the mechanism ever calls `mark`."""
    dropped: list[Packet]
    """Packets passed to `drop` since the last hook."""
    marked: list[Packet]
    """Packets passed to `mark` since the last hook."""

    def __new__(cls, *_: object, **__: object) -> Self:
        queue = super().__new__(cls)
        queue.dropped, queue.marked = [], []
        return queue

    def drop(self, packet: Packet) -> None:
        """Drops a waiting packet, which may be the packet for which `enqueue` is called."""
        self.dropped.append(packet)

    def mark(self, packet: Packet) -> None:
        """Marks a waiting packet or the packet about to leave, if `packet.can_be_marked`; needs `marks = True`."""
        self.marked.append(packet)

    def on_start(self, rate_bps: int, seed: int) -> None:
        """Called at the start with the link rate and a seed for random.Random."""

    def enqueue(self, now_s: float, packet: Packet) -> None:
        """Called for a new packet. If the queue is full, call `drop` for this packet or for others."""
        raise NotImplementedError

    def dequeue(self, now_s: float) -> Packet | None:
        """Returns the next packet to send; None if no packet is waiting or no packet may be sent now."""
        raise NotImplementedError

    def ready_at(self, now_s: float) -> float | None:
        """Called after `dequeue` has returned None although packets wait. Returns the virtual time of the next call of
        `dequeue`, s; None: the next call is at the next arrival."""
        return None


class Stack(Strategy):
    """One end of a flow with your own transport protocol. Your class performs no input or output itself (sans-IO).

    Set `kind = "quic"` and `stack` to your class. The engine makes two objects, source and destination. After each hook
    that reports an event of an end (`open`, `handle_datagram`, `handle_timeout`) the engine calls `read`, `write` or
    `is_at_end`, then `poll_datagram` until the result is None, and at last `poll_timeout`. Data have no content: only
    numbers of bytes are written and read. Write `handle_datagram`, `poll_datagram` and `read`.
    """

    _seam = "stack"
    _required = ("handle_datagram", "poll_datagram", "read")

    layer: str = "udp"
    """"udp": a datagram is the payload of UDP, and links add 28 bytes of headers; "ip": a datagram is an IP packet."""

    is_client: bool = True
    """Whether this end opens the connection; set before `on_start`. The source is the client of a transfer. With requests
    (key `response`), the destination is the client: it writes requests, and the source writes responses."""

    def on_start(self, is_source: bool, datagram_bytes: int, seed: int) -> None:
        """Called before the run. `datagram_bytes`: largest datagram; `seed`: for random.Random, the same for both ends
        and different for each connection and repetition."""

    def open(self, now_s: float) -> None:
        """Called at the client when the flow starts. The other end waits from the start of the run."""

    def handle_datagram(self, now_s: float, datagram: bytes, is_marked: bool) -> None:
        """Called for each datagram that arrives undamaged. `is_marked`: a router has set the ECN mark CE."""
        raise NotImplementedError

    def handle_timeout(self, now_s: float) -> None:
        """Called at the time that `poll_timeout` returned."""

    def poll_datagram(self, now_s: float) -> bytes | None:
        """Returns the next datagram to send now; None: nothing to send."""
        raise NotImplementedError

    def poll_timeout(self, now_s: float) -> float | None:
        """Returns the time of the next `handle_timeout`, s; None: no deadline."""
        return None

    def write(self, now_s: float, nbytes: int) -> int:
        """Accepts up to `nbytes` bytes of this end's application. Returns the number of bytes accepted."""
        return 0

    def finish(self, now_s: float) -> None:
        """Called after the last byte of this end's application was accepted."""

    def read(self, now_s: float) -> int:
        """Returns the number of bytes that have arrived in order since the last call."""
        raise NotImplementedError

    def is_at_end(self) -> bool:
        """Returns whether all data of the peer has arrived, up to its end, and was read."""
        return False


_BASES: Sequence[type[Strategy]] = (
    CongestionControl,
    AckPolicy,
    AckSplitting,
    AdvertisedWindow,
    LossDiscriminator,
    Admission,
    Queue,
    Stack,
)


class Strategies:
    """Strategies (Python mechanisms) of one scenario, with their names in the scenario.

    If `versioned` is true, a name includes the strategy's version, which stores of sweeps need: `Mine@3fa9c1d2e0`.
    """

    def __init__(self, *, versioned: bool = False) -> None:
        self._given: list[tuple[object, str, str, Strategy]] = []
        self._is_versioned = versioned

    def name_of(self, value: object) -> str | None:
        """Returns the name of a strategy, given as a class or an object; None if `value` is not a strategy."""
        for given, _, name, _ in self._given:
            if given is value:
                return name
        if isinstance(value, Strategy):
            made = value
        elif isinstance(value, type) and issubclass(value, Strategy):
            made = _made(value)
        elif isinstance(value, type):
            raise _foreign(value)
        else:
            return None
        _check(type(made))
        _refuse_old_names(made)
        name = type(made).__name__
        if self._is_versioned:
            name = f"{name}@{_version.of_strategy(made)}"
            if all(known != name for _, _, known, _ in self._given):
                self._given.append((value, made._seam, name, made))
            return name
        same_name = sum(1 for _, _, known, _ in self._given if known == name or known.startswith(f"{name}_"))
        name = f"{name}_{same_name + 1}" if same_name else name
        self._given.append((value, made._seam, name, made))
        return name

    def name_at(self, path: str, value: object) -> str | None:
        """Returns the name as `name_of` does; checks that the strategy is of the kind that the key needs."""
        name = self.name_of(value)
        if name is None:
            return None
        seam = next(seam for given, seam, known, _ in self._given if known == name)
        key = {"admission": "queue"}.get(seam, seam)
        if not (f".{path}".endswith(f".{key}") or path.rpartition(".")[2] in ("kind", "sender", "receiver")):
            base = next(base.__name__ for base in _BASES if base._seam == seam)
            raise Error(
                f"`{path}` cannot be `{name}`: a strategy of the kind {base} belongs to the key `{key}`",
                f"for instance set={{{key!r}: {name}}}",
            )
        return name

    def notes(self) -> list[str]:
        """Returns notes on attributes and hooks that have no effect because their flag is not set."""
        return [note for _, _, _, made in self._given for note in _without_effect(made)]

    def for_engine(self) -> list[tuple[str, str, object]]:
        """Returns the kind of mechanism, the name and the object of each strategy."""
        return [(seam, name, made) for _, seam, name, made in self._given]


def _made(of: type[Strategy]) -> Strategy:
    _check(of)
    try:
        return of()
    except TypeError as error:
        raise Error(
            f"`{of.__name__}` cannot be constructed without arguments: {error}",
            f"pass an object instead of the class: {of.__name__}(…)",
        ) from error


def _check(of: type[Strategy]) -> None:
    base = _base(of)
    if base is None or of is base:
        raise _foreign(of)
    _refuse_misspelt(of, base)
    for hook in base._required:
        mine = getattr(of, hook, None)
        if mine is getattr(base, hook) or not callable(mine):
            wanted = getattr(base, hook)
            names = wanted.__code__.co_varnames[: wanted.__code__.co_argcount]
            summary = (wanted.__doc__ or "").splitlines()[0]
            signature = f"def {hook}({', '.join(names)}): … # {summary}"
            for old, new in _OLD_NAMES.get(base, {}).items():
                if new == hook and callable(getattr(of, old, None)):
                    raise Error(f"`{of.__name__}.{old}` has been renamed to `{hook}`", f"write {signature}")
            raise Error(
                f"`{of.__name__}` has no `{hook}`",
                f"every {base.__name__} needs it: {signature}",
            )


def _base(of: type[Strategy]) -> type[Strategy] | None:
    return next((base for base in _BASES if issubclass(of, base)), None)


def _own(of: type[Strategy], base: type[Strategy]) -> Iterator[tuple[str, object]]:
    """Yields the attributes that a class and its bases add to `base`; attributes of the class itself come last."""
    for one in reversed(of.__mro__):
        if not issubclass(base, one):
            yield from vars(one).items()


def _refuse_misspelt(of: type[Strategy], base: type[Strategy]) -> None:
    """Rejects a method whose name resembles a hook's name, because the engine would never call the method."""
    hooks = [name for name in dir(base) if not name.startswith("_") and callable(getattr(base, name))]
    for one in (one for one in of.__mro__ if not issubclass(base, one)):
        left = [hook for hook in hooks if hook not in vars(one)]
        for name, value in vars(one).items():
            if name in hooks or name.startswith("_") or not isinstance(value, FunctionType):
                continue
            meant = difflib.get_close_matches(name, left, n=1, cutoff=0.8)
            if not name.startswith("on_") and not meant:
                continue
            suggestion = f"did you mean `{meant[0]}`? " if meant else ""
            raise Error(
                f"`{of.__name__}.{name}` is not a hook: the engine never calls it",
                f"{suggestion}hooks of a {base.__name__}: {', '.join(hooks)}; a method of your own should begin with `_`",
            )


_OLD_NAMES: Mapping[type[Strategy], Mapping[str, str]] = {
    CongestionControl: {"samples": "rate_samples", "judges_by_mark": "discriminates_by_mark"},
    AckSplitting: {"shape": "split"},
    LossDiscriminator: {"judge": "discriminate"},
}
"""Old and new names of renamed flags and hooks."""


def _refuse_old_names(made: Strategy) -> None:
    base = _base(type(made))
    if base is None:
        return
    for old, new in _OLD_NAMES.get(base, {}).items():
        if isinstance(getattr(made, old, None), bool):
            raise Error(f"`{type(made).__name__}.{old}` has been renamed to `{new}`", f"write {new} = True")


def _without_effect(made: Strategy) -> Iterator[str]:
    base = _base(type(made))
    if base is None:
        return
    own = dict(_own(type(made), base)) | vars(made)
    functions = [value for value in own.values() if isinstance(value, FunctionType)]
    used = {*own, *(name for function in functions for name in function.__code__.co_names)}
    for flag, names in base._counts_only.items():
        idle = [name for name in names if name in used]
        if idle and not getattr(made, flag):
            listed = ", ".join(f"`{name}`" for name in idle)
            yield f"{type(made).__name__}: the engine ignores {listed}; write {flag} = True in the class"


def _foreign(of: type) -> Error:
    bases = ", ".join(f"lasthop.{base.__name__}" for base in _BASES)
    return Error(
        f"`{of.__name__}` is not a strategy",
        f"derive the class from one of {bases}",
    )
