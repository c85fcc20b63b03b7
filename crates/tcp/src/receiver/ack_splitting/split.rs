//! ACK splitting (hasegawa): after a wireless loss the receiver acknowledges each packet in slices. If the sender
//! counts ACKs instead of bytes, cwnd then grows faster than one segment per RTT.

use super::{AckForm, AckSplitting, Build, DueAck, FixedSplit, Needs};
use crate::event::Cause;
use crate::ranges::Range;
use crate::receiver::window_estimate::PathEstimate;
use lasthop_base::{Info, Live, Mechanism, Parameter, Unit, Values};
use lasthop_wire::Backlog;

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "split",
        summary: "sends several partial ACKs per packet after a wireless loss, until the window is restored",
        source: "hasegawa §3.3 and §3.4, Eq. 4 and 5",
        parameters: &[
            Parameter {
                name: "covers",
                unit: Unit::Word(&["advance", "last_segment"]),
                default: Some("advance"),
                doc: "sliced range: the whole advance of the cumulative ACK, or its last segment only",
            },
            Parameter {
                name: "queue",
                unit: Unit::Word(&["waiting", "with_service"]),
                default: Some("waiting"),
                doc: "ACKs that count in r_queue and s_queue: the waiting ACKs (in s_queue also an ACK sent while the \
                      link was idle), or the waiting ACKs and the ACK in service",
            },
            Parameter {
                name: "count",
                unit: Unit::Count(0, 1000),
                default: Some("0"),
                doc: "number of ACKs per packet; 0: the number that the uplink can carry (Eq. 5)",
            },
            Parameter {
                name: "when",
                unit: Unit::Word(&["after_wireless_loss", "always"]),
                default: Some("after_wireless_loss"),
                doc: "period of splitting: after a wireless loss until the window is restored (§3.3), or always (§2.3)",
            },
        ],
        live: Some(Live {
            word: "split",
            parameter: "count",
            usual: Some("2"),
            without_discrimination: Some(("when", "always")),
        }),
        ..Info::PLAIN
    },
    build: &|values| Box::new(Split::new(values)),
};

struct Split {
    covers_advance: bool,
    counts_service: bool,
    fixed: Option<u32>,
    always: bool,
    /// target_cwnd, segments: splitting ends when cwnd_r, the estimate of cwnd, reaches this value. `None`: no
    /// splitting.
    target: Option<f64>,
    /// s_queue: length of the uplink queue after the ACKs for the previous packet were enqueued, packets. `None` before
    /// the first packet of a splitting period.
    queue_after: Option<u32>,
}

impl Split {
    fn new(values: &Values) -> Split {
        let count = values.count("count") as u32;
        Split {
            covers_advance: values.word("covers") == "advance",
            counts_service: values.word("queue") == "with_service",
            fixed: (count > 0).then_some(count),
            always: values.word("when") == "always",
            target: None,
            queue_after: None,
        }
    }

    /// Returns the number of ACKs for a packet (hasegawa Eq. 4 and 5). The starting value is the number of ACKs that
    /// have left the uplink queue since the previous packet. If the queue is empty, 1 is added; otherwise the number of
    /// waiting ACKs is subtracted.
    fn count(&self, queue_before: u32) -> u32 {
        if let Some(fixed) = self.fixed {
            return fixed;
        }
        let Some(queue_after) = self.queue_after else { return 1 };
        let left = queue_after.saturating_sub(queue_before);
        match queue_before {
            0 => left + 1,
            waiting => left.saturating_sub(waiting),
        }
    }

    fn length(&self, backlog: Backlog) -> u32 {
        backlog.waiting + u32::from(self.counts_service && backlog.in_service)
    }
}

impl AckSplitting for Split {
    fn split(&mut self, due: &DueAck, path: &PathEstimate) -> AckForm {
        // A duplicate ACK is not split, and does not end the splitting.
        if due.advance.is_empty() {
            return AckForm::Single;
        }
        if self.target.is_some_and(|target| path.cwnd_r >= target) {
            self.target = None;
        }
        if self.target.is_none() && !self.always {
            return AckForm::Single;
        }
        let of = if self.covers_advance {
            due.advance
        } else {
            let start = due.advance.end.saturating_sub(due.segment).max(due.advance.start);
            Range { start, end: due.advance.end }
        };
        let most = u32::try_from(of.len()).unwrap_or(u32::MAX);
        AckForm::Slices { count: self.count(self.length(due.uplink)).clamp(1, most), of }
    }

