//! Samples of a run as columns, such as `flow.0.cwnd_bytes` and `link.1.down.packets`.

use crate::answer::Columns;
use lasthop_scenario::Scenario;
use lasthop_sim::{FlowSample, Samples};

const MAX_FLOWS: usize = 8;

/// Adds the columns of the samples. Each of the first eight flows has columns if the flow has samples. Each link
/// direction has one column, which is empty if the link direction has no samples.
pub(crate) fn push(scenario: &Scenario, samples: &Samples, columns: &mut Columns) {
    let mut flows: Vec<Vec<&FlowSample>> = vec![Vec::new(); scenario.flows.len().min(MAX_FLOWS)];
    for sample in &samples.flows {
        if let Some(of) = flows.get_mut(sample.flow) {
            of.push(sample);
        }
    }
    for (flow, of) in flows.iter().enumerate().filter(|(_, of)| !of.is_empty()) {
        let mut put = |name: &str, get: fn(&FlowSample) -> f64| {
            columns.push(&format!("flow.{flow}.{name}"), of.iter().map(|sample| get(sample)));
        };
        put("time_s", |s| s.time.as_secs());
        put("cwnd_bytes", |s| s.cwnd_bytes as f64);
        put("ssthresh_bytes", |s| s.ssthresh_bytes as f64);
        put("in_flight_bytes", |s| s.in_flight_bytes as f64);
        put("srtt_ms", |s| s.srtt_ms.unwrap_or(f64::NAN));
        put("rto_ms", |s| s.rto_ms);
        put("delivered_bytes", |s| s.delivered_bytes as f64);
    }
    for link in 0..scenario.links.len() {
        for (down, side) in [(true, "down"), (false, "up")] {
            let of =
                || samples.queues.iter().filter(move |sample| sample.link == link && sample.down == down);
            columns
                .push(&format!("link.{link}.{side}.packets"), of().map(|sample| f64::from(sample.packets)));
        }
    }
}
