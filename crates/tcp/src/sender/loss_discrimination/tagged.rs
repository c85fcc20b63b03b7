//! Tagged segments (huang §3): one segment per window has low priority, and congested routers drop this segment first.
//! If the tagged segment arrives, the losses around the tagged segment count as corruption, and cwnd is restored.
//!
//! At the end of each recovery, a review returns the cause of the losses: congestion if a tagged segment was lost. A
//! tagged segment counts as lost if it was retransmitted. If a recovery both sends a tagged segment for the first time
//! and retransmits it, the segment counts by default only in the review of the next recovery (§3.D.1, case 2).

use super::{Build, Cause, LossDiscriminator};
use crate::ranges::Range;
use crate::sender::scoreboard::Scoreboard;
use lasthop_base::{Info, Mechanism, Parameter, Unit};
use lasthop_wire::Priority;

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "tagged",
        summary: "treats a loss as congestion if a tagged low-priority segment was lost too, else restores the window",
        source: "huang §3",
        parameters: &[
            Parameter {
                name: "per_window",
                unit: Unit::Count(1, 64),
                default: Some("1"),
                doc: "tagged segments per window; two tagged segments are at least cwnd / per_window apart",
            },
            Parameter {
                name: "after_loss",
                unit: Unit::Word(&["hole", "recovery", "retransmission"]),
                default: Some("hole"),
                doc: "segment that is tagged after a tagged segment was lost: the next new segment after the hole is \
                      filled or after recovery ends, or the retransmission of the lost segment",
            },
            Parameter {
                name: "counts",
                unit: Unit::Word(&["window", "any"]),
                default: Some("window"),
                doc: "lost tags counted by a review: tags first sent before recovery was entered (the next review \
                      counts later tags), or every tag retransmitted in this recovery",
            },
            Parameter {
                name: "restores",
                unit: Unit::Word(&["window", "window_and_ssthresh"]),
                default: Some("window"),
                doc: "state restored if no loss was congestion",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values| {
        Some(Box::new(Tagged {
            per_window: values.count("per_window"),
            after_loss: match values.word("after_loss") {
                "recovery" => AfterLoss::Recovery,
                "retransmission" => AfterLoss::Retransmission,
                _ => AfterLoss::Hole,
            },
            counts_any: values.word("counts") == "any",
            restores_ssthresh: values.word("restores") == "window_and_ssthresh",
            tags: Vec::new(),
            lost: Vec::new(),
            next_at: 0,
            recover: 0,
            recovering: false,
        }))
    },
};

struct Tagged {
    per_window: u64,
    after_loss: AfterLoss,
    counts_any: bool,
    restores_ssthresh: bool,
    /// Offsets of the first bytes of the tagged segments that are not yet acknowledged or SACKed.
    tags: Vec<u64>,
    /// Offsets of the first bytes of the retransmitted tagged segments that no review has counted yet.
    lost: Vec<u64>,
    /// Offset from which the next segment may be tagged, if a window has several tagged segments.
    next_at: u64,
    /// Offset after the data that was outstanding when the last recovery began.
    recover: u64,
    recovering: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AfterLoss {
    Hole,
    Recovery,
    Retransmission,
}

impl LossDiscriminator for Tagged {
    fn on_sent(&mut self, range: Range, window: u64, scoreboard: &Scoreboard) -> Priority {
        self.tags.retain(|tag| !scoreboard.has_arrived(*tag));
        let waits = self.after_loss == AfterLoss::Recovery && self.recovering && !self.lost.is_empty();
        if waits || self.tags.len() as u64 >= self.per_window || range.start < self.next_at {
            return Priority::NORMAL;
        }
        if self.per_window > 1 {
            self.next_at = range.start + window / self.per_window;
        }
        self.tags.push(range.start);
        Priority::LOW
    }

    fn on_retransmitted(&mut self, range: Range) -> Priority {
        if !self.tags.contains(&range.start) {
            return Priority::NORMAL;
        }
        if !self.lost.contains(&range.start) {
            self.lost.push(range.start);
        }
        match self.after_loss {
            AfterLoss::Retransmission => Priority::LOW,
            AfterLoss::Hole | AfterLoss::Recovery => Priority::NORMAL,
        }
    }

    fn on_entered(&mut self, recover: u64) {
        self.recover = recover;
        self.recovering = true;
    }

    fn review(&mut self) -> Cause {
        self.recovering = false;
        let before = self.lost.len();
        let (recover, counts_any) = (self.recover, self.counts_any);
        self.lost.retain(|tag| !counts_any && *tag >= recover);
        if self.lost.len() < before { Cause::Congestion } else { Cause::Wireless }
    }

    fn on_timeout(&mut self) {
        self.tags.clear();
        self.lost.clear();
        self.next_at = 0;
        self.recovering = false;
    }

    fn restores_ssthresh(&self) -> bool {
        self.restores_ssthresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::{Time, Value};

    const MSS: u64 = 1000;

    /// Discriminator and scoreboard. Segment number n, counted from 0, begins at offset 1000 n + 1.
    struct Host {
        discriminator: Box<dyn LossDiscriminator>,
        scoreboard: Scoreboard,
    }

    impl Host {
        fn with(settings: &[(&'static str, Value)]) -> Host {
            let mut values = MECHANISM.info.defaults();
            settings.iter().for_each(|(name, value)| values.set(name, value.clone()));
            Host {
                discriminator: (MECHANISM.build)(&values).expect("a discriminator"),
                scoreboard: Scoreboard::starting_at(1),
            }
        }

        fn send(&mut self, segments: u64) -> Vec<u64> {
            let mut tagged = Vec::new();
            for _ in 0..segments {
                let start = self.scoreboard.nxt();
                let range = Range { start, end: start + MSS };
                self.scoreboard.record_new(MSS, Time::ZERO);
                if self.discriminator.on_sent(range, 10 * MSS, &self.scoreboard) == Priority::LOW {
                    tagged.push(start / MSS);
                }
            }
            tagged
        }

        fn retransmit(&mut self, segment: u64) -> Priority {
            self.scoreboard.record_retransmission(segment * MSS + 1, Time::ZERO);
            self.discriminator
                .on_retransmitted(Range { start: segment * MSS + 1, end: (segment + 1) * MSS + 1 })
        }

        fn acknowledge_below(&mut self, segment: u64) {
            self.scoreboard.acknowledge(segment * MSS + 1);
        }

        fn enter(&mut self) {
            self.discriminator.on_entered(self.scoreboard.nxt());
        }
    }

    #[test]
    fn one_per_window_and_the_next_when_it_is_acknowledged() {
        let mut host = Host::with(&[]);
        assert_eq!(host.send(10), [0]);
        host.acknowledge_below(1);
        assert_eq!(host.send(1), [10]);
        host.acknowledge_below(10);
        assert_eq!(host.send(5), []);
        host.acknowledge_below(11);
        assert_eq!(host.send(2), [16]);
    }

    #[test]
    fn a_report_is_an_acknowledgement_too() {
        let mut host = Host::with(&[]);
        host.send(1);
        host.acknowledge_below(1);
        assert_eq!(host.send(4), [1]);
        host.acknowledge_below(1);
        host.scoreboard.sack(Range { start: MSS + 1, end: 2 * MSS + 1 });
        assert_eq!(host.send(2), [5]);
    }

    #[test]
    fn several_lie_a_part_of_the_window_apart() {
        let mut host = Host::with(&[("per_window", Value::Count(2))]);
        // cwnd is ten segments. With two tagged segments per cwnd, the tagged segments are five segments apart.
        assert_eq!(host.send(10), [0, 5]);
        host.acknowledge_below(1);
        assert_eq!(host.send(3), [10]);
        host.acknowledge_below(6);
        assert_eq!(host.send(5), [15]);
    }

    #[test]
    fn a_surviving_tag_means_corruption_a_lost_one_congestion() {
        let mut host = Host::with(&[]);
        host.send(10);
        host.enter();
        host.retransmit(4);
        assert_eq!(host.discriminator.review(), Cause::Wireless);
        host.enter();
        host.retransmit(0);
        assert_eq!(host.discriminator.review(), Cause::Congestion);
        // A lost tagged segment counts in one review only.
        host.enter();
        assert_eq!(host.discriminator.review(), Cause::Wireless);
    }

    #[test]
    fn a_tag_first_sent_during_recovery_counts_in_the_next_review() {
        for (counts, first, second) in
            [("window", Cause::Wireless, Cause::Congestion), ("any", Cause::Congestion, Cause::Wireless)]
        {
            let mut host = Host::with(&[("counts", Value::Word(counts))]);
            host.send(10);
            host.scoreboard.sack(Range { start: 1, end: MSS + 1 });
            host.enter();
            assert_eq!(host.send(3), [10]);
            host.retransmit(10);
            assert_eq!(host.discriminator.review(), first, "{counts}");
            host.enter();
            assert_eq!(host.discriminator.review(), second, "{counts}");
        }
    }

    #[test]
    fn after_a_lost_tag() {
        let next = |answer, repaired: bool, over: bool| {
            let mut host = Host::with(&[("after_loss", Value::Word(answer))]);
            host.send(10);
            host.enter();
            let priority = host.retransmit(0);
            if repaired {
                host.acknowledge_below(1);
            }
            if over {
                host.discriminator.review();
            }
            (priority, host.send(1))
        };
        assert_eq!(next("hole", false, false), (Priority::NORMAL, vec![]));
        assert_eq!(next("hole", true, false), (Priority::NORMAL, vec![10]));
        assert_eq!(next("recovery", true, false), (Priority::NORMAL, vec![]));
        assert_eq!(next("recovery", true, true), (Priority::NORMAL, vec![10]));
        assert_eq!(next("retransmission", false, false), (Priority::LOW, vec![]));
        assert_eq!(next("retransmission", true, false), (Priority::LOW, vec![10]));
    }

    #[test]
    fn a_timeout_untags_all() {
        let mut host = Host::with(&[]);
        host.send(10);
        host.enter();
        host.retransmit(0);
        host.discriminator.on_timeout();
        assert_eq!(host.send(2), [10]);
        host.enter();
        assert_eq!(host.discriminator.review(), Cause::Wireless);
    }
}
