"""The names of scenarios as types: editors complete them, and type checkers know them.

Made by python/build/keys.py from the engine's own schema; a test compares the two.
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias, TypedDict

from lasthop.strategy import (
    AckPolicy,
    AckSplitting,
    Admission,
    AdvertisedWindow,
    CongestionControl,
    LossDiscriminator,
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


SlowStartChoice: TypeAlias = Literal["none", "hystart", "hystart_pp"] | str | Mapping[str, object]
"""slow start exit"""


CongestionChoice: TypeAlias = (
    Literal["reno", "cubic", "bbr", "bbr3", "prague", "westwood", "westwood_plus", "w_cw", "veno", "jersey", "new_jersey", "jtcp", "hybla", "peach", "vegas"]
    | str
    | Mapping[str, object]
    | CongestionControl
    | type[CongestionControl]
)
"""congestion control"""


AckCountingChoice: TypeAlias = (
    Literal["per_ack", "rfc5681", "bytes", "packets", "delivered"]
    | str
    | Mapping[str, object]
)
"""window credit per ACK (byte counting)"""


SenderLossDiscriminationChoice: TypeAlias = (
    Literal["always", "tagged", "eln", "hack", "lhack", "coherence", "ecn", "ncpld", "santa_cruz", "trend", "ebsn"]
    | str
    | Mapping[str, object]
)
"""loss discrimination by the sender"""


AckPolicyChoice: TypeAlias = (
    Literal["immediate", "delayed", "linux", "dupack_delay", "coherence"]
    | str
    | Mapping[str, object]
    | AckPolicy
    | type[AckPolicy]
)
"""ACK policy"""


AckSplittingChoice: TypeAlias = (
    Literal["once", "copies", "by_loss", "split"]
    | str
    | Mapping[str, object]
    | AckSplitting
    | type[AckSplitting]
)
"""ACK splitting"""


EcnEchoChoice: TypeAlias = Literal["latched", "per_packet"] | str | Mapping[str, object]
"""ECN echo"""


WindowChoice: TypeAlias = (
    Literal["buffer", "link_rate", "dynamic", "autotuned", "freeze"]
    | str
    | Mapping[str, object]
    | AdvertisedWindow
    | type[AdvertisedWindow]
)
"""advertised window"""


ReceiverLossDiscriminationChoice: TypeAlias = (
    Literal["always", "mac", "jtcp", "rtt", "hack"]
    | str
    | Mapping[str, object]
    | LossDiscriminator
    | type[LossDiscriminator]
)
"""loss discrimination by the receiver"""


WindowEstimateChoice: TypeAlias = Literal["rate_times_rtt", "oracle"] | str | Mapping[str, object]
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
"""channel error model"""


ArqChoice: TypeAlias = Literal["none", "repeat", "rlc", "harq", "wifi", "fec"] | str | Mapping[str, object]
"""link-layer error control"""


JitterChoice: TypeAlias = Literal["none", "random"] | str | Mapping[str, object]
"""delay variation"""


MiddleboxChoice: TypeAlias = (
    Literal["none", "snoop", "snoop_sack", "split", "itcp", "metp", "eln", "mtcp", "spack", "wtcp", "atcp", "ebsn", "lhack"]
    | str
    | Mapping[str, object]
)
"""middlebox between the node's links"""


