//! Packets of a run as a pcapng file, for Wireshark and its relatives.
//!
//! One interface per link side, time stamps in nanoseconds since the start of the run, the cause
//! of a drop as the packet's comment. Dropped packets belong on an interface of their own
//! (`wireless down (dropped)`): Wireshark follows a connection across all interfaces of a file, so
//! that a packet seen twice looks like one sent twice. To have its analysis of one side, take that
//! side out first:
//!
//! ```text
//! tshark -r run.pcapng -Y 'frame.interface_name == "source"' -F nsecpcap -w source.pcap
//! ```
//!
//! The result is what tcpdump and tcptrace read too. They cannot read the whole file: libpcap
//! refuses pcapng with several interfaces of raw IP, the one link type that holds IPv4 and IPv6.

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

/// A capture file that is being written (draft-ietf-opsawg-pcapng).
///
/// Each packet is a few small writes: give it a [`std::io::BufWriter`] for a file.
pub struct Capture<W: Write> {
    writer: PcapNgWriter<W>,
    /// Bytes kept of each packet.
    snap: usize,
}

impl<W: Write> Capture<W> {
    /// Begins a capture of raw IP packets; interfaces are numbered from 0 in the order of their names.
    ///
    /// # Errors
    /// What the writer answers.
    pub fn new(writer: W, interfaces: &[impl AsRef<str>]) -> io::Result<Capture<W>> {
        Capture::begin(writer, interfaces, None)
    }

    /// The same, but keeps at most the first `snap` bytes of each packet (1 or more; 0 counts as 1):
    /// 120 hold all headers. Original lengths are kept, checksums over cut bytes cannot be checked.
    ///
    /// # Errors
    /// What the writer answers.
    pub fn with_snap_length(writer: W, interfaces: &[impl AsRef<str>], snap: u32) -> io::Result<Capture<W>> {
        Capture::begin(writer, interfaces, Some(snap.max(1)))
    }

    /// Records a packet that was `original_len` bytes long (at least as many as are given) and passed `interface` at `time`.
    ///
    /// Comments are cut at 65535 bytes, the longest that the format holds.
    ///
    /// # Errors
    /// What the writer answers; [`io::ErrorKind::InvalidInput`] if there is no such interface.
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

    /// Flushes what is buffered and gives the writer back.
    ///
    /// # Errors
    /// What the writer answers.
    pub fn finish(self) -> io::Result<W> {
        let mut writer = self.writer.into_inner();
        writer.flush()?;
        Ok(writer)
    }

    fn begin(writer: W, interfaces: &[impl AsRef<str>], snap: Option<u32>) -> io::Result<Capture<W>> {
        // Not the machine's own order: the same run gives the same bytes everywhere.
        let section = SectionHeaderBlock { endianness: Endianness::Little, ..SectionHeaderBlock::default() };
        let writer = PcapNgWriter::with_section_header(writer, section).map_err(io_error)?;
        let snap_bytes = snap.map_or(LONGEST_PACKET, |bytes| bytes as usize).min(LONGEST_PACKET);
        let mut capture = Capture { writer, snap: snap_bytes };
        for name in interfaces {
            capture.write(InterfaceDescriptionBlock {
                linktype: DataLink::RAW,
                // 0 says that there is no limit.
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

/// Time stamps count units of 10^-9 s (option if_tsresol).
const NANOSECONDS: u8 = 9;

/// What Wireshark takes in one packet, bytes; more than any IP packet has.
const LONGEST_PACKET: usize = 262_144;

/// As much of an option's text as its 16-bit length field can count.
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
