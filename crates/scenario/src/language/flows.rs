//! Keys of a flow, for each kind of traffic.

use super::{LONGEST, MAX_FLOWS, QUIC, SHORTEST, SPAN, TIME, TRAFFIC, seam_keys};
use crate::applications;
use crate::catalogue::Catalogue;
use crate::dscp;
use crate::key::{Key, ValueType};
use crate::text::plain;
use lasthop_base::{Duration, Unit, Value};
use lasthop_tcp::{Config, profile};
use std::sync::LazyLock;

/// Largest payload of a packet, bytes. With the longest headers such a packet is within IP's limit of 65,535 bytes.
const LARGEST_PAYLOAD: u64 = 65_000;

pub(crate) fn any_flow() -> Vec<Key> {
    vec![
        Key::required("from", ValueType::Node, "node that sends"),
        Key::required("to", ValueType::Node, "node that receives"),
        Key::default(
            "kind",
            ValueType::Unit(Unit::Word(TRAFFIC)),
            "tcp",
            "type of traffic; quic: a QUIC stack in place of TCP (`stack`); cbr: datagrams at a constant bit rate; on_off: \
             the same with pauses",
        ),
        Key::default("start", ValueType::Unit(TIME), "0 s", "start time"),
        Key::default(
            "count",
            ValueType::Unit(Unit::Count(1, MAX_FLOWS)),
            "1",
            "number of such flows; two or more are called NAME.1, NAME.2 …",
        ),
        Key::default("stagger", ValueType::Unit(TIME), "0 s", "time between the starts of two replicas"),
        Key::default(
            "start_spread",
            ValueType::Unit(TIME),
            "0 s",
            "largest random delay of each start, drawn anew in each run",
        ),
        Key::default(
            "dscp",
            ValueType::WordOr(dscp::WORDS, Unit::Count(0, dscp::LARGEST)),
            dscp::DEFAULT,
            "code point (DSCP) in the IP header of the packets in both directions (RFC 2474): be: best effort; le: \
             lower effort; ef: expedited forwarding; va: voice admit; af11 … cs7: classes; or the number",
        ),
    ]
}

/// Returns the keys of a flow with this kind of traffic. For an unknown kind, returns the keys for datagrams. TCP flows
/// and QUIC flows have the same keys, so that a comparison can vary the kind.
pub(crate) fn flow(catalogue: &Catalogue, kind: &str) -> Vec<Key> {
    let mut keys = plain_flow(kind).to_vec();
    if is_stream(kind) {
        keys.extend(seam_keys(catalogue, "flow"));
    }
    keys
}

/// Returns the keys of [`flow`], without the keys that select a mechanism.
pub(crate) fn plain_flow(kind: &str) -> &'static [Key] {
    static KEYS: LazyLock<Vec<Vec<Key>>> =
        LazyLock::new(|| TRAFFIC.iter().map(|kind| listed_flow(kind)).collect());
    &KEYS[TRAFFIC.iter().position(|known| *known == kind).unwrap_or(TRAFFIC.len() - 1)]
}

/// Returns whether flows of this kind carry a stream of bytes.
pub(crate) fn is_stream(kind: &str) -> bool {
    matches!(kind, "tcp" | QUIC)
}

fn listed_flow(kind: &str) -> Vec<Key> {
    let mut keys = any_flow();
    if is_stream(kind) {
        keys.extend(tcp());
        keys.extend(applications::keys());
        return keys;
    }
    keys.extend([
        Key::required("rate", ValueType::Unit(Unit::Rate), "rate while sending, payload only"),
        Key::required("packet", ValueType::Unit(Unit::Bytes(1, LARGEST_PAYLOAD)), "payload of a datagram"),
        Key::optional("stop", ValueType::Unit(SPAN), "30 s", "end time; default: the end of the run"),
        Key::default(
            "jitter",
            ValueType::Unit(TIME),
            "0 s",
            "largest random delay of each datagram, without reordering",
        ),
        Key::default(
            "burst",
            ValueType::Unit(Unit::Count(1, 10_000)),
            "1",
            "number of datagrams sent back to back, at the same mean rate; 1: evenly spaced",
        ),
    ]);
    if kind == "on_off" {
        keys.extend([
            Key::required("on", ValueType::Unit(SPAN), "length of a burst, or its mean"),
            Key::required("off", ValueType::Unit(SPAN), "length of a pause, or its mean"),
            Key::default(
                "period",
                ValueType::Unit(Unit::Word(&["fixed", "exponential"])),
                "fixed",
                "distribution of the lengths of bursts and pauses",
            ),
        ]);
    }
    keys
}

