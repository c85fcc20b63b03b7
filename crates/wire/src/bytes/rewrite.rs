use super::checksum;
use super::error::ParseError;
use super::parse::{Checksums, Content, parse};
use crate::seq::Seq;
use etherparse::{IpNumber, Ipv6Header};

/// Position of the acknowledgement number in the TCP header.
const ACK: usize = 8;
/// Position of the window field in the TCP header.
const WINDOW: usize = 14;
/// Position of the checksum in the TCP header.
const CHECKSUM: usize = 16;

/// Replaces the acknowledgement number and the window field (unscaled) of a TCP packet in place, and updates the TCP
/// checksum.
///
/// # Errors
/// [`ParseError`] if the bytes are not a TCP packet. In this case the bytes stay unchanged.
pub fn rewrite(bytes: &mut [u8], ack: Seq, window: u16) -> Result<(), ParseError> {
    let parsed = parse(bytes, Checksums::Ignore)?;
    if parsed.content == Content::Datagram {
        return Err(ParseError::Protocol { number: IpNumber::UDP.0 });
    }
    let (source, destination) = (parsed.header.source.ip(), parsed.header.destination.ip());
    // `parse` has checked the header length and the total length of the IP packet.
    let length = |at: usize| usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]));
    let (at, end) = if source.is_ipv4() {
        (usize::from(bytes[0] & 0x0f) * 4, length(2))
    } else {
        (Ipv6Header::LEN, Ipv6Header::LEN + length(4))
    };
    let tcp = &mut bytes[at..end];
    tcp[ACK..ACK + 4].copy_from_slice(&ack.0.to_be_bytes());
    tcp[WINDOW..WINDOW + 2].copy_from_slice(&window.to_be_bytes());
    tcp[CHECKSUM..CHECKSUM + 2].fill(0);
    let sum = checksum::transport(source, destination, IpNumber::TCP.0, tcp);
    tcp[CHECKSUM..CHECKSUM + 2].copy_from_slice(&sum.to_be_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Header, Payload, emit};
    use super::*;
    use crate::packet::{Body, Ecn};
    use crate::segment::{Flags, SackBlocks, Segment, Timestamps};
    use std::net::SocketAddr;

    fn packet(source: &str, destination: &str) -> (Segment, Vec<u8>) {
        let mut sack = SackBlocks::default();
        sack.push(Seq(9000), Seq(9100));
        let segment = Segment {
            seq: Seq(7),
            ack: Seq(5000),
            flags: Flags::ACK,
            window: 501,
            timestamps: Some(Timestamps { value: 1, echo: 2 }),
            sack,
            ..Segment::default()
        };
        let end = |text: &str| text.parse::<SocketAddr>().unwrap();
        let header = Header {
            source: end(source),
            destination: end(destination),
            ecn: Ecn::NotEct,
            dscp: 0,
            id: 3,
            ttl: 64,
        };
        let mut bytes = Vec::new();
        emit(&header, &Body::Tcp(segment), Payload::Bytes(&[]), &mut bytes).unwrap();
        (segment, bytes)
    }

    #[test]
    fn only_what_was_asked_for_changes_and_checksums_are_right() {
        for (source, destination) in [("10.0.0.1:80", "10.0.0.2:1234"), ("[fd00::1]:80", "[fd00::2]:1234")] {
            let (segment, mut bytes) = packet(source, destination);
            // `rewrite` must ignore bytes after the end of the packet.
            bytes.extend([0xee; 3]);
            rewrite(&mut bytes, Seq(4000), 77).unwrap();
            let parsed = parse(&bytes, Checksums::Verify).unwrap();
            assert_eq!(parsed.content, Content::Tcp(Segment { ack: Seq(4000), window: 77, ..segment }));
            assert_eq!(bytes[bytes.len() - 3..], [0xee; 3]);
        }
    }

    #[test]
    fn what_is_no_tcp_packet_stays() {
        let (_, bytes) = packet("10.0.0.1:80", "10.0.0.2:1234");
        for cut in [0, 1, 19, 20, 39, 60] {
            let mut short = bytes[..cut].to_vec();
            assert!(rewrite(&mut short, Seq(0), 0).is_err());
            assert_eq!(short, bytes[..cut]);
        }
    }
}
