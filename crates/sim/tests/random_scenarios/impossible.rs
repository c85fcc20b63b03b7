//! Checks outcomes for impossible results.

use lasthop_base::Duration;
use lasthop_scenario::{Scenario, Traffic, Transfer};
use lasthop_sim::{FLOW_METRICS, FlowOutcome, LINK_METRICS, Outcome};

/// Longest possible queueing delay in a drawn scenario, s: a queue of a billion bytes at 1 kbit/s.
const LONGEST_WAIT: f64 = 8e6;

/// Returns complaints about an outcome. The list is empty if the outcome is possible.
pub fn impossible(scenario: &Scenario, outcome: &Outcome) -> Vec<String> {
    let mut found = Vec::new();
    for (index, flow) in outcome.flows.iter().enumerate() {
        let mut complain = |what: String| found.push(format!("flow {}: {what}", flow.name));
        for metric in FLOW_METRICS {
            let value = (metric.of)(flow);
            if let Some(value) = value.filter(|value| !value.is_finite() || *value < 0.0) {
                complain(format!("{} = {value}", metric.name));
            }
            if let Some(value) = value.filter(|value| metric.name.ends_with("_pct") && *value > 100.001) {
                complain(format!("{} = {value}", metric.name));
            }
        }
        delivered(scenario, index, flow, &mut complain);
        let shortest = shortest_round_trip(scenario, index);
        if let Some(smallest) = flow.smallest_rtt_s.filter(|smallest| *smallest < shortest - 2e-9) {
            complain(format!("RTT of {smallest} s on a path of {shortest} s"));
        }
    }
    for link in &outcome.links {
        for (way, traffic) in ["down", "up"].into_iter().zip(&link.traffic) {
            let mut complain = |what: String| found.push(format!("link {} {way}: {what}", link.name));
            for metric in LINK_METRICS {
                let value = (metric.of)(traffic);
                if let Some(value) = value.filter(|value| !value.is_finite() || *value < 0.0) {
                    complain(format!("{} = {value}", metric.name));
                }
            }
            // A packet whose transmission began during the warm-up counts with all its bytes if it arrives after the
            // warm-up.
            let most = traffic.capacity_bytes * 1.000_001 + 65_536.0;
            if traffic.carried_bytes as f64 > most {
                complain(format!("carried {} of {} bytes", traffic.carried_bytes, traffic.capacity_bytes));
            }
            if let Some(delay) = traffic.delay {
                // Quantiles have an error of up to 1.6 %.
                let [p50, p95, p99] = delay.quantiles_s;
                if p50 > p95 || p95 > p99 {
                    complain(format!("waits of {p50}, {p95}, {p99} s"));
                }
                // The delay of a packet is recorded when the packet enters the link, even if the packet arrives after
                // the run's end.
                if delay.mean_s > LONGEST_WAIT || p99 > LONGEST_WAIT {
                    complain(format!("waits of {} s", delay.mean_s.max(p99)));
                }
            }
        }
    }
    found
}

fn delivered(scenario: &Scenario, index: usize, flow: &FlowOutcome, complain: &mut impl FnMut(String)) {
    if scenario.warmup > Duration::ZERO {
        return;
    }
    match &scenario.flows[index].traffic {
        Traffic::Tcp { transfer, source, .. } => {
            let sent = flow.source.data_sent * u64::from(source.segment);
            if flow.delivered_bytes > sent {
                complain(format!("delivered {} of {sent} bytes sent", flow.delivered_bytes));
            }
            if let Transfer::Bytes(whole) = transfer
                && flow.delivered_bytes > *whole
            {
                complain(format!("delivered {} of {whole} bytes", flow.delivered_bytes));
            }
            if flow.source.retransmitted > flow.source.data_sent {
                complain(format!("{} retransmissions", flow.source.retransmitted));
            }
        }
        Traffic::Datagrams { packet, rate, .. } => {
            // The upper bound is the rate times the duration, plus a burst of the largest size (10,000 datagrams), plus
            // one datagram.
            let most = rate.bps() as f64 / 8.0 * flow.limit_s + 10_001.0 * f64::from(*packet);
            if flow.delivered_bytes as f64 > most {
                complain(format!("delivered {} of at most {most} bytes", flow.delivered_bytes));
            }
        }
    }
}

/// RTT of propagation alone, minus a tick of the clock that measures the RTT, s. Returns 0 if a middlebox may respond
/// instead of the other end.
fn shortest_round_trip(scenario: &Scenario, index: usize) -> f64 {
    if scenario.middlebox_nodes().next().is_some() {
        return 0.0;
    }
    let route = &scenario.routes[index];
    let delays = route.there.iter().chain(&route.back).map(|hop| {
        let link = &scenario.links[hop.link];
        let way = if hop.is_down { &link.down } else { &link.up };
        way.delay.as_secs()
    });
    let tick = match &scenario.flows[index].traffic {
        Traffic::Tcp { source, .. } => source.rto.tick.max(source.timestamp_tick).as_secs(),
        Traffic::Datagrams { .. } => 0.0,
    };
    delays.sum::<f64>() - tick
}
