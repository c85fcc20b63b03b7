//! Writes the packets of a run to a pcapng file, for Wireshark and similar programs.
//!
//! The caller names the interfaces, for example one for each host. Dropped packets get separate interfaces, such as
//! `wireless down (dropped)`. The comment of a dropped packet is the reason of the drop. Wireshark follows a connection
//! across all interfaces, so a packet captured at two interfaces looks like a retransmission. To analyse one side,
//! extract the packets of one interface first:
//!
//! ```text
//! tshark -r run.pcapng -Y 'frame.interface_name == "source"' -F nsecpcap -w source.pcap
//! ```
//!
//! tcpdump and tcptrace can read `source.pcap`, but not `run.pcapng`. libpcap rejects pcapng files with several
//! interfaces of the link type raw IP, the only link type for both IPv4 and IPv6.

use lasthop_base::Time;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::SectionHeaderBlock;
use pcap_file::pcapng::{PcapNgBlock, PcapNgWriter};
use pcap_file::{DataLink, Endianness, PcapError};
use std::borrow::Cow;
use std::io::{self, Write};

/// Writer of a capture file in the format pcapng (draft-ietf-opsawg-pcapng).
///
/// Each packet causes several small writes. For files, use a [`std::io::BufWriter`].
pub struct Capture<W: Write> {
    writer: PcapNgWriter<W>,
    snap: usize,
}

impl<W: Write> Capture<W> {
    /// Begins a capture of raw IP packets. Interfaces have the names in `interfaces` and are numbered from 0.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn new(writer: W, interfaces: &[impl AsRef<str>]) -> io::Result<Capture<W>> {
        Capture::begin(writer, interfaces, None)
    }

    /// Begins a capture like [`Capture::new`], but stores at most `snap` bytes of each packet; 0 counts as 1. All
    /// Begins a capture like [`Capture::new`], but stores at most `snap` bytes of each packet (0 counts as 1). 120
    /// bytes suffice for all headers. The file still records the original lengths. Checksums of truncated packets
    /// cannot be verified.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn with_snap_length(writer: W, interfaces: &[impl AsRef<str>], snap: u32) -> io::Result<Capture<W>> {
        Capture::begin(writer, interfaces, Some(snap.max(1)))
    }

    /// Records a packet on `interface` at `time`. `original_len` is the length of the packet in bytes, which is at
    /// least the length of `bytes`.
    ///
    /// Comments are truncated to 65535 bytes, the maximum of the format.
    ///
    /// # Errors
    /// Errors of the writer; [`io::ErrorKind::InvalidInput`] for an unknown interface.
    pub fn packet(
        &mut self,
        interface: usize,
        time: Time,
        bytes: &[u8],
        original_len: u32,
        comment: Option<&str>,
    ) -> io::Result<()> {
        let kept = &bytes[..bytes.len().min(self.snap)];
        let options = match comment {
            Some(comment) => vec![EnhancedPacketOption::Comment(Cow::Borrowed(fitting(comment)))],
            None => Vec::new(),
        };
        self.write(EnhancedPacketBlock {
            interface_id: u32::try_from(interface).unwrap_or(u32::MAX),
            timestamp: std::time::Duration::from_nanos(time.as_nanos()),
            original_len: original_len.max(u32::try_from(bytes.len()).unwrap_or(u32::MAX)),
            data: Cow::Borrowed(kept),
            options,
        })
    }

    /// Flushes and returns the writer.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn finish(self) -> io::Result<W> {
        let mut writer = self.writer.into_inner();
        writer.flush()?;
        Ok(writer)
    }

    fn begin(writer: W, interfaces: &[impl AsRef<str>], snap: Option<u32>) -> io::Result<Capture<W>> {
        // The byte order is fixed. The same run therefore creates the same bytes on every machine.
        let section = SectionHeaderBlock { endianness: Endianness::Little, ..SectionHeaderBlock::default() };
        let writer = PcapNgWriter::with_section_header(writer, section).map_err(io_error)?;
        let snap_bytes = snap.map_or(LONGEST_PACKET, |bytes| bytes as usize).min(LONGEST_PACKET);
        let mut capture = Capture { writer, snap: snap_bytes };
        for name in interfaces {
            capture.write(InterfaceDescriptionBlock {
                linktype: DataLink::RAW,
                // A snap length of 0 means no limit.
                snaplen: snap.unwrap_or(0),
                options: vec![
                    InterfaceDescriptionOption::IfName(Cow::Borrowed(fitting(name.as_ref()))),
                    InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
                ],
            })?;
        }
        Ok(capture)
    }

    fn write<'a>(&mut self, block: impl PcapNgBlock<'a>) -> io::Result<()> {
        self.writer.write_pcapng_block(block).map(|_| ()).map_err(io_error)
    }
}

impl<W: Write> std::fmt::Debug for Capture<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Capture({} interfaces)", self.writer.interfaces().len())
    }
}

/// Value of pcapng's option `if_tsresol`: timestamps are in units of 10^-9 s.
const NANOSECONDS: u8 = 9;

/// Wireshark's maximum packet length in bytes. No IP packet is longer.
const LONGEST_PACKET: usize = 262_144;

/// Truncates the text of a pcapng option to 65535 bytes, because the option's length field has 16 bits.
fn fitting(text: &str) -> &str {
    let longest = usize::from(u16::MAX).min(text.len());
    let end = (0..=longest).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

fn io_error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::new(io::ErrorKind::InvalidInput, other),
    }
}
