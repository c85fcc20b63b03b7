//! Two schemes that split the connection, under their own names.
//!
//! * I-TCP (Bakre and Badrinath, ICDCS 1995): plain TCP, as of its time, on both sides. What ran over the air there is told in
//!   two ways, plain TCP (from memory) and one whose losses reduce nothing (lecture notes): `air` has both.
//! * METP (Wang and Tripathi, INFOCOM 1998), of which an abstract was at hand: over the last hop a simpler protocol, with the
//!   link layer's repeats and without slow start. Its small headers are not modelled: packets keep the flow's.

use super::fixed::fixed;
use super::{Split, config};
use crate::Build;
use lasthop_base::{Duration, Info, Mechanism, Parameter, Unit, Value, Values};
use lasthop_tcp::Config;

const BUFFER: Parameter = Parameter {
    name: "buffer",
    unit: Unit::Bytes(1000, 1 << 30),
    default: Some("64 KiB"),
    doc: "most bytes of a flow and direction that it holds; its window is what is free",
};

const MIN_RTO: Parameter = Parameter {
    name: "min_rto",
    unit: Unit::Duration(Duration::ZERO, Duration::from_secs(60)),
    default: Some("100 ms"),
    doc: "smallest retransmission timeout over the air",
};

/// See the file.
pub const ITCP: Mechanism<Build> = Mechanism {
    info: Info {
        name: "itcp",
        summary: "a split connection of NewReno on both sides, or with a fixed window over the air",
        source: "Bakre and Badrinath, ICDCS 1995 (abstract; what ran over the air is not sure)",
        parameters: &[
            BUFFER,
            Parameter {
                name: "air",
                unit: Unit::Word(&["plain", "fixed"]),
                default: Some("plain"),
                doc: "over the air: NewReno too, or a window as large as the buffer that no loss reduces",
            },
            MIN_RTO,
        ],
        ..Info::PLAIN
    },
    build: &|values, place| {
        let both = newreno(values);
        let air = match values.word("air") {
            "fixed" => Config { congestion: fixed(values.bytes("buffer")), ..both.clone() },
            _ => both.clone(),
        };
        Some(Box::new(Split::new([both, with_timeout(air, values)], false, place)))
    },
};

/// See the file.
pub const METP: Mechanism<Build> = Mechanism {
    info: Info {
        name: "metp",
        summary: "a split connection without slow start and reductions over the air, where the link layer repeats",
        source: "Wang and Tripathi, INFOCOM 1998 (abstract; its headers are not modelled)",
        parameters: &[BUFFER, MIN_RTO],
        ..Info::PLAIN
    },
    build: &|values, place| {
        let wired = newreno(values);
        let air = Config { congestion: fixed(values.bytes("buffer")), ..wired.clone() };
        Some(Box::new(Split::new([wired, with_timeout(air, values)], false, place)))
    },
};

/// The split connection's defaults with NewReno.
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
