//! A TCP segment as a plain struct (RFC 9293 §3.1, with the options of RFC 2018, RFC 7323 and RFC 9768).

use crate::accecn::AccEcnCounters;
use crate::seq::Seq;
use std::fmt;
use std::ops::BitOr;

/// A TCP segment without ports and payload bytes. The packet's flow determines the ports.
///
/// In memory, the fields that every segment needs come first. SACK blocks and SYN options come last.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct Segment {
    /// Sequence number of the segment's first byte, or of its SYN or FIN.
    pub seq: Seq,
    /// Acknowledgement number: the next expected sequence number. Valid if [`Flags::ACK`] is set.
    pub ack: Seq,
    /// Length of the payload, bytes.
    pub len: u32,
    /// Control bits.
    pub flags: Flags,
    /// Window field of the header: the advertised window before scaling.
    pub window: u16,
    /// Timestamps (RFC 7323).
    pub timestamps: Option<Timestamps>,
    /// SACK blocks, the most recent first (RFC 2018). Also stores the AccECN option or the damage option.
    pub sack: SackBlocks,
    /// Maximum segment size, bytes (SYN only).
    pub mss: Option<u16>,
    /// Window scale, a shift count from 0 to 14 (SYN only).
    pub window_scale: Option<u8>,
    /// Whether the SACK-permitted option is present (SYN only).
    pub sack_permitted: bool,
}

impl Segment {
    /// Returns the number of sequence numbers that the segment occupies: payload bytes, SYN and FIN.
    pub fn sequence_space(&self) -> u32 {
        self.len + u32::from(self.flags.has(Flags::SYN)) + u32::from(self.flags.has(Flags::FIN))
    }

    /// Whether the segment is a pure ACK: an ACK without payload, SYN, FIN and RST.
    pub fn is_pure_ack(&self) -> bool {
        self.len == 0 && self.flags.has(Flags::ACK) && !self.flags.has(Flags::SYN | Flags::FIN | Flags::RST)
    }

    /// Returns the length of all options in bytes, padded to a multiple of four. A header has space for 40 bytes.
    pub fn option_bytes(&self) -> u32 {
        let mss = if self.mss.is_some() { 4 } else { 0 };
        let scale = if self.window_scale.is_some() { 3 } else { 0 };
        let permitted = if self.sack_permitted { 2 } else { 0 };
        // If a segment has timestamps and SACK blocks, two NOPs precede each of these options (RFC 7323 appendix A).
        let timestamps = if self.timestamps.is_some() { 10 } else { 0 };
        let padding = if self.timestamps.is_some() && !self.sack.is_empty() { 4 } else { 0 };
        let sack = if self.sack.is_empty() { 0 } else { 2 + 8 * self.sack.len() as u32 + padding };
        ((mss + scale + permitted + timestamps + sack + 3) & !3)
            + self.sack.counters().map_or(0, |it| it.padded_bytes())
            + if self.sack.damaged().is_some() { DAMAGED_BYTES } else { 0 }
    }

    /// Returns the sequence number in the damage option, if present. With this option, an ACK reports a segment that
    /// arrived with a damaged payload and an intact header (HACK: Balan et al. 2001).
    pub fn damaged(&self) -> Option<Seq> {
        self.sack.damaged()
    }

    /// Reports the segment at `seq` as damaged, in an option that is stored in place of the third SACK block. The segment
    /// then has at most two SACK blocks, and no AccECN counters.
    pub fn set_damaged(&mut self, seq: Seq) {
        self.sack.set_damaged(seq);
    }

    /// Returns the counters of the AccECN option, if present (RFC 9768 §3.2.3).
    pub fn accecn(&self) -> Option<AccEcnCounters> {
        self.sack.counters()
    }

    /// Adds an AccECN option, which is stored in place of the third and fourth SACK block. If the segment has more than
    /// two blocks, the option is not added, since loss feedback has precedence (RFC 9768 §3.2.3.3).
    pub fn set_accecn(&mut self, counters: AccEcnCounters) {
        self.sack.set_counters(counters);
    }
}

/// Timestamps option (RFC 7323 §3): a timestamp of the sender's clock, and the echo of a peer's timestamp.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Timestamps {
    /// TSval: the time of the sender's clock, in ticks of that clock.
    pub value: u32,
    /// TSecr: the echo of a TSval that the peer sent. RFC 7323 §4.3 defines which TSval is echoed.
    pub echo: u32,
}

/// Control bits of the header.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u16);

impl Flags {
    /// FIN: the sender sends no more data.
    pub const FIN: Flags = Flags(0x01);
    /// SYN: the sender synchronises sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// RST: the sender resets the connection.
    pub const RST: Flags = Flags(0x04);
    /// PSH: push function.
    pub const PSH: Flags = Flags(0x08);
    /// The acknowledgement number is valid.
    pub const ACK: Flags = Flags(0x10);
    /// The urgent pointer is valid. Lasthop ignores the urgent pointer.
    pub const URG: Flags = Flags(0x20);
    /// ECN echo (RFC 3168).
    pub const ECE: Flags = Flags(0x40);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Flags = Flags(0x80);
    /// Accurate ECN (RFC 9768).
    pub const AE: Flags = Flags(0x100);
    /// Hint of a wireless loss ([`LossHint::Wireless`]). Uses a reserved header bit (our choice).
    pub const WIRELESS: Flags = Flags(0x200);
    /// Hint of a congestion loss ([`LossHint::Congestion`]). Uses a reserved header bit (our choice).
    pub const CONGESTION: Flags = Flags(0x400);

    /// Whether at least one of the bits of `other` is set.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }
}

