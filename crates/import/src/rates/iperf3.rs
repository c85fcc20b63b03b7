//! Reads the output of `iperf3 --json`. The intervals become a trace; the kernel's round-trip times are reported.

use super::Opportunities;
use super::rate_series::{RateSeries, THROUGHPUT_NOTE};
use crate::ImportError;
use crate::import_result::{ImportResult, Sourced, shown};
use serde_json::Value;
use std::io::{Read, Write};

const LARGEST: u64 = 64 << 20;

/// Reads a report. A report of `--bidir` has both directions.
pub(crate) fn read(
    file: impl Read,
    down: &mut dyn Write,
    up: &mut dyn Write,
) -> Result<ImportResult, ImportError> {
    let mut text = Vec::new();
    file.take(LARGEST + 1)
        .read_to_end(&mut text)
        .map_err(|error| ImportError::io("cannot be read", &error))?;
    if text.len() as u64 > LARGEST {
        return Err(ImportError::new(
            "the report has more than 64 MiB",
            "measure for a shorter time, or with a longer --interval",
        ));
    }
    let report: Value = serde_json::from_slice(&text).map_err(|error| {
        ImportError::new(
            format!("the report is not valid JSON: {error}"),
            "make the report with iperf3 --json, and keep it complete",
        )
    })?;
    if let Some(error) = report.get("error").and_then(Value::as_str) {
        return Err(ImportError::new(
            format!("iperf3 failed: {}", crate::import_result::plain(error)),
            "measure again",
        ));
    }
    let intervals =
        report.get("intervals").and_then(Value::as_array).filter(|intervals| !intervals.is_empty());
    let Some(intervals) = intervals else {
        return Err(ImportError::new(
            "the report has no intervals",
            "measure for several seconds: iperf3 --json --time 30",
        ));
    };
    let mut found = ImportResult { kind: "an iperf3 report".into(), ..ImportResult::default() };
    let (service, seconds, findings) = series(intervals, "sum", down)?;
    found.findings.extend(findings);
    found.down = Some(Sourced::new(service, "measured: iperf3's throughput in each interval, a lower bound"));
    found.seconds = seconds;
    if intervals.iter().any(|one| one.get("sum_bidir_reverse").is_some()) {
        let (service, _, findings) = series(intervals, "sum_bidir_reverse", up)?;
        found.findings.extend(findings.into_iter().map(|line| format!("up: {line}")));
        found.up = Some(Sourced::new(
            service,
            "measured: iperf3's throughput in the other direction, a lower bound",
        ));
        found.findings.push("`down` is the direction from the iperf3 client to the iperf3 server".into());
    }
    if let Some(rtt) = smallest_rtt(&report, intervals) {
        found.rtt_ms = Some(Sourced::new(
            rtt,
            "derived: the smallest round trip that the sender's kernel measured under load, an upper bound",
        ));
        found.findings.push(format!("smallest round trip under load: {} ms", shown(rtt)));
    }
    losses(&report, &mut found);
    found.findings.push(THROUGHPUT_NOTE.into());
    Ok(found)
}

fn series(
    intervals: &[Value],
    key: &str,
    out: &mut dyn Write,
) -> Result<(crate::Service, f64, Vec<String>), ImportError> {
    let mut series = RateSeries::new(Opportunities::new(out));
    let mut omitted = 0;
    for (index, interval) in intervals.iter().enumerate() {
        let Some(sum) = interval.get(key) else { continue };
        if sum.get("omitted").and_then(Value::as_bool) == Some(true) {
            omitted += 1;
            continue;
        }
        let number = |name: &str| {
            sum.get(name).and_then(Value::as_f64).filter(|number| number.is_finite() && *number >= 0.0)
        };
        let length = number("seconds")
            .or_else(|| Some(number("end")? - number("start")?))
            .filter(|length| *length >= 0.0);
        let bytes = number("bytes").or_else(|| Some(number("bits_per_second")? * length? / 8.0));
        let (Some(length), Some(bytes)) = (length, bytes) else {
            return Err(ImportError::new(
                format!("interval {} has no bytes or no length", index + 1),
                "make the report with iperf3 --json, and keep it complete",
            ));
        };
        if let (Some(rate), true) = (number("bits_per_second"), length > 0.1)
            && (rate * length / 8.0 - bytes).abs() > 0.1 * bytes + 2000.0
        {
            return Err(ImportError::new(
                format!(
                    "interval {} contradicts itself: {bytes} bytes in {length} s are not {rate} bit/s",
                    index + 1
                ),
                "was the report changed? repeat the measurement",
            ));
        }
        series.span(length, bytes)?;
    }
    let (service, seconds, mut findings) = series.finish(false)?;
    if omitted > 0 {
        findings.push(format!("left out: {omitted} intervals that iperf3's option --omit excludes"));
    }
    Ok((service, seconds, findings))
}

/// Smallest round-trip time, ms. The unit in the report is microseconds.
fn smallest_rtt(report: &Value, intervals: &[Value]) -> Option<f64> {
    let ends = report.pointer("/end/streams").and_then(Value::as_array).into_iter().flatten();
    let ends = ends.filter_map(|stream| stream.pointer("/sender/min_rtt"));
    let streams = intervals.iter().filter_map(|one| one.get("streams").and_then(Value::as_array)).flatten();
    let all = ends.chain(streams.filter_map(|stream| stream.get("rtt"))).filter_map(Value::as_f64);
    all.filter(|rtt| *rtt > 0.0).min_by(f64::total_cmp).map(|micros| micros / 1000.0)
}

/// Reports losses: the share of lost datagrams for UDP, the number of retransmissions for TCP.
fn losses(report: &Value, found: &mut ImportResult) {
    let end = |name: &str| report.pointer(name).and_then(Value::as_f64);
    if let (Some(lost), Some(packets)) = (end("/end/sum/lost_packets"), end("/end/sum/packets"))
        && packets > 0.0
    {
        let share = (lost / packets).clamp(0.0, 1.0);
        found.findings.push(format!(
            "UDP: {lost} of {packets} datagrams were lost; the report \
             does not show whether on the channel or in a queue"
        ));
        if share > 0.0 && share < 1.0 {
            let provenance = "derived: the share of lost datagrams; their bursts are unknown";
            found.channel =
                Some(Sourced::new(format!("{{ kind = \"iid\", loss = {} }}", shown(share)), provenance));
        }
    } else if let Some(again) = end("/end/sum_sent/retransmits") {
        found.findings.push(format!("{again} segments were retransmitted; the report does not separate channel losses and queue overflows, so the scenario has no loss"));
    }
}
