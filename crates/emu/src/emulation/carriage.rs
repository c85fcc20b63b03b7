//! Converts real packets to packets of the engine, and changes real packets on the path (marks, bit errors).

use lasthop_base::random::derive;
use lasthop_engine::ExternalPacket;
use lasthop_wire::bytes::{Checksums, Content, FlowAddresses, parse};
use lasthop_wire::{Body, Ecn, Priority};

/// Packet size with which links compute transmission times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Charge {
    /// Length of the IP packet.
    Real,
    /// Payload of TCP or UDP plus this many bytes; for other packets the length of the IP packet.
    Payload(u32),
}

/// Returns the packet as the engine sees it. For TCP and UDP, also returns the addresses and ports.
pub fn entering(bytes: &[u8], forward: bool, charge: Charge) -> (ExternalPacket, Option<FlowAddresses>) {
    let whole = bytes.len() as u32;
    let (ecn, dscp) = traffic_class(bytes);
    let (body, payload, ends) = match parse(bytes, Checksums::Ignore) {
        Ok(parsed) => {
            let ends = FlowAddresses { source: parsed.header.source, destination: parsed.header.destination };
            let body = match parsed.content {
                Content::Tcp(segment) => Body::Tcp(segment),
                Content::Datagram => Body::Datagram { number: 0 },
            };
            (body, parsed.payload.len() as u32, Some(ends))
        }
        Err(_) => (Body::Datagram { number: 0 }, whole, None),
    };
    let wire_bytes = match charge {
        Charge::Payload(header) if ends.is_some() => payload + header,
        _ => whole,
    };
    let priority = Priority::of_dscp(dscp);
    (ExternalPacket { wire_bytes, forward, ecn, priority, body }, ends)
}

fn traffic_class(bytes: &[u8]) -> (Ecn, u8) {
    let class = match bytes {
        [first, second, ..] if first >> 4 == 4 => *second,
        [first, second, ..] => (first << 4) | (second >> 4),
        _ => 0,
    };
    (Ecn::of_bits(class), class >> 2)
}

/// Sets "congestion experienced" in the IP header (RFC 3168 §5) and updates the checksum (RFC 1624 §3).
pub fn mark(bytes: &mut [u8]) {
    match bytes {
        [first, class, ..] if *first >> 4 == 4 => {
            let before = u16::from_be_bytes([*first, *class]);
            *class |= 3;
            let after = u16::from_be_bytes([*first, *class]);
            if let Some([high, low]) = bytes.get_mut(10..12) {
                let mut sum =
                    u32::from(!u16::from_be_bytes([*high, *low])) + u32::from(!before) + u32::from(after);
                sum = (sum & 0xffff) + (sum >> 16);
                sum = (sum & 0xffff) + (sum >> 16);
                [*high, *low] = (!(sum as u16)).to_be_bytes();
            }
        }
        [first, class, ..] if *first >> 4 == 6 => *class |= 0x30,
        _ => {}
    }
}

/// Flips one bit of the IP packet, headers included (netem's `corrupt` may also flip a bit of the link header). The
/// bit's position is uniformly distributed and depends only on the packet's number.
pub fn damage(bytes: &mut [u8], number: u64) {
    let bit = derive(number, 1) % (8 * bytes.len() as u64).max(1);
    if let Some(byte) = bytes.get_mut((bit / 8) as usize) {
        *byte ^= 1 << (bit % 8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_wire::Segment;
    use lasthop_wire::bytes::{Header, Payload, emit};

    fn packet(ecn: Ecn, dscp: u8, v6: bool) -> Vec<u8> {
        let end = |port: u16| {
            let text = if v6 { format!("[fd00::{port}]:{port}") } else { format!("10.0.0.{port}:{port}") };
            text.parse().expect("an address")
        };
        let header = Header { source: end(1), destination: end(2), ecn, dscp, id: 7, ttl: 64 };
        let segment = Segment { len: 1000, ..Segment::default() };
        let mut bytes = Vec::new();
        emit(&header, &Body::Tcp(segment), Payload::Pattern(1000), &mut bytes)
            .expect("the packet can be written");
        bytes
    }

    #[test]
    fn links_charge_the_ip_length_or_what_the_scenario_says() {
        let bytes = packet(Ecn::NotEct, 0, false);
        assert_eq!(entering(&bytes, true, Charge::Real).0.wire_bytes, 1040);
        assert_eq!(entering(&bytes, true, Charge::Payload(0)).0.wire_bytes, 1000);
        assert_eq!(entering(&bytes, true, Charge::Payload(52)).0.wire_bytes, 1052);
    }

    #[test]
    fn the_traffic_class_is_read_of_both_families() {
        for v6 in [false, true] {
            let expedited = entering(&packet(Ecn::NotEct, 46, v6), true, Charge::Real).0;
            assert_eq!(expedited.priority.dscp(), 46);
            let (entering, ends) = entering(&packet(Ecn::Ect0, 1, v6), false, Charge::Real);
            assert_eq!((entering.ecn, entering.priority), (Ecn::Ect0, Priority::LOW));
            assert!(matches!(entering.body, Body::Tcp(segment) if segment.len == 1000));
            assert_eq!(ends.expect("TCP has ports").destination.port(), 2);
        }
    }

    #[test]
    fn a_marked_packet_has_the_field_and_right_checksums() {
        for v6 in [false, true] {
            let mut bytes = packet(Ecn::Ect0, 46, v6);
            mark(&mut bytes);
            let parsed = parse(&bytes, Checksums::Verify).expect("the packet's checksums are right");
            assert_eq!((parsed.header.ecn, parsed.header.dscp), (Ecn::Ce, 46));
        }
    }

    /// In an IPv4 packet a checksum detects each flipped bit. In an IPv6 packet no checksum covers traffic class, flow
    /// label and hop limit. The packet has 1040 bytes, 40 of them headers.
    #[test]
    fn damage_turns_one_bit_over_anywhere() {
        let sound = packet(Ecn::Ect0, 0, false);
        let mut in_headers = 0;
        for number in 0..1000 {
            let mut bytes = sound.clone();
            damage(&mut bytes, number);
            let changed = || sound.iter().zip(&bytes).enumerate().filter(|(_, (was, is))| was != is);
            let (at, (was, is)) = changed().next().expect("one byte differs");
            assert_eq!((changed().count(), (was ^ is).count_ones()), (1, 1));
            assert!(parse(&bytes, Checksums::Verify).is_err(), "byte {at}");
            in_headers += u32::from(at < 40);
        }
        // Expected changes in headers: 1000 × 40 / 1040 = 38.5. Five standard deviations of this binomial count are 30.
        assert!((9..69).contains(&in_headers), "{in_headers}");
        damage(&mut [], 7);
    }

    #[test]
    fn what_is_no_ip_packet_is_carried_as_it_is() {
        let mut bytes = vec![0x45];
        mark(&mut bytes);
        let (entering, ends) = entering(&bytes, true, Charge::Payload(0));
        assert_eq!((entering.wire_bytes, ends), (1, None));
    }
}
