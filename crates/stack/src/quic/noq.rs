//! noq: a fork of the QUIC library quinn that obeys the pacing rate of its congestion control.

use super::{
    CRYPTO, ControlFrom, Library, MAX_ACK_DELAY, MTU_DISCOVERY, PACKET_THRESHOLD, PACKETS_PER_ACK,
    RECEIVE_WINDOW, Settings, common,
};
use crate::transport::{Build, Transport};
use lasthop_base::{Info, Mechanism, Parameter, Unit, Values};

const CONTROL: Parameter = Parameter {
    name: "control",
    unit: Unit::Word(&["auto", "stack", "lasthop"]),
    default: Some("auto"),
    doc: "origin of the congestion control: the stack's own (reno, cubic), or Lasthop's, as in TCP flows; auto: \
          the stack's own if there is one",
};
const PACING: Parameter = Parameter {
    name: "pacing",
    unit: Unit::Flag,
    default: Some("true"),
    doc: "space datagrams: at the rate of the congestion control, or at 1.25 windows per RTT if the control has no rate",
};

pub(crate) const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "noq",
        summary: "noq-proto, with its own controls reno and cubic, or with any control of Lasthop",
        source: "noq-proto 1.4",
        parameters: &[
            CONTROL,
            PACING,
            MTU_DISCOVERY,
            RECEIVE_WINDOW,
            PACKETS_PER_ACK,
            MAX_ACK_DELAY,
            PACKET_THRESHOLD,
            CRYPTO,
        ],
        ..Info::PLAIN
    },
    build: &|values| Transport::Quic(settings(values)),
};

pub(super) fn settings(values: &Values) -> Settings {
    Settings {
        control_from: match values.word(CONTROL.name) {
            "stack" => ControlFrom::Library,
            "lasthop" => ControlFrom::Lasthop,
            _ => ControlFrom::Either,
        },
        is_paced: values.flag(PACING.name),
        ..common(Library::Noq, values)
    }
}
