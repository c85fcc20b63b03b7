//! Splits a frame that holds several segments into packets, as a network card does (TSO, USO).
//!
//! A TUN device with a virtio header (linux/virtio_net.h) hands over up to 64 KB of a stream at once. This data is not
//! yet segmented and has no checksums.

/// Length of the virtio header, bytes.
pub(crate) const HEADER: usize = 10;
/// Maximum length of a frame including the virtio header, bytes.
pub(crate) const MAX_FRAME: usize = HEADER + 65_535;

/// Flag: the transport checksum must be completed (VIRTIO_NET_HDR_F_NEEDS_CSUM).
const NEEDS_CHECKSUM: u8 = 1;
const ONE_PACKET: u8 = 0;
const TCP4: u8 = 1;
const TCP6: u8 = 4;
const UDP: u8 = 5;

const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_UDP: u8 = 17;
const FIN: u8 = 1;
const PSH: u8 = 8;
const CWR: u8 = 128;

struct Virtio {
    flags: u8,
    kind: u8,
    /// Payload per segment, bytes.
    segment: usize,
    /// Offset of the transport header in the packet, bytes.
    transport: usize,
    /// Offset of the checksum in the transport header, bytes.
    checksum: usize,
}

impl Virtio {
    fn read(frame: &[u8]) -> Option<Virtio> {
        let &[flags, kind, _, _, s0, s1, t0, t1, c0, c1] = frame.first_chunk::<HEADER>()?;
        let half = |low, high| usize::from(u16::from_ne_bytes([low, high]));
        Some(Virtio { flags, kind, segment: half(s0, s1), transport: half(t0, t1), checksum: half(c0, c1) })
    }
}

/// Splits a frame into packets, in buffers taken from `spare`, and calls `each` for every packet. A malformed frame
/// yields no packets.
pub(crate) fn split(frame: &mut [u8], spare: &mut Vec<Vec<u8>>, mut each: impl FnMut(Vec<u8>)) {
    let Some(virtio) = Virtio::read(frame) else { return };
    let packet = &mut frame[HEADER..];
    if virtio.kind == ONE_PACKET {
        if virtio.flags & NEEDS_CHECKSUM != 0 {
            complete(packet, virtio.transport, virtio.checksum);
        }
        let mut bytes = take_buffer(spare);
        bytes.extend_from_slice(packet);
        return each(bytes);
    }
    let Some(headers) = headers_of(packet, &virtio) else { return };
    let (headers, payload) = packet.split_at(headers);
    let count = payload.len().div_ceil(virtio.segment.max(1));
    for (number, part) in payload.chunks(virtio.segment.max(1)).enumerate() {
        let mut bytes = take_buffer(spare);
        bytes.extend_from_slice(headers);
        bytes.extend_from_slice(part);
        let offset = (number * virtio.segment) as u32;
        number_segment(&mut bytes, &virtio, number, offset, number + 1 == count);
        each(bytes);
    }
}

fn take_buffer(spare: &mut Vec<Vec<u8>>) -> Vec<u8> {
    let mut bytes = spare.pop().unwrap_or_default();
    bytes.clear();
    bytes
}

fn headers_of(packet: &[u8], virtio: &Virtio) -> Option<usize> {
    let at = virtio.transport;
    let length = match virtio.kind {
        TCP4 | TCP6 => usize::from(packet.get(at + 12)? >> 4) * 4,
        UDP => 8,
        _ => return None,
    };
    let min_header = if packet.first()? >> 4 == 4 { 20 } else { 40 };
    let plausible = at >= min_header && virtio.checksum + 2 <= length && at + length < packet.len();
    plausible.then_some(at + length)
}

