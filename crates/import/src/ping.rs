//! Reads round-trip times and losses from the output of `ping`, or from tables of `timestamp` and `rtt`.

use crate::import_result::{ImportResult, Sourced, plain, shown};
use crate::limited::BoundedLines;
use crate::losses::{LossRecord, fitted};
use crate::{ImportError, ImportOptions};
use serde_json::Value;
use std::io::Read;

const LARGEST: u64 = 64 << 20;
/// Largest gap in the sequence numbers that counts as losses. A larger gap starts a new measurement.
const MAX_MISSING: u64 = 100_000;

pub(crate) fn read(mut file: impl Read, options: &ImportOptions) -> Result<ImportResult, ImportError> {
    let unread = |error: std::io::Error| ImportError::io("cannot be read", &error);
    let mut head = [0_u8; 1];
    let count = file.read(&mut head).map_err(unread)?;
    let file = head[..count].chain(file);
    let mut log = PingLog::default();
    match head[0] {
        b'{' | b'[' => json(file, &mut log)?,
        _ => text(file, &mut log)?,
    }
    log.into_result(options)
}

#[derive(Default)]
struct PingLog {
    record: LossRecord,
    /// Sequence number of the last reply.
    last: Option<u64>,
    trips: RoundTrips,
    duplicates: u64,
    late: u64,
    restarts: u64,
    errors: u64,
}

impl PingLog {
    /// Adds a reply with sequence number `number`. If `number` is `None`, the reply gets the next number.
    fn add_reply(&mut self, number: Option<u64>, millis: f64) {
        if !(millis.is_finite() && (0.0..1e7).contains(&millis)) {
            self.errors += 1;
            return;
        }
        match (number, self.last) {
            (Some(this), Some(last)) if this == last => {
                self.duplicates += 1;
                return;
            }
            // A smaller number has one of two reasons: the 16-bit sequence number wrapped around, or the reply was
            // reordered.
            (Some(this), Some(last)) if this < last => {
                if last - this > 30_000 {
                    let missing = (this + 65_536).saturating_sub(last + 1);
                    if missing < MAX_MISSING {
                        self.record.push_many(true, missing);
                    }
                    self.last = Some(this);
                } else if this <= 1 {
                    self.restarts += 1;
                    self.last = Some(this);
                } else {
                    self.late += 1;
                    self.record.mark_last_loss_arrived();
                    self.trips.push(millis);
                    return;
                }
            }
            (Some(this), Some(last)) => {
                match this - last - 1 {
                    missing if missing < MAX_MISSING => self.record.push_many(true, missing),
                    _ => self.restarts += 1,
                }
                self.last = Some(this);
            }
            (Some(this), None) => self.last = Some(this),
            (None, _) => {}
        }
        self.record.push(false);
        self.trips.push(millis);
    }

    fn into_result(self, options: &ImportOptions) -> Result<ImportResult, ImportError> {
        if self.trips.count == 0 {
            return Err(ImportError::new(
                "no reply has a round-trip time",
                "lines must look like: 64 bytes from 192.0.2.1: icmp_seq=1 ttl=57 time=12.3 ms",
            ));
        }
        let trips = &self.trips;
        let mut found = ImportResult { kind: "pings".into(), ..ImportResult::default() };
        let provenance = format!("measured: the smallest of {} round trips", trips.count);
        found.rtt_ms = Some(Sourced::new(trips.smallest, provenance));
        found.findings.push(format!(
            "{} round trips: smallest {} ms, median {} ms, 95th percentile {} ms, largest {} ms",
            trips.count,
            shown(trips.smallest),
            shown(trips.quantile(0.5)),
            shown(trips.quantile(0.95)),
            shown(trips.largest)
        ));
        let (lost, sent) = (self.record.lost(), self.record.packets());
        if lost > 0 {
            found.findings.push(format!(
                "{lost} of {sent} pings were not answered; ping does not report the \
             direction of these losses, so the scenario drops packets on the downlink"
            ));
            let fit = fitted(&self.record, options.model)?;
            found.channel = Some(fit.channel());
            found.findings.extend(fit.findings());
            found.fit = fit.table();
        } else {
            found.findings.push(format!("all {sent} pings were answered"));
        }
        for (count, what) in [
            (self.duplicates, "answers were duplicates"),
            (self.late, "answers were reordered"),
            (self.restarts, "times the sequence numbers restart"),
            (self.errors, "lines without a readable round-trip time were left out"),
        ] {
            if count > 0 {
                found.findings.push(format!("{count} {what}"));
            }
        }
        found.findings.push(
            "ping measures no rate and no queue: rate and queue are given or \
             assumed; the scenario has no delay variation"
                .into(),
        );
        Ok(found)
    }
}

