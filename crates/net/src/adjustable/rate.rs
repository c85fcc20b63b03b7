//! Rate of an adjustable direction: the configured rate until the first change, then a constant rate.

use crate::service::{Server, Service};
use lasthop_base::{Duration, Rate, Time};
use lasthop_wire::Packet;

const NANOS: u128 = 1_000_000_000;

pub(super) enum LinkRate {
    /// Constant rate, bit/s; 0 stops the transmission.
    Constant(u64),
    /// Planned or recorded rate.
    Varying(Server),
}

/// A packet in transmission.
pub(super) struct Sending {
    pub(super) packet: Packet,
    /// Time of the first bit. Later than the start of the transmission only at a recorded rate, for a packet that waits
    /// for its opportunity.
    pub(super) begins: Time,
    pub(super) ends: Time,
    /// Part of the packet that was unsent at the time `since`, in units of 10^-9 bits. `since` is the time of the last
    /// rate change, or the start of the transmission.
    left: u128,
    since: Time,
}

impl LinkRate {
    pub(super) fn new(service: &Service) -> LinkRate {
        match service {
            Service::Rate(rate) => LinkRate::Constant(rate.bps()),
            Service::Plan(_) | Service::Trace(_) => LinkRate::Varying(Server::new(service)),
        }
    }

    /// Constant rate, bit/s; `None` if the rate is planned or recorded.
    pub(super) fn bps(&self) -> Option<u64> {
        match self {
            LinkRate::Constant(bps) => Some(*bps),
            LinkRate::Varying(_) => None,
        }
    }

    pub(super) fn begin(&mut self, now: Time, packet: Packet) -> Sending {
        let left = bits_of(&packet);
        let (begins, ends) = match self {
            LinkRate::Constant(bps) => (now, end_of(*bps, now, left)),
            LinkRate::Varying(server) => {
                let served = server.serve(now, packet.wire_bytes);
                (served.begins, served.ends)
            }
        };
        Sending { packet, begins, ends, left, since: now }
    }

    /// Sets a constant rate. The unsent part of the packet in transmission is sent at the new rate. At a recorded rate,
    /// a packet is unsent until its last opportunity.
    pub(super) fn set(&mut self, now: Time, bps: u64, sending: Option<&mut Sending>) {
        let before = std::mem::replace(self, LinkRate::Constant(bps));
        let Some(sending) = sending else { return };
        match before {
            LinkRate::Constant(before) => {
                let sent = u128::from(before) * u128::from(now.since(sending.since).as_nanos());
                sending.left = sending.left.saturating_sub(sent);
            }
            LinkRate::Varying(Server::Plan(plan)) => {
                sending.left = plan.unsent(sending.since, sending.packet.wire_bytes, now);
            }
            LinkRate::Varying(_) => {}
        }
        sending.begins = sending.begins.min(now);
        sending.since = now;
        sending.ends = end_of(bps, now, sending.left);
    }

    /// Returns the time that the transmission of `packets` takes from `start` on; `None` at rate 0.
    pub(super) fn time_for<'a>(
        &self,
        start: Time,
        packets: impl Iterator<Item = &'a Packet>,
    ) -> Option<Duration> {
        match self {
            LinkRate::Constant(0) => None,
            LinkRate::Constant(bps) => {
                Some(Rate::from_bps(*bps).time_for(packets.map(|packet| u64::from(packet.wire_bytes)).sum()))
            }
            LinkRate::Varying(server) => {
                let mut server = server.clone();
                let end = packets.fold(start, |end, packet| server.serve(end, packet.wire_bytes).ends);
                Some(end.since(start))
            }
        }
    }
}

fn bits_of(packet: &Packet) -> u128 {
    u128::from(packet.wire_bytes) * 8 * NANOS
}

/// Returns the time at which a transmission ends if its part `left` is unsent at the time `since`; [`Time::NEVER`] at
/// rate 0.
fn end_of(bps: u64, since: Time, left: u128) -> Time {
    match u64::try_from(left.div_ceil(u128::from(bps.max(1)))) {
        Ok(nanos) if bps > 0 => Time::from_nanos(since.as_nanos().saturating_add(nanos)),
        _ => Time::NEVER,
    }
}
