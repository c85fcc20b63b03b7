//! The keys of a flow, by its kind.

use super::{LONGEST, MOST_FLOWS, SHORTEST, SPAN, TIME, TRAFFIC};
use crate::applications;
use crate::key::{Form, Key};
use crate::text::plain;
use lasthop_base::{Duration, Unit, Value};
use lasthop_tcp::{Config, profile};
use std::sync::LazyLock;

/// Largest payload of a packet: with the longest headers it still fits IP's 65,535 bytes.
const LARGEST_PAYLOAD: u64 = 65_000;

/// The keys that every flow has.
pub(crate) fn any_flow() -> Vec<Key> {
    vec![
        Key::required("from", Form::Node, "node that sends"),
        Key::required("to", Form::Node, "node that receives"),
        Key::default(
            "kind",
            Form::Unit(Unit::Word(TRAFFIC)),
            "tcp",
            "a TCP connection, or datagrams at a constant bit rate, always or with pauses",
        ),
        Key::default("start", Form::Unit(TIME), "0 s", "when it begins"),
        Key::default(
            "count",
            Form::Unit(Unit::Count(1, MOST_FLOWS)),
            "1",
            "how many such flows; two and more are called NAME.1, NAME.2 …",
        ),
        Key::default("stagger", Form::Unit(TIME), "0 s", "time between the starts of two of them"),
        Key::default(
            "start_spread",
            Form::Unit(TIME),
            "0 s",
            "each begins later by a random time up to this, in each run by another",
        ),
    ]
}

/// The keys of a flow of this kind; of datagrams if there is no such kind.
pub(crate) fn flow(kind: &str) -> &'static [Key] {
    static KEYS: LazyLock<Vec<Vec<Key>>> =
        LazyLock::new(|| TRAFFIC.iter().map(|kind| listed_flow(kind)).collect());
    &KEYS[TRAFFIC.iter().position(|known| *known == kind).unwrap_or(1)]
}

fn listed_flow(kind: &str) -> Vec<Key> {
    let mut keys = any_flow();
    if kind == "tcp" {
        keys.extend(tcp());
        keys.extend(applications::keys());
        return keys;
    }
    keys.extend([
        Key::required("rate", Form::Unit(Unit::Rate), "rate while it sends, payload only"),
        Key::required("packet", Form::Unit(Unit::Bytes(1, LARGEST_PAYLOAD)), "payload of a datagram"),
        Key::optional("stop", Form::Unit(SPAN), "30 s", "when it ends; without it, with the run"),
        Key::default(
            "jitter",
            Form::Unit(TIME),
            "0 s",
            "each datagram is late by a random time up to this; they keep their order",
        ),
        Key::default(
            "burst",
            Form::Unit(Unit::Count(1, 10_000)),
            "1",
            "so many datagrams leave back to back, at the same mean rate; 1: evenly spaced",
        ),
    ]);
    if kind == "on_off" {
        keys.extend([
            Key::required("on", Form::Unit(SPAN), "length of a burst, or its mean"),
            Key::required("off", Form::Unit(SPAN), "length of a pause, or its mean"),
            Key::default(
                "period",
                Form::Unit(Unit::Word(&["fixed", "exponential"])),
                "fixed",
                "whether bursts and pauses are always that long, or exponentially distributed",
            ),
        ]);
    }
    keys
}

/// What both ends of a TCP flow share.
fn tcp() -> Vec<Key> {
    let config = Config::default();
    let flag =
        |name, default: bool, doc| Key::default(name, Form::Unit(Unit::Flag), default.to_string(), doc);
    let time = |name, default: Duration, low: Duration, high: Duration, doc| {
        Key::default(name, Form::Unit(Unit::Duration(low, high)), default.to_string(), doc)
    };
    vec![
        Key::default(
            "profile",
            Form::Unit(Unit::Word(profile::NAMES)),
            profile::DEFAULT.name,
            "what sender and receiver are where they say nothing; one-line and most ready paths say linux",
        ),
        Key::default(
            "transfer",
            Form::WordOr(&["bulk"], Unit::Bytes(1, 1_000_000_000_000_000)),
            "bulk",
            "\"bulk\": as much as it can until the run ends; or an amount",
        ),
        Key::optional(
            "arrivals",
            Form::File,
            "web.arrivals",
            "a file of transfers instead of one: seconds and bytes a line, beside the scenario's file; each is a connection, \
             NAME.1, NAME.2 …; those that would begin when the run is over are left out",
        ),
        Key::default(
            "segment",
            Form::Unit(Unit::Bytes(1, LARGEST_PAYLOAD)),
            plain(&Value::Bytes(u64::from(config.segment))),
            "payload of a full segment",
        ),
        flag("sack", config.sack, "offer selective acknowledgements (RFC 2018)"),
        flag("dsack", config.dsack, "with SACK, tell the sender what arrived twice (RFC 2883)"),
        flag("timestamps", config.timestamps, "offer timestamps (RFC 7323)"),
        time(
            "timestamp_tick",
            config.timestamp_tick,
            SHORTEST,
            Duration::from_secs(1),
            "tick of the timestamps' clock (RFC 7323: 1 ms to 1 s; \"1 us\" is as good as exact)",
        ),
        flag("ecn", config.ecn, "offer explicit congestion notification (RFC 3168)"),
        Key::default(
            "ecn_feedback",
            Form::Unit(Unit::Word(&["auto", "classic", "accurate"])),
            "auto",
            "how marks are told: as ecn says (classic), or in detail (AccECN, RFC 9768); auto: where congestion is for it (prague)",
        ),
        flag(
            "nagle",
            config.nagle,
            "a short segment waits while data is outstanding (RFC 9293, section 3.7.4)",
        ),
        Key::default(
            "processing",
            Form::Unit(Unit::Duration(Duration::ZERO, Duration::from_secs(1))),
            "0 s",
            "each packet leaves its host later by a random time up to this, in order (as ns-2's overhead_)",
        ),
        flag(
            "opaque",
            false,
            "its headers are encrypted (IPsec): middleboxes cannot read them, and let it pass",
        ),
        time("time_wait", config.time_wait, Duration::ZERO, LONGEST, "length of TIME-WAIT (2 MSL)"),
        Key::table("sender", "the end that sends"),
        Key::table("receiver", "the end that receives"),
    ]
}