/// Distribution of round-trip times, ms. The smallest and the largest time are exact, and quantiles have an error of at
/// most half a percent.
#[derive(Debug, Default)]
pub(crate) struct RoundTrips {
    pub(crate) count: u64,
    pub(crate) smallest: f64,
    pub(crate) largest: f64,
    /// Number of round trips in each logarithmic class. The classes start at 1 us, with 100 classes per factor of e.
    buckets: Vec<u64>,
}

impl RoundTrips {
    const PER_FOLD: f64 = 100.0;
    const MIN_MILLIS: f64 = 1e-3;

    pub(crate) fn push(&mut self, millis: f64) {
        self.smallest = if self.count == 0 { millis } else { self.smallest.min(millis) };
        self.largest = self.largest.max(millis);
        self.count += 1;
        let at =
            libm::round(libm::log(millis.max(Self::MIN_MILLIS) / Self::MIN_MILLIS) * Self::PER_FOLD) as usize;
        if at >= self.buckets.len() {
            self.buckets.resize(at + 1, 0);
        }
        self.buckets[at] += 1;
    }

    pub(crate) fn share_above(&self, millis: f64) -> f64 {
        let at =
            (libm::log(millis.max(Self::MIN_MILLIS) / Self::MIN_MILLIS) * Self::PER_FOLD).max(0.0) as usize;
        let above: u64 = self.buckets.iter().skip(at + 1).sum();
        above as f64 / self.count.max(1) as f64
    }

    /// Returns a quantile of the round-trip times, or 0 without any reply.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let wanted = (share * self.count as f64).max(1.0);
        let mut below = 0;
        for (at, count) in self.buckets.iter().enumerate() {
            below += count;
            if below as f64 >= wanted {
                let middle = Self::MIN_MILLIS * libm::exp(at as f64 / Self::PER_FOLD);
                return middle.clamp(self.smallest, self.largest);
            }
        }
        self.largest
    }
}

fn text(file: impl Read, log: &mut PingLog) -> Result<(), ImportError> {
    let mut lines = BoundedLines::new(file);
    let mut columns: Option<usize> = None;
    while let Some(line) = lines.next().map_err(|error| ImportError::io("cannot be read", &error))? {
        let line = line.trim();
        if lines.number == 1 {
            let names: Vec<String> =
                line.split([',', ';', '\t']).map(|name| name.trim().to_lowercase()).collect();
            columns = (names.len() > 1).then(|| names.iter().position(|name| name == "rtt")).flatten();
            if columns.is_some() {
                continue;
            }
        }
        if let Some(column) = columns {
            match line.split([',', ';', '\t']).nth(column).and_then(|cell| cell.trim().parse::<f64>().ok()) {
                // The data set LENS writes -1 ms for a loss.
                Some(millis) if millis < 0.0 => log.record.push(true),
                Some(millis) => log.add_reply(None, millis),
                None if line.is_empty() => {}
                None => log.errors += 1,
            }
            continue;
        }
        let Some(trip) = after(line, "time").and_then(trip) else {
            // Windows prints no sequence numbers, so a timeout counts as the loss of one packet.
            let is_loss = line == "Request timed out." || line.starts_with("Request timeout for icmp_seq");
            if is_loss && !line.contains("icmp_seq") {
                log.record.push(true);
            }
            continue;
        };
        let number = after(line, "icmp_seq").and_then(|rest| {
            let digits = rest.trim_start_matches(['=', ' ']);
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            digits[..end].parse::<u64>().ok()
        });
        if line.contains("(DUP!)") {
            log.duplicates += 1;
            continue;
        }
        log.add_reply(number, trip);
    }
    Ok(())
}

fn after<'l>(line: &'l str, word: &str) -> Option<&'l str> {
    line.find(word).map(|at| &line[at + word.len()..])
}

/// Parses a time such as `=12.3 ms` or `<1ms`.
fn trip(rest: &str) -> Option<f64> {
    let number = rest.strip_prefix('=').or_else(|| rest.strip_prefix('<'))?.trim_start();
    let end = number.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(number.len());
    let unit = number[end..].trim_start();
    let times = match () {
        () if unit.starts_with("ms") => 1.0,
        () if unit.starts_with("us") || unit.starts_with("µs") => 1e-3,
        () if unit.starts_with('s') => 1e3,
        () => return None,
    };
    number[..end].parse::<f64>().ok().map(|number| number * times)
}

