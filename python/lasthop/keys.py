"""The names of scenarios as types: editors complete them, and type checkers know them.

Made by python/build/keys.py from the engine's own schema; a test compares the two.
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias, TypedDict

from lasthop.strategy import (
    AckShape,
    AckTiming,
    Admission,
    AdvertisedWindow,
    CongestionControl,
    LossCause,
    Queue,
)


RecoveryChoice: TypeAlias = (
    Literal["tahoe", "reno", "new_reno", "sack", "sack1", "rack", "ncr", "dcr"]
    | str
    | Mapping[str, object]
)
"""loss recovery"""


ReductionChoice: TypeAlias = Literal["at_once", "prr"] | str | Mapping[str, object]
"""window reduction in recovery"""


Slow_StartChoice: TypeAlias = Literal["none", "hystart", "hystart_pp"] | str | Mapping[str, object]
"""slow start exit"""


CongestionChoice: TypeAlias = (
    Literal["reno", "cubic", "bbr", "bbr3", "prague", "westwood", "westwood_plus", "w_cw", "veno", "jersey", "new_jersey", "jtcp", "hybla", "peach", "vegas"]
    | str
    | Mapping[str, object]
    | CongestionControl
    | type[CongestionControl]
)
"""congestion control"""


CountingChoice: TypeAlias = (
    Literal["per_ack", "rfc5681", "bytes", "packets", "delivered"]
    | str
    | Mapping[str, object]
)
"""window credit per ACK"""


JudgeChoice: TypeAlias = (
    Literal["always", "tagged", "eln", "hack", "lhack", "coherence", "ecn", "ncpld", "santa_cruz", "trend", "ebsn"]
    | str
    | Mapping[str, object]
)
"""loss discrimination by the sender"""


TimingChoice: TypeAlias = (
    Literal["immediate", "delayed", "linux", "dupack_delay", "coherence"]
    | str
    | Mapping[str, object]
    | AckTiming
    | type[AckTiming]
)
"""ACK policy"""


ShapeChoice: TypeAlias = (
    Literal["once", "copies", "by_loss", "split"]
    | str
    | Mapping[str, object]
    | AckShape
    | type[AckShape]
)
"""ACK splitting"""


EchoChoice: TypeAlias = Literal["latched", "per_packet"] | str | Mapping[str, object]
"""ECN echo"""


WindowChoice: TypeAlias = (
    Literal["buffer", "link_rate", "dynamic", "autotuned", "freeze"]
    | str
    | Mapping[str, object]
    | AdvertisedWindow
    | type[AdvertisedWindow]
)
"""advertised window"""


CauseChoice: TypeAlias = (
    Literal["always", "mac", "jtcp", "rtt", "hack"]
    | str
    | Mapping[str, object]
    | LossCause
    | type[LossCause]
)
"""loss discrimination by the receiver"""


EstimateChoice: TypeAlias = Literal["rate_times_rtt", "oracle"] | str | Mapping[str, object]
"""estimate of the sender's window"""


QueueChoice: TypeAlias = (
    Literal["drop_tail", "red", "warn", "policer", "tag_drop", "cbq", "sfq", "tbf", "codel", "fq_codel", "pie", "cake", "dualpi2", "low_first"]
    | str
    | Mapping[str, object]
    | Admission
    | type[Admission]
    | Queue
    | type[Queue]
)
"""queue discipline"""


ChannelChoice: TypeAlias = (
    Literal["none", "iid", "bit_error", "two_state", "fading", "scripted"]
    | str
    | Mapping[str, object]
)
"""losses over the air"""


ArqChoice: TypeAlias = Literal["none", "repeat", "rlc", "harq", "wifi", "fec"] | str | Mapping[str, object]
"""link-layer retransmission"""


JitterChoice: TypeAlias = Literal["none", "random"] | str | Mapping[str, object]
"""random delay"""


MiddleboxChoice: TypeAlias = (
    Literal["none", "snoop", "snoop_sack", "split", "itcp", "metp", "eln", "mtcp", "spack", "wtcp", "atcp", "ebsn", "lhack"]
    | str
    | Mapping[str, object]
)
"""middlebox between the node's links"""


