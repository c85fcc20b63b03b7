//! Result of one side of a phase, with encoding and decoding.

use crate::receiver_log::ReceiverResult;
use lasthop_base::Duration;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct PhaseResult {
    pub(crate) sent: Option<SenderResult>,
    pub(crate) recorded: Option<ReceiverResult>,
}

/// Sender's part of the result of a phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SenderResult {
    /// Packets sent.
    pub packets: u64,
    /// Time for which the window was open but the process did not run. During this time, the processor limited the rate
    /// instead of the path.
    pub behind: Duration,
    /// Time from the start of the phase to the last attempt to send.
    pub span: Duration,
}

/// Maximum duration of a recording that is decoded, ms: one day.
const LONGEST_MS: u64 = 86_400_000;

impl PhaseResult {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut put = |number: u64| variable(&mut bytes, number);
        put(self.sent.is_some().into());
        if let Some(SenderResult { packets, behind, span }) = self.sent {
            [packets, behind.as_nanos(), span.as_nanos()].into_iter().for_each(&mut put);
        }
        put(self.recorded.is_some().into());
        if let Some(recorded) = &self.recorded {
            let ReceiverResult { bytes, packets, lost, empty, wait_ms, dropped } = recorded;
            let numbers = [*packets, *lost, empty.as_nanos(), (*wait_ms).into(), (*dropped).into()];
            numbers.into_iter().for_each(&mut put);
            put(bytes.len() as u64);
            bytes.iter().for_each(|one| put((*one).into()));
        }
        bytes
    }

    pub(crate) fn read(bytes: &[u8]) -> Option<PhaseResult> {
        let mut rest = bytes;
        let mut next = || number(&mut rest);
        let sent = match next()? {
            0 => None,
            _ => Some(SenderResult {
                packets: next()?,
                behind: Duration::from_nanos(next()?),
                span: Duration::from_nanos(next()?),
            }),
        };
        let recorded = match next()? {
            0 => None,
            _ => {
                let [packets, lost, empty] = [next()?, next()?, next()?];
                let [wait_ms, dropped] = [next()?, next()?].map(|it| u32::try_from(it).ok());
                let count = next().filter(|count| *count <= LONGEST_MS)?;
                // Each number takes at least one byte, so the length of the input bounds the allocation.
                let bytes: Option<Vec<u32>> = (0..count).map(|_| u32::try_from(next()?).ok()).collect();
                Some(ReceiverResult {
                    bytes: bytes?,
                    packets,
                    lost,
                    empty: Duration::from_nanos(empty),
                    wait_ms: wait_ms?,
                    dropped: dropped?,
                })
            }
        };
        rest.is_empty().then_some(PhaseResult { sent, recorded })
    }
}

/// Appends a number, encoded in LEB128.
fn variable(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for place in 0..10 {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        number |= u64::from(byte & 0x7f).checked_shl(7 * place)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(
            numbers in any::<[u64; 6]>(),
            words in any::<[u32; 2]>(),
            bytes in proptest::collection::vec(any::<u32>(), 0..300),
            has in any::<[bool; 2]>(),
            cut in any::<proptest::sample::Index>(),
        ) {
            let [a, b, c, d, e, f] = numbers;
            let sent = SenderResult { packets: a, behind: Duration::from_nanos(b), span: Duration::from_nanos(c) };
            let empty = Duration::from_nanos(f);
            let recorded = ReceiverResult { bytes, packets: d, lost: e, empty, wait_ms: words[0], dropped: words[1] };
            let outcome = PhaseResult { sent: has[0].then_some(sent), recorded: has[1].then_some(recorded) };
            let bytes = outcome.bytes();
            prop_assert_eq!(PhaseResult::read(&bytes), Some(outcome));
            prop_assert_eq!(PhaseResult::read(&bytes[..cut.index(bytes.len())]), None);
        }

        #[test]
        fn no_bytes_are_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = PhaseResult::read(&bytes);
        }
    }

    #[test]
    fn a_length_that_is_not_there_takes_no_room() {
        let mut bytes = vec![0, 1, 0, 0, 0, 0, 0];
        variable(&mut bytes, LONGEST_MS);
        assert_eq!(PhaseResult::read(&bytes), None);
    }
}
