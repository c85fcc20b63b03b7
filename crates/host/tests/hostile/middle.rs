//! An attacker between two hosts. The attacker observes the segments of the hosts and forges further segments.

use super::script::{ForgedIcmp, Forgery, OffPathSegment};
use etherparse::{Icmpv4Type, PacketBuilder};
use lasthop_wire::bytes::{Checksums, Content, Header, Payload, emit, parse};
use lasthop_wire::{Body, Flags, SackBlocks, Segment, Seq, Timestamps};

/// State of a host, as far as an observer on the path can infer the state from packets.
#[derive(Clone, Default)]
pub struct ObservedHost {
    pub header: Option<Header>,
    first: u32,
    /// First TSval and last timestamps option that the host has sent.
    stamps: Option<(u32, Timestamps)>,
    end: u32,
    acked: u32,
    edge: u32,
    shift: u8,
}

fn later(one: u32, other: u32) -> u32 {
    if (other.wrapping_sub(one) as i32) > 0 { other } else { one }
}

impl ObservedHost {
    /// Updates the state from a packet that the host has sent. Returns the segment in the packet.
    pub fn observe(&mut self, packet: &[u8]) -> Segment {
        let parsed = parse(packet, Checksums::Verify).expect("the host sends a valid packet");
        let Content::Tcp(segment) = parsed.content else { panic!("a host sends TCP") };
        let end = segment.seq.0.wrapping_add(segment.sequence_space());
        if self.header.is_none() {
            (self.first, self.end) = (segment.seq.0, end);
            (self.acked, self.edge) = (segment.ack.0, segment.ack.0);
        }
        self.header = Some(parsed.header);
        self.end = later(self.end, end);
        if let Some(shift) = segment.window_scale {
            self.shift = shift;
        }
        if segment.flags.has(Flags::ACK) {
            if self.acked == 0 {
                (self.acked, self.edge) = (segment.ack.0, segment.ack.0);
            }
            // The window field of a SYN is unscaled (RFC 7323 §2.2).
            let shift = if segment.flags.has(Flags::SYN) { 0 } else { self.shift };
            self.acked = later(self.acked, segment.ack.0);
            let edge = segment.ack.0.wrapping_add(u32::from(segment.window) << shift);
            self.edge = later(self.edge, edge);
        }
        if let Some(stamps) = segment.timestamps {
            self.stamps = Some((self.stamps.map_or(stamps.value, |(first, _)| first), stamps));
        }
        segment
    }
}

/// Distance of sequence numbers that exceeds every window, but is much shorter than half of the sequence space.
const FAR: u32 = 1 << 29;

/// Forges a segment with the source `from`, which the host `to` must reject. Returns `None` if no segment of the kind
/// `blind` is possible now.
pub fn blind(
    blind: &OffPathSegment,
    from: &ObservedHost,
    to: &ObservedHost,
    has_stamps: bool,
) -> Option<Vec<u8>> {
    let window = to.edge.wrapping_sub(to.acked).max(1);
    let inside = |at: u16| to.acked.wrapping_add(u32::from(at) % window);
    let good = |seq: u32, len: u16| Segment {
        seq: Seq(seq),
        ack: Seq(from.acked),
        len: u32::from(len % 1400),
        flags: Flags::ACK,
        window: 1000,
        timestamps: from.stamps.filter(|_| has_stamps).map(|(_, stamps)| stamps),
        ..Segment::default()
    };
    // Adds `stamp` to the timestamp, because PAWS accepts later timestamps (RFC 7323 §5).
    let stamped = |segment: Segment, stamp: u32| Segment {
        timestamps: segment
            .timestamps
            .map(|stamps| Timestamps { value: stamps.value.wrapping_add(stamp % FAR), ..stamps }),
        ..segment
    };
    let segment = match *blind {
        OffPathSegment::OldReset(by) => {
            Segment { flags: Flags::RST, ..good(to.acked.wrapping_sub(1 + by % FAR), 0) }
        }
        OffPathSegment::FarReset(by) => {
            Segment { flags: Flags::RST, ..good(to.edge.wrapping_add(1 + by % FAR), 0) }
        }
        OffPathSegment::NearReset(by) => {
            // `from` has not sent any sequence number from `from.end` on. Therefore a number beyond `from.end` cannot
            // equal RCV.NXT of `to`.
            let room = to.edge.wrapping_sub(from.end);
            if room == 0 || room > FAR {
                return None;
            }
            Segment { flags: Flags::RST, ..good(from.end.wrapping_add(1 + u32::from(by) % room), 0) }
        }
        OffPathSegment::Syn { at, acks } => {
            let flags = if acks { Flags::SYN | Flags::ACK } else { Flags::SYN };
            Segment { flags, ..good(at, 0) }
        }
        OffPathSegment::UnsentAck { ahead, at, len, stamp } => {
            let ack = Seq(to.end.wrapping_add(1 + ahead % FAR));
            stamped(Segment { ack, ..good(inside(at), len) }, stamp)
        }
        OffPathSegment::AncientAck { behind, at, len, stamp } => {
            // The number is below SND.UNA - MAX.SND.WND (RFC 5961 §5), since all windows are smaller than 2^20.
            let ack = Seq(to.first.wrapping_sub((1 << 20) + behind % FAR));
            stamped(Segment { ack, ..good(inside(at), len) }, stamp)
        }
        OffPathSegment::FarData { at, len, stamp } => {
            stamped(good(to.edge.wrapping_add(1 + at % FAR), len.max(1)), stamp)
        }
        OffPathSegment::OldData { at, len, stamp } => {
            stamped(good(to.acked.wrapping_sub(1500 + at % FAR), len), stamp)
        }
        OffPathSegment::OldStamp { behind, at, len } => {
            let (first, last) = from.stamps.filter(|_| has_stamps)?;
            let value = first.wrapping_sub(1 + behind % FAR);
            Segment { timestamps: Some(Timestamps { value, ..last }), ..good(inside(at), len) }
        }
    };
    packet(from, segment)
}

