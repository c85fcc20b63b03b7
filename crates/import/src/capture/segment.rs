//! Parses TCP segments of a capture, which may be truncated.

use super::fragments::Fragment;
use etherparse::{Ipv4HeaderSlice, Ipv6HeaderSlice, TcpHeaderSlice, TcpOptionElement};
use std::net::{IpAddr, SocketAddr};

#[derive(Clone, Debug)]
pub(crate) struct CapturedSegment {
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
    pub(crate) seq: u32,
    pub(crate) ack: Option<u32>,
    pub(crate) syn: bool,
    /// Length of the payload according to the IP header, bytes.
    pub(crate) payload: u32,
    pub(crate) length: u32,
    /// TSval and TSecr of the timestamps option (RFC 7323).
    pub(crate) stamps: Option<(u32, u32)>,
    pub(crate) sack: [Option<(u32, u32)>; 4],
    pub(crate) mss: Option<u16>,
}

const TCP: u8 = 6;
/// Protocol number of IPv6's fragment header (RFC 8200 §4.5).
const FRAGMENT: u8 = 44;

/// Parses a packet. `None` if the packet is not TCP, is a fragment, or lacks a part of the TCP header.
pub(crate) fn parse(ip: &[u8]) -> Option<CapturedSegment> {
    let (from, to, header, length) = match ip.first()? >> 4 {
        4 => {
            let header = Ipv4HeaderSlice::from_slice(ip).ok()?;
            if header.protocol().0 != TCP || header.is_fragmenting_payload() {
                return None;
            }
            let own = header.slice().len();
            let addresses = (IpAddr::V4(header.source_addr()), IpAddr::V4(header.destination_addr()));
            // Segmentation offload leaves the length field at 0. Use the captured length instead.
            let length = if header.total_len() == 0 { ip.len() } else { usize::from(header.total_len()) };
            (addresses.0, addresses.1, own, length)
        }
        6 => {
            let header = Ipv6HeaderSlice::from_slice(ip).ok()?;
            if header.next_header().0 != TCP {
                return None;
            }
            let addresses = (IpAddr::V6(header.source_addr()), IpAddr::V6(header.destination_addr()));
            let payload = usize::from(header.payload_length());
            (addresses.0, addresses.1, 40, if payload == 0 { ip.len() } else { 40 + payload })
        }
        _ => return None,
    };
    let mut segment = of_tcp(from, to, ip.get(header..)?)?;
    segment.payload = length.checked_sub(header + segment.payload as usize)? as u32;
    segment.length = length as u32;
    Some(segment)
}

/// Parses a TCP header. In the result, `payload` holds the length of the TCP header, because the length of the payload
/// is unknown here.
pub(super) fn of_tcp(from: IpAddr, to: IpAddr, data: &[u8]) -> Option<CapturedSegment> {
    let tcp = TcpHeaderSlice::from_slice(data).ok()?;
    let mut segment = CapturedSegment {
        from: SocketAddr::new(from, tcp.source_port()),
        to: SocketAddr::new(to, tcp.destination_port()),
        seq: tcp.sequence_number(),
        ack: tcp.ack().then(|| tcp.acknowledgment_number()),
        syn: tcp.syn(),
        payload: tcp.slice().len() as u32,
        length: 0,
        stamps: None,
        sack: [None; 4],
        mss: None,
    };
    for option in tcp.options_iterator() {
        match option {
            Ok(TcpOptionElement::Timestamp(value, echo)) => segment.stamps = Some((value, echo)),
            Ok(TcpOptionElement::SelectiveAcknowledgement(first, [second, third, fourth])) => {
                segment.sack = [Some(first), second, third, fourth];
            }
            Ok(TcpOptionElement::MaximumSegmentSize(mss)) => segment.mss = Some(mss),
            Ok(_) => {}
            Err(_) => break,
        }
    }
    Some(segment)
}

pub(super) fn fragment(ip: &[u8]) -> Option<Fragment<'_>> {
    match ip.first()? >> 4 {
        4 => {
            let header = Ipv4HeaderSlice::from_slice(ip).ok()?;
            if header.protocol().0 != TCP || !header.is_fragmenting_payload() {
                return None;
            }
            let own = header.slice().len();
            let length = usize::from(header.total_len()).checked_sub(own)?;
            Some(Fragment {
                from: IpAddr::V4(header.source_addr()),
                to: IpAddr::V4(header.destination_addr()),
                id: u32::from(header.identification()),
                offset: u32::from(header.fragments_offset().value()) * 8,
                length: length as u32,
                more: header.more_fragments(),
                on_wire: (own + length) as u32,
                kept: ip.get(own..)?,
            })
        }
        6 => {
            let header = Ipv6HeaderSlice::from_slice(ip).ok()?;
            // Fields of the fragment header: next header, reserved, offset and flags, identification.
            let [next, _, high, low, id @ ..] = *ip.get(40..48)?.first_chunk::<8>()?;
            let place = u16::from_be_bytes([high, low]);
            if header.next_header().0 != FRAGMENT || next != TCP {
                return None;
            }
            let length = usize::from(header.payload_length()).checked_sub(8)?;
            Some(Fragment {
                from: IpAddr::V6(header.source_addr()),
                to: IpAddr::V6(header.destination_addr()),
                id: u32::from_be_bytes(id),
                offset: u32::from(place & !7),
                length: length as u32,
                more: place & 1 == 1,
                on_wire: (48 + length) as u32,
                kept: ip.get(48..)?,
            })
        }
        _ => None,
    }
}
