//! Presets of the split connection.
//!
//! * I-TCP (Bakre and Badrinath, ICDCS 1995): each connection is plain TCP of that time. Sources disagree on the
//!   connection over the air: plain TCP (from memory), or TCP without window reductions (lecture notes). The parameter
//!   `air` offers both variants.
//! * METP (Wang and Tripathi, INFOCOM 1998, known to us by its abstract): a simpler protocol over the last hop, with
//!   link-layer retransmission and without slow start. METP's small headers are not modelled; packets keep the flow's
//!   headers.

use super::fixed::fixed;
use super::{Split, config};
use crate::Build;
use lasthop_base::{Duration, Info, Mechanism, Parameter, Unit, Value, Values};
use lasthop_tcp::Config;

const BUFFER: Parameter = Parameter {
    name: "buffer",
    unit: Unit::Bytes(1000, 1 << 30),
    default: Some("64 KiB"),
    doc: "buffer per flow and direction, bytes; the free part is the advertised window",
};

const MIN_RTO: Parameter = Parameter {
    name: "min_rto",
    unit: Unit::Duration(Duration::ZERO, Duration::from_secs(60)),
    default: Some("100 ms"),
    doc: "smallest retransmission timeout over the air",
};

/// I-TCP, a preset of the split connection; the module describes the preset.
pub const ITCP: Mechanism<Build> = Mechanism {
    info: Info {
        name: "itcp",
        summary: "a split connection of NewReno on both sides, or with a fixed window over the air",
        source: "Bakre and Badrinath, ICDCS 1995 (abstract; the wireless half is uncertain)",
        parameters: &[
            BUFFER,
            Parameter {
                name: "air",
                unit: Unit::Word(&["plain", "fixed"]),
                default: Some("plain"),
                doc: "wireless half: NewReno, or a constant window as large as the buffer",
            },
            MIN_RTO,
        ],
        ..Info::PLAIN
    },
    build: &|values, site| {
        let both = newreno(values);
        let air = match values.word("air") {
            "fixed" => Config { congestion: fixed(values.bytes("buffer")), ..both.clone() },
            _ => both.clone(),
        };
        Some(Box::new(Split::new([both, with_timeout(air, values)], false, site)))
    },
};

/// METP, a preset of the split connection; the module describes the preset.
pub const METP: Mechanism<Build> = Mechanism {
    info: Info {
        name: "metp",
        summary: "a split connection with a constant window over the air, where the link layer retransmits",
        source: "Wang and Tripathi, INFOCOM 1998 (from the abstract only; METP's headers are not modelled)",
        parameters: &[BUFFER, MIN_RTO],
        ..Info::PLAIN
    },
    build: &|values, site| {
        let wired = newreno(values);
        let air = Config { congestion: fixed(values.bytes("buffer")), ..wired.clone() };
        Some(Box::new(Split::new([wired, with_timeout(air, values)], false, site)))
    },
};

fn newreno(values: &Values) -> Config {
    let mut defaults = super::MECHANISM.info.defaults();
    defaults.set("recovery", Value::Word("new_reno"));
    defaults.set("buffer", Value::Bytes(values.bytes("buffer")));
    config(&defaults)
}

fn with_timeout(mut config: Config, values: &Values) -> Config {
    config.rto.smallest = values.duration("min_rto");
    config
}
