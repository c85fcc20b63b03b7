//! Loss recovery: detection and retransmission of lost segments.

mod dcr;
mod disorder;
mod ncr;
mod new_reno;
mod rack;
mod reno;
mod sack;
mod sack1;
mod tahoe;

use super::scoreboard::Scoreboard;
use crate::ranges::Range;
use lasthop_base::{Choice, Duration, Mechanism, Parameter, Time, Unit, Values};

/// Number of duplicate ACKs that indicate a loss (RFC 5681 §3.2).
pub const DUP_THRESH: u32 = 3;

/// Data about an ACK for recovery, after the update of the scoreboard.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckNews {
    /// Arrival time.
    pub now: Time,
    /// Bytes by which the ACK advances SND.UNA.
    pub acked: u64,
    /// Whether the ACK is a duplicate (RFC 5681 §2) or, with SACK, newly reports data (RFC 6675 §2).
    pub duplicate: bool,
    /// Whether the ACK reports data that arrived twice (D-SACK, RFC 2883).
    pub is_dsack: bool,
    /// Whether an explicit notification shows that the first outstanding segment is certainly lost
    /// ([`LossDiscriminator::on_ack`](crate::sender::loss_discrimination::LossDiscriminator::on_ack)). Recovery then
    /// begins without further duplicate ACKs.
    pub certain: bool,
    /// Round-trip sample, if any.
    pub rtt: Option<Duration>,
    /// Upper bound of the sending time of the segment that filled the first hole, if timestamps reveal it (RFC 3522).
    pub sent_before: Option<Time>,
    /// The receiver's clock at the ACK (TSval, unwrapped); only differences are meaningful. `None` unless timestamps
    /// are in use and either congestion control [observes ACKs](crate::sender::congestion::Nature::observes) or loss
    /// discrimination [needs RTT samples](crate::sender::loss_discrimination::LossDiscriminator::needs_rtt_samples).
    pub clock: Option<Time>,
    /// Smoothed (RFC 6298) and smallest round-trip time. `None` unless the recovery [detects losses by
    /// time](LossRecovery::needs_times).
    pub rtts: Option<(Duration, Duration)>,
    /// Payload of a full segment, bytes.
    pub mss: u64,
}

impl AckNews {
    /// Whether the ACK shows that a segment arrived out of order, and does not advance SND.UNA.
    pub fn is_pure_duplicate(&self) -> bool {
        self.duplicate && self.acked == 0
    }
}

/// Effect of an ACK on loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryStep {
    /// Neither begin nor end of a recovery.
    Same,
    /// A loss is detected, and fast recovery begins.
    Enter,
    /// A further loss is detected in a window of data whose first loss has already reduced cwnd. cwnd is reduced again
    /// (Reno of the 1990s).
    Reenter,
    /// A loss is detected, and slow start begins from one segment (Tahoe).
    Restart,
    /// Partial ACK: the ACK advances SND.UNA, but does not cover all data that was outstanding at the start of the
    /// recovery.
    Partial {
        /// Whether this is the first partial ACK of the recovery.
        first: bool,
    },
    /// The segment suspected lost was only reordered, and no recovery has begun.
    Reordered {
        /// FlightSize when the first out-of-order segment was reported, bytes. FlightSize may be smaller now.
        flight: u64,
    },
    /// The ACK ends the recovery.
    Leave,
}

/// A segment to retransmit although it is not marked lost, because nothing else may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastResort {
    /// A segment below SACKed data. The retransmission counts as in flight (RFC 6675 §4, NextSeg rule 3).
    Doubtful(Range),
    /// The last outstanding segment. The retransmission does not count as in flight ("HighRxt MUST NOT be updated", RFC
    /// 6675 §4, NextSeg rule 4).
    Rescue(Range),
}

/// Loss detection and retransmission.
///
/// A recovery does not inflate cwnd for duplicate ACKs. Instead, it estimates the data in flight, and the sender
/// compares this estimate with cwnd.
pub trait LossRecovery: Send {
    /// Handles an ACK that the scoreboard has already processed.
    fn on_ack(&mut self, news: &AckNews, scoreboard: &mut Scoreboard) -> RecoveryStep;

