//! Packet events that the kernel program reports: `struct event` of `bpf/window.c`.

use crate::table::{ConnectionKey, PacketDirection};
use lasthop_wire::{Flags, Segment, Seq, Timestamps};
use std::net::{Ipv6Addr, SocketAddr};

/// Summary of several packets of one connection and direction. `segment` has the header of the last packet and the
/// total payload length of all packets since the last event.
#[derive(Debug)]
pub(crate) struct Event {
    /// Time in ns of the last packet, by CLOCK_MONOTONIC.
    pub(crate) at: u64,
    /// Arrival time in ns, by CLOCK_MONOTONIC, of the first packet that echoed the same time stamp as the last packet.
    pub(crate) echoed: u64,
    pub(crate) direction: PacketDirection,
    pub(crate) key: ConnectionKey,
    pub(crate) segment: Segment,
}

const LENGTH: usize = 80;
/// Bits of the event's `known` field (see the `enum` in `bpf/window.c`).
const SCALES: u8 = 2;
const STAMPS: u8 = 4;

impl Event {
    /// Parses an event; `None` if the size is wrong.
    pub(crate) fn read(bytes: &[u8]) -> Option<Event> {
        let bytes: &[u8; LENGTH] = bytes.try_into().ok()?;
        let long = |at: usize| bytes[at..].first_chunk().map(|word| u64::from_ne_bytes(*word));
        let word = |at: usize| bytes[at..].first_chunk().map(|word| u32::from_ne_bytes(*word));
        let half = |at: usize| bytes[at..].first_chunk().map(|half| u16::from_ne_bytes(*half));
        let end = |address: usize, port: usize| {
            let address = Ipv6Addr::from(*bytes[address..].first_chunk::<16>()?);
            let port = u16::from_be_bytes(*bytes[port..].first_chunk()?);
            Some(SocketAddr::new(address.to_canonical(), port))
        };
        let key = ConnectionKey { own: end(16, 48)?, peer: end(32, 50)? };
        let flags = Flags(u16::from(bytes[74]));
        let (shift, known) = (bytes[78], bytes[79]);
        let is_syn = flags.has(Flags::SYN);
        let segment = Segment {
            seq: Seq(word(52)?),
            ack: Seq(word(56)?),
            len: word(60)?,
            flags,
            window: half(72)?,
            mss: is_syn.then_some(half(76)?),
            window_scale: (is_syn && known & SCALES != 0).then_some(shift),
            timestamps: (known & STAMPS != 0).then_some(Timestamps { value: word(64)?, echo: word(68)? }),
            ..Segment::default()
        };
        let direction = if bytes[75] != 0 { PacketDirection::Out } else { PacketDirection::In };
        Some(Event { at: long(0)?, echoed: long(8)?, direction, key, segment })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_the_programs() {
        let mut bytes = [0; LENGTH];
        bytes[..8].copy_from_slice(&7_u64.to_ne_bytes());
        bytes[8..16].copy_from_slice(&6_u64.to_ne_bytes());
        bytes[26..32].copy_from_slice(&[0xff, 0xff, 192, 0, 2, 1]);
        bytes[32..48].copy_from_slice(&[0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]);
        bytes[48..52].copy_from_slice(&[1, 2, 0, 80]);
        for (place, value) in [(52, 1_u32), (56, 2), (60, 3), (64, 4), (68, 5)] {
            bytes[place..place + 4].copy_from_slice(&value.to_ne_bytes());
        }
        bytes[72..74].copy_from_slice(&8_u16.to_ne_bytes());
        bytes[76..78].copy_from_slice(&1400_u16.to_ne_bytes());
        (bytes[74], bytes[78], bytes[79]) = (0x12, 9, SCALES | STAMPS);
        let event = Event::read(&bytes).unwrap();
        assert_eq!((event.at, event.echoed, event.direction), (7, 6, PacketDirection::In));
        assert_eq!(
            (event.key.own, event.key.peer),
            ("192.0.2.1:258".parse().unwrap(), "[2001:db8::7]:80".parse().unwrap())
        );
        let expected = Segment {
            seq: Seq(1),
            ack: Seq(2),
            len: 3,
            flags: Flags::SYN | Flags::ACK,
            window: 8,
            mss: Some(1400),
            window_scale: Some(9),
            timestamps: Some(Timestamps { value: 4, echo: 5 }),
            ..Segment::default()
        };
        assert_eq!(event.segment, expected);
        // The event now reports a segment without SYN flag and without time stamps.
        (bytes[74], bytes[75], bytes[79]) = (0x10, 1, 0);
        let event = Event::read(&bytes).unwrap();
        assert_eq!(
            (event.direction, event.segment.mss, event.segment.timestamps),
            (PacketDirection::Out, None, None)
        );
        assert!(Event::read(&bytes[1..]).is_none());
    }
}
