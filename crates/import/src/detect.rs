//! Detects the format of a file from its first bytes.

use crate::{ImportError, ImportOptions};
use std::io::Read;

/// Format of a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecordingFormat {
    /// A table of times and rates with column names, or a table of a known data set.
    Csv,
    /// A trace in Mahimahi's format: each line has the time, ms, at which one packet may leave the queue.
    Mahimahi,
    /// Output of `iperf3 --json`.
    Iperf3,
    /// Output of `ping`, as text or JSON (jc), or a table of `timestamp` and `rtt`.
    Ping,
    /// A packet capture in the format pcap or pcapng.
    Pcap,
    /// A record of losses: 0 or 1 for each packet, or a list of the numbers of lost packets.
    Losses,
}

impl RecordingFormat {
    /// All formats with their names.
    pub const ALL: [(RecordingFormat, &'static str); 6] = [
        (RecordingFormat::Csv, "csv"),
        (RecordingFormat::Mahimahi, "mahimahi"),
        (RecordingFormat::Iperf3, "iperf3"),
        (RecordingFormat::Ping, "ping"),
        (RecordingFormat::Pcap, "pcap"),
        (RecordingFormat::Losses, "losses"),
    ];

    /// Name of the format, such as `csv`.
    pub fn name(self) -> &'static str {
        RecordingFormat::ALL.iter().find(|(format, _)| *format == self).map_or("", |(_, name)| name)
    }

    /// Returns the format called `name`.
    pub fn named(name: &str) -> Option<RecordingFormat> {
        RecordingFormat::ALL.iter().find(|(_, known)| *known == name).map(|(format, _)| *format)
    }
}

const DETECTION_BYTES: u64 = 1 << 16;

/// First bytes of pcapng (its section header), and the four possible magic numbers of pcap.
const CAPTURES: [[u8; 4]; 5] = [
    [0x0a, 0x0d, 0x0d, 0x0a],
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x4d, 0x3c, 0xb2, 0xa1],
];

pub(crate) fn format(file: &mut impl Read, options: &ImportOptions) -> Result<RecordingFormat, ImportError> {
    let mut head = Vec::new();
    file.take(DETECTION_BYTES)
        .read_to_end(&mut head)
        .map_err(|error| ImportError::io("cannot be read", &error))?;
    if head.is_empty() {
        return Err(ImportError::new("the file is empty", "name a file with a recording"));
    }
    if CAPTURES.iter().any(|magic| head.starts_with(magic)) {
        return Ok(RecordingFormat::Pcap);
    }
    if head.starts_with(&[0x1f, 0x8b]) || head.starts_with(b"PK") || head.starts_with(b"Rar!") {
        return Err(ImportError::new("the file is compressed", "unpack it first"));
    }
    if head.iter().filter(|byte| **byte == 0).count() > 0 {
        return Err(ImportError::new(
            "the file is neither text nor a capture",
            "supported are pcap and pcapng, tables, iperf3's and ping's output, Mahimahi's traces and records of \
             losses",
        ));
    }
    let text = String::from_utf8_lossy(&head);
    let trimmed = text.trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t']);
    if trimmed.starts_with('{') || trimmed.starts_with('[') {
        if trimmed.contains("\"intervals\"") || trimmed.contains("\"test_start\"") {
            return Ok(RecordingFormat::Iperf3);
        }
        if trimmed.contains("icmp_seq")
            || trimmed.contains("\"responses\"")
            || trimmed.contains("\"time_ms\"")
        {
            return Ok(RecordingFormat::Ping);
        }
        if !trimmed.contains("bytes from") {
            return Err(ImportError::new(
                "the file is JSON, but neither iperf3's nor ping's output",
                "convert it to a table (CSV), or set --format",
            ));
        }
    }
    if trimmed.contains("bytes from") || trimmed.starts_with("PING ") || trimmed.contains("icmp_seq=") {
        return Ok(RecordingFormat::Ping);
    }
    if options.time.is_some() || options.rate.is_some() || options.unit.is_some() {
        return Ok(RecordingFormat::Csv);
    }
    if options.packets.is_some() || options.model.is_some() {
        return Ok(RecordingFormat::Losses);
    }
    by_tokens(trimmed, head.len() as u64 == DETECTION_BYTES)
}

