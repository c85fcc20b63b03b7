//! quinn: the QUIC library that most programs in Rust use.

use super::{
    CRYPTO, Library, MAX_ACK_DELAY, MTU_DISCOVERY, PACKET_THRESHOLD, PACKETS_PER_ACK, RECEIVE_WINDOW, common,
};
use crate::transport::{Build, Transport};
use lasthop_base::{Info, Mechanism};

pub(super) const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "quinn",
        summary: "quinn-proto with its own controls reno and cubic",
        source: "quinn-proto 0.11",
        parameters: &[
            MTU_DISCOVERY,
            RECEIVE_WINDOW,
            PACKETS_PER_ACK,
            MAX_ACK_DELAY,
            PACKET_THRESHOLD,
            CRYPTO,
        ],
        ..Info::PLAIN
    },
    build: &|values| Transport::Quic(common(Library::Quinn, values)),
};