/// Adapts the headers of one segment: lengths, IPv4 identification, sequence number, flags, checksums.
fn number_segment(bytes: &mut [u8], virtio: &Virtio, number: usize, offset: u32, is_last: bool) {
    let (at, length) = (virtio.transport, bytes.len());
    let is_v4 = bytes[0] >> 4 == 4;
    if is_v4 {
        put_u16(bytes, 2, length as u16);
        let id = u16::from_be_bytes([bytes[4], bytes[5]]);
        put_u16(bytes, 4, id.wrapping_add(number as u16));
        put_u16(bytes, 10, 0);
        let sum = !folded(summed(&bytes[..at]));
        put_u16(bytes, 10, sum);
    } else {
        put_u16(bytes, 4, (length - 40) as u16)
    }
    let protocol = match virtio.kind {
        UDP => {
            put_u16(bytes, at + 4, (length - at) as u16);
            PROTOCOL_UDP
        }
        _ => {
            let first = u32::from_be_bytes([bytes[at + 4], bytes[at + 5], bytes[at + 6], bytes[at + 7]]);
            bytes[at + 4..at + 8].copy_from_slice(&first.wrapping_add(offset).to_be_bytes());
            if number > 0 {
                bytes[at + 13] &= !CWR;
            }
            if !is_last {
                bytes[at + 13] &= !(FIN | PSH);
            }
            PROTOCOL_TCP
        }
    };
    let pseudo = folded(pseudo(bytes, at, protocol));
    put_u16(bytes, at + virtio.checksum, pseudo);
    complete(bytes, at, virtio.checksum);
}

/// Completes a transport checksum, whose field holds the sum of the pseudo-header.
fn complete(bytes: &mut [u8], at: usize, checksum: usize) {
    if at + checksum + 2 > bytes.len() {
        return;
    }
    // RFC 768 requires that UDP sends a checksum of zero as 0xffff, the complement of zero. TCP also permits 0xffff.
    let sum = match !folded(summed(&bytes[at..])) {
        0 => u16::MAX,
        sum => sum,
    };
    put_u16(bytes, at + checksum, sum);
}