    /// Handles an expiry of the retransmission timer: marks segments as lost, at least the first segment. `news`
    /// contains only times and round-trip times.
    fn mark_at_timeout(&mut self, news: &AckNews, scoreboard: &mut Scoreboard) {
        let _ = news;
        scoreboard.mark_all_lost();
    }

    /// Begins to retransmit after a timeout or another reason for go-back-N. Before this call, the caller has marked
    /// segments as lost; at a timeout, [`LossRecovery::mark_at_timeout`] marks them.
    fn on_timeout(&mut self, scoreboard: &Scoreboard);

    /// Ends the current recovery or the retransmission after a timeout, because it was spurious: no outstanding data is
    /// lost.
    fn on_spurious(&mut self, scoreboard: &Scoreboard);

    /// Returns the next segment to retransmit regardless of cwnd, and marks this segment as lost. Examples are the
    /// first segment of a recovery, and the segment that NewReno retransmits on a partial ACK.
    fn next_forced(&mut self, scoreboard: &mut Scoreboard) -> Option<Range>;

    /// Whether [`LossRecovery::next_forced`] may return a segment. If false, the sender skips the call.
    fn may_have_forced(&self) -> bool {
        true
    }

    /// Returns the next segment to retransmit before new data, as soon as cwnd permits.
    fn next_retransmission(&mut self, scoreboard: &mut Scoreboard) -> Option<Range>;

    /// Returns the next segment to retransmit if no new data may be sent (RFC 6675, NextSeg rules 3 and 4).
    fn last_resort(&mut self, scoreboard: &mut Scoreboard) -> Option<LastResort> {
        let _ = scoreboard;
        None
    }

    /// Records that a segment was sent; `is_retransmission`: whether it was a retransmission.
    fn on_sent(&mut self, range: Range, is_retransmission: bool);

    /// Estimate of the bytes in flight, compared with cwnd.
    fn in_flight(&self, scoreboard: &Scoreboard) -> u64;

    /// FlightSize for the window reduction. Called when a loss was just detected.
    fn flight_at_loss(&self, scoreboard: &Scoreboard) -> u64;

    /// Whether fast recovery is in progress.
    fn is_recovering(&self) -> bool;

    /// Whether nothing is to be retransmitted and no duplicate ACK is counted. The sender then skips calls of this
    /// recovery, because they would return [`RecoveryStep::Same`] and count all outstanding data as in flight.
    fn is_idle(&self) -> bool;

    /// Time at which [`LossRecovery::on_deadline`] must be called. [`Time::NEVER`] while idle, or if
    /// [`LossRecovery::needs_times`] is false.
    fn deadline(&self) -> Time {
        Time::NEVER
    }

    /// Handles the deadline: marks segments as lost that were sent too long ago.
    fn on_deadline(&mut self, now: Time, scoreboard: &mut Scoreboard) -> RecoveryStep {
        let _ = (now, scoreboard);
        RecoveryStep::Same
    }

    /// Whether tail loss probes are sent (RFC 8985 §7).
    fn probes_tail(&self) -> bool {
        false
    }

    /// Whether losses are detected by time. The scoreboard then stores sending times, and the sender watches the
    /// deadline.
    fn needs_times(&self) -> bool {
        false
    }

    /// Whether the recovery uses SACK blocks.
    fn uses_sack(&self) -> bool {
        false
    }
}

/// Constructor of a recovery.
pub type Build = dyn Fn(&Values) -> Box<dyn LossRecovery> + Send + Sync;

/// All recoveries.
pub const ALL: &[Mechanism<Build>] = &[
    tahoe::MECHANISM,
    reno::MECHANISM,
    new_reno::MECHANISM,
    sack::MECHANISM,
    sack1::MECHANISM,
    rack::MECHANISM,
    ncr::MECHANISM,
    dcr::MECHANISM,
];

/// Default recovery.
pub const DEFAULT: Mechanism<Build> = sack::MECHANISM;

const LIMITED_TRANSMIT: Parameter = Parameter {
    name: "limited_transmit",
    unit: Unit::Flag,
    default: Some("false"),
    doc: "whether the first two duplicate ACKs each admit a new segment (RFC 3042)",
};