/// Reads JSON of the program `jc`: either one object with a list `responses`, or one line with an object for each
/// reply.
fn json(file: impl Read, log: &mut PingLog) -> Result<(), ImportError> {
    let mut text = Vec::new();
    file.take(LARGEST + 1)
        .read_to_end(&mut text)
        .map_err(|error| ImportError::io("cannot be read", &error))?;
    if text.len() as u64 > LARGEST {
        return Err(ImportError::new(
            "the JSON file is larger than 64 MiB",
            "use ping's own output, which may have any size",
        ));
    }
    for value in serde_json::Deserializer::from_slice(&text).into_iter::<Value>() {
        let value = value.map_err(|error| {
            ImportError::new(
                format!("the output is not valid JSON: {}", plain(&error.to_string())),
                "use the complete output of jc",
            )
        })?;
        let answers = match &value {
            Value::Array(all) => all.as_slice(),
            Value::Object(object) => match object.get("responses").and_then(Value::as_array) {
                Some(all) => all.as_slice(),
                None => std::slice::from_ref(&value),
            },
            _ => &[],
        };
        for add_reply in answers {
            let number = add_reply.get("icmp_seq").and_then(Value::as_u64);
            let is_twice = add_reply.get("duplicate").and_then(Value::as_bool) == Some(true);
            match add_reply.get("time_ms").or_else(|| add_reply.get("time")).and_then(Value::as_f64) {
                Some(_) if is_twice => log.duplicates += 1,
                Some(millis) => log.add_reply(number, millis),
                None => {}
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(text: &str) -> ImportResult {
        read(text.as_bytes(), &ImportOptions::default()).unwrap()
    }

    #[test]
    fn numbers_that_are_missing_were_lost() {
        let found = log("PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n\
             64 bytes from 192.0.2.1: icmp_seq=1 ttl=57 time=20.5 ms\n\
             64 bytes from 192.0.2.1: icmp_seq=2 ttl=57 time=21 ms\n\
             64 bytes from 192.0.2.1: icmp_seq=5 ttl=57 time=30.0 ms\n\
             64 bytes from 192.0.2.1: icmp_seq=4 ttl=57 time=1200 ms\n\
             64 bytes from 192.0.2.1: icmp_seq=6 ttl=57 time=19.5 ms (DUP!)\n\
             64 bytes from 192.0.2.1: icmp_seq=6 ttl=57 time=19.9 ms\n\n\
             --- 192.0.2.1 ping statistics ---\n6 packets transmitted, 5 received\n");
        assert_eq!(found.rtt_ms.unwrap().value, 19.9);
        let all = found.findings.join("\n");
        assert!(all.contains("5 round trips") && all.contains("1 of 6 pings were not answered"), "{all}");
        assert!(
            all.contains("1 answers were reordered") && all.contains("1 answers were duplicates"),
            "{all}"
        );
    }

    #[test]
    fn other_writings_are_read() {
        let windows = "Reply from 192.0.2.1: bytes=32 time=12ms TTL=57\nRequest timed out.\nReply from 192.0.2.1: bytes=32 time<1ms TTL=57\n";
        let found = log(windows);
        assert!(
            found.findings.iter().any(|line| line.contains("1 of 3 pings were not answered")),
            "{:?}",
            found.findings
        );
        let lens = "timestamp,rtt,uplink,downlink\n1,40.5,20,20.5\n2,-1,0,0\n3,41,20,21\n";
        assert_eq!(log(lens).rtt_ms.unwrap().value, 40.5);
        let jc = r#"{"destination_ip":"192.0.2.1","responses":[{"type":"reply","icmp_seq":1,"time_ms":12.5,"duplicate":false},
            {"type":"reply","icmp_seq":3,"time_ms":11.5,"duplicate":false}]}"#;
        let found = log(jc);
        assert_eq!(found.rtt_ms.unwrap().value, 11.5);
        assert!(found.findings.iter().any(|line| line.contains("1 of 3 pings were not answered")));
    }

    #[test]
    fn quantiles_are_within_half_a_percent() {
        let mut trips = RoundTrips::default();
        (1..=100_000).for_each(|n| trips.push(f64::from(n) / 100.0));
        for (share, exact) in [(0.5, 500.0), (0.95, 950.0), (0.99, 990.0)] {
            let value = trips.quantile(share);
            assert!((value / exact - 1.0).abs() < 0.0051, "{value}, not {exact}");
        }
    }
}