class Direction(TypedDict, total=False):
    """One direction of a link."""

    rate: str
    """constant rate; or else `plan` or `trace`"""
    plan: str
    """rate that changes at given times instead, from the start again after the last; "0 bit/s" is an outage,
    "5..20 Mbit/s" another rate each time"""
    trace: str
    """recorded rate instead: a packet-delivery trace in Mahimahi's format, beside the scenario's file"""
    light: str
    """base delays and packet trains that CellReplay recorded beside its heavy `trace`, for a sender that is
    not always busy"""
    light_timer: str
    """with `light`: how long the link must be at rest until a train begins, whole ms"""
    light_sizes: str
    """with `light`: by how much packets are later by their size, CellReplay's latency-offset"""
    one_way_delay: str
    """propagation delay"""
    delay_plan: str
    """what comes to one_way_delay at given times, from the start again after the last; a range: another delay
    each time, the same up and down"""
    loss_plan: str
    """share of transmissions that is lost at given times beside what the channel destroys, from the start
    again after the last"""
    duplicate: float | str
    """share of packets that are there twice: the copy joins at once behind the original, and is not copied
    again"""
    corrupt: float | str
    """share of packets of which a bit turns over past the link layer: they fail the checksum of the host they
    reach"""
    residual_loss: float | str
    """share of packets that is lost behind the link layer, beside what the link itself gives up: no `arq`
    retransmits them"""
    residual_burst: float | str
    """with `residual_loss`: mean length of a burst of such losses, packets; without it each packet is lost
    independently"""
    queue: QueueChoice
    """queue discipline"""
    channel: ChannelChoice
    """losses over the air"""
    arq: ArqChoice
    """link-layer retransmission"""
    jitter: JitterChoice
    """random delay"""


_LinkWords = TypedDict("_LinkWords", {"from": str}, total=False)


class Link(_LinkWords, total=False):
    """A link between two nodes."""

    to: str
    """node at the lower end"""
    cell: str
    """name of the medium that it shares with other links that say the same (with arq = "wifi")"""
    down: Direction
    """the direction from -> to, where it differs"""
    up: Direction
    """the direction to -> from, where it differs"""
    rate: str
    """constant rate; or else `plan` or `trace`"""
    plan: str
    """rate that changes at given times instead, from the start again after the last; "0 bit/s" is an outage,
    "5..20 Mbit/s" another rate each time"""
    trace: str
    """recorded rate instead: a packet-delivery trace in Mahimahi's format, beside the scenario's file"""
    light: str
    """base delays and packet trains that CellReplay recorded beside its heavy `trace`, for a sender that is
    not always busy"""
    light_timer: str
    """with `light`: how long the link must be at rest until a train begins, whole ms"""
    light_sizes: str
    """with `light`: by how much packets are later by their size, CellReplay's latency-offset"""
    one_way_delay: str
    """propagation delay"""
    delay_plan: str
    """what comes to one_way_delay at given times, from the start again after the last; a range: another delay
    each time, the same up and down"""
    loss_plan: str
    """share of transmissions that is lost at given times beside what the channel destroys, from the start
    again after the last"""
    duplicate: float | str
    """share of packets that are there twice: the copy joins at once behind the original, and is not copied
    again"""
    corrupt: float | str
    """share of packets of which a bit turns over past the link layer: they fail the checksum of the host they
    reach"""
    residual_loss: float | str
    """share of packets that is lost behind the link layer, beside what the link itself gives up: no `arq`
    retransmits them"""
    residual_burst: float | str
    """with `residual_loss`: mean length of a burst of such losses, packets; without it each packet is lost
    independently"""
    queue: QueueChoice
    """queue discipline"""
    channel: ChannelChoice
    """losses over the air"""
    arq: ArqChoice
    """link-layer retransmission"""
    jitter: JitterChoice
    """random delay"""


class Node(TypedDict, total=False):
    """A node between links."""

    middlebox: MiddleboxChoice
    """middlebox between the node's links; "none" by default"""


