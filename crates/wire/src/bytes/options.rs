use super::error::{EmitError, ParseError};
use crate::accecn::{AccEcnCounters, CounterOrder};
use crate::segment::{Flags, Segment, Timestamps};
use crate::seq::Seq;
use etherparse::tcp_option::{
    KIND_END, KIND_MAXIMUM_SEGMENT_SIZE, KIND_NOOP, KIND_SELECTIVE_ACK, KIND_SELECTIVE_ACK_PERMITTED,
    KIND_TIMESTAMP, KIND_WINDOW_SCALE,
};
use etherparse::{TcpOptionElement, TcpOptions};

/// Largest window scale. A larger value in an option is treated as 14 (RFC 7323 §2.3).
const LARGEST_SCALE: u8 = 14;

const KIND_ACCECN0: u8 = CounterOrder::Ect0First.kind();
const KIND_ACCECN1: u8 = CounterOrder::Ect1First.kind();

/// Writes the options of a segment in the order of mainstream stacks, padded to a multiple of four bytes.
///
/// Options of a SYN: MSS, SACK permitted, timestamps, NOP, window scale. Options of other segments: NOP, NOP,
/// timestamps, NOP, NOP, SACK. The AccECN option or the damage option comes last. Options restricted to SYNs (RFC 9293
/// §3.2, RFC 7323 §2.2, RFC 2018 §2) are omitted in other segments.
pub(super) fn write(segment: &Segment) -> Result<TcpOptions, EmitError> {
    use TcpOptionElement::{
        MaximumSegmentSize, Noop, SelectiveAcknowledgement, SelectiveAcknowledgementPermitted, Timestamp,
        WindowScale,
    };
    let syn = segment.flags.has(Flags::SYN);
    let mut list = OptionList { elements: [const { Noop }; OptionList::CAPACITY], len: 0 };
    if let Some(mss) = segment.mss.filter(|_| syn) {
        if mss == 0 {
            return Err(EmitError::MssZero);
        }
        list.push(MaximumSegmentSize(mss));
    }
    match (segment.sack_permitted && syn, segment.timestamps) {
        // SACK permitted (2 bytes) and timestamps (10 bytes) need no padding.
        (true, Some(stamps)) => {
            list.push(SelectiveAcknowledgementPermitted);
            list.push(Timestamp(stamps.value, stamps.echo));
        }
        (true, None) => list.push_padded(SelectiveAcknowledgementPermitted),
        (false, Some(stamps)) => list.push_padded(Timestamp(stamps.value, stamps.echo)),
        (false, None) => {}
    }
    if let Some(shift) = segment.window_scale.filter(|_| syn) {
        list.push(Noop);
        list.push(WindowScale(shift.min(LARGEST_SCALE)));
    }
    let block = |i: usize| segment.sack.as_slice().get(i).map(|(left, right)| (left.0, right.0));
    if let Some(first) = block(0) {
        list.push_padded(SelectiveAcknowledgement(first, [block(1), block(2), block(3)]));
    }
    let written = TcpOptions::try_from_elements(&list.elements[..list.len]);
    let written = written.map_err(|_| EmitError::OptionsTooLong)?;
    match (segment.accecn(), segment.damaged()) {
        (Some(counters), _) => with_accecn(&written, &counters),
        (None, Some(seq)) => with_damaged(&written, seq),
        (None, None) => Ok(written),
    }
}

/// Option kind for experiments (RFC 4727 §3). An identifier of 16 bits after the length names the experiment (RFC
/// 6994).
const KIND_EXPERIMENT: u8 = 253;
/// Experiment identifier of the damage option, with which an ACK reports a damaged segment. This identifier is not
/// registered.
const DAMAGED_ID: [u8; 2] = [0x4c, 0x48];

/// Appends the damage option to `written`, whose length is a multiple of four bytes.
fn with_damaged(written: &TcpOptions, seq: Seq) -> Result<TcpOptions, EmitError> {
    let before = written.len();
    let mut all = [0; 40];
    all[..before].copy_from_slice(written.as_slice());
    let place = all.get_mut(before..before + 8).ok_or(EmitError::OptionsTooLong)?;
    (place[0], place[1]) = (KIND_EXPERIMENT, 8);
    place[2..4].copy_from_slice(&DAMAGED_ID);
    place[4..].copy_from_slice(&seq.0.to_be_bytes());
    TcpOptions::try_from_slice(&all[..before + 8]).map_err(|_| EmitError::OptionsTooLong)
}

