//! Exclusion of the warm-up from the results of a run.
//!
//! Counters start at time zero. The values at the end of the warm-up are subtracted from the values at the end of the
//! run, so the exclusion costs no time per packet. The smallest RTT covers the whole run, because it is a property of
//! the path. The largest RTT after the warm-up is unknown, so it is `None`.

use crate::link_metrics::LinkTraffic;
use crate::outcome::{FlowOutcome, LinkOutcome, Outcome};
use lasthop_base::Duration;

impl Outcome {
    /// Results from the end of the warm-up on. `before` has the results of the same run at the end of its warm-up.
    pub(crate) fn since(self, before: &Outcome) -> Outcome {
        let warmup_s = before.duration_s;
        let flows = self.flows.into_iter().zip(&before.flows).map(|(flow, then)| flow.since(then, warmup_s));
        let links = self.links.into_iter().zip(&before.links).map(|(link, then)| link.since(then));
        Outcome {
            duration_s: self.duration_s - warmup_s,
            warmup_s,
            flows: flows.collect(),
            links: links.collect(),
            ..self
        }
    }
}

impl FlowOutcome {
    fn since(mut self, before: &FlowOutcome, warmup_s: f64) -> FlowOutcome {
        self.active_s -= before.active_s;
        self.limit_s -= before.limit_s;
        // A transfer that began during the warm-up gets no completion time, because its first part is excluded.
        self.is_finite &= self.began_s >= warmup_s;
        if let Some(all) = &mut self.exchanges {
            all.retain(|it| it.requested_s >= warmup_s);
        }
        self.share = self.share.since(&before.share);
        self.delivered_bytes -= before.delivered_bytes;
        self.requested_bytes -= before.requested_bytes;
        self.source = self.source.since(&before.source);
        self.destination = self.destination.since(&before.destination);
        self.account = self.account.since(&before.account);
        self.rtt_total =
            (self.rtt_total.0 - before.rtt_total.0, self.rtt_total.1.saturating_sub(before.rtt_total.1));
        let (samples, sum) = self.rtt_total;
        self.mean_rtt_s = (samples > 0).then(|| sum.divided_by(samples).as_secs());
        self.largest_rtt_s = None;
        self.limited = self.limited.zip(before.limited).map(|(now, then)| now.since(&then));
        self
    }
}

impl LinkOutcome {
    fn since(self, before: &LinkOutcome) -> LinkOutcome {
        let [down, up] = [0, 1].map(|side| self.traffic[side].since(&before.traffic[side]));
        let rlc = [0, 1].map(|side| Some(self.rlc[side].as_ref()?.since(before.rlc[side].as_ref()?)));
        LinkOutcome {
            down: self.down.since(&before.down),
            up: self.up.since(&before.up),
            traffic: [down, up],
            rlc,
            ..self
        }
    }
}

impl LinkTraffic {
    fn since(self, before: &LinkTraffic) -> LinkTraffic {
        LinkTraffic {
            duration_s: self.duration_s - before.duration_s,
            carried_bytes: self.carried_bytes - before.carried_bytes,
            capacity_bytes: self.capacity_bytes - before.capacity_bytes,
            payload_bytes: self.payload_bytes - before.payload_bytes,
            lost: self.lost.since(&before.lost),
            ..self
        }
    }
}

pub(crate) type RttTotal = (u64, Duration);
