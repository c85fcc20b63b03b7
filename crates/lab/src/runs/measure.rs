//! Numbers that describe several flows together, such as total goodput and fairness.

use super::classes;
use lasthop_sim::{FLOW_METRICS, FlowMetric, FlowOutcome, Outcome};

/// Returns the payload delivered by all flows divided by the run's duration, kbit/s. The sum of the flows' goodputs may
/// be larger than this value and than the rates of the links. The reason is that the goodput of a single flow covers
/// only the flow's lifetime.
pub fn total_goodput_kbps(outcome: &Outcome) -> Option<f64> {
    total_goodput_of(outcome.flows.iter(), outcome.duration_s)
}

/// Returns the payload delivered by these flows divided by the run's duration, kbit/s.
pub fn total_goodput_of<'f>(flows: impl Iterator<Item = &'f FlowOutcome>, duration_s: f64) -> Option<f64> {
    let bytes: u64 = flows.map(|flow| flow.delivered_bytes).sum();
    (duration_s > 0.0).then(|| bytes as f64 * 8.0 / duration_s / 1e3)
}

/// Returns Jain's index of TCP flows with overlapping lifetimes (Jain, Chiu, Hawe, DEC-TR-301, 1984). The index is 1 if
/// all flows have equal allocations. The index is 1/n if one of n flows receives everything.
///
/// The allocation of a flow is the number of bytes that the flow delivers while other flows are active, divided by its
/// fair share in that time ([`lasthop_sim::ConcurrentShare`]). The index weights each allocation by the flow's fair
/// share. If all flows have the same lifetime, the result is Jain's index of their goodputs. Returns `None` if no two
/// flows overlap or no flow delivers data.
pub fn fairness(outcome: &Outcome) -> Option<f64> {
    fairness_of(outcome.flows.iter())
}

/// Returns Jain's index of these flows, computed as in [`fairness`].
pub fn fairness_of<'f>(flows: impl Iterator<Item = &'f FlowOutcome>) -> Option<f64> {
    let (mut got, mut fair, mut squares) = (0.0, 0.0, 0.0);
    for share in flows.map(|flow| flow.share).filter(|share| share.fair_bytes > 0.0) {
        let bytes = share.bytes as f64;
        got += bytes;
        fair += share.fair_bytes;
        squares += bytes * bytes / share.fair_bytes;
    }
    (squares > 0.0).then(|| got * got / (fair * squares))
}

/// Returns the mean of a metric over the flows in which the metric is defined.
pub fn mean_of_flows(outcome: &Outcome, metric: &FlowMetric) -> Option<f64> {
    mean(outcome.flows.iter().filter_map(metric.of))
}

/// Returns the mean of the values. Returns `None` if `values` is empty.
pub fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the value of a metric over all flows. For goodput, the value is the total over all flows. For any other
/// metric, the value is the mean over all flows.
pub fn of_all_flows(outcome: &Outcome, metric: &FlowMetric) -> Option<f64> {
    if std::ptr::eq(metric, &FLOW_METRICS[0]) && outcome.flows.len() > 1 {
        total_goodput_kbps(outcome)
    } else {
        mean_of_flows(outcome, metric)
    }
}

