//! Queue growth by relative delays, as in TCP Santa Cruz (Parsa and Garcia-Luna-Aceves, WCNC 2000). A loss after queue
//! growth counts as congestion, any other loss as random.
//!
//! The relative delay of two segments is the difference of their arrival times minus the difference of their departure
//! times. The sum of the relative delays over one window, divided by the mean interval between arrivals, is the growth
//! of the queue in segments.
//!
//! # Our choices
//! Source: huang §2 ("observation of an increasing RTT") and the authors' page on TCP Santa Cruz. The comparison of
//! whole windows is from memory. The parameters `intervals` and `growth` are ours. Receiver timestamps replace Santa
//! Cruz's own TCP option. Without timestamps, round-trip times are used, which include the return path. A timeout
//! counts as congestion.

use super::{Build, Cause, LossDiscriminator, RttSample, SampledRound};
use crate::ranges::Range;
use lasthop_base::{Info, Mechanism, Parameter, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "santa_cruz",
        summary: "treats a loss as congestion if relative delays show queue growth over the last windows, else keeps \
                  the window",
        source: "Parsa and Garcia-Luna-Aceves, WCNC 2000, as described in huang §2 and on the authors' \
                 page on TCP Santa Cruz (rule from memory, not checked against the paper)",
        parameters: &[
            Parameter {
                name: "intervals",
                unit: Unit::Count(1, 100),
                default: Some("2"),
                doc: "consecutive windows with queue growth required for congestion (ours)",
            },
            Parameter {
                name: "growth",
                unit: Unit::Number(0.0, 1000.0),
                default: Some("0.25"),
                doc: "queue growth required in each window, segments (ours)",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values| {
        Some(Box::new(SantaCruz {
            intervals: values.count("intervals"),
            growth: values.number("growth"),
            began: None,
            growing: 0,
        }))
    },
};

struct SantaCruz {
    intervals: u64,
    growth: f64,
    began: Option<(SampledRound, RttSample)>,
    /// Number of consecutive windows with queue growth.
    growing: u64,
}

impl SantaCruz {
    /// Queue growth between two samples, segments.
    fn grown(first: &RttSample, last: &RttSample) -> f64 {
        let segments = (last.una - first.una) as f64 / last.mss.max(1) as f64;
        let spacing = last.now.since(first.now).as_secs() / segments.max(1.0);
        let longer = (last.forward_delay() - first.forward_delay()) as f64 / 1e9;
        if spacing > 0.0 { longer / spacing } else { 0.0 }
    }
}

impl LossDiscriminator for SantaCruz {
    fn on_rtt_sample(&mut self, sample: &RttSample) {
        match &self.began {
            Some((round, _)) if !round.is_over(sample) => return,
            Some((_, first)) => {
                let grows = SantaCruz::grown(first, sample) > self.growth;
                self.growing = if grows { self.growing + 1 } else { 0 };
            }
            None => {}
        }
        self.began = Some((SampledRound::begin(sample), *sample));
    }

    fn on_loss(&mut self, _: Range) -> Option<Cause> {
        Some(if self.growing >= self.intervals { Cause::Congestion } else { Cause::Wireless })
    }

    fn on_timeout(&mut self) {
        self.began = None;
        self.growing = 0;
    }

    fn needs_rtt_samples(&self) -> bool {
        true
    }

    fn discriminates_each_loss(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::loss_discrimination::rtt_sample::samples::{LOST, SamplePath};

    /// One segment arrives every 10 ms, so an RTT longer by 10 ms means one more queued segment. A loss is congestion
    /// only if the queue has grown in each of the last two windows.
    #[test]
    fn two_windows_of_growth_are_congestion() {
        for (rtts, cause) in [
            (&[100, 100, 100, 100][..], Cause::Wireless),
            (&[100, 110, 120, 130], Cause::Congestion),
            (&[100, 100, 100, 110], Cause::Wireless),
            (&[100, 110, 120, 120], Cause::Wireless),
            (&[130, 120, 110, 100], Cause::Wireless),
            (&[], Cause::Wireless),
        ] {
            let mut discriminator = (MECHANISM.build)(&MECHANISM.info.defaults()).expect("a discriminator");
            let mut path = SamplePath::default();
            rtts.iter().for_each(|rtt| path.round(&mut *discriminator, 10, *rtt, 0));
            assert_eq!(discriminator.on_loss(LOST), Some(cause), "round-trip times {rtts:?} ms");
        }
    }

    /// Only the delay of the return path grows. The receiver's clock shows that the forward queue does not grow.
    #[test]
    fn a_longer_way_back_is_no_growth() {
        let mut discriminator = (MECHANISM.build)(&MECHANISM.info.defaults()).expect("a discriminator");
        let mut path = SamplePath { stamps: true, ..SamplePath::default() };
        for back in [0, 10, 20, 30, 40] {
            path.round(&mut *discriminator, 10, 100 + back, back);
        }
        assert_eq!(discriminator.on_loss(LOST), Some(Cause::Wireless));
        for queue in [10, 20, 30] {
            path.round(&mut *discriminator, 10, 140 + queue, 40);
        }
        assert_eq!(discriminator.on_loss(LOST), Some(Cause::Congestion));
    }
}