fn tcp() -> Vec<Key> {
    let config = Config::default();
    let flag =
        |name, default: bool, doc| Key::default(name, ValueType::Unit(Unit::Flag), default.to_string(), doc);
    let time = |name, default: Duration, low: Duration, high: Duration, doc| {
        Key::default(name, ValueType::Unit(Unit::Duration(low, high)), default.to_string(), doc)
    };
    vec![
        Key::default(
            "profile",
            ValueType::Unit(Unit::Word(profile::NAMES)),
            profile::DEFAULT.name,
            "defaults of sender and receiver; one-line scenarios and most ready paths use linux",
        ),
        Key::default(
            "transfer",
            ValueType::WordOr(&["bulk", applications::EXTERNAL], Unit::Bytes(1, 1_000_000_000_000_000)),
            "bulk",
            "\"bulk\": as much as possible until the run ends; \"external\": the program that steps the run decides times \
             and amounts of data, and the end of the data; or an amount",
        ),
        Key::optional(
            "arrivals",
            ValueType::FileOrProcess,
            "web.arrivals",
            "file of transfers, next to the scenario's file. Each line has a start in seconds and a size in bytes. Or \
             \"poisson 80 ms\": transfers of mean size `transfer` at random times, drawn anew in each run, within \
             `start_spread` or until the run ends. Each transfer is a connection, NAME.1, NAME.2 …; transfers that \
             begin after the run's end are left out",
        ),
        Key::default(
            "segment",
            ValueType::Unit(Unit::Bytes(1, LARGEST_PAYLOAD)),
            plain(&Value::Bytes(u64::from(config.segment))),
            "payload of a full segment",
        ),
        flag("sack", config.sack, "offer selective acknowledgements (RFC 2018)"),
        flag("dsack", config.dsack, "with SACK, report segments that arrived twice (D-SACK, RFC 2883)"),
        flag("timestamps", config.timestamps, "offer timestamps (RFC 7323)"),
        time(
            "timestamp_tick",
            config.timestamp_tick,
            SHORTEST,
            Duration::from_secs(1),
            "tick of the timestamp clock (RFC 7323: 1 ms to 1 s; \"1 us\" is practically exact)",
        ),
        flag("ecn", config.ecn, "offer explicit congestion notification (RFC 3168)"),
        Key::default(
            "ecn_feedback",
            ValueType::Unit(Unit::Word(&["auto", "classic", "accurate"])),
            "auto",
            "ECN feedback: classic (as `ecn` sets), or AccECN (accurate, RFC 9768); auto: AccECN if congestion control \
             needs it (prague)",
        ),
        flag(
            "nagle",
            config.nagle,
            "Nagle's algorithm: a short segment waits while data is outstanding (RFC 9293, section 3.7.4)",
        ),
        Key::default(
            "processing",
            ValueType::Unit(Unit::Duration(Duration::ZERO, Duration::from_secs(1))),
            "0 s",
            "largest random processing delay of each packet at its host, without reordering (as ns-2's overhead_)",
        ),
        Key::default(
            "extra_delay",
            ValueType::Unit(Unit::Duration(Duration::ZERO, Duration::from_secs(100))),
            "0 s",
            "propagation delay of the flow's own access, in each direction, in addition to the links' delays",
        ),
        flag(
            "opaque",
            false,
            "encrypted headers (IPsec): middleboxes cannot read the packets and forward them unchanged",
        ),
        time("time_wait", config.time_wait, Duration::ZERO, LONGEST, "length of TIME-WAIT (2 MSL)"),
        Key::table("sender", "keys of the sending end"),
        Key::table("receiver", "keys of the receiving end"),
    ]
}
