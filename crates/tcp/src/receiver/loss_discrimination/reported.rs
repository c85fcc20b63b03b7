//! MAC method (hasegawa §3.2.1): the link layer reports each packet that it discarded, so the true cause of a loss is
//! available.

use super::{Build, Cause, Gap, LossDiscriminator, Observation};
use crate::ranges::Range;
use crate::receiver::window_estimate::PathEstimate;
use lasthop_base::{Info, Mechanism, Stream};
use std::collections::VecDeque;

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "mac",
        summary: "treats a loss as wireless if the link layer reported all its bytes as discarded",
        source: "hasegawa §3.2.1",
        ..Info::PLAIN
    },
    build: &|_| Box::new(Reported::default()),
};

#[derive(Default)]
struct Reported {
    reports: VecDeque<Range>,
}

/// Largest number of stored reports. Reports can accumulate, because the discard of a retransmission opens no new gap.
const MAX_PENDING: usize = 1024;

impl LossDiscriminator for Reported {
    fn observe(&mut self, _: &Observation) {}

    fn discriminate(&mut self, gap: &Gap, _: &PathEstimate, _: &mut Stream) -> Cause {
        // If the reports cover only a part of the gap, the rest was lost by congestion, and the whole gap counts as
        // congestion.
        let reported: u64 = self
            .reports
            .iter()
            .map(|report| report.end.min(gap.range.end).saturating_sub(report.start.max(gap.range.start)))
            .sum();
        self.reports.clear();
        if reported >= gap.range.len() { Cause::Wireless } else { Cause::Congestion }
    }

    fn on_report(&mut self, range: Range) {
        if self.reports.len() == MAX_PENDING {
            self.reports.pop_front();
        }
        if self.reports.iter().all(|known| known.start != range.start) {
            self.reports.push_back(range);
        }
    }

    fn needs_reports(&self) -> bool {
        true
    }

    fn draws(&self) -> bool {
        false
    }
}
