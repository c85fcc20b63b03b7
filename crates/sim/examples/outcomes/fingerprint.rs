//! A hash over every packet and event of a run.

use lasthop_base::Time;
use lasthop_engine::{Fate, FlowSide, Observer, PipeId};
use lasthop_tcp::Event;
use lasthop_wire::{FlowId, Packet};
use std::any::Any;
use std::fmt::{self, Write};

/// FNV-1a hash over packets and events. Each item is first written as text, without the names of Rust types, so that
/// renaming a type does not change the hash.
pub struct Fingerprint {
    /// The hash.
    pub value: u64,
    /// Number of hashed items.
    pub count: u64,
}

impl Write for Fingerprint {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.value = (self.value ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Ok(())
    }
}

impl Fingerprint {
    /// Returns the hash before the first item.
    pub fn new() -> Fingerprint {
        Fingerprint { value: 0xcbf2_9ce4_8422_2325, count: 0 }
    }

    fn add(&mut self, item: fmt::Arguments<'_>) {
        self.count += 1;
        let _ = self.write_fmt(item);
    }

    fn add_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        let (fate, until) = match fate {
            Fate::Arrives(at) => ("arrives", at),
            Fate::Lost(reason) => (reason.name(), now),
            Fate::Open => ("open", now),
        };
        let (flow, forward, bytes) = (packet.flow.0, packet.forward, packet.wire_bytes);
        let (ecn, dscp) = (packet.ecn, packet.priority.dscp());
        self.add(format_args!("{now:?} {} {fate} {until:?} {flow} {forward} {bytes} {ecn:?} {dscp}", pipe.0));
        if let Some(segment) = packet.segment() {
            self.add(format_args!("{segment:?}"));
        }
    }
}

impl Observer for Fingerprint {
    fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        self.add_packet(now, pipe, packet, fate);
    }

    fn on_fate(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        self.add_packet(now, pipe, packet, fate);
    }

    fn on_event(&mut self, now: Time, flow: FlowId, side: FlowSide, event: &Event) {
        self.add(format_args!("{now:?} {} {side:?} {event:?}", flow.0));
    }
}

/// Returns the fingerprint from the list of a run's observers.
pub fn of(observers: Vec<Box<dyn Observer>>) -> Fingerprint {
    let mut all = observers.into_iter().map(|observer| observer as Box<dyn Any>);
    *all.find_map(|any| any.downcast().ok()).expect("the run had a fingerprint as observer")
}
