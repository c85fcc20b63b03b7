//! Detection of a file's format from its first bytes.

use crate::{Ask, Refusal};
use std::io::Read;

/// Format of a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// A table of times and rates, with column names or of a known data set.
    Csv,
    /// Mahimahi's trace: one opportunity per line, ms.
    Mahimahi,
    /// Output of `iperf3 --json`.
    Iperf3,
    /// Output of `ping`, as text or JSON (jc), or a table of `timestamp` and `rtt`.
    Ping,
    /// A packet capture, pcap or pcapng.
    Pcap,
    /// A record of lost packets: 0 and 1 for each packet, or the numbers of lost packets.
    Losses,
}

impl Format {
    /// All formats with their names.
    pub const ALL: [(Format, &'static str); 6] = [
        (Format::Csv, "csv"),
        (Format::Mahimahi, "mahimahi"),
        (Format::Iperf3, "iperf3"),
        (Format::Ping, "ping"),
        (Format::Pcap, "pcap"),
        (Format::Losses, "losses"),
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        Format::ALL.iter().find(|(format, _)| *format == self).map_or("", |(_, name)| name)
    }

    /// The format of this name.
    pub fn named(name: &str) -> Option<Format> {
        Format::ALL.iter().find(|(_, known)| *known == name).map(|(format, _)| *format)
    }
}

const LOOKED_AT: u64 = 1 << 16;

/// First bytes of pcapng (section header), and pcap's four magic numbers.
const CAPTURES: [[u8; 4]; 5] = [
    [0x0a, 0x0d, 0x0d, 0x0a],
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x4d, 0x3c, 0xb2, 0xa1],
];

pub(crate) fn format(file: &mut impl Read, ask: &Ask) -> Result<Format, Refusal> {
    let mut head = Vec::new();
    file.take(LOOKED_AT).read_to_end(&mut head).map_err(|error| Refusal::io("cannot be read", &error))?;
    if head.is_empty() {
        return Err(Refusal::new("the file is empty", "give a recording"));
    }
    if CAPTURES.iter().any(|magic| head.starts_with(magic)) {
        return Ok(Format::Pcap);
    }
    if head.starts_with(&[0x1f, 0x8b]) || head.starts_with(b"PK") || head.starts_with(b"Rar!") {
        return Err(Refusal::new("the file is compressed", "unpack it first"));
    }
    if head.iter().filter(|byte| **byte == 0).count() > 0 {
        return Err(Refusal::new(
            "the file is neither a text nor a capture",
            "supported are pcap and pcapng, tables, iperf3's and ping's output, Mahimahi's traces and records of \
             losses",
        ));
    }
    let text = String::from_utf8_lossy(&head);
    let trimmed = text.trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t']);
    if trimmed.starts_with('{') || trimmed.starts_with('[') {
        if trimmed.contains("\"intervals\"") || trimmed.contains("\"test_start\"") {
            return Ok(Format::Iperf3);
        }
        if trimmed.contains("icmp_seq")
            || trimmed.contains("\"responses\"")
            || trimmed.contains("\"time_ms\"")
        {
            return Ok(Format::Ping);
        }
        if !trimmed.contains("bytes from") {
            return Err(Refusal::new(
                "the file is JSON, but neither iperf3's nor ping's",
                "convert it to a table (CSV), or set --format",
            ));
        }
    }
    if trimmed.contains("bytes from") || trimmed.starts_with("PING ") || trimmed.contains("icmp_seq=") {
        return Ok(Format::Ping);
    }
    if ask.time.is_some() || ask.rate.is_some() || ask.unit.is_some() {
        return Ok(Format::Csv);
    }
    if ask.packets.is_some() || ask.model.is_some() {
        return Ok(Format::Losses);
    }
    by_tokens(trimmed, head.len() as u64 == LOOKED_AT)
}

/// Bare numbers are a record of losses or a trace; anything else is a table.
fn by_tokens(text: &str, is_cut: bool) -> Result<Format, Refusal> {
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
        return Ok(Format::Ping);
    }
    let is_bits =
        |line: &str| line.bytes().all(|byte| matches!(byte, b'0' | b'1' | b' ' | b',' | b';' | b'\t'));
    if lines().all(is_bits) {
        let bits: Vec<u8> = lines().flat_map(str::bytes).filter(|byte| byte.is_ascii_digit()).collect();
        let is_single = lines().all(|line| line.trim().len() == 1);
        // A 1 before a 0 cannot be a trace's times. A single 1 could be a trace of one line.
        if !is_single || bits.windows(2).any(|pair| pair[0] > pair[1]) {
            return Ok(Format::Losses);
        }
        if bits == b"1" {
            return Ok(Format::Mahimahi);
        }
        return Err(Refusal::new(
            "zeros and ones could be a record of losses or a trace of the first millisecond",
            "choose one: --format losses or --format mahimahi",
        ));
    }
    if lines().all(|line| line.trim().bytes().all(|byte| byte.is_ascii_digit())) {
        return Ok(Format::Mahimahi);
    }
    // A time, a base delay, and the times of a train's packets; the first is 0.
    let is_train = |line: &str| {
        let mut words = line.split_ascii_whitespace().map(str::parse::<u64>);
        matches!((words.next(), words.next(), words.next()), (Some(Ok(_)), Some(Ok(_)), Some(Ok(0))))
            && words.all(|word| word.is_ok())
    };
    if lines().all(is_train) {
        return Err(Refusal::new(
            "the file is a light trace of CellReplay's and needs its heavy trace",
            "give the folder with both: lasthop import traces/tmobile/driving",
        ));
    }
    Ok(Format::Csv)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_tell_what_a_file_is() {
        let of = |text: &str| format(&mut text.as_bytes(), &Ask::default());
        assert_eq!(of("1\n2\n2\n10\n"), Ok(Format::Mahimahi));
        assert_eq!(of("1\n"), Ok(Format::Mahimahi));
        assert_eq!(of("0\n1\n0\n"), Ok(Format::Losses));
        assert_eq!(of("000100110\n"), Ok(Format::Losses));
        assert_eq!(of("0,0,1,0\n"), Ok(Format::Losses));
        assert!(of("0\n0\n1\n").unwrap_err().help.contains("--format"));
        assert_eq!(of("time,rate_mbps\n0,1\n"), Ok(Format::Csv));
        assert!(of("0 21 0 2 4\n200 23 0 1\n").unwrap_err().help.contains("folder"));
        assert_eq!(of("PING example.org (192.0.2.1): 56 data bytes\n"), Ok(Format::Ping));
        assert_eq!(of("{\"start\":{},\"intervals\":[]}"), Ok(Format::Iperf3));
        assert!(of("").unwrap_err().message.contains("empty"));
        assert!(of("\u{1f}\u{8b}").is_ok(), "the bytes of gzip are not these characters");
        assert!(
            format(&mut &[0x1f, 0x8b, 8][..], &Ask::default()).unwrap_err().message.contains("compressed")
        );
    }
}