/// Appends an AccECN option, padded by NOPs, to `written`, whose length is a multiple of four bytes.
fn with_accecn(written: &TcpOptions, counters: &AccEcnCounters) -> Result<TcpOptions, EmitError> {
    let before = written.len();
    let mut option = [KIND_NOOP; 12];
    counters.write(&mut option);
    let end = before + counters.padded_bytes() as usize;
    let mut all = [0; 40];
    all[..before].copy_from_slice(written.as_slice());
    let place = all.get_mut(before..end).ok_or(EmitError::OptionsTooLong)?;
    place.copy_from_slice(&option[..end - before]);
    TcpOptions::try_from_slice(&all[..end]).map_err(|_| EmitError::OptionsTooLong)
}

/// Parses the options into `segment`, whose flags are already set. Errors report positions in the packet, where the
/// options start at byte `at`.
///
/// If an option is repeated, its last occurrence applies. Unknown options are skipped, as are SYN options in segments
/// without SYN.
pub(super) fn read(options: &[u8], at: usize, segment: &mut Segment) -> Result<(), ParseError> {
    let mut next = 0;
    while let Some(&kind) = options.get(next) {
        match kind {
            KIND_END => break,
            KIND_NOOP => next += 1,
            kind => {
                let option = &options[next..];
                let at = at + next;
                let length = usize::from(*option.get(1).ok_or(past_end(kind, at, 2, option))?);
                if length < 2 {
                    return Err(ParseError::OptionTooShort { kind, at, length });
                }
                let value = option.get(2..length).ok_or(past_end(kind, at, length, option))?;
                read_one(kind, value, at, segment)?;
                next += length;
            }
        }
    }
    Ok(())
}

/// Options that [`write`] collects. Each NOP is a separate element. The maximum is nine elements: one for the MSS,
/// three for SACK permitted and timestamps with their NOPs, two for the window scale and three for SACK blocks.
struct OptionList {
    elements: [TcpOptionElement; OptionList::CAPACITY],
    len: usize,
}

impl OptionList {
    const CAPACITY: usize = 9;

    fn push(&mut self, element: TcpOptionElement) {
        if let Some(place) = self.elements.get_mut(self.len) {
            *place = element;
            self.len += 1;
        }
    }

    /// Adds two NOPs and an option. With the NOPs, the value of the option begins at a multiple of four bytes.
    fn push_padded(&mut self, element: TcpOptionElement) {
        self.push(TcpOptionElement::Noop);
        self.push(TcpOptionElement::Noop);
        self.push(element);
    }
}

fn past_end(kind: u8, at: usize, length: usize, option: &[u8]) -> ParseError {
    ParseError::OptionPastEnd { kind, at, length, left: option.len() }
}