fn put_u16(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// Sum of the pseudo-header (RFC 9293 §3.1) of a segment whose transport header begins at `at`.
fn pseudo(bytes: &[u8], at: usize, protocol: u8) -> u64 {
    let addresses = if bytes[0] >> 4 == 4 { &bytes[12..20] } else { &bytes[8..40] };
    summed(addresses) + u64::from(protocol) + (bytes.len() - at) as u64
}

/// Unfolded sum of 16-bit words (RFC 1071).
fn summed(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<4>();
    let sum: u64 = words.iter().map(|word| u64::from(u32::from_be_bytes(*word))).sum();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    sum + u64::from(u32::from_be_bytes(last))
}

fn folded(sum: u64) -> u16 {
    let mut sum = (sum >> 32) + (sum & 0xffff_ffff);
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: usize = 1000;

    /// A packet as handed over by the kernel: IP header, transport header, and `payload` bytes with increasing values.
    fn piece(is_v6: bool, is_udp: bool, payload: usize) -> Vec<u8> {
        let at = if is_v6 { 40 } else { 20 };
        let mut transport = if is_udp { vec![0; 8] } else { vec![0; 32] };
        transport[..4].copy_from_slice(&[0x13, 0x89, 0xc0, 0x01]);
        if !is_udp {
            transport[4..8].copy_from_slice(&(u32::MAX - 1500).to_be_bytes());
            transport[12] = 8 << 4;
            transport[13] = CWR | 16 | PSH | FIN;
        }
        let protocol = if is_udp { PROTOCOL_UDP } else { PROTOCOL_TCP };
        let mut ip = vec![0; at];
        if is_v6 {
            (ip[0], ip[6], ip[7]) = (0x60, protocol, 64);
            ip[8..40].copy_from_slice(&[0x20; 32]);
        } else {
            (ip[0], ip[4], ip[5], ip[8], ip[9]) = (0x45, 0xff, 0xff, 64, protocol);
            ip[12..20].copy_from_slice(&[198, 18, 0, 1, 198, 18, 0, 2]);
        }
        let kind = match (is_udp, is_v6) {
            (true, _) => UDP,
            (false, true) => TCP6,
            (false, false) => TCP4,
        };
        let mut frame = vec![NEEDS_CHECKSUM, kind, 0, 0];
        for half in [SEGMENT, at, if is_udp { 6 } else { 16 }] {
            frame.extend_from_slice(&(half as u16).to_ne_bytes());
        }
        frame.extend(ip);
        frame.extend(transport);
        frame.extend((0..payload).map(|byte| (byte % 251) as u8));
        frame
    }

    fn all(mut frame: Vec<u8>) -> Vec<Vec<u8>> {
        let mut packets = Vec::new();
        split(&mut frame, &mut vec![vec![9; 7]], |bytes| packets.push(bytes));
        packets
    }

    fn plain_sum(bytes: &[u8]) -> u16 {
        let words =
            bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
        words.fold(0, |sum, word| (sum + word) % 0xffff) as u16
    }

    fn half(packet: &[u8], at: usize) -> u16 {
        u16::from_be_bytes([packet[at], packet[at + 1]])
    }

    #[test]
    fn segments_are_whole_packets_that_make_up_the_piece() {
        for (is_v6, is_udp) in [(false, false), (true, false), (false, true), (true, true)] {
            let at = if is_v6 { 40 } else { 20 };
            let data = at + if is_udp { 8 } else { 32 };
            let packets = all(piece(is_v6, is_udp, 2501));
            let lengths: Vec<usize> = packets.iter().map(Vec::len).collect();
            assert_eq!(lengths, [data + 1000, data + 1000, data + 501]);
            let payload: Vec<u8> = packets.iter().flat_map(|packet| packet[data..].to_vec()).collect();
            assert!(payload.iter().enumerate().all(|(place, byte)| *byte == (place % 251) as u8));
            for (number, packet) in packets.iter().enumerate() {
                let length = packet.len();
                if is_v6 {
                    assert_eq!(usize::from(half(packet, 4)), length - 40);
                } else {
                    assert_eq!(usize::from(half(packet, 2)), length);
                    assert_eq!(half(packet, 4), 0xffff_u16.wrapping_add(number as u16));
                    assert_eq!(plain_sum(&packet[..20]), 0);
                }
                let (addresses, protocol) =
                    if is_v6 { (&packet[8..40], packet[6]) } else { (&packet[12..20], packet[9]) };
                let pseudo = [addresses, &[0, protocol], &((length - at) as u16).to_be_bytes()].concat();
                assert_eq!(plain_sum(&[&pseudo, &packet[at..]].concat()), 0, "v6 {is_v6}, UDP {is_udp}");
                if is_udp {
                    assert_eq!(usize::from(half(packet, at + 4)), length - at);
                    continue;
                }
                let sequence = u32::from_be_bytes(*packet[at + 4..].first_chunk().unwrap());
                assert_eq!(sequence, (u32::MAX - 1500).wrapping_add(1000 * number as u32));
                // RFC 3168 §6.1.2: only the first segment has CWR. Only the last segment has FIN and PSH.
                assert_eq!(packet[at + 13], [CWR | 16, 16, 16 | PSH | FIN][number]);
            }
        }
    }

    #[test]
    fn one_packet_stays_as_it_is_but_for_a_checksum_that_is_wanted() {
        let mut frame = piece(false, false, 501);
        frame[1] = ONE_PACKET;
        frame[0] = 0;
        assert_eq!(all(frame.clone()), [&frame[HEADER..]]);
        frame[0] = NEEDS_CHECKSUM;
        let partial = plain_sum(&[&frame[HEADER + 12..HEADER + 20], &[0, 6], &[2, 21]].concat());
        frame[HEADER + 36..HEADER + 38].copy_from_slice(&partial.to_be_bytes());
        let packets = all(frame.clone());
        let pseudo = [&packets[0][12..20], &[0, 6], &[2, 21]].concat();
        assert_eq!(plain_sum(&[&pseudo, &packets[0][20..]].concat()), 0);
    }

    #[test]
    fn what_is_not_to_be_understood_is_dropped_and_nothing_panics() {
        let whole = piece(false, false, 2501);
        for length in 0..100 {
            all(whole[..length].to_vec());
        }
        for place in 0..HEADER + 40 {
            for value in [0, 1, 2, 3, 0x7f, 0xff] {
                let mut frame = whole.clone();
                frame[place] = value;
                all(frame);
            }
        }
        assert!(all(whole[..HEADER].to_vec()).len() <= 1);
        let mut unknown = whole;
        unknown[1] = 0x13;
        assert_eq!(all(unknown), Vec::<Vec<u8>>::new());
    }
}