class Sender(TypedDict, total=False):
    """A flow's sender."""

    recovery: RecoveryChoice
    """loss recovery; "sack" by default"""
    reduction: ReductionChoice
    """window reduction in recovery; "at_once" by default"""
    slow_start: Slow_StartChoice
    """slow start exit; "none" by default"""
    congestion: CongestionChoice
    """congestion control; "reno" by default"""
    counting: CountingChoice
    """window credit per ACK; "rfc5681" by default"""
    judge: JudgeChoice
    """loss discrimination by the sender; "always" by default"""
    initial_window: int | str
    """segments (RFC 6928: 10; the papers of the 2000s: 1 or 2); 10 by default"""
    initial_ssthresh: str
    """initial slow start threshold: "unlimited" or an amount; "unlimited" by default"""
    validate_window: bool | str
    """cwnd grows only while it is used (see validate_by); false by default"""
    validate_by: Literal["rfc7661", "linux"] | str
    """the use that lets it grow: half of cwnd in a round trip (RFC 7661); more than half in slow start, else
    all of it (Linux); "rfc7661" by default"""
    ecn_waits: bool | str
    """an echo at a window of one segment makes the next wait for the timer (RFC 3168); false by default"""
    freeze: bool | str
    """a window of zero stops the retransmission timer and leaves cwnd as it is (BSD's persist; Linux goes on
    and reduces); false by default"""
    f_rto: bool | str
    """spurious timeouts are found and undone (F-RTO, RFC 5682; with SACK its section 3); false by default"""
    dsack_undo: bool | str
    """a recovery is undone if all that it sent again had arrived already (D-SACK, RFC 3708); false by default"""
    eifel: bool | str
    """timeouts and recoveries are undone if a timestamp tells that an original arrived (Eifel, RFC 3522);
    false by default"""
    undo: Literal["rfc4015", "linux"] | str
    """what is given back then: what is in flight and a small burst, and a longer timeout (RFC 4015), or all
    (Linux); "rfc4015" by default"""
    loss_window: Literal["one", "in_flight"] | str
    """cwnd after a timeout: one segment (RFC 5681), or one beside what is not given up (Linux, and BBR
    always); "one" by default"""
    sack_rtt: bool | str
    """round trips are measured by what SACK reports, too (Linux; with recovery = "rack"); false by default"""
    rto: Literal["rfc6298", "linux"] | str
    """the timeout: min_rto at least in all (RFC 6298), or SRTT + max(min_rto, 4 RTTVAR) (Linux); "rfc6298" by
    default"""
    min_rto: str
    """smallest retransmission timeout (RFC 6298: 1 s); "200 ms" by default"""
    max_rto: str
    """largest, back-off included (RFC 6298: at least 60 s); "60 s" by default"""
    initial_rto: str
    """before the first round trip is measured (RFC 6298: 1 s); "1 s" by default"""
    tick: str
    """granularity of the timeout's clock; "0 s": exact; "1 ms" by default"""


class Receiver(TypedDict, total=False):
    """A flow's receiver."""

    timing: TimingChoice
    """ACK policy; "delayed" by default"""
    shape: ShapeChoice
    """ACK splitting; "once" by default"""
    echo: EchoChoice
    """ECN echo; "latched" by default"""
    window: WindowChoice
    """advertised window; "buffer" by default"""
    cause: CauseChoice
    """loss discrimination by the receiver; "always" by default"""
    estimate: EstimateChoice
    """estimate of the sender's window; "rate_times_rtt" by default"""


_FlowWords = TypedDict("_FlowWords", {"from": str}, total=False)