fn read_one(kind: u8, value: &[u8], at: usize, segment: &mut Segment) -> Result<(), ParseError> {
    let syn = segment.flags.has(Flags::SYN);
    match (kind, value) {
        (KIND_MAXIMUM_SEGMENT_SIZE, [_, _]) if !syn => {}
        (KIND_MAXIMUM_SEGMENT_SIZE, [0, 0]) => return Err(ParseError::MssZero { at }),
        (KIND_MAXIMUM_SEGMENT_SIZE, &[high, low]) => segment.mss = Some(u16::from_be_bytes([high, low])),
        (KIND_WINDOW_SCALE, _) if !syn && value.len() == 1 => {}
        (KIND_WINDOW_SCALE, &[shift]) => segment.window_scale = Some(shift.min(LARGEST_SCALE)),
        (KIND_SELECTIVE_ACK_PERMITTED, []) => segment.sack_permitted = syn,
        (KIND_TIMESTAMP, &[a, b, c, d, e, f, g, h]) => {
            let (value, echo) = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
            segment.timestamps = Some(Timestamps { value, echo });
        }
        (KIND_EXPERIMENT, &[id, id2, a, b, c, d]) if [id, id2] == DAMAGED_ID => {
            segment.set_damaged(Seq(u32::from_be_bytes([a, b, c, d])));
        }
        (KIND_SELECTIVE_ACK, blocks) if !blocks.is_empty() && blocks.len() % 8 == 0 => {
            for block in blocks.chunks_exact(8) {
                if let &[a, b, c, d, e, f, g, h] = block {
                    segment
                        .sack
                        .push(Seq(u32::from_be_bytes([a, b, c, d])), Seq(u32::from_be_bytes([e, f, g, h])));
                }
            }
        }
        (KIND_SELECTIVE_ACK, _) => {
            return Err(ParseError::SackLength { at, length: value.len() + 2 });
        }
        (KIND_ACCECN0, value) => segment.set_accecn(AccEcnCounters::read(CounterOrder::Ect0First, value)),
        (KIND_ACCECN1, value) => segment.set_accecn(AccEcnCounters::read(CounterOrder::Ect1First, value)),
        (
            KIND_MAXIMUM_SEGMENT_SIZE | KIND_WINDOW_SCALE | KIND_SELECTIVE_ACK_PERMITTED | KIND_TIMESTAMP,
            _,
        ) => {
            return Err(ParseError::OptionLength { kind, at, length: value.len() + 2 });
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::SackBlocks;

    const STAMPS: Option<Timestamps> = Some(Timestamps { value: 0x01020304, echo: 0x05060708 });

    #[test]
    fn a_syn_carries_its_options_in_the_usual_order() {
        let syn = Segment {
            flags: Flags::SYN,
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: STAMPS,
            ..Segment::default()
        };
        let expected = [2, 4, 5, 180, 4, 2, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 3, 3, 7];
        assert_eq!(write(&syn).map(|o| o.as_slice().to_vec()), Ok(expected.to_vec()));
    }

    #[test]
    fn an_ack_carries_timestamps_then_blocks_on_word_boundaries() {
        let mut sack = SackBlocks::default();
        sack.push(Seq(1), Seq(2));
        let ack = Segment { flags: Flags::ACK, timestamps: STAMPS, mss: Some(1), sack, ..Segment::default() };
        let expected = [1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2];
        assert_eq!(write(&ack).map(|o| o.as_slice().to_vec()), Ok(expected.to_vec()));
    }

    #[test]
    fn four_blocks_and_timestamps_do_not_fit() {
        let mut sack = SackBlocks::default();
        (0..3).for_each(|i| sack.push(Seq(i), Seq(i + 1)));
        let three = Segment { flags: Flags::ACK, timestamps: STAMPS, sack, ..Segment::default() };
        assert_eq!(write(&three).map(|o| o.len()), Ok(40));
        sack.push(Seq(7), Seq(8));
        assert_eq!(write(&Segment { sack, ..three }), Err(EmitError::OptionsTooLong));
    }

    #[test]
    fn every_kind_of_malformed_option_is_named() {
        let cases: &[(&[u8], ParseError)] = &[
            (&[1, 8], ParseError::OptionPastEnd { kind: 8, at: 41, length: 2, left: 1 }),
            (&[8, 0], ParseError::OptionTooShort { kind: 8, at: 40, length: 0 }),
            (&[99, 1], ParseError::OptionTooShort { kind: 99, at: 40, length: 1 }),
            (&[8, 10, 0, 0], ParseError::OptionPastEnd { kind: 8, at: 40, length: 10, left: 4 }),
            (&[2, 3, 0, 0], ParseError::OptionLength { kind: 2, at: 40, length: 3 }),
            (&[3, 2, 0, 0], ParseError::OptionLength { kind: 3, at: 40, length: 2 }),
            (&[4, 3, 0, 0], ParseError::OptionLength { kind: 4, at: 40, length: 3 }),
            (&[8, 4, 0, 0], ParseError::OptionLength { kind: 8, at: 40, length: 4 }),
            (&[1, 1, 5, 2], ParseError::SackLength { at: 42, length: 2 }),
            (&[5, 6, 0, 0, 0, 0], ParseError::SackLength { at: 40, length: 6 }),
            (&[2, 4, 0, 0], ParseError::MssZero { at: 40 }),
        ];
        for (options, error) in cases {
            let mut segment = Segment { flags: Flags::SYN, ..Segment::default() };
            assert_eq!(read(options, 40, &mut segment), Err(*error), "{options:?}");
        }
    }

    #[test]
    fn a_window_scale_above_14_counts_as_14() {
        let mut segment = Segment { flags: Flags::SYN, ..Segment::default() };
        assert_eq!(read(&[3, 3, 200, 0], 40, &mut segment), Ok(()));
        assert_eq!(segment.window_scale, Some(14));
    }

    #[test]
    fn options_begin_on_any_byte() {
        // The test puts 0 to 3 NOPs before the options, and an unknown option of 5 bytes between them (RFC 9293 §3.2,
        // MUST-64 and MUST-6).
        for nops in 0..4 {
            let mut options = vec![1; nops];
            options.extend([2, 4, 5, 180, 77, 5, 0, 0, 0, 3, 3, 7, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 4, 2, 0]);
            let mut segment = Segment { flags: Flags::SYN, ..Segment::default() };
            assert_eq!(read(&options, 40, &mut segment), Ok(()));
            assert_eq!((segment.mss, segment.window_scale), (Some(1460), Some(7)));
            assert!(segment.sack_permitted && segment.timestamps == STAMPS);
        }
    }

    #[test]
    fn options_of_a_syn_mean_nothing_elsewhere_and_unknown_ones_nothing_at_all() {
        let mut segment = Segment { flags: Flags::ACK, ..Segment::default() };
        let options = [2, 4, 0, 0, 3, 3, 20, 4, 2, 253, 5, 1, 2, 3, 0, 9];
        assert_eq!(read(&options, 40, &mut segment), Ok(()));
        assert_eq!(segment, Segment { flags: Flags::ACK, ..Segment::default() });
    }
}
