"""Mechanisms of your own: classes with the hooks of the engine.

A class derived from one of those here is given to a scenario where a mechanism's name would stand::

    lasthop.run("umts", set={"congestion": MyControl})
    lasthop.compare("umts", vary={"congestion": ["reno", "cubic", MyControl]})

A class is made once without arguments; of an object of it (`MyControl(beta=0.8)`) each flow of each repetition gets a
deep copy, before its `on_start`. Runs with such classes stay on one thread, and depend on the scenario and the seed
alone as long as the class does.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from types import FunctionType
from typing import ClassVar, NamedTuple, Self

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
    "AckShape",
    "AckTiming",
    "Admission",
    "AdvertisedWindow",
    "CongestionControl",
    "LossCause",
    "Queue",
    "Slices",
    "Strategies",
    "Strategy",
]


class Strategy:
    """A mechanism; derive from one of the classes below."""

    _seam: ClassVar[str] = ""
    _required: ClassVar[tuple[str, ...]] = ()

    _counts_only: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Flags without which these attributes and hooks do nothing."""

    draws: bool = True
    """Whether it draws random numbers. Say False if it does not: a scenario without any runs once."""


class CongestionControl(Strategy):
    """How large is the congestion window? Write `on_ack` and `on_loss`; the other hooks do what Reno does.

    Keep the window in `self.cwnd` and the slow start threshold in `self.ssthresh`, both in bytes; `self.mss` is a full
    segment's payload. They are set before `on_start` and read after each hook.
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
    """A full segment's payload, bytes."""
    pacing_rate_bps: float | None = None
    """How fast payload may leave, bit/s; None: as fast as the window lets it. Only with `rate_samples`."""
    rate_samples: bool = False
    """Whether it wants `ack.rate_bps`, `on_open`, `on_sent`, `on_lost` and a pacer."""
    holds_back: bool = False
    """Whether it keeps so little in flight on purpose that rate samples shall count as the application's. Only with
    `rate_samples`."""
    conserves: bool = False
    """Whether it sees to its window itself while a loss is repaired (as BBR does)."""
    is_scalable: bool = False
    """Whether it answers each mark in proportion (L4S, RFC 9331 §4.3): its packets bear ECT(1) where AccECN is in use, it
    learns of marks by `ack.marked_bytes`, and `on_mark` is not called."""
    mark_pace: str = "window"
    """How often it reacts to marks: once per "window" of data (RFC 3168), once per "rtt", or at "every" marked ACK."""
    judges_by_mark: bool = False
    """Whether it takes a loss told by an unmarked duplicate ACK for a random error: its judgements are accounted."""

    def on_start(self, start: Start) -> None:
        """The connection begins."""

    def on_open(self, rtt_s: float | None) -> None:
        """The handshake is over, and has measured this round trip; only with `rate_samples`."""

    def on_lost(self, lost: LostSegment) -> None:
        """A segment is found lost, before the `on_ack` of the ACK that tells it; only with `rate_samples`."""

    def leave_slow_start(self) -> None:
        """Slow start is over although nothing was lost (the scenario's `slow_start`, HyStart++)."""
        self.ssthresh = int(self.cwnd)

    def observe(self, now_s: float, acked_bytes: int, duplicate: bool) -> None:
        """An ACK has come, before it has any effect: for estimates that must be there when the window comes down."""

    def on_sent(self, now_s: float, sent_bytes: int, in_flight_bytes: int) -> None:
        """A segment goes out; only with `rate_samples`."""

    def on_ack(self, ack: Ack) -> None:
        """An ACK has come that advances or is a duplicate."""
        raise NotImplementedError

    def on_loss(self, loss: Loss) -> None:
        """A loss that fast recovery repairs: lower `ssthresh` and `cwnd`."""
        raise NotImplementedError

    def on_restart(self, loss: Loss) -> None:
        """A loss after which the window starts from one segment (Tahoe)."""
        self.on_loss(loss)
        self.cwnd = self.mss

    def on_timeout(self, loss: Loss, first: bool) -> None:
        """The retransmission timer has expired; `first`: for the first time for this data."""
        if first:
            self.on_loss(loss)
        self.cwnd = self.mss

    def on_mark(self, loss: Loss) -> None:
        """The receiver echoed a congestion mark (ECN), for the first time in this window of data."""
        before = self.cwnd
        self.on_loss(loss)
        self.cwnd = min(self.cwnd, before)

    def on_idle(self, window_bytes: int) -> None:
        """Nothing was sent for a timeout: cwnd is so much at most (RFC 5681 §4.1)."""
        self.cwnd = min(self.cwnd, window_bytes)

    def on_segment(self, mss_bytes: int) -> None:
        """A full segment has so many bytes from now on; `self.mss` has it already."""

    def on_recovered(self, flight_bytes: int, recovered: Recovered) -> None:
        """Recovery is over; so many bytes are outstanding."""
        if recovered.ssthresh_bytes is not None:
            self.ssthresh = recovered.ssthresh_bytes
        self.cwnd = self.ssthresh if recovered.window_bytes is None else recovered.window_bytes


