//! TCP-DCR: delayed congestion response. When SACK has reported three segments above a hole, a timer starts. The hole
//! counts as lost only when the timer expires. Until then, each SACKed segment permits a new segment, and a link-layer
//! retransmission may fill the hole. Recovery of a lost hole follows RFC 6675.
//!
//! Source: the paper's abstract; the delay of one round trip is from memory. [`super::ncr`] waits for a number of
//! duplicate ACKs instead of a time. The middlebox `dupack_delay` is the variant of TCP-DCR at the receiver's side.

use super::disorder::Disorder;
use super::{AckNews, Build, LastResort, LossRecovery, RecoveryStep};
use crate::ranges::Range;
use crate::sender::scoreboard::Scoreboard;
use lasthop_base::{Duration, Info, Mechanism, Need, Parameter, Time, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "dcr",
        summary: "SACK recovery; a hole counts as lost one round trip after three segments above it are SACKed",
        source: "Bhandarkar, Sadry, Reddy, Vaidya, IEEE TMC 4(5), 2005 (abstract); the delay from memory",
        parameters: &[Parameter {
            name: "wait",
            unit: Unit::Number(0.0, 10.0),
            default: Some("1"),
            doc: "delay of the congestion response, in smoothed round-trip times (tau)",
        }],
        needs: &[Need::Sack],
        ..Info::PLAIN
    },
    build: &|values| {
        Box::new(Dcr {
            disorder: Disorder::new(1),
            wait: values.number("wait"),
            srtt: Duration::ZERO,
            deadline: Time::NEVER,
        })
    },
};

struct Dcr {
    disorder: Disorder,
    wait: f64,
    srtt: Duration,
    deadline: Time,
}

impl Dcr {
    fn enter(&mut self, scoreboard: &mut Scoreboard) -> RecoveryStep {
        self.deadline = Time::NEVER;
        self.disorder.sack.enter(scoreboard)
    }
}

impl LossRecovery for Dcr {
    fn on_ack(&mut self, news: &AckNews, scoreboard: &mut Scoreboard) -> RecoveryStep {
        self.srtt = news.rtts.map_or(self.srtt, |(srtt, _)| srtt);
        if self.disorder.sack.repairs() {
            self.disorder.forget();
            return self.disorder.sack.on_ack(news, scoreboard);
        }
        if self.disorder.on_ack(news.acked > 0, news.mss, scoreboard).is_some() {
            self.deadline = Time::NEVER;
        }
        if news.certain {
            return self.enter(scoreboard);
        }
        if self.deadline == Time::NEVER && self.disorder.has_reported(0, scoreboard) {
            self.deadline = news.now + Duration::from_secs_f64(self.wait * self.srtt.as_secs());
        }
        RecoveryStep::Same
    }

    fn deadline(&self) -> Time {
        self.deadline
    }

    fn on_deadline(&mut self, _: Time, scoreboard: &mut Scoreboard) -> RecoveryStep {
        self.deadline = Time::NEVER;
        if self.disorder.sack.repairs() || scoreboard.sacked() == 0 {
            RecoveryStep::Same
        } else {
            self.enter(scoreboard)
        }
    }

    fn needs_times(&self) -> bool {
        true
    }

    fn on_timeout(&mut self, scoreboard: &Scoreboard) {
        self.deadline = Time::NEVER;
        self.disorder.forget();
        self.disorder.sack.on_timeout(scoreboard);
    }

    fn on_spurious(&mut self, scoreboard: &Scoreboard) {
        self.deadline = Time::NEVER;
        self.disorder.forget();
        self.disorder.sack.on_spurious(scoreboard);
    }

    fn next_forced(&mut self, scoreboard: &mut Scoreboard) -> Option<Range> {
        self.disorder.sack.next_forced(scoreboard)
    }

    fn may_have_forced(&self) -> bool {
        self.disorder.sack.may_have_forced()
    }

    fn next_retransmission(&mut self, scoreboard: &mut Scoreboard) -> Option<Range> {
        self.disorder.sack.next_retransmission(scoreboard)
    }

    fn last_resort(&mut self, scoreboard: &mut Scoreboard) -> Option<LastResort> {
        self.disorder.sack.last_resort(scoreboard)
    }

    fn on_sent(&mut self, range: Range, is_retransmission: bool) {
        self.disorder.on_sent(range, is_retransmission);
    }

    fn in_flight(&self, scoreboard: &Scoreboard) -> u64 {
        if self.disorder.sack.repairs() {
            self.disorder.sack.in_flight(scoreboard)
        } else {
            self.disorder.in_flight(scoreboard)
        }
    }

    fn flight_at_loss(&self, scoreboard: &Scoreboard) -> u64 {
        self.disorder.flight_at_loss(scoreboard)
    }

    fn is_recovering(&self) -> bool {
        self.disorder.sack.is_recovering()
    }

    fn is_idle(&self) -> bool {
        self.disorder.sack.is_idle() && self.disorder.flight.is_none()
    }

    fn uses_sack(&self) -> bool {
        true
    }
}
