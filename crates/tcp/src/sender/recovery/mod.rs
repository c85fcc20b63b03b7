//! Loss recovery: what was lost, and what goes out again?

mod dcr;
mod doubt;
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

/// Duplicate ACKs that tell a loss (RFC 5681 §3.2).
pub const DUP_THRESH: u32 = 3;

/// What an ACK said, once the scoreboard has taken it in, and before anything is concluded from it.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckNews {
    /// When it came.
    pub now: Time,
    /// Bytes by which `una` advanced.
    pub acked: u64,
    /// Whether it is a duplicate (RFC 5681 §2; with SACK: it reports something new, even if `una` advanced, RFC 6675 §2).
    pub duplicate: bool,
    /// Whether it says that something arrived twice (D-SACK, RFC 2883).
    pub twice: bool,
    /// Whether the loss of the first outstanding segment is certain, so that no further duplicate is waited for: somebody has
    /// told ([`LossJudge::on_ack`](crate::sender::judge::LossJudge::on_ack)).
    pub certain: bool,
    /// The round-trip time that it measured, if it did.
    pub rtt: Option<Duration>,
    /// By the timestamp that it echoes: of what it acknowledges, the segment that filled the first hole went out before this
    /// time. Told where timestamps tell originals from copies (RFC 3522).
    pub sent_before: Option<Time>,
    /// The receiver's clock when it sent the ACK (TSval without its wraps), if timestamps are in use; only differences mean
    /// something. Told to a congestion control that [observes](crate::sender::congestion::Nature::observes) and to
    /// a judge that [measures](crate::sender::judge::LossJudge::measures).
    pub clock: Option<Time>,
    /// The smoothed round-trip time after it (RFC 6298), and the smallest so far, once one was measured; told to a recovery that
    /// [needs times](LossRecovery::needs_times).
    pub rtts: Option<(Duration, Duration)>,
    /// A full segment's payload, bytes.
    pub mss: u64,
}

impl AckNews {
    /// Whether it advances nothing, and says that a segment has arrived out of order.
    pub fn is_pure_duplicate(&self) -> bool {
        self.duplicate && self.acked == 0
    }
}

/// What a recovery concludes from an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing changes.
    Same,
    /// A loss was found; fast recovery begins.
    Enter,
    /// A further loss was found in data for which the window was reduced already; it is reduced again (the 1990s' Reno).
    Reenter,
    /// A loss was found; the window starts again from one segment (Tahoe).
    Restart,
    /// `una` advanced, but not past what was outstanding at the start; `first` in this recovery.
    Partial {
        /// Whether it is the first one in this recovery.
        first: bool,
    },
    /// What was in doubt was not lost, but late: no more is in the network than is outstanding, where so many bytes were when
    /// the doubt began. Recovery was not entered.
    Reordered {
        /// FlightSize then, bytes.
        flight: u64,
    },
    /// Recovery is over.
    Leave,
}

/// A segment that goes out again although nothing says that it is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastResort {
    /// Below something that SACK reported: its copy counts as in flight (RFC 6675 §4, NextSeg rule 3).
    Doubtful(Range),
    /// The last one: its copy does not count ("HighRxt MUST NOT be updated", NextSeg rule 4).
    Rescue(Range),
}

/// Loss detection and retransmission.
///
/// The rule that all obey: recovery never inflates the window. It says how much is
/// in flight, and the sender compares that with the congestion window.
pub trait LossRecovery: Send {
    /// An ACK, already entered in the board.
    fn on_ack(&mut self, news: &AckNews, board: &mut Scoreboard) -> Step;

    /// The retransmission timer expired: marks what is lost by that. The first segment is, and it must go out again. `news` has
    /// the time and the round trips, of which the latest one.
    fn mark_at_timeout(&mut self, news: &AckNews, board: &mut Scoreboard) {
        let _ = news;
        board.mark_all_lost();
    }

    /// After [`LossRecovery::mark_at_timeout`]: what was lost goes out again.
    fn on_timeout(&mut self, board: &Scoreboard);

    /// The last timeout, or the recovery that is under way, was for nothing: nothing of what is outstanding is lost.
    fn on_spurious(&mut self, board: &Scoreboard);

    /// What must go out now whatever the window says: the first retransmission of a recovery, NewReno's on a partial ACK. It
    /// is marked lost, if it was not yet.
    fn must_send(&mut self, board: &mut Scoreboard) -> Option<Range>;

