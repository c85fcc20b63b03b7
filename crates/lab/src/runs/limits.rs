//! Lines that state what limits the rate of each flow (cwnd, receive window or application), and a hint about long
//! queues.

use super::measure;
use super::number::plain;
use crate::repeat::estimate_by;
use lasthop_scenario::{Flow, Scenario};
use lasthop_sim::{FlowOutcome, Outcome};

/// Largest number of TCP flows for which each flow has a line. With more TCP flows, one line shows the mean over all
/// TCP flows.
const MAX_LINES: usize = 4;
/// Smallest ratio of the mean RTT to the smallest RTT at which the hint about long queues is printed.
const BLOATED: f64 = 5.0;
/// Smallest share of time that a line shows, %. Limits with a smaller share are omitted.
const SHOWN: f64 = 0.5;

/// Returns lines such as `bulk is limited by: receive window 98 %, cwnd 2 %`. Each TCP flow has one line. If a queue is
/// long, the last line is a hint.
pub fn lines(scenario: &Scenario, outcomes: &[Outcome]) -> Vec<String> {
    let flows = || tcp_flows(scenario);
    let count = flows().count();
    let mut lines: Vec<String> = if count <= MAX_LINES {
        flows().filter_map(|(index, flow)| line(&flow.name, |of| mean(outcomes, index, of))).collect()
    } else {
        let all = |of: FlowValue| measure::mean(flows().filter_map(|(index, _)| mean(outcomes, index, of)));
        line(&format!("each of {count} flows, on average,"), all).into_iter().collect()
    };
    lines.extend(hint(scenario, outcomes));
    lines
}

/// Returns a hint if packets of a TCP flow wait long in a queue.
pub fn hint(scenario: &Scenario, outcomes: &[Outcome]) -> Option<String> {
    tcp_flows(scenario).find_map(|(index, flow)| queue_hint(outcomes, index, flow))
}

/// Returns the name of the limit (cwnd, receive window or application) that applies for the longest time, and its share
/// of the time, %. Shares are means over all TCP flows.
pub fn longest(scenario: &Scenario, outcomes: &[Outcome]) -> Option<(&'static str, f64)> {
    let share = |of: FlowValue| {
        measure::mean(tcp_flows(scenario).filter_map(|(index, _)| mean(outcomes, index, of))).unwrap_or(0.0)
    };
    let shares = LIMITS.iter().map(|(name, of)| (*name, share(*of)));
    shares.reduce(|best, one| if one.1 > best.1 { one } else { best }).filter(|(_, share)| *share >= SHOWN)
}

fn tcp_flows(scenario: &Scenario) -> impl Iterator<Item = (usize, &Flow)> {
    scenario.flows.iter().enumerate().filter(|(_, flow)| flow.is_tcp())
}

type FlowValue = fn(&FlowOutcome) -> Option<f64>;

const LIMITS: [(&str, FlowValue); 3] = [
    ("cwnd", FlowOutcome::cwnd_limited_pct),
    ("receive window", FlowOutcome::rwnd_limited_pct),
    ("application (nothing to send)", FlowOutcome::app_limited_pct),
];

fn mean(outcomes: &[Outcome], flow: usize, of: FlowValue) -> Option<f64> {
    estimate_by(outcomes, |outcome| outcome.flows.get(flow).and_then(of)).map(|estimate| estimate.mean)
}

fn line(name: &str, of_flow: impl Fn(FlowValue) -> Option<f64>) -> Option<String> {
    let mut shares = Vec::new();
    for (limit, of) in LIMITS {
        shares.push((limit, of_flow(of)?));
    }
    // The handshake takes the remaining time of a flow.
    shares.push(("handshake", 100.0 - shares.iter().map(|(_, share)| share).sum::<f64>()));
    shares.retain(|(_, share)| *share >= SHOWN);
    shares.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let shares: Vec<String> = shares.iter().map(|(limit, share)| format!("{limit} {share:.0} %")).collect();
    (!shares.is_empty()).then(|| format!("{name} is limited by: {}", shares.join(", ")))
}

fn queue_hint(outcomes: &[Outcome], index: usize, flow: &Flow) -> Option<String> {
    let (long, short) = round_trips(outcomes, index)?;
    let millis = |seconds: f64| plain((seconds * 1e4).round() / 10.0);
    (long >= BLOATED * short).then(|| {
        format!(
            "hint: packets of {} wait long in a queue (mean RTT {} ms, smallest {} ms): a shorter `queue` reduces the delay",
            flow.name,
            millis(long),
            millis(short)
        )
    })
}

fn round_trips(outcomes: &[Outcome], index: usize) -> Option<(f64, f64)> {
    Some((mean(outcomes, index, |flow| flow.mean_rtt_s)?, mean(outcomes, index, |flow| flow.smallest_rtt_s)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_scenario::Draft;

    fn of(path: &str, settings: &[(&str, &str)]) -> Vec<String> {
        let mut draft = Draft::load(path).unwrap();
        for (key, value) in settings {
            draft.set(key, value).unwrap();
        }
        let scenario = draft.check().unwrap();
        lines(&scenario, &[lasthop_sim::run(&scenario, 1)])
    }

    #[test]
    fn the_line_says_what_limits_most_first() {
        let small = [("receiver.window.size", "20000 bytes"), ("duration", "20 s")];
        let lines = of("profile=plain,rate=100Mbit/s,rtt=100ms,queue=1000packets", &small);
        // The handshake takes 0.5 % of the time. Cwnd is the limit for one or two RTTs.
        assert!(lines[0].starts_with("bulk is limited by: receive window 99 %, cwnd 1 %"), "{lines:?}");
        assert_eq!(lines.len(), 1, "{lines:?}");
    }

    #[test]
    fn a_long_queue_is_told() {
        // A full queue delays packets by one second at 10 Mbit/s. Without queueing, the RTT is 20 ms.
        let lines = of("profile=plain,rate=10Mbit/s,rtt=20ms,queue=833packets,duration=60s", &[]);
        assert!(lines.iter().any(|line| line.contains("wait long in a queue")), "{lines:?}");
        let lines = of("profile=plain,rate=10Mbit/s,rtt=20ms,queue=17packets,duration=60s", &[]);
        assert_eq!(lines, ["bulk is limited by: cwnd 100 %"]);
    }

    #[test]
    fn many_flows_have_one_line() {
        let settings = [("flow.bulk.count", "5"), ("duration", "10 s")];
        let lines = of("profile=plain,rate=10Mbit/s,rtt=20ms,queue=50packets", &settings);
        assert_eq!(lines, ["each of 5 flows, on average, is limited by: cwnd 100 %"]);
    }
}