    fn on_loss(&mut self, cause: Cause, path: &PathEstimate) {
        match cause {
            Cause::Congestion => self.target = None,
            Cause::Wireless if self.target.is_none() => {
                self.target = Some(path.cwnd_r);
                self.queue_after = None;
            }
            Cause::Wireless => {}
        }
    }

    fn on_sent(&mut self, before: Backlog, after: Backlog) -> u32 {
        let into_idle = !self.counts_service && !before.in_service && after.in_service;
        let queue_after = self.length(after) + u32::from(into_idle);
        self.queue_after = Some(queue_after);
        queue_after
    }

    fn pieces(&self) -> Option<FixedSplit> {
        let count = self.fixed.filter(|_| self.always)?;
        Some(FixedSplit { count, are_copies: false })
    }

    fn needs(&self) -> Needs {
        Needs { uplink: true, estimate: !self.always, causes: !self.always, ..Needs::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::receiver::ack_splitting::ALL;
    use lasthop_base::{Choice, Duration};

    fn path(cwnd_r: f64) -> PathEstimate {
        let rtt = Duration::from_millis(100);
        PathEstimate { srtt: rtt, min_rtt: rtt, max_rtt: rtt, latest_rtt: rtt, cwnd_r }
    }

    fn due(waiting: u32) -> DueAck {
        let uplink = Backlog { waiting, in_service: waiting > 0, bytes: 40 * u64::from(waiting) };
        DueAck { advance: Range { start: 1000, end: 2000 }, segment: 1000, uplink }
    }

    fn backlog(waiting: u32, in_service: bool) -> Backlog {
        Backlog { waiting, in_service, bytes: 0 }
    }

    fn count(ack_splitting: AckForm) -> u32 {
        match ack_splitting {
            AckForm::Slices { count, .. } => count,
            _ => 0,
        }
    }

    #[test]
    fn splits_from_a_wireless_loss_until_the_window_is_back() {
        let mut split = Split::new(&Choice::named(ALL, "split").values);
        assert_eq!(split.split(&due(0), &path(10.0)), AckForm::Single);
        split.on_loss(Cause::Wireless, &path(10.0));
        // A second wireless loss during ACK splitting does not change the target (hasegawa §3.3 item 1).
        split.on_loss(Cause::Wireless, &path(20.0));
        assert_eq!(count(split.split(&due(0), &path(5.0))), 1);
        assert_eq!(split.split(&due(0), &path(10.0)), AckForm::Single);
    }

    #[test]
    fn a_congestion_loss_stops_it_at_once() {
        let mut split = Split::new(&Choice::named(ALL, "split").values);
        split.on_loss(Cause::Wireless, &path(10.0));
        split.on_loss(Cause::Congestion, &path(5.0));
        assert_eq!(split.split(&due(0), &path(5.0)), AckForm::Single);
    }

    #[test]
    fn the_number_follows_the_uplink_queue() {
        // hasegawa Fig. 5, Eq. 4 and 5: the first packet causes 1 ACK. s_queue is the queue length after the ACKs for
        // the previous packet, so that n = s_queue - waiting ACKs have left the queue since then. If no ACK waits, the
        // packet causes n + 1 ACKs; otherwise n - waiting, but at least 1.
        let mut split = Split::new(&Choice::named(ALL, "split").values);
        split.on_loss(Cause::Wireless, &path(100.0));
        let mut step = |waiting: u32, after: Backlog| {
            let acks = count(split.split(&due(waiting), &path(5.0)));
            split.on_sent(backlog(waiting, waiting > 0), after);
            acks
        };
        assert_eq!(step(0, backlog(0, true)), 1); // Sets s_queue = 1: the ACK is in the transmitter, which was idle.
        assert_eq!(step(0, backlog(1, true)), 2); // 1 ACK has left, the queue is empty: 1 + 1. Sets s_queue = 2.
        assert_eq!(step(0, backlog(2, true)), 3); // 2 ACKs have left, the queue is empty: 2 + 1. Sets s_queue = 3.
        assert_eq!(step(1, backlog(2, true)), 1); // 2 ACKs have left, 1 ACK waits: 2 - 1. Sets s_queue = 2.
        assert_eq!(step(2, backlog(3, true)), 1); // No ACK has left, 2 ACKs wait: Eq. 5 gives -2; the minimum is 1.
    }
}