class Direction(TypedDict, total=False):
    """One direction of a link."""

    rate: str
    """constant rate; alternatives: `plan`, `trace`"""
    plan: str
    """rate that changes at given times, repeated; "0 bit/s" is an outage, "5..20 Mbit/s" a rate drawn from
    this range each time"""
    trace: str
    """recorded rate: a packet-delivery trace in Mahimahi's format, next to the scenario's file"""
    light: str
    """base delays and packet trains that CellReplay recorded with its heavy `trace`, for a sender that is not
    always busy"""
    light_timer: str
    """with `light`: idle time of the link before a train begins, whole ms"""
    light_sizes: str
    """with `light`: extra delay of packets by their size, CellReplay's latency-offset"""
    one_way_delay: str
    """propagation delay"""
    delay_plan: str
    """delay added to one_way_delay at given times, repeated; a range: drawn anew each time, the same up and
    down"""
    loss_plan: str
    """share of transmissions lost at given times, repeated, in addition to the channel's losses"""
    duplicate: float | str
    """share of packets duplicated; the copy is enqueued directly behind the original and is not duplicated
    again"""
    corrupt: float | str
    """share of packets with a bit error that the link layer misses; they fail the checksum of the receiving
    host"""
    residual_loss: float | str
    """share of packets lost after the link layer, in addition to packets that the link gives up; no `arq`
    retransmits these losses"""
    residual_burst: float | str
    """with `residual_loss`: mean length of a loss burst, packets; default: independent losses"""
    queue: QueueChoice
    """queue discipline"""
    channel: ChannelChoice
    """channel error model"""
    arq: ArqChoice
    """link-layer error control"""
    jitter: JitterChoice
    """delay variation"""


_LinkWords = TypedDict("_LinkWords", {"from": str}, total=False)


class Link(_LinkWords, total=False):
    """A link between two nodes."""

    to: str
    """downstream node"""
    cell: str
    """name of the shared medium; all links with this name share it (with arq = "wifi")"""
    down: Direction
    """keys that differ in the direction from -> to"""
    up: Direction
    """keys that differ in the direction to -> from"""
    rate: str
    """constant rate; alternatives: `plan`, `trace`"""
    plan: str
    """rate that changes at given times, repeated; "0 bit/s" is an outage, "5..20 Mbit/s" a rate drawn from
    this range each time"""
    trace: str
    """recorded rate: a packet-delivery trace in Mahimahi's format, next to the scenario's file"""
    light: str
    """base delays and packet trains that CellReplay recorded with its heavy `trace`, for a sender that is not
    always busy"""
    light_timer: str
    """with `light`: idle time of the link before a train begins, whole ms"""
    light_sizes: str
    """with `light`: extra delay of packets by their size, CellReplay's latency-offset"""
    one_way_delay: str
    """propagation delay"""
    delay_plan: str
    """delay added to one_way_delay at given times, repeated; a range: drawn anew each time, the same up and
    down"""
    loss_plan: str
    """share of transmissions lost at given times, repeated, in addition to the channel's losses"""
    duplicate: float | str
    """share of packets duplicated; the copy is enqueued directly behind the original and is not duplicated
    again"""
    corrupt: float | str
    """share of packets with a bit error that the link layer misses; they fail the checksum of the receiving
    host"""
    residual_loss: float | str
    """share of packets lost after the link layer, in addition to packets that the link gives up; no `arq`
    retransmits these losses"""
    residual_burst: float | str
    """with `residual_loss`: mean length of a loss burst, packets; default: independent losses"""
    queue: QueueChoice
    """queue discipline"""
    channel: ChannelChoice
    """channel error model"""
    arq: ArqChoice
    """link-layer error control"""
    jitter: JitterChoice
    """delay variation"""


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
    slow_start: SlowStartChoice
    """slow start exit; "none" by default"""
    congestion: CongestionChoice
    """congestion control; "reno" by default"""
    ack_counting: AckCountingChoice
    """window credit per ACK (byte counting); "rfc5681" by default"""
    loss_discrimination: SenderLossDiscriminationChoice
    """loss discrimination by the sender; "always" by default"""
    initial_window: int | str
    """initial window, segments (RFC 6928: 10; the papers of the 2000s: 1 or 2); 10 by default"""
    initial_ssthresh: str
    """initial slow start threshold: "unlimited" or an amount; "unlimited" by default"""
    validate_window: bool | str
    """cwnd grows only while the sender uses it (see validate_by); false by default"""
    validate_by: Literal["rfc7661", "linux"] | str
    """part of cwnd that must be used for cwnd to grow: half per round trip (RFC 7661); more than half in slow
    start, all in congestion avoidance (Linux); "rfc7661" by default"""
    ecn_waits: bool | str
    """an ECN echo at a window of one segment delays the next segment until the timer expires (RFC 3168);
    false by default"""
    freeze: bool | str
    """a zero window stops the retransmission timer and keeps cwnd (BSD's persist; Linux retransmits and
    reduces cwnd); false by default"""
    f_rto: bool | str
    """detect and undo spurious timeouts (F-RTO, RFC 5682; with SACK its section 3); false by default"""
    dsack_undo: bool | str
    """undo a recovery if all its retransmissions were unnecessary (D-SACK, RFC 3708); false by default"""
    eifel: bool | str
    """undo timeouts and recoveries if a timestamp shows that an original arrived (Eifel, RFC 3522); false by
    default"""
    undo: Literal["rfc4015", "linux"] | str
    """window after an undo: bytes in flight and a small burst, with a longer timeout (RFC 4015), or the whole
    former window (Linux); "rfc4015" by default"""
    loss_window: Literal["one", "in_flight"] | str
    """cwnd after a timeout: one segment (RFC 5681), or one segment plus bytes not marked lost (Linux; always
    with BBR); "one" by default"""
    sack_rtt: bool | str
    """also measure round trips from SACK blocks (Linux; with recovery = "rack"); false by default"""
    rto: Literal["rfc6298", "linux"] | str
    """timeout formula: max(min_rto, SRTT + 4 RTTVAR) (RFC 6298), or SRTT + max(min_rto, 4 RTTVAR) (Linux);
    "rfc6298" by default"""
    min_rto: str
    """smallest retransmission timeout (RFC 6298: 1 s); "200 ms" by default"""
    max_rto: str
    """largest timeout, back-off included (RFC 6298: at least 60 s); "60 s" by default"""
    initial_rto: str
    """timeout before the first round trip is measured (RFC 6298: 1 s); "1 s" by default"""
    tick: str
    """clock granularity of the timeout; "0 s": exact; "1 ms" by default"""