/// Forges a segment with the source `from`, which the host `to` may accept.
pub fn inside(forgery: &Forgery, from: &ObservedHost, to: &ObservedHost) -> Option<Vec<u8>> {
    let beside = |number: u32, by: i16| Seq(number.wrapping_add(i32::from(by) as u32));
    let mut sack = SackBlocks::default();
    for (left, right) in forgery.sack.iter().take(4) {
        sack.push(beside(from.acked, *left), beside(from.acked, *right));
    }
    let last = from.stamps.map(|(_, stamps)| stamps).unwrap_or_default();
    let stamps = |(value, echo): (i32, i32)| Timestamps {
        value: last.value.wrapping_add(value as u32),
        echo: last.echo.wrapping_add(echo as u32),
    };
    let flags =
        [Flags::FIN, Flags::SYN, Flags::RST, Flags::PSH, Flags::ACK, Flags::URG, Flags::ECE, Flags::CWR];
    let flags = flags.into_iter().enumerate().filter(|(bit, _)| forgery.flags >> bit & 1 == 1);
    let segment = Segment {
        seq: beside(to.acked, forgery.seq),
        ack: beside(from.acked, forgery.ack),
        len: u32::from(forgery.len % 1400),
        flags: flags.fold(Flags::default(), |all, (_, flag)| all | flag),
        window: forgery.window,
        timestamps: forgery.stamps.map(stamps),
        sack,
        ..Segment::default()
    };
    // If the options exceed the header, omit the timestamps option.
    packet(from, segment).or_else(|| packet(from, Segment { timestamps: None, ..segment }))
}

/// Forges an ICMP error about the packet `last`, which `from` has sent. The ICMP type is destination unreachable,
/// source quench, time exceeded or parameter problem.
pub fn notice(notice: &ForgedIcmp, from: &ObservedHost, last: &[u8]) -> Option<Vec<u8>> {
    let type_u8 = [3, 3, 4, 11, 12][usize::from(notice.kind) % 5];
    let [high, low] = notice.mtu.to_be_bytes();
    let bytes5to8 = [0, 0, high, low];
    let message = Icmpv4Type::Unknown { type_u8, code_u8: notice.code % 16, bytes5to8 };
    let mut quoted = last.get(..28)?.to_vec();
    let seq = u32::from_be_bytes(quoted[24..].try_into().ok()?).wrapping_add_signed(i32::from(notice.seq));
    quoted[24..].copy_from_slice(&seq.to_be_bytes());
    let std::net::IpAddr::V4(to) = from.header?.source.ip() else { return None };
    let mut bytes = Vec::new();
    let written =
        PacketBuilder::ipv4([9, 9, 9, 9], to.octets(), 64).icmpv4(message).write(&mut bytes, &quoted);
    written.is_ok().then_some(bytes)
}

/// Returns a packet with a forged segment. Each payload byte is 0xee, which no honest host sends.
fn packet(from: &ObservedHost, segment: Segment) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let payload = vec![0xee; segment.len as usize];
    let written = emit(&from.header?, &Body::Tcp(segment), Payload::Bytes(&payload), &mut bytes);
    written.is_ok().then_some(bytes)
}