class Flow(_FlowWords, total=False):
    """A flow of packets between two nodes."""

    to: str
    """node that receives"""
    kind: Literal["tcp", "cbr", "on_off"] | str
    """what it sends"""
    start: str
    """when it begins; "0 s" by default"""
    count: int | str
    """how many such flows; two and more are called NAME.1, NAME.2 …; 1 by default"""
    stagger: str
    """time between the starts of two of them; "0 s" by default"""
    start_spread: str
    """each begins later by a random time up to this, in each run by another; "0 s" by default"""
    profile: Literal["plain", "rfc", "linux"] | str
    """what sender and receiver are where they say nothing; one-line and most ready paths say linux; "plain"
    by default"""
    transfer: str
    """"bulk": as much as it can until the run ends; or an amount; "bulk" by default"""
    arrivals: str
    """a file of transfers instead of one: seconds and bytes a line, beside the scenario's file; each is a
    connection, NAME.1, NAME.2 …; those that would begin when the run is over are left out"""
    segment: str
    """payload of a full segment; "1448 bytes" by default"""
    sack: bool | str
    """offer selective acknowledgements (RFC 2018); true by default"""
    dsack: bool | str
    """with SACK, tell the sender what arrived twice (RFC 2883); true by default"""
    timestamps: bool | str
    """offer timestamps (RFC 7323); true by default"""
    timestamp_tick: str
    """tick of the timestamps' clock (RFC 7323: 1 ms to 1 s; "1 us" is as good as exact); "1 ms" by default"""
    ecn: bool | str
    """offer explicit congestion notification (RFC 3168); false by default"""
    ecn_feedback: Literal["auto", "classic", "accurate"] | str
    """how marks are told: as ecn says (classic), or in detail (AccECN, RFC 9768); auto: where congestion is
    for it (prague); "auto" by default"""
    nagle: bool | str
    """a short segment waits while data is outstanding (RFC 9293, section 3.7.4); true by default"""
    processing: str
    """each packet leaves its host later by a random time up to this, in order (as ns-2's overhead_); "0 s" by
    default"""
    opaque: bool | str
    """its headers are encrypted (IPsec): middleboxes cannot read them, and let it pass; false by default"""
    time_wait: str
    """length of TIME-WAIT (2 MSL); "60 s" by default"""
    sender: Sender
    """the end that sends"""
    receiver: Receiver
    """the end that receives"""
    request: str
    """the end at `to`, a client, opens the connection and asks with so much, again and again; with `response`"""
    response: str
    """what the sender answers each request with; completion times are those of each request, the handshake in
    the first"""
    sizes: Literal["fixed", "exponential", "pareto", "web", "video"] | str
    """how responses spread about `response`, as in `lasthop arrivals`; pareto: shape 1.5; all alike without
    it"""
    think: str
    """time from a response's last byte to the next request; at once without it"""
    every: str
    """instead of `think`: requests are due so far apart, as a video's segments are; one waits for the
    response before it"""
    exchanges: int | str
    """after so many requests the client closes; without it they go on until the run ends"""
    on: str
    """how long the sender has data, before it pauses for `off`"""
    off: str
    """how long it has none then; at its beginning it has some"""
    period: Literal["fixed", "exponential", "pareto"] | str
    """how `on` and `off`, or `think`, spread about what is said; pareto: shape 1.5; always that long without
    it"""
    write_rate: str
    """the sender's application writes at this rate, while on if it pauses; without it as much as TCP takes"""
    rate: str
    """rate while it sends, payload only"""
    packet: str
    """payload of a datagram"""
    stop: str
    """when it ends; without it, with the run"""
    jitter: str
    """each datagram is late by a random time up to this; they keep their order; "0 s" by default"""
    burst: int | str
    """so many datagrams leave back to back, at the same mean rate; 1: evenly spaced; 1 by default"""


class ScenarioKeys(TypedDict, total=False):
    """A scenario."""

    title: str
    """what this is, one line"""
    source: str
    """where its numbers come from"""
    duration: str
    """length of a run, in virtual time; "60 s" by default"""
    seed: int | str
    """where random numbers begin; each repetition has streams of its own; 1 by default"""
    runs: int | str
    """number of repetitions; 10 by default"""
    warmup: str
    """a part of `duration`, from its beginning: what is measured in it is left out, and transfers that begin
    in it"""
    headers: str
    """what links charge per packet beside the payload: "real", "none" or an amount; "real" by default"""
    sample: str
    """time between two samples of a probe; longer by default in runs of over a million s; "100 ms" by default"""
    link: Mapping[str, Link]
    """links by name; nodes come into being by being named in them"""
    node: Mapping[str, Node]
    """nodes by name: what stands at those that links name"""
    flow: Mapping[str, Flow]
    """flows by name"""
    route: Mapping[str, Mapping[str, str]]
    """node.destination = next node: overrides the shortest path (fewest links)"""
