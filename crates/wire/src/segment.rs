//! A TCP segment as a plain struct (RFC 9293 §3.1, with the options of RFC 2018, RFC 7323 and RFC 9768).

use crate::accecn::AccEcnCounters;
use crate::seq::Seq;
use std::fmt;
use std::ops::BitOr;

/// A TCP segment without its ports and without its payload bytes. The packet's flow determines the ports.
///
/// Fields that every segment needs come first, SACK blocks and SYN options last.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct Segment {
    /// Sequence number of the first byte, SYN or FIN.
    pub seq: Seq,
    /// Next expected sequence number; valid if [`Flags::ACK`] is set.
    pub ack: Seq,
    /// Payload, bytes.
    pub len: u32,
    /// Control bits.
    pub flags: Flags,
    /// Advertised window as in the header, unscaled.
    pub window: u16,
    /// Timestamps (RFC 7323).
    pub timestamps: Option<Timestamps>,
    /// SACK blocks, the most recent first (RFC 2018).
    pub sack: SackBlocks,
    /// Maximum segment size, bytes (SYN only).
    pub mss: Option<u16>,
    /// Window scale, 0 to 14 (SYN only).
    pub window_scale: Option<u8>,
    /// SACK permitted (SYN only).
    pub sack_permitted: bool,
}

impl Segment {
    /// Sequence space of payload, SYN and FIN.
    pub fn sequence_space(&self) -> u32 {
        self.len + u32::from(self.flags.has(Flags::SYN)) + u32::from(self.flags.has(Flags::FIN))
    }

    /// Whether the segment is a pure ACK.
    pub fn is_pure_ack(&self) -> bool {
        self.len == 0 && self.flags.has(Flags::ACK) && !self.flags.has(Flags::SYN | Flags::FIN | Flags::RST)
    }

    /// Bytes of options in the header, padded to a multiple of four, at most 40.
    pub fn option_bytes(&self) -> u32 {
        let mss = if self.mss.is_some() { 4 } else { 0 };
        let scale = if self.window_scale.is_some() { 3 } else { 0 };
        let permitted = if self.sack_permitted { 2 } else { 0 };
        // If timestamps and SACK occur together, each of these options needs two NOPs (RFC 7323 appendix A).
        let timestamps = if self.timestamps.is_some() { 10 } else { 0 };
        let padding = if self.timestamps.is_some() && !self.sack.is_empty() { 4 } else { 0 };
        let sack = if self.sack.is_empty() { 0 } else { 2 + 8 * self.sack.len() as u32 + padding };
        ((mss + scale + permitted + timestamps + sack + 3) & !3)
            + self.sack.counters().map_or(0, |it| it.padded_bytes())
            + if self.sack.damaged().is_some() { DAMAGED_BYTES } else { 0 }
    }

    /// First sequence number of a segment that this ACK reports as damaged with an intact header (HACK: Balan et al.
    /// 2001).
    pub fn damaged(&self) -> Option<Seq> {
        self.sack.damaged()
    }

    /// Reports the segment at `seq` as damaged, in an option that is stored in place of the third SACK block. The segment
    /// then has at most two SACK blocks, and no AccECN counters.
    pub fn set_damaged(&mut self, seq: Seq) {
        self.sack.set_damaged(seq);
    }

    /// Counters of the AccECN option, if present (RFC 9768 §3.2.3).
    pub fn accecn(&self) -> Option<AccEcnCounters> {
        self.sack.counters()
    }

    /// Adds an AccECN option, stored in place of the third and fourth SACK block. Does nothing if the segment has more
    /// than two blocks, since loss feedback has precedence (RFC 9768 §3.2.3.3).
    pub fn set_accecn(&mut self, counters: AccEcnCounters) {
        self.sack.set_counters(counters);
    }
}

/// Timestamps option (RFC 7323 §3): a timestamp of the sender's clock, and the echo of a timestamp of the peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Timestamps {
    /// TSval: the time of the sender's clock, in ticks of that clock.
    pub value: u32,
    /// TSecr: the echo of the peer's TSval that RFC 7323 §4.3 selects.
    pub echo: u32,
}

/// Control bits of the header.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u16);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Flags = Flags(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// Reset the connection.
    pub const RST: Flags = Flags(0x04);
    /// Push.
    pub const PSH: Flags = Flags(0x08);
    /// The acknowledgement number is valid.
    pub const ACK: Flags = Flags(0x10);
    /// The urgent pointer is valid; ignored.
    pub const URG: Flags = Flags(0x20);
    /// ECN echo (RFC 3168).
    pub const ECE: Flags = Flags(0x40);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Flags = Flags(0x80);
    /// Accurate ECN (RFC 9768).
    pub const AE: Flags = Flags(0x100);
    /// Wireless loss ([`LossHint::Wireless`]). A reserved bit, our choice.
    pub const WIRELESS: Flags = Flags(0x200);
    /// Congestion loss ([`LossHint::Congestion`]). A reserved bit, our choice.
    pub const CONGESTION: Flags = Flags(0x400);

    /// Whether any of `other`'s bits is set.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }
}

/// Hint on the loss that an ACK reports, set by a base station or an informed receiver (ELN: Balakrishnan and Katz
/// 1998; huang §2). Uses two reserved header bits, our choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LossHint {
    /// No hint.
    #[default]
    None,
    /// Lost on the wireless link.
    Wireless,
    /// Lost in the wired network.
    Congestion,
}

impl Flags {
    /// The loss hint. If both bits are set, the hint is congestion.
    pub const fn hint(self) -> LossHint {
        if self.has(Flags::CONGESTION) {
            LossHint::Congestion
        } else if self.has(Flags::WIRELESS) {
            LossHint::Wireless
        } else {
            LossHint::None
        }
    }

    /// Replaces the hint.
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

/// Prints flags like tcpdump: `S`, `S.`, `.`, `P.`, `F.`, `R`; AE is `e`, loss hints are `w` and `c`.
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

/// Length of the damage option, bytes. The option has an experimental kind, its length, an identifier (RFC 6994) and a
/// sequence number.
const DAMAGED_BYTES: u32 = 8;

/// Up to four SACK blocks, stored inline. Each has a left edge and a right edge, the number after the last byte (RFC
/// 2018 §3).
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct SackBlocks {
    len: u8,
    /// Tag of the AccECN option ([`AccEcnCounters::tagged`]); 0 without such an option. If the tag is [`DAMAGED`], the
    /// third block holds the sequence number of a damaged segment.
    tag: u8,
    blocks: [(Seq, Seq); SackBlocks::CAPACITY],
}

/// Tag of a damaged segment; no AccECN option has this tag.
const DAMAGED: u8 = u8::MAX;

impl SackBlocks {
    /// Number of blocks that fit into a header without timestamps (RFC 2018 §3).
    pub const CAPACITY: usize = 4;

    /// Removes all blocks and options.
    pub fn clear(&mut self) {
        (self.len, self.tag) = (0, 0);
    }

    /// Number of blocks that can be stored in addition to an AccECN option.
    pub const BESIDE_ACCECN: usize = 2;

    /// Adds a block, unless the maximum number of blocks is stored already.
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

    /// The blocks, most recent first.
    pub fn as_slice(&self) -> &[(Seq, Seq)] {
        &self.blocks[..usize::from(self.len)]
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// Whether there are no SACK blocks, and no AccECN or damage option is stored in place of blocks.
    pub fn is_unused(&self) -> bool {
        self.len | self.tag == 0
    }

    /// Whether no blocks are present.
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