    /// Whether [`LossRecovery::must_send`] may have something: where it has nothing, nobody asks again for nothing.
    fn may_have_to_send(&self) -> bool {
        true
    }

    /// What is to be sent again as soon as the window allows, before new data.
    fn next_retransmission(&mut self, board: &mut Scoreboard) -> Option<Range>;

    /// What may be sent again when no new data may go out (RFC 6675 NextSeg rules 3 and 4).
    fn last_resort(&mut self, board: &mut Scoreboard) -> Option<LastResort> {
        let _ = board;
        None
    }

    /// Something was sent; `again`: it was a retransmission.
    fn on_sent(&mut self, range: Range, again: bool);

    /// Bytes in the network by this recovery's account.
    fn in_flight(&self, board: &Scoreboard) -> u64;

    /// FlightSize for the reduction of the window at a loss just found.
    fn flight_at_loss(&self, board: &Scoreboard) -> u64;

    /// Whether fast recovery is under way.
    fn is_recovering(&self) -> bool;

    /// Whether there is nothing to repair and no duplicate has been counted: until the next duplicate or timeout it
    /// would answer every new ACK with [`Step::Same`] and count all outstanding data as in flight, and is not asked.
    fn is_idle(&self) -> bool;

    /// When [`LossRecovery::on_deadline`] wants to be called, [`Time::NEVER`] if at no time: while it is idle it does not. Only
    /// read if it [needs times](LossRecovery::needs_times).
    fn deadline(&self) -> Time {
        Time::NEVER
    }

    /// The deadline has come: time alone may tell that something is lost.
    fn on_deadline(&mut self, now: Time, board: &mut Scoreboard) -> Step {
        let _ = (now, board);
        Step::Same
    }

    /// Whether the end of a flight is probed before the timer expires (RFC 8985 §7).
    fn probes_tail(&self) -> bool {
        false
    }

    /// Whether it tells losses by time, so that the scoreboard keeps times and deadlines are asked for.
    fn needs_times(&self) -> bool {
        false
    }

    /// Whether SACK blocks are of use.
    fn uses_sack(&self) -> bool {
        false
    }
}

/// How a recovery is built.
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

/// What holds if nobody says.
pub const DEFAULT: Mechanism<Build> = sack::MECHANISM;

const LIMITED_TRANSMIT: Parameter = Parameter {
    name: "limited_transmit",
    unit: Unit::Flag,
    default: Some("false"),
    doc: "each of the first two duplicate ACKs lets a new segment out (RFC 3042)",
};

const COUNTED: Parameter = Parameter {
    name: "limited_transmit_counts",
    unit: Unit::Flag,
    default: Some("false"),
    doc: "whether FlightSize counts what limited transmit sent (RFC 6937 §3.1 does, RFC 5681 §3.2 forbids it)",
};

/// Whether it needs SACK.
pub(crate) fn uses_sack(choice: &Choice<Build>) -> bool {
    (choice.build)(&choice.values).uses_sack()
}

/// What takes the place of a recovery that needs SACK when the peer has none: NewReno (RFC 6582 §1), with those of its
/// parameters that the other has too.
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

/// Duplicate ACKs since the last advance, and what limited transmit made of them.
#[derive(Debug, Default)]
struct Duplicates {
    count: u32,
    limited_transmit: bool,
    counts: bool,
    /// Bytes sent since the first duplicate ACK, of which limited transmit sent two segments at most.
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

    /// Takes an ACK in; true when it is the one that reaches the threshold, or the first one of a certain loss.
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

    /// Outstanding data, less at most two segments that have left the network, with limited transmit on.
    fn in_flight(&self, board: &Scoreboard) -> u64 {
        match self.limited_transmit && self.count > 0 {
            false => board.outstanding(),
            true => board.outstanding().saturating_sub(u64::from(self.count.min(2)) * self.mss),
        }
    }

    fn on_sent(&mut self, range: Range, again: bool) {
        if self.limited_transmit && self.count > 0 && !again {
            self.extra += range.len();
        }
    }

    fn flight(&self, board: &Scoreboard) -> u64 {
        match self.counts {
            true => board.outstanding(),
            false => board.outstanding().saturating_sub(self.extra.min(2 * self.mss)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever a recovery has for parameters, a peer without SACK gets one that needs none; what both have stays as it is.
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