/// Returns the restricted mean of the completion times of finite transfers, s. The transfers are those of all flows, or
/// of the flow or class `flow`. An unfinished transfer counts with its time up to the end of the run. A transfer counts
/// at most with the time for which `other`, the run with which `outcome` is compared, can observe the same transfer.
/// This second limit does not apply to requests.
pub fn restricted_s(outcome: &Outcome, other: &Outcome, flow: Option<&str>) -> Option<f64> {
    let times = outcome
        .flows
        .iter()
        .enumerate()
        .filter(|(_, it)| flow.is_none_or(|name| classes::is_named(&it.name, name)));
    let times: Vec<f64> = times
        .filter_map(|(place, it)| match it.exchanges {
            Some(_) => it.restricted_s(),
            None => {
                let limit = other.flows.get(place).map_or(f64::INFINITY, |other| other.limit_s);
                it.restricted_s().map(|seconds| seconds.min(limit))
            }
        })
        .collect();
    (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_scenario::Draft;
    use lasthop_sim::LINK_METRICS;
    use std::fmt::Write;

    fn run(text: &str) -> Outcome {
        lasthop_sim::run(&Draft::parse(text, "test").unwrap().check().unwrap(), 1)
    }

    /// Returns a scenario of 20 s with two parallel links of 20 Mbit/s. On each link, a short transfer starts every 500
    /// ms.
    fn short_flows() -> String {
        let mut text = String::from("title = \"two links\"\nduration = \"20 s\"\n");
        for link in ["one", "two"] {
            writeln!(text, "[link.{link}]\nfrom = \"{link}-a\"\nto = \"{link}-b\"\nrate = \"20 Mbit/s\"")
                .unwrap();
            writeln!(text, "one_way_delay = \"5 ms\"\nqueue = \"50 packets\"").unwrap();
            for flow in 0..39 {
                writeln!(text, "[flow.{link}-{flow}]\nfrom = \"{link}-a\"\nto = \"{link}-b\"").unwrap();
                writeln!(text, "start = \"{} ms\"\ntransfer = \"300 kB\"", flow * 500).unwrap();
            }
        }
        text
    }

    #[test]
    fn the_total_is_per_unit_of_time_and_never_more_than_the_links_carry() {
        let outcome = run(&short_flows());
        assert!(outcome.flows.iter().all(|flow| flow.account.completed.is_some()));
        let total = total_goodput_kbps(&outcome).unwrap();
        assert!((total - 78.0 * 300_000.0 * 8.0 / 20.0 / 1e3).abs() < 1e-6, "{total}");
        // The sum of goodputs over the lifetimes of the single flows exceeds the sum of the link rates.
        let goodputs: f64 = outcome.flows.iter().map(|flow| flow.goodput_kbps()).sum();
        assert!(goodputs > 40_000.0, "{goodputs}");
        for link in &outcome.links {
            let number = |name: &str| {
                let metric = LINK_METRICS.iter().find(|metric| metric.name == name).unwrap();
                (metric.of)(&link.traffic[0]).unwrap()
            };
            assert!((number("payload_kbps") - total / 2.0).abs() < 1e-6);
            // Headers add at least 40 bytes to each payload of 1460 bytes. The rate of the link is 20 Mbit/s.
            assert!(number("carried_kbps") > 1.027 * total / 2.0 && number("carried_kbps") < 20_000.0);
            assert!((number("utilisation_pct") - number("carried_kbps") / 200.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_link_is_never_used_by_more_than_all_of_it() {
        // At the end of the run, the unlimited queue holds packets whose transmission would take seconds. These
        // undelivered packets must not count as carried.
        let text = "profile=plain,rate=10Mbit/s,rtt=20ms,queue=unlimited,duration=10s";
        let mut draft = Draft::load(text).unwrap();
        draft.set("flow.bulk.receiver.window", "{ kind = \"buffer\", size = \"64 MiB\" }").unwrap();
        let outcome = lasthop_sim::run(&draft.check().unwrap(), 1);
        let used =
            outcome.links[0].traffic[0].carried_bytes as f64 / outcome.links[0].traffic[0].capacity_bytes;
        assert!(used > 0.97 && used <= 1.0, "{used}");
    }

    fn jain(numbers: &[f64]) -> f64 {
        let squares: f64 = numbers.iter().map(|one| one * one).sum();
        numbers.iter().sum::<f64>().powi(2) / (numbers.len() as f64 * squares)
    }

    #[test]
    fn of_flows_alive_at_the_same_time_fairness_is_jains_index_of_their_goodputs() {
        let mut draft =
            Draft::load("profile=plain,rate=5Mbit/s,rtt=60ms,queue=20packets,loss=0.5%,duration=10s")
                .unwrap();
        draft.set("flow.bulk.count", "4").unwrap();
        let outcome = lasthop_sim::run(&draft.check().unwrap(), 3);
        let goodputs: Vec<f64> = outcome.flows.iter().map(|flow| flow.goodput_kbps()).collect();
        assert!((fairness(&outcome).unwrap() - jain(&goodputs)).abs() < 1e-9);
    }

    #[test]
    fn flows_that_never_meet_have_no_fairness_and_a_latecomer_counts_for_the_time_that_it_shares() {
        let flow = |name: &str, start: &str, more: &str| {
            format!("[flow.{name}]\nfrom = \"a\"\nto = \"b\"\nstart = \"{start}\"\n{more}\n")
        };
        let path = "title = \"t\"\nduration = \"20 s\"\n[link.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"8 Mbit/s\"\n\
                    one_way_delay = \"10 ms\"\nqueue = \"20 packets\"\n";
        let apart = run(&(path.to_owned()
            + &flow("one", "0 s", "transfer = \"1 MB\"")
            + &flow("two", "10 s", "transfer = \"1 MB\"")));
        assert_eq!(
            fairness(&apart),
            None,
            "the flows must not overlap: each takes about 1 s, and the starts are 10 s apart"
        );
        // The second flow starts at 16 s, so that the two flows overlap in the last 4 s of the 20 s. The index computed
        // from goodputs over lifetimes would be lower than the index computed from the bytes in the shared time.
        let late = run(&(path.to_owned() + &flow("one", "0 s", "") + &flow("two", "16 s", "")));
        let shares: Vec<f64> = late.flows.iter().map(|flow| flow.share.bytes as f64).collect();
        assert!((fairness(&late).unwrap() - jain(&shares)).abs() < 1e-9);
        let together: f64 = shares.iter().sum();
        assert!(together > 0.9 * 4e6 && together < 4e6, "{together}");
        let fair: f64 = late.flows.iter().map(|flow| flow.share.fair_bytes).sum();
        assert!((fair - together).abs() < 1e-3, "the sum of the fair shares must equal the delivered bytes");
    }
}
