//! QUIC stacks that a flow can select, with their settings. This module contains no QUIC implementation: the crate
//! `lasthop-quic` builds the stacks from these settings.

pub(crate) mod noq;
mod quinn;

use crate::transport::Build;
use lasthop_base::{Duration, Mechanism, Parameter, Unit, Values};

/// QUIC library that carries a flow.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Library {
    /// quinn-proto.
    Quinn,
    /// noq-proto, a fork of quinn-proto.
    Noq,
}

/// Origin of a flow's congestion control.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ControlFrom {
    /// The QUIC library's control if the library has a control of this name, otherwise the control of `lasthop-tcp`.
    Either,
    /// The QUIC library.
    Library,
    /// `lasthop-tcp`.
    Lasthop,
}

/// Cryptography of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Crypto {
    /// No cryptography, with the flights and sizes of TLS 1.3.
    Null,
    /// TLS 1.3. Keys are random, so that only the sizes and the times of packets repeat.
    Tls,
}

/// Settings of a QUIC stack that scenarios select.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Settings {
    /// QUIC library.
    pub implementation: Library,
    /// Origin of the congestion control.
    pub control_from: ControlFrom,
    /// Whether the stack paces datagrams. Without pacing, a stack sends as many datagrams as the congestion window
    /// permits.
    pub is_paced: bool,
    /// Whether datagrams begin with 1200 bytes and grow by path MTU discovery (RFC 8899).
    pub discovers_mtu: bool,
    /// Flow control windows of connection and stream, bytes.
    pub receive_window: u64,
    /// Number of packets per ACK that the sender requests (draft-ietf-quic-ack-frequency). The sender requests nothing
    /// if this number is 2, which is the receiver's default (RFC 9000 §13.2.2).
    pub packets_per_ack: u32,
    /// Longest delay of an ACK that the sender requests, if [`Settings::packets_per_ack`] is not 2.
    pub max_ack_delay: Duration,
    /// Packet threshold for loss detection: number of later packets whose arrival makes a packet count as lost (RFC
    /// 9002 §6.1.1).
    pub packet_threshold: u32,
    /// Cryptography.
    pub crypto: Crypto,
}

impl Default for Settings {
    /// Default settings of noq.
    fn default() -> Settings {
        noq::settings(&noq::MECHANISM.info.defaults())
    }
}

/// QUIC stacks that a flow can select.
pub const ALL: &[Mechanism<Build>] = &[noq::MECHANISM, quinn::MECHANISM];

const MTU_DISCOVERY: Parameter = Parameter {
    name: "mtu_discovery",
    unit: Unit::Flag,
    default: Some("false"),
    doc: "begin with datagrams of 1200 bytes and find the path MTU; otherwise datagrams are full from the start",
};
const RECEIVE_WINDOW: Parameter = Parameter {
    name: "receive_window",
    unit: Unit::Bytes(1 << 10, 1 << 40),
    default: Some("256 MB"),
    doc: "flow control window of connection and stream",
};
const PACKETS_PER_ACK: Parameter = Parameter {
    name: "packets_per_ack",
    unit: Unit::Count(1, 1000),
    default: Some("2"),
    doc: "packets per ACK that the sender requests (ACK frequency extension); 2: no request (RFC 9000, section 13.2.2)",
};
const MAX_ACK_DELAY: Parameter = Parameter {
    name: "max_ack_delay",
    unit: Unit::Duration(Duration::from_millis(1), Duration::from_secs(10)),
    default: Some("25 ms"),
    doc: "longest delay of an ACK that the sender requests with packets_per_ack",
};
const PACKET_THRESHOLD: Parameter = Parameter {
    name: "packet_threshold",
    unit: Unit::Count(1, 10_000),
    default: Some("3"),
    doc: "later packets that arrive before a packet counts as lost",
};
const CRYPTO: Parameter = Parameter {
    name: "crypto",
    unit: Unit::Word(&["null", "tls"]),
    default: Some("null"),
    doc: "null: no encryption, packets of the same sizes; tls: TLS 1.3 (needs a program built with the feature `tls`)",
};

/// Returns the settings that all stacks have.
fn common(implementation: Library, values: &Values) -> Settings {
    Settings {
        implementation,
        control_from: ControlFrom::Library,
        is_paced: true,
        discovers_mtu: values.flag(MTU_DISCOVERY.name),
        receive_window: values.bytes(RECEIVE_WINDOW.name),
        packets_per_ack: values.count(PACKETS_PER_ACK.name) as u32,
        max_ack_delay: values.duration(MAX_ACK_DELAY.name),
        packet_threshold: values.count(PACKET_THRESHOLD.name) as u32,
        crypto: if values.word(CRYPTO.name) == "tls" { Crypto::Tls } else { Crypto::Null },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::Transport;
    use lasthop_base::Value;

    fn built(mechanism: &Mechanism<Build>, values: &Values) -> Settings {
        match (mechanism.build)(values) {
            Transport::Quic(settings) => settings,
            Transport::Own(_) => panic!("{} is a QUIC stack", mechanism.info.name),
        }
    }

    /// The default settings of each stack name the stack's own library.
    #[test]
    fn each_stack_has_its_own_library() {
        let libraries: Vec<Library> =
            ALL.iter().map(|one| built(one, &one.info.defaults()).implementation).collect();
        assert_eq!(libraries, [Library::Noq, Library::Quinn]);
        assert_eq!(Settings::default(), built(&noq::MECHANISM, &noq::MECHANISM.info.defaults()));
    }

    #[test]
    fn words_select_the_origin_of_the_control() {
        for (word, origin) in [
            ("auto", ControlFrom::Either),
            ("stack", ControlFrom::Library),
            ("lasthop", ControlFrom::Lasthop),
        ] {
            let values = noq::MECHANISM.info.defaults().with("control", Value::Word(word));
            assert_eq!(built(&noq::MECHANISM, &values).control_from, origin);
        }
    }
}