const COUNTED: Parameter = Parameter {
    name: "limited_transmit_counts",
    unit: Unit::Flag,
    default: Some("false"),
    doc: "whether FlightSize counts data sent by limited transmit (RFC 6937 §3.1: yes, RFC 5681 §3.2: no)",
};

pub(crate) fn uses_sack(choice: &Choice<Build>) -> bool {
    (choice.build)(&choice.values).uses_sack()
}

/// Returns NewReno. If the peer lacks SACK, NewReno replaces a recovery that needs SACK (RFC 6582 §1). NewReno takes over
/// the values of the parameters that it shares with the replaced recovery.
pub fn without_sack(choice: &Choice<Build>) -> Choice<Build> {
    let mut new_reno = Choice::of(&new_reno::MECHANISM);
    for own in new_reno::MECHANISM.info.parameters {
        let is_shared = choice.info.parameters.iter().any(|it| it.name == own.name && it.unit == own.unit);
        if is_shared {
            new_reno.values.set(own.name, choice.values.value(own.name).clone());
        }
    }
    new_reno
}

#[derive(Debug, Default)]
struct Duplicates {
    count: u32,
    limited_transmit: bool,
    counts: bool,
    /// Bytes of new data sent since the first duplicate ACK. At most two segments of this data count as limited
    /// transmit.
    extra: u64,
    mss: u64,
}

impl Duplicates {
    fn new(values: &Values) -> Duplicates {
        Duplicates {
            limited_transmit: values.flag(LIMITED_TRANSMIT.name),
            counts: values.flag(COUNTED.name),
            ..Duplicates::default()
        }
    }

    fn reset(&mut self) {
        self.count = 0;
        self.extra = 0;
    }

    /// Counts a duplicate ACK. Returns true at the third duplicate ACK, or earlier if an explicit notification makes
    /// the loss certain.
    fn reach_threshold(&mut self, news: &AckNews) -> bool {
        self.mss = news.mss;
        if news.acked > 0 {
            self.reset();
        }
        if !news.duplicate {
            return false;
        }
        self.count += 1;
        self.count == DUP_THRESH || (news.certain && self.count < DUP_THRESH)
    }

    /// Outstanding bytes. With limited transmit, one segment per duplicate ACK counts as having left the network, at
    /// most two.
    fn in_flight(&self, scoreboard: &Scoreboard) -> u64 {
        if self.limited_transmit && self.count > 0 {
            scoreboard.outstanding().saturating_sub(u64::from(self.count.min(2)) * self.mss)
        } else {
            scoreboard.outstanding()
        }
    }

    fn on_sent(&mut self, range: Range, is_retransmission: bool) {
        if self.limited_transmit && self.count > 0 && !is_retransmission {
            self.extra += range.len();
        }
    }