class AckTiming(Strategy):
    """When is data acknowledged? Write `on_data`."""

    _seam = "timing"
    _required = ("on_data",)

    def on_data(self, arrival: Arrival) -> float:
        """A segment has arrived: how long its ACK may wait for another one, s; 0: at once."""
        raise NotImplementedError


class Slices(NamedTuple):
    """The bytes from `start` on, each of `pieces` equal parts acknowledged by an ACK of its own."""

    pieces: int
    start: int


class AckShape(Strategy):
    """In how many acknowledgements? Write `shape`."""

    _seam = "shape"
    _required = ("shape",)

    needs_uplink: bool = False
    """Whether it reads `due.uplink_packets`."""
    needs_estimate: bool = False
    """Whether it reads the path's estimate."""

    def shape(self, due: Due, path: PathEstimate) -> int | Slices:
        """An ACK is due: how often it goes out, at least once; or the slices of what it acknowledges."""
        raise NotImplementedError

    def on_loss(self, cause: str, path: PathEstimate) -> None:
        """A gap opened and was judged "congestion" or "wireless"."""

    def on_arrival(self, now_s: float, missing_segments: int, repeated: bool) -> None:
        """A data segment has arrived; so many are missing before it if it opened a gap."""

    def on_counts(self, sender: SenderCounts, uplink: UplinkCounts) -> None:
        """What the sender, and this host's uplink interface, have counted by now; before each arrival."""

    def on_sent(self, before: Backlog, after: Backlog) -> int:
        """The ACKs of the last shape are in the uplink's queue: its length after them, as this shape counts it (for
        traces)."""
        return after.packets


class AdvertisedWindow(Strategy):
    """How much may come? Write `window_bytes`."""

    _seam = "window"
    _required = ("window_bytes",)

    largest_bytes: int = 1 << 20
    """The largest window that it will ever ask for."""
    shrinks: bool = False
    """Whether the right edge may move left (RFC 9293 §3.8.6 advises against it)."""
    is_growing: bool = False
    """Whether the arrival told last has let it open further: `arrival.grows` of a timing. Read after `on_arrival`."""

    def window_bytes(self, unread_bytes: int, segment_bytes: int) -> float:
        """So many bytes may come after the next one expected."""
        raise NotImplementedError

    def on_arrival(self, now_s: float, payload_bytes: int, rtt_s: float | None) -> None:
        """A segment has arrived, with the round trip that it measured if it did."""

    def on_link_rate(self, rate_bps: int) -> None:
        """The link layer of this host tells its rate towards it: at the beginning, and when it changes."""


class LossCause(Strategy):
    """Why was it lost? Write `judge`."""

    _seam = "cause"
    _required = ("judge",)

    needs_estimate: bool = False
    """Whether it reads the path's estimate."""

    def observe(self, now_s: float, start: int, end: int, sent_s: float | None) -> None:
        """A packet has arrived above all earlier ones; `sent_s` is the sender's clock, whose differences mean something."""

    def on_report(self, start: int, end: int) -> None:
        """The link layer of this host says that it has discarded these bytes."""

    def judge(self, gap: Gap, path: PathEstimate, uniform: float) -> str:
        """A gap opened below it: "congestion" or "wireless". `uniform` is a random number from [0, 1) if it `draws`."""
        raise NotImplementedError


class Admission(Strategy):
    """May a packet join a queue (first in, first out)? Write `admit`."""

    _seam = "admission"
    _required = ("admit",)

    marks: bool = False
    """Whether it ever answers "mark"."""

    def on_start(self, rate_bps: int, seed: int) -> None:
        """The link's rate, and a number for random.Random: another one for each queue and repetition."""

    def admit(self, now_s: float, packet: Packet, queue: QueueState) -> bool | str:
        """True: it joins. False: there is no room. "early_drop": dropped before that. "mark": it joins, and is marked if
        `packet.can_be_marked`."""
        raise NotImplementedError


class Queue(Strategy):
    """Which packet leaves next, or is taken out? Write `enqueue` and `dequeue`."""

    _seam = "queue"
    _required = ("enqueue", "dequeue")

    marks: bool = False
    """Whether it ever marks."""
    dropped: list[Packet]
    """What `drop` was told since the last hook."""
    marked: list[Packet]
    """What `mark` was told since the last hook."""

    def __new__(cls, *_: object, **__: object) -> Self:
        queue = super().__new__(cls)
        queue.dropped, queue.marked = [], []
        return queue

    def drop(self, packet: Packet) -> None:
        """Drops a packet that waits, also the one that just came."""
        self.dropped.append(packet)

    def mark(self, packet: Packet) -> None:
        """Marks a packet that waits, also the one about to leave, if `packet.can_be_marked`; only with `marks`."""
        self.marked.append(packet)

    def on_start(self, rate_bps: int, seed: int) -> None:
        """The link's rate, and a number for random.Random."""

    def enqueue(self, now_s: float, packet: Packet) -> None:
        """A packet joins; `drop` it or others if there is no room."""
        raise NotImplementedError

    def dequeue(self, now_s: float) -> Packet | None:
        """The transmitter is free: the packet to send, None if none waits or none may be sent now."""
        raise NotImplementedError

    def ready_at(self, now_s: float) -> float | None:
        """`dequeue` has just given none although packets wait: when to ask again, virtual time, s; None: at the next
        arrival."""
        return None


