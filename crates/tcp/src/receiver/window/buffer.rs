//! Free part of the receive buffer (RFC 9293 §3.8.6).

use super::{AdvertisedWindow, Build, WindowInput};
use lasthop_base::{Info, Live, Mechanism, Parameter, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "buffer",
        summary: "free part of the receive buffer",
        source: "RFC 9293 §3.8.6",
        parameters: &[Parameter {
            name: "size",
            unit: Unit::Bytes(1, 1 << 30),
            default: Some("1 GiB"),
            doc: "receive buffer; by default TCP's largest window (RFC 7323 §2.3), which limits nothing",
        }],
        as_linux: true,
        live: Some(Live { word: "fixed", parameter: "size", usual: None, without_discrimination: None }),
        ..Info::PLAIN
    },
    build: &|values| Box::new(Buffer { size: values.bytes("size") }),
};

struct Buffer {
    size: u64,
}

impl AdvertisedWindow for Buffer {
    fn bytes(&mut self, input: &WindowInput) -> u64 {
        self.size.saturating_sub(input.unread)
    }

    fn buffer(&self) -> Option<u64> {
        Some(self.size)
    }

    fn largest(&self) -> u64 {
        self.size
    }
}
