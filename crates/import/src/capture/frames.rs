//! Reads the packets of a capture file (pcap or pcapng) one at a time, and removes the link-layer header.

use crate::ImportError;
use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::PcapNgReader;
use pcap_file::{Endianness, PcapError, TsResolution};
use std::io::{BufReader, Read};

pub(crate) struct CapturedFrame<'f> {
    /// Capture time, ns, since 1970 or since the capture's own epoch.
    pub(crate) nanos: u64,
    pub(crate) interface: u32,
    /// Captured bytes, starting at the IP header.
    pub(crate) ip: &'f [u8],
}

/// Number of all frames in a capture, and number of frames without a readable IP packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SkippedFrames {
    pub(crate) frames: u64,
    pub(crate) not_ip: u64,
    /// A link type in the capture that is not supported.
    pub(crate) unknown_link: Option<u32>,
    /// The reason why the rest of the file cannot be read, if any.
    pub(crate) broken: Option<String>,
}

#[derive(Clone, Copy)]
struct Interface {
    link: u32,
    /// Nanoseconds per clock tick, as numerator and denominator.
    tick: (u64, u64),
    offset_secs: u64,
}

pub(crate) fn each(
    file: impl Read,
    mut handle: impl FnMut(&CapturedFrame<'_>) -> Result<(), ImportError>,
) -> Result<SkippedFrames, ImportError> {
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let head =
        std::io::BufRead::fill_buf(&mut reader).map_err(|error| ImportError::io("cannot be read", &error))?;
    if head.starts_with(&[0x0a, 0x0d, 0x0d, 0x0a]) {
        pcapng(reader, &mut handle)
    } else {
        pcap(reader, &mut handle)
    }
}

fn refused(error: &PcapError) -> ImportError {
    ImportError::new(
        format!("the file is not a readable capture: {}", crate::import_result::plain(&error.to_string())),
        "supported formats are pcap and pcapng, as written by tcpdump -w and Wireshark",
    )
}

fn pcap(
    file: impl Read,
    handle: &mut impl FnMut(&CapturedFrame<'_>) -> Result<(), ImportError>,
) -> Result<SkippedFrames, ImportError> {
    let mut reader = PcapReader::new(file).map_err(|error| refused(&error))?;
    let header = reader.header();
    let nanos = if header.ts_resolution == TsResolution::MicroSecond { 1000 } else { 1 };
    let link = u32::from(header.datalink);
    let mut others = SkippedFrames::default();
    while let Some(packet) = reader.next_raw_packet() {
        let packet = match packet {
            Ok(packet) => packet,
            Err(error) => {
                others.broken = Some(error.to_string());
                break;
            }
        };
        let time = u64::from(packet.ts_sec) * 1_000_000_000 + u64::from(packet.ts_frac).saturating_mul(nanos);
        others.handle(link, 0, time, &packet.data, handle)?;
    }
    Ok(others)
}

fn pcapng(
    file: impl Read,
    handle: &mut impl FnMut(&CapturedFrame<'_>) -> Result<(), ImportError>,
) -> Result<SkippedFrames, ImportError> {
    let mut reader = PcapNgReader::new(file).map_err(|error| refused(&error))?;
    let mut others = SkippedFrames::default();
    let mut interfaces: Vec<Interface> = Vec::new();
    loop {
        let is_big = reader.section().endianness == Endianness::Big;
        let block = match reader.next_raw_block() {
            None => break,
            Some(Ok(block)) => block,
            Some(Err(error)) => {
                others.broken = Some(error.to_string());
                break;
            }
        };
        let body: &[u8] = &block.body;
        let word = |at: usize| {
            let bytes: [u8; 4] = body.get(at..at + 4)?.try_into().ok()?;
            Some(if is_big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
        };
        match block.type_ {
            SECTION => interfaces.clear(),
            INTERFACE => interfaces.push(interface(body, is_big)),
            PACKET => {
                let (Some(id), Some(high), Some(low), Some(kept)) = (word(0), word(4), word(8), word(12))
                else {
                    continue;
                };
                let Some(interface) = interfaces.get(id as usize) else { continue };
                let Some(data) = body.get(20..20 + kept as usize) else { continue };
                let ticks = (u128::from(high) << 32) | u128::from(low);
                let nanos = ticks * u128::from(interface.tick.0) / u128::from(interface.tick.1)
                    + u128::from(interface.offset_secs) * 1_000_000_000;
                let nanos = u64::try_from(nanos).unwrap_or(u64::MAX);
                let link = interface.link;
                others.handle(link, id, nanos, data, handle)?;
            }
            _ => {}
        }
    }
    Ok(others)
}

/// Types of pcapng's blocks (draft-ietf-opsawg-pcapng §11.1).
const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const PACKET: u32 = 6;

fn interface(body: &[u8], is_big: bool) -> Interface {
    let half = |at: usize| {
        let bytes: [u8; 2] = body.get(at..at + 2)?.try_into().ok()?;
        Some(if is_big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    };
    let mut interface =
        Interface { link: u32::from(half(0).unwrap_or(u16::MAX)), tick: (1000, 1), offset_secs: 0 };
    let mut at = 8;
    while let (Some(code), Some(length)) = (half(at), half(at + 2)) {
        let length = usize::from(length);
        let value = body.get(at + 4..at + 4 + length).unwrap_or_default();
        match (code, value) {
            (0, _) => break,
            (9, [resolution]) => interface.tick = tick(*resolution),
            (14, [_, _, _, _, _, _, _, _]) => {
                let mut bytes: [u8; 8] = value.try_into().unwrap_or_default();
                if !is_big {
                    bytes.reverse();
                }
                interface.offset_secs = u64::from_be_bytes(bytes).min(10_000_000_000);
            }
            _ => {}
        }
        at += 4 + length.next_multiple_of(4);
    }
    interface
}

/// Converts pcapng's option `if_tsresol` to nanoseconds per tick. The value is a power of ten, or a power of two if the
/// highest bit is set (draft-ietf-opsawg-pcapng §4.2).
fn tick(resolution: u8) -> (u64, u64) {
    let power = u32::from(resolution & 0x7f);
    match resolution & 0x80 {
        0 if power <= 9 => (10_u64.pow(9 - power), 1),
        0 => (1, 10_u64.pow((power - 9).min(18))),
        _ => (1_000_000_000, 1_u64 << power.min(62)),
    }
}

impl SkippedFrames {
    fn handle(
        &mut self,
        link: u32,
        interface: u32,
        nanos: u64,
        data: &[u8],
        handle: &mut impl FnMut(&CapturedFrame<'_>) -> Result<(), ImportError>,
    ) -> Result<(), ImportError> {
        self.frames += 1;
        match ip_of(link, data) {
            IpPart::Packet(ip) => handle(&CapturedFrame { nanos, interface, ip }),
            IpPart::Absent => {
                self.not_ip += 1;
                Ok(())
            }
            IpPart::Unknown => {
                self.unknown_link = Some(link);
                self.not_ip += 1;
                Ok(())
            }
        }
    }
}

enum IpPart<'f> {
    Packet(&'f [u8]),
    Absent,
    Unknown,
}

/// Returns the IP packet in a frame (numbers of link types: www.tcpdump.org/linktypes.html).
fn ip_of(link: u32, data: &[u8]) -> IpPart<'_> {
    let by_type = |at: usize, kind: Option<u16>| match (kind, data.get(at..)) {
        (Some(0x0800 | 0x86dd), Some(ip)) => IpPart::Packet(ip),
        _ => IpPart::Absent,
    };
    let half = |at: usize| data.get(at..at + 2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]));
    match link {
        // Link types null and loop: four bytes contain the address family.
        0 | 108 => data.get(4..).map_or(IpPart::Absent, IpPart::Packet),
        1 => {
            let mut at = 12;
            while matches!(half(at), Some(0x8100 | 0x88a8)) && at < 24 {
                at += 4;
            }
            match half(at) {
                // A PPPoE session (RFC 2516): six bytes, followed by PPP's protocol number.
                Some(0x8864) => match (half(at + 8), data.get(at + 10..)) {
                    (Some(0x0021 | 0x0057), Some(ip)) => IpPart::Packet(ip),
                    _ => IpPart::Absent,
                },
                kind => by_type(at + 2, kind),
            }
        }
        // Raw IP without a link-layer header. Its link-type number depends on the operating system.
        12 | 14 | 101 | 228 | 229 => IpPart::Packet(data),
        113 => by_type(16, half(14)),
        276 => by_type(20, half(0)),
        _ => IpPart::Unknown,
    }
}
