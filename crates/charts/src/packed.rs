//! Compact text encoding of segments for a report. `crates/lab/src/report/sequence.js` decodes the text.
//!
//! Times are rounded to microseconds. Byte numbers are exact. Each value is predicted from the previous value, or from
//! the end of the previous segment. The difference from the prediction is zigzag-encoded and written as a varint:
//! groups of seven bits, the lowest group first. The bytes are written in base64. A segment with its ACK takes about 15
//! characters. Without prediction, columns of `f64` would take 107 characters.

use crate::segments::Segments;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// Encodes segments, ACKs and events. The number of entries precedes each of these three lists.
///
/// * A segment consists of send time, first byte, length, delay + 1 (0 if the segment was not delivered), fate + 2,
///   pipe + 1 (0 if the pipe is unknown), and reason + 1. A pipe is one direction of a link.
/// * An ACK consists of arrival time, acknowledged byte, and distance from this byte to the end of the first SACK block
///   (-1 without a block).
/// * An event consists of time and kind.
///
/// [`Segments::DATA`] and [`Segments::EVENTS`] define the values of fate, reason and kind.
pub fn packed(segments: &Segments) -> String {
    let mut out = VarintBytes(Vec::new());
    let [sent, start, length, arrived, fate, pipe, reason] = &segments.data;
    out.put(sent.len() as i64);
    let (mut time, mut end, mut size, mut delay) = (0, 0, 0, 0);
    for at in 0..sent.len() {
        let (now, from, long) = (micros(sent[at]), start[at] as i64, length[at] as i64);
        let took = if arrived[at].is_nan() { 0 } else { micros(arrived[at]) - now + 1 };
        let place = if pipe[at].is_nan() { 0 } else { pipe[at] as i64 + 1 };
        let row = [now - time, from - end, long - size, took - delay];
        row.into_iter().chain([fate[at] as i64 + 2, place, reason[at] as i64 + 1]).for_each(|it| out.put(it));
        (time, end, size, delay) = (now, from + long, long, took);
    }
    let [times, acked, sacked] = &segments.acks;
    out.put(times.len() as i64);
    let (mut time, mut before) = (0, 0);
    for at in 0..times.len() {
        let (now, byte) = (micros(times[at]), acked[at] as i64);
        let beyond = if sacked[at].is_nan() { -1 } else { sacked[at] as i64 - byte };
        [now - time, byte - before, beyond].into_iter().for_each(|it| out.put(it));
        (time, before) = (now, byte);
    }
    let [times, kinds] = &segments.events;
    out.put(times.len() as i64);
    let mut time = 0;
    for (at, kind) in times.iter().zip(kinds) {
        let now = micros(*at);
        [now - time, *kind as i64].into_iter().for_each(|it| out.put(it));
        time = now;
    }
    BASE64_STANDARD.encode(out.0)
}

fn micros(seconds: f64) -> i64 {
    libm::round(seconds * 1e6) as i64
}

struct VarintBytes(Vec<u8>);

impl VarintBytes {
    fn put(&mut self, value: i64) {
        let mut rest = (value << 1 ^ value >> 63) as u64;
        while rest >= 0x80 {
            self.0.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.0.push(rest as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_protocol_buffers_write_them() {
        // The expected bytes follow from the document "Encoding" of Protocol Buffers. 0, -1, 1, -2 become 0, 1, 2, 3
        // ("Signed integers"), and 150 is encoded as 96 01 ("Base 128 varints").
        let mut out = VarintBytes(Vec::new());
        [0, -1, 1, -2, 75].into_iter().for_each(|value| out.put(value));
        assert_eq!(out.0, [0, 1, 2, 3, 0x96, 0x01]);
    }

    #[test]
    fn what_is_as_expected_takes_a_byte_a_number() {
        let mut segments = Segments::default();
        for at in 0..100 {
            let at = f64::from(at);
            let row = [at * 3e-5, at * 1000.0, 1000.0, at * 3e-5 + 0.02, -1.0, f64::NAN, -1.0];
            segments.data.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
        }
        let letters = packed(&segments).len();
        // A segment takes seven bytes, and base64 writes three bytes as four characters: 100 x 7 x 4 / 3 = 933. The
        // first segment and the counts take a few additional bytes.
        assert!((934..960).contains(&letters), "{letters}");
    }
}