/// Detects the format from the words of the text. Bare numbers are a record of losses or a trace; any other text is a
/// table.
fn by_tokens(text: &str, is_cut: bool) -> Result<RecordingFormat, ImportError> {
    let lines = || {
        let count = text.lines().count();
        text.lines()
            .take(if is_cut { count.saturating_sub(1).max(1) } else { count })
            .filter(|line| !line.trim().is_empty())
    };
    let head = lines().next().unwrap_or_default().to_ascii_lowercase();
    if head.split([',', ';', '\t']).map(str::trim).eq(["timestamp", "rtt"])
        || head.split(',').map(str::trim).eq(["timestamp", "rtt", "uplink", "downlink"])
    {
        return Ok(RecordingFormat::Ping);
    }
    let is_bits =
        |line: &str| line.bytes().all(|byte| matches!(byte, b'0' | b'1' | b' ' | b',' | b';' | b'\t'));
    if lines().all(is_bits) {
        let bits: Vec<u8> = lines().flat_map(str::bytes).filter(|byte| byte.is_ascii_digit()).collect();
        let is_single = lines().all(|line| line.trim().len() == 1);
        // Times in a trace never decrease, so a 1 before a 0 shows a record of losses. A single 1 could be a trace of
        // one line.
        if !is_single || bits.windows(2).any(|pair| pair[0] > pair[1]) {
            return Ok(RecordingFormat::Losses);
        }
        if bits == b"1" {
            return Ok(RecordingFormat::Mahimahi);
        }
        return Err(ImportError::new(
            "zeros and ones could be a record of losses or a trace of the first millisecond",
            "choose one: --format losses or --format mahimahi",
        ));
    }
    if lines().all(|line| line.trim().bytes().all(|byte| byte.is_ascii_digit())) {
        return Ok(RecordingFormat::Mahimahi);
    }
    // Each line of CellReplay's light trace has a time, a base delay, and the times of the packets in a train. The
    // first packet's time is 0.
    let is_train = |line: &str| {
        let mut words = line.split_ascii_whitespace().map(str::parse::<u64>);
        matches!((words.next(), words.next(), words.next()), (Some(Ok(_)), Some(Ok(_)), Some(Ok(0))))
            && words.all(|word| word.is_ok())
    };
    if lines().all(is_train) {
        return Err(ImportError::new(
            "the file is a light trace of CellReplay's and needs its heavy trace",
            "name the folder with both traces: lasthop import traces/tmobile/driving",
        ));
    }
    Ok(RecordingFormat::Csv)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_tell_what_a_file_is() {
        let of = |text: &str| format(&mut text.as_bytes(), &ImportOptions::default());
        assert_eq!(of("1\n2\n2\n10\n"), Ok(RecordingFormat::Mahimahi));
        assert_eq!(of("1\n"), Ok(RecordingFormat::Mahimahi));
        assert_eq!(of("0\n1\n0\n"), Ok(RecordingFormat::Losses));
        assert_eq!(of("000100110\n"), Ok(RecordingFormat::Losses));
        assert_eq!(of("0,0,1,0\n"), Ok(RecordingFormat::Losses));
        assert!(of("0\n0\n1\n").unwrap_err().help.contains("--format"));
        assert_eq!(of("time,rate_mbps\n0,1\n"), Ok(RecordingFormat::Csv));
        assert!(of("0 21 0 2 4\n200 23 0 1\n").unwrap_err().help.contains("folder"));
        assert_eq!(of("PING example.org (192.0.2.1): 56 data bytes\n"), Ok(RecordingFormat::Ping));
        assert_eq!(of("{\"start\":{},\"intervals\":[]}"), Ok(RecordingFormat::Iperf3));
        assert!(of("").unwrap_err().message.contains("empty"));
        assert!(
            of("\u{1f}\u{8b}").is_ok(),
            "UTF-8 encodes U+008B as two bytes, so the text has no gzip magic"
        );
        assert!(
            format(&mut &[0x1f, 0x8b, 8][..], &ImportOptions::default())
                .unwrap_err()
                .message
                .contains("compressed")
        );
    }
}
