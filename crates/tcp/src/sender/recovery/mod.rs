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

/// Content of an ACK, as recovery sees it after the update of the scoreboard.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckNews {
    /// Arrival time.
    pub now: Time,
    /// Bytes by which `una` advanced.
    pub acked: u64,
    /// Whether the ACK is a duplicate (RFC 5681 §2) or, with SACK, newly reports data (RFC 6675 §2).
    pub duplicate: bool,
    /// Whether the ACK reports data that arrived twice (D-SACK, RFC 2883).
    pub is_dsack: bool,
    /// Whether an explicit notification shows that the first outstanding segment is certainly lost
    /// ([`LossDiscriminator::on_ack`](crate::sender::loss_discrimination::LossDiscriminator::on_ack)). No further
    /// duplicate is then needed.
    pub certain: bool,
    /// Round-trip sample, if any.
    pub rtt: Option<Duration>,
    /// Upper bound of the sending time of the segment that filled the first hole, if timestamps reveal it (RFC 3522).
    pub sent_before: Option<Time>,
    /// The receiver's clock at the ACK (TSval, unwrapped); only differences are meaningful. Set with timestamps if
    /// congestion control [observes](crate::sender::congestion::Nature::observes) or loss discrimination
    /// [measures](crate::sender::loss_discrimination::LossDiscriminator::needs_rtt_samples).
    pub clock: Option<Time>,
    /// Smoothed (RFC 6298) and smallest round-trip time, if the recovery [needs times](LossRecovery::needs_times).
    pub rtts: Option<(Duration, Duration)>,
    /// Payload of a full segment, bytes.
    pub mss: u64,
}

impl AckNews {
    /// Whether the ACK does not advance `una` and indicates that a segment arrived out of order.
    pub fn is_pure_duplicate(&self) -> bool {
        self.duplicate && self.acked == 0
    }
}

/// Conclusion that a recovery draws from an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryStep {
    /// Nothing changes.
    Same,
    /// A loss is found; fast recovery begins.
    Enter,
    /// A further loss in data that has already reduced the window reduces it again (Reno of the 1990s).
    Reenter,
    /// A loss is found; the window restarts at one segment (Tahoe).
    Restart,
    /// `una` advanced, but not beyond the data outstanding at the start of the recovery.
    Partial {
        /// Whether this is the first partial ACK of the recovery.
        first: bool,
    },
    /// The suspected segment was reordered, not lost. No recovery has begun. Less than `flight` may be outstanding now.
    Reordered {
        /// FlightSize when the disorder began, bytes.
        flight: u64,
    },
    /// Recovery is over.
    Leave,
}

/// A segment to retransmit without evidence of its loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastResort {
    /// A segment below reported data. Its copy counts as in flight (RFC 6675 §4, NextSeg rule 3).
    Doubtful(Range),
    /// The last segment. Its copy does not count as in flight ("HighRxt MUST NOT be updated", NextSeg rule 4).
    Rescue(Range),
}

/// Loss detection and retransmission.
///
/// A recovery never inflates the window: it estimates the data in flight, which the sender compares with cwnd.
pub trait LossRecovery: Send {
    /// Handles an ACK that the scoreboard has recorded.
    fn on_ack(&mut self, news: &AckNews, scoreboard: &mut Scoreboard) -> RecoveryStep;

    /// Handles an expiry of the retransmission timer: marks segments as lost, at least the first one. `news` contains
    /// only times and round-trip times.
    fn mark_at_timeout(&mut self, news: &AckNews, scoreboard: &mut Scoreboard) {
        let _ = news;
        scoreboard.mark_all_lost();
    }

    /// Begins to retransmit. Called after [`LossRecovery::mark_at_timeout`].
    fn on_timeout(&mut self, scoreboard: &Scoreboard);

    /// Handles the discovery that the last timeout, or the current recovery, was spurious: no outstanding data is lost.
    fn on_spurious(&mut self, scoreboard: &Scoreboard);

    /// Returns the next segment to send regardless of the window, and marks this segment as lost. Such a segment is the
    /// first of a recovery, or the segment that NewReno retransmits on a partial ACK.
    fn next_forced(&mut self, scoreboard: &mut Scoreboard) -> Option<Range>;

    /// Whether [`LossRecovery::next_forced`] may return a segment; false saves the call.
    fn may_have_forced(&self) -> bool {
        true
    }

    /// Returns the next segment to retransmit before new data, as soon as the window permits.
    fn next_retransmission(&mut self, scoreboard: &mut Scoreboard) -> Option<Range>;

    /// Returns the next segment to retransmit if no new data may be sent (RFC 6675, NextSeg rules 3 and 4).
    fn last_resort(&mut self, scoreboard: &mut Scoreboard) -> Option<LastResort> {
        let _ = scoreboard;
        None
    }

    /// Records that a segment was sent; `is_retransmission`: whether it was a retransmission.
    fn on_sent(&mut self, range: Range, is_retransmission: bool);

    /// Estimate of the bytes in flight.
    fn in_flight(&self, scoreboard: &Scoreboard) -> u64;

    /// FlightSize for the window reduction, when a loss was just found.
    fn flight_at_loss(&self, scoreboard: &Scoreboard) -> u64;

    /// Whether fast recovery is in progress.
    fn is_recovering(&self) -> bool;

    /// Whether nothing is to be repaired and no duplicate is counted. The sender does not call an idle recovery: it
    /// would return [`RecoveryStep::Same`] and count all outstanding data as in flight.
    fn is_idle(&self) -> bool;

    /// Time at which [`LossRecovery::on_deadline`] is due; [`Time::NEVER`] while idle, or without
    /// [`LossRecovery::needs_times`].
    fn deadline(&self) -> Time {
        Time::NEVER
    }

    /// Handles the deadline: marks those segments as lost that were sent too long ago.
    fn on_deadline(&mut self, now: Time, scoreboard: &mut Scoreboard) -> RecoveryStep {
        let _ = (now, scoreboard);
        RecoveryStep::Same
    }

    /// Whether tail loss probes are sent (RFC 8985 §7).
    fn probes_tail(&self) -> bool {
        false
    }

    /// Whether losses are detected by time. The scoreboard then keeps sending times, and the sender reads the deadline.
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

/// Returns NewReno as the replacement of a recovery that needs SACK, if the peer lacks SACK (RFC 6582 §1). Keeps the
/// parameters that both recoveries have.
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
    /// Bytes sent since the first duplicate ACK. At most two segments of them count as limited transmit.
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

    /// Counts a duplicate ACK. Returns true at the threshold, or at the first duplicate of a certain loss.
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

    /// Outstanding bytes. With limited transmit, one segment per duplicate is subtracted, at most two.
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

    /// If the peer lacks SACK, each recovery is replaced by a recovery that needs no SACK and keeps the shared
    /// parameters.
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
}