_BASES: Sequence[type[Strategy]] = (
    CongestionControl,
    AckTiming,
    AckShape,
    AdvertisedWindow,
    LossCause,
    Admission,
    Queue,
)


class Strategies:
    """The strategies of one scenario, each under a name that scenarios can have."""

    def __init__(self) -> None:
        self._given: list[tuple[object, str, str, Strategy]] = []

    def name_of(self, value: object) -> str | None:
        """Under which name a class or an object stands; None if it is no strategy."""
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
        taken = sum(1 for _, _, known, _ in self._given if known == name or known.startswith(f"{name}_"))
        name = f"{name}_{taken + 1}" if taken else name
        self._given.append((value, made._seam, name, made))
        return name

    def name_at(self, path: str, value: object) -> str | None:
        """The same where a key takes it: a strategy answers the question of its own key alone."""
        name = self.name_of(value)
        if name is None:
            return None
        seam = next(seam for given, seam, known, _ in self._given if known == name)
        key, asked = {"admission": "queue"}.get(seam, seam), path.rpartition(".")[2]
        if asked not in (key, "kind", "sender", "receiver"):
            base = next(base.__name__ for base in _BASES if base._seam == seam)
            raise Error(
                f"`{path}` cannot be `{name}`: the strategy is of the kind {base}, for `{key}`",
                f"for instance set={{{key!r}: {name}}}",
            )
        return name

    def notes(self) -> list[str]:
        """What does nothing in a strategy, because the flag that it needs is not set."""
        return [note for _, _, _, made in self._given for note in _without_effect(made)]

    def for_engine(self) -> list[tuple[str, str, object]]:
        """Seam, name and object of each."""
        return [(seam, name, made) for _, seam, name, made in self._given]


def _made(of: type[Strategy]) -> Strategy:
    _check(of)
    try:
        return of()
    except TypeError as error:
        raise Error(
            f"`{of.__name__}` cannot be made without arguments: {error}",
            f"give an object instead of the class: {of.__name__}(…)",
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
            said = (wanted.__doc__ or "").splitlines()[0]
            raise Error(
                f"`{of.__name__}` has no `{hook}`",
                f"a {base.__name__} needs it: def {hook}({', '.join(names)}): … # {said}",
            )


def _base(of: type[Strategy]) -> type[Strategy] | None:
    return next((base for base in _BASES if issubclass(of, base)), None)


def _own(of: type[Strategy], base: type[Strategy]) -> Iterator[tuple[str, object]]:
    """What a class and its bases have beyond `base`; of one name the class's own comes last."""
    for one in reversed(of.__mro__):
        if not issubclass(base, one):
            yield from vars(one).items()


def _refuse_misspelt(of: type[Strategy], base: type[Strategy]) -> None:
    """A method that is called like a hook and is none would never be called."""
    hooks = [name for name in dir(base) if not name.startswith("_") and callable(getattr(base, name))]
    for one in (one for one in of.__mro__ if not issubclass(base, one)):
        left = [hook for hook in hooks if hook not in vars(one)]
        for name, value in vars(one).items():
            if name in hooks or name.startswith("_") or not isinstance(value, FunctionType):
                continue
            meant = difflib.get_close_matches(name, left, n=1, cutoff=0.8)
            if not name.startswith("on_") and not meant:
                continue
            asked = f"did you mean `{meant[0]}`? " if meant else ""
            raise Error(
                f"`{of.__name__}.{name}` is no hook: nothing calls it",
                f"{asked}hooks of a {base.__name__}: {', '.join(hooks)}; a method of your own may begin with `_`",
            )


_OLD_NAMES = {"samples": "rate_samples"}
"""Flags that had another name."""


def _refuse_old_names(made: Strategy) -> None:
    for old, new in _OLD_NAMES.items():
        if isinstance(made, CongestionControl) and isinstance(getattr(made, old, None), bool):
            raise Error(f"`{type(made).__name__}.{old}` is called `{new}`", f"write {new} = True")


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
            yield f"{type(made).__name__}: {listed} without effect; write {flag} = True in the class"


def _foreign(of: type) -> Error:
    bases = ", ".join(f"lasthop.{base.__name__}" for base in _BASES)
    return Error(
        f"`{of.__name__}` is no strategy",
        f"derive the class from the one whose question it answers: {bases}",
    )
