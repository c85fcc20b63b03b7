//! Keys of a TCP flow's sender.

use super::{SHORTEST, seam_keys};
use crate::catalogue::Catalogue;
use crate::key::{Key, ValueType};
use crate::text::plain;
use lasthop_base::{Duration, Unit, Value};
use lasthop_tcp::Config;
use std::sync::LazyLock;

pub(crate) fn sender(catalogue: &Catalogue) -> Vec<Key> {
    let mut keys = seam_keys(catalogue, "sender");
    keys.extend(SENDER.iter().cloned());
    keys
}

/// Keys of a sender whose values are not mechanisms.
pub(super) static SENDER: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let config = Config::default();
    let limits = config.rto;
    let longest = Duration::from_secs(3600);
    let time = |name, default: Duration, low: Duration, doc| {
        Key::default(name, ValueType::Unit(Unit::Duration(low, longest)), default.to_string(), doc)
    };
    let flag =
        |name, default: bool, doc| Key::default(name, ValueType::Unit(Unit::Flag), default.to_string(), doc);
    vec![
        Key::default(
            "initial_window",
            ValueType::Unit(Unit::Count(1, 10_000)),
            config.initial_window.to_string(),
            "initial window, segments (RFC 6928: 10; the papers of the 2000s: 1 or 2)",
        ),
        Key::default(
            "initial_ssthresh",
            ValueType::WordOr(&["unlimited"], Unit::Bytes(1, 1 << 40)),
            match config.initial_ssthresh {
                None => "unlimited".to_owned(),
                Some(bytes) => plain(&Value::Bytes(bytes)),
            },
            "initial slow start threshold: \"unlimited\" or an amount",
        ),
        flag(
            "validate_window",
            config.validates_window,
            "cwnd grows only while the sender uses it (see validate_by)",
        ),
        Key::default(
            "validate_by",
            ValueType::Unit(Unit::Word(&["rfc7661", "linux"])),
            if config.validates_as_linux { "linux" } else { "rfc7661" },
            "part of cwnd that must be used for cwnd to grow: half per round trip (RFC 7661); more than half in slow \
             start, all in congestion avoidance (Linux)",
        ),
        flag(
            "ecn_waits",
            config.ecn_waits,
            "an ECN echo at a window of one segment delays the next segment until the timer expires (RFC 3168)",
        ),
        flag(
            "freeze",
            config.has_persist_state,
            "a zero window stops the retransmission timer and keeps cwnd (BSD's persist; Linux retransmits and \
             reduces cwnd)",
        ),
        flag(
            "f_rto",
            config.f_rto,
            "detect and undo spurious timeouts (F-RTO, RFC 5682; section 3 of the RFC if SACK is used)",
        ),
        flag(
            "dsack_undo",
            config.dsack_undo,
            "undo a recovery if all its retransmissions were unnecessary (D-SACK, RFC 3708)",
        ),
        flag(
            "eifel",
            config.eifel,
            "undo timeouts and recoveries if a timestamp shows that an original arrived (Eifel, RFC 3522)",
        ),
        Key::default(
            "undo",
            ValueType::Unit(Unit::Word(&["rfc4015", "linux"])),
            if config.undo_whole { "linux" } else { "rfc4015" },
            "window after an undo: bytes in flight and a small burst, with a longer timeout (RFC 4015), or the whole \
             former window (Linux)",
        ),
        Key::default(
            "loss_window",
            ValueType::Unit(Unit::Word(&["one", "in_flight"])),
            if config.loss_window_in_flight { "in_flight" } else { "one" },
            "cwnd after a timeout: one segment (RFC 5681), or one segment plus bytes not marked lost (Linux; always \
             with BBR)",
        ),
        flag(
            "sack_rtt",
            config.sack_rtt,
            "also measure round trips from SACK blocks (Linux; with recovery = \"rack\")",
        ),
        Key::default(
            "rto",
            ValueType::Unit(Unit::Word(&["rfc6298", "linux"])),
            "rfc6298",
            "timeout formula: max(min_rto, SRTT + 4 RTTVAR) (RFC 6298), or SRTT + max(min_rto, 4 RTTVAR) (Linux)",
        ),
        time("min_rto", limits.smallest, Duration::ZERO, "smallest retransmission timeout (RFC 6298: 1 s)"),
        time(
            "max_rto",
            limits.largest,
            SHORTEST,
            "largest timeout, back-off included (RFC 6298: at least 60 s)",
        ),
        time(
            "initial_rto",
            limits.initial,
            SHORTEST,
            "timeout before the first round trip is measured (RFC 6298: 1 s)",
        ),
        time("tick", limits.tick, Duration::ZERO, "clock granularity of the timeout; \"0 s\": exact"),
    ]
});