    fn flight(&self, scoreboard: &Scoreboard) -> u64 {
        if self.counts {
            scoreboard.outstanding()
        } else {
            scoreboard.outstanding().saturating_sub(self.extra.min(2 * self.mss))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If the peer lacks SACK, each recovery is replaced by a recovery that needs no SACK. Parameters that both
    /// recoveries have keep their values.
    #[test]
    fn each_has_one_in_its_place_without_sack() {
        for mechanism in ALL {
            let mut choice = Choice::of(mechanism);
            let limited = choice.values.iter().any(|(name, _)| name == LIMITED_TRANSMIT.name);
            if limited {
                choice.values.set(LIMITED_TRANSMIT.name, lasthop_base::Value::Flag(true));
            }
            let instead = without_sack(&choice);
            let recovery = (instead.build)(&instead.values);
            assert!(!recovery.uses_sack(), "{}", mechanism.info.name);
            assert_eq!(instead.values.flag(LIMITED_TRANSMIT.name), limited, "{}", mechanism.info.name);
        }
    }

    /// A scoreboard with five segments of 1000 bytes outstanding.
    fn outstanding() -> Scoreboard {
        let mut scoreboard = Scoreboard::starting_at(1);
        (0..5).for_each(|_| scoreboard.record_new(1000, Time::ZERO));
        scoreboard
    }

    const DUPLICATE: AckNews = AckNews {
        now: Time::ZERO,
        acked: 0,
        duplicate: true,
        is_dsack: false,
        certain: false,
        rtt: None,
        sent_before: None,
        clock: None,
        rtts: None,
        mss: 1000,
    };

    /// RFC 5681 §3.2: the third duplicate ACK shows a loss. An explicit notification shows the loss at once. An ACK for
    /// new data restarts the count.
    #[test]
    fn the_third_duplicate_shows_a_loss() {
        let mut duplicates = Duplicates::default();
        let mut reached = |news: AckNews| duplicates.reach_threshold(&news);
        assert_eq!([0; 5].map(|_| reached(DUPLICATE)), [false, false, true, false, false]);
        assert!(!reached(AckNews { acked: 1000, duplicate: false, ..DUPLICATE }));
        assert!(!reached(DUPLICATE) && !reached(AckNews { duplicate: false, ..DUPLICATE }));
        let certain = AckNews { certain: true, ..DUPLICATE };
        assert_eq!([0; 3].map(|_| reached(certain)), [true, true, false]);
        assert!(!reached(AckNews { duplicate: false, ..certain }));
    }

    /// RFC 3042: each of the first two duplicate ACKs permits one new segment. RFC 5681 §3.2: FlightSize excludes this
    /// data, unless `counts` is set (RFC 6937).
    #[test]
    fn limited_transmit_sends_two_segments() {
        let scoreboard = outstanding();
        for (limited_transmit, in_flight) in [(true, [5000, 4000, 3000, 3000]), (false, [5000; 4])] {
            let mut duplicates = Duplicates { limited_transmit, ..Duplicates::default() };
            let found = [false, true, true, true].map(|duplicate| {
                duplicates.reach_threshold(&AckNews { duplicate, ..DUPLICATE });
                duplicates.in_flight(&scoreboard)
            });
            assert_eq!(found, in_flight);
        }
        for (counts, limited_transmit, flight) in
            [(false, true, [5000, 4000, 3000, 3000]), (true, true, [5000; 4]), (false, false, [5000; 4])]
        {
            let mut duplicates = Duplicates { counts, limited_transmit, ..Duplicates::default() };
            let sent = Range { start: 5001, end: 6001 };
            duplicates.on_sent(sent, false);
            let found = [0, 1, 2, 3].map(|number| {
                duplicates.reach_threshold(&AckNews { duplicate: number > 0, ..DUPLICATE });
                if number > 0 {
                    duplicates.on_sent(sent, false);
                    duplicates.on_sent(sent, true);
                }
                duplicates.flight(&scoreboard)
            });
            assert_eq!(found, flight, "counts: {counts}");
        }
    }

    /// RFC 4653: a disorder begins with the first SACK and ends when SND.UNA advances. One new segment is permitted for
    /// every two SACKed segments.
    #[test]
    fn a_disorder_delays_recovery() {
        let (mut disorder, mut scoreboard) = (disorder::Disorder::new(2), outstanding());
        assert_eq!((disorder.on_ack(false, 1000, &scoreboard), disorder.flight), (None, None));
        scoreboard.sack(Range { start: 1001, end: 2001 });
        assert_eq!((disorder.on_ack(false, 1000, &scoreboard), disorder.flight), (None, Some(5000)));
        assert_eq!(disorder.in_flight(&scoreboard), 5000);
        scoreboard.sack(Range { start: 2001, end: 3001 });
        scoreboard.record_new(1000, Time::ZERO);
        assert_eq!((disorder.on_ack(false, 1000, &scoreboard), disorder.flight), (None, Some(5000)));
        assert_eq!((disorder.in_flight(&scoreboard), disorder.flight_at_loss(&scoreboard)), (5000, 5000));
        assert_eq!([2, 3, 4].map(|segments| disorder.has_reported(segments, &scoreboard)), [false; 3]);
        scoreboard.sack(Range { start: 3001, end: 4001 });
        assert_eq!(
            [2, 3, 4].map(|segments| disorder.has_reported(segments, &scoreboard)),
            [true, true, false]
        );
        assert_eq!(disorder.on_ack(true, 1000, &scoreboard), Some(5000));
        assert_eq!(disorder.flight, Some(6000), "data is SACKed, so that a new disorder begins");
        disorder.forget();
        assert_eq!((disorder.flight, disorder.flight_at_loss(&scoreboard)), (None, 6000));
    }
}