/// Hint on the loss that an ACK reports, set by a base station or an informed receiver (ELN: Balakrishnan and Katz
/// 1998; huang §2). A hint uses two reserved header bits (our choice).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LossHint {
    /// No hint.
    #[default]
    None,
    /// The data was lost on the wireless link.
    Wireless,
    /// The data was lost to congestion, in the wired network.
    Congestion,
}

impl Flags {
    /// Returns the loss hint. If the bits of both hints are set, the hint is congestion.
    pub const fn hint(self) -> LossHint {
        if self.has(Flags::CONGESTION) {
            LossHint::Congestion
        } else if self.has(Flags::WIRELESS) {
            LossHint::Wireless
        } else {
            LossHint::None
        }
    }

    /// Returns the flags with `hint` in place of the loss hint.
    #[must_use]
    pub const fn with_hint(self, hint: LossHint) -> Flags {
        let others = self.0 & !(Flags::WIRELESS.0 | Flags::CONGESTION.0);
        Flags(match hint {
            LossHint::None => others,
            LossHint::Wireless => others | Flags::WIRELESS.0,
            LossHint::Congestion => others | Flags::CONGESTION.0,
        })
    }
}

impl BitOr for Flags {
    type Output = Flags;
    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

impl BitOr for &Flags {
    type Output = Flags;
    fn bitor(self, other: &Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// Prints flags like tcpdump: `S`, `S.`, `.`, `P.`, `F.`, `R`. AE is `e`; the loss hints are `w` and `c`.
impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (Flags::SYN, 'S'),
            (Flags::FIN, 'F'),
            (Flags::RST, 'R'),
            (Flags::PSH, 'P'),
            (Flags::URG, 'U'),
            (Flags::ECE, 'E'),
            (Flags::CWR, 'W'),
            (Flags::AE, 'e'),
            (Flags::WIRELESS, 'w'),
            (Flags::CONGESTION, 'c'),
            (Flags::ACK, '.'),
        ];
        names.iter().filter(|(flag, _)| self.has(*flag)).try_for_each(|(_, name)| write!(f, "{name}"))
    }
}

/// Length of the damage option, bytes. The option consists of an experimental kind, a length, an identifier (RFC 6994)
/// and a sequence number.
const DAMAGED_BYTES: u32 = 8;

/// Up to four SACK blocks, stored inline. A block is a pair of sequence numbers (RFC 2018 §3). The left edge is the
/// first number of the block. The right edge is the number after the last number of the block.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct SackBlocks {
    len: u8,
    /// Tag of the AccECN option ([`AccEcnCounters::tagged`]); 0 without an AccECN option. If the tag is [`DAMAGED`],
    /// the third block stores the sequence number of a damaged segment.
    tag: u8,
    blocks: [(Seq, Seq); SackBlocks::CAPACITY],
}

/// Value of `SackBlocks::tag` that indicates a damage option. No AccECN option has this tag.
const DAMAGED: u8 = u8::MAX;

impl SackBlocks {
    /// Maximum number of blocks in a header without timestamps (RFC 2018 §3).
    pub const CAPACITY: usize = 4;

    /// Removes all SACK blocks, the AccECN option and the damage option.
    pub fn clear(&mut self) {
        (self.len, self.tag) = (0, 0);
    }

    /// Maximum number of blocks that are stored in addition to an AccECN option or a damage option.
    pub const BESIDE_ACCECN: usize = 2;

    /// Adds the block from `left` to `right`. Does nothing if the maximum number of blocks is already stored.
    pub fn push(&mut self, left: Seq, right: Seq) {
        let most = if self.tag == 0 { SackBlocks::CAPACITY } else { SackBlocks::BESIDE_ACCECN };
        if let Some(place) = self.blocks[..most].get_mut(usize::from(self.len)) {
            *place = (left, right);
            self.len += 1;
        }
    }

    fn counters(&self) -> Option<AccEcnCounters> {
        if self.tag == 0 || self.tag == DAMAGED {
            return None;
        }
        let [_, _, (first, second), (third, _)] = self.blocks;
        AccEcnCounters::of_tag(self.tag, [first.0, second.0, third.0])
    }

    fn set_counters(&mut self, counters: AccEcnCounters) {
        if self.len() <= SackBlocks::BESIDE_ACCECN {
            let (tag, [first, second, third]) = counters.tagged();
            self.tag = tag;
            self.blocks[2] = (Seq(first), Seq(second));
            self.blocks[3].0 = Seq(third);
        }
    }

    fn damaged(&self) -> Option<Seq> {
        (self.tag == DAMAGED).then_some(self.blocks[2].0)
    }

    fn set_damaged(&mut self, seq: Seq) {
        self.len = self.len.min(SackBlocks::BESIDE_ACCECN as u8);
        self.tag = DAMAGED;
        self.blocks[2].0 = seq;
    }

    /// Returns the blocks in the order of the `push` calls. The most recent block is first (RFC 2018 §4).
    pub fn as_slice(&self) -> &[(Seq, Seq)] {
        &self.blocks[..usize::from(self.len)]
    }

    /// Returns the number of SACK blocks.
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// Whether no SACK block, no AccECN option and no damage option is stored.
    pub fn is_unused(&self) -> bool {
        self.len | self.tag == 0
    }

    /// Whether no SACK block is stored. An AccECN option or a damage option may be stored.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl PartialEq for SackBlocks {
    fn eq(&self, other: &SackBlocks) -> bool {
        self.as_slice() == other.as_slice()
            && self.counters() == other.counters()
            && self.damaged() == other.damaged()
    }
}

impl fmt::Debug for SackBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let blocks = self.as_slice().iter().map(|(l, r)| format!("{l:?}..{r:?}"));
        f.debug_list().entries(blocks).entries(self.counters()).entries(self.damaged()).finish()
    }
}