class Receiver(TypedDict, total=False):
    """A flow's receiver."""

    ack_policy: AckPolicyChoice
    """ACK policy; "delayed" by default"""
    ack_splitting: AckSplittingChoice
    """ACK splitting; "once" by default"""
    ecn_echo: EcnEchoChoice
    """ECN echo; "latched" by default"""
    window: WindowChoice
    """advertised window; "buffer" by default"""
    loss_discrimination: ReceiverLossDiscriminationChoice
    """loss discrimination by the receiver; "always" by default"""
    window_estimate: WindowEstimateChoice
    """estimate of the sender's window; "rate_times_rtt" by default"""


_FlowWords = TypedDict("_FlowWords", {"from": str}, total=False)


class Flow(_FlowWords, total=False):
    """A flow of packets between two nodes."""

    to: str
    """node that receives"""
    kind: Literal["tcp", "cbr", "on_off"] | str
    """traffic of the flow"""
    start: str
    """start time; "0 s" by default"""
    count: int | str
    """number of such flows; two or more are called NAME.1, NAME.2 …; 1 by default"""
    stagger: str
    """time between the starts of two replicas; "0 s" by default"""
    start_spread: str
    """largest random delay of each start, drawn anew in each run; "0 s" by default"""
    profile: Literal["plain", "rfc", "linux"] | str
    """defaults of sender and receiver; one-line scenarios and most ready paths use linux; "plain" by default"""
    transfer: str
    """"bulk": as much as possible until the run ends; or an amount; "bulk" by default"""
    arrivals: str
    """file of transfers, next to the scenario's file: one start (seconds) and one size (bytes) per line; each
    transfer is a connection, NAME.1, NAME.2 …; transfers that begin after the run's end are left out"""
    segment: str
    """payload of a full segment; "1448 bytes" by default"""
    sack: bool | str
    """offer selective acknowledgements (RFC 2018); true by default"""
    dsack: bool | str
    """with SACK, report segments that arrived twice (D-SACK, RFC 2883); true by default"""
    timestamps: bool | str
    """offer timestamps (RFC 7323); true by default"""
    timestamp_tick: str
    """tick of the timestamp clock (RFC 7323: 1 ms to 1 s; "1 us" is practically exact); "1 ms" by default"""
    ecn: bool | str
    """offer explicit congestion notification (RFC 3168); false by default"""
    ecn_feedback: Literal["auto", "classic", "accurate"] | str
    """ECN feedback as set by ecn (classic), or AccECN (accurate, RFC 9768); auto: AccECN if congestion
    control needs it (prague); "auto" by default"""
    nagle: bool | str
    """Nagle's algorithm: a short segment waits while data is outstanding (RFC 9293, section 3.7.4); true by
    default"""
    processing: str
    """largest random processing delay of each packet at its host, without reordering (as ns-2's overhead_);
    "0 s" by default"""
    opaque: bool | str
    """encrypted headers (IPsec): middleboxes cannot read the packets and forward them unchanged; false by
    default"""
    time_wait: str
    """length of TIME-WAIT (2 MSL); "60 s" by default"""
    sender: Sender
    """keys of the sending end"""
    receiver: Receiver
    """keys of the receiving end"""
    request: str
    """size of each request; the client (at `to`) opens the connection and sends requests in sequence; needs
    `response`"""
    response: str
    """size of the response to each request; completion times are per request; the first includes the
    handshake"""
    sizes: Literal["fixed", "exponential", "pareto", "web", "video"] | str
    """distribution of response sizes, as in `lasthop arrivals`; pareto: shape 1.5; default: all equal"""
    think: str
    """time from a response's last byte to the next request; default: 0 s"""
    every: str
    """interval between requests, instead of `think`, as for video segments; a request waits for the preceding
    response"""
    exchanges: int | str
    """number of requests after which the client closes; default: no limit until the run ends"""
    on: str
    """time for which the sender has data before it pauses for `off`"""
    off: str
    """length of the pause; the sender starts with data"""
    period: Literal["fixed", "exponential", "pareto"] | str
    """distribution of `on` and `off`, or of `think`; pareto: shape 1.5; default: constant"""
    write_rate: str
    """rate at which the sender's application writes (outside pauses); default: as fast as TCP accepts"""
    rate: str
    """rate while sending, payload only"""
    packet: str
    """payload of a datagram"""
    stop: str
    """end time; default: the end of the run"""
    jitter: str
    """largest random delay of each datagram, without reordering; "0 s" by default"""
    burst: int | str
    """number of datagrams sent back to back, at the same mean rate; 1: evenly spaced; 1 by default"""


class ScenarioKeys(TypedDict, total=False):
    """A scenario."""

    title: str
    """title, one line"""
    source: str
    """origin of the scenario's numbers"""
    duration: str
    """length of a run, in virtual time; "60 s" by default"""
    seed: int | str
    """seed of the random numbers; each repetition has its own streams; 1 by default"""
    runs: int | str
    """number of repetitions; 10 by default"""
    warmup: str
    """unmeasured first part of `duration`; transfers that begin in it are left out too"""
    headers: str
    """header bytes that links charge per packet: "real", "none" or an amount; "real" by default"""
    sample: str
    """time between two samples of a probe; a run longer than 1,000,000 s has at most 10 million samples by
    default; "100 ms" by default"""
    link: Mapping[str, Link]
    """links by name; naming a node in a link creates it"""
    node: Mapping[str, Node]
    """nodes by name: middleboxes between links"""
    flow: Mapping[str, Flow]
    """flows by name"""
    route: Mapping[str, Mapping[str, str]]
    """node.destination = next node: overrides the shortest path (fewest links)"""
