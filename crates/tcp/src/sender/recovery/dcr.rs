//! TCP-DCR: delayed congestion response. The third report above a hole starts a timer; the hole counts as lost only
//! when the timer expires. Until then each reported segment admits a new one, and a link-layer retransmission may close
//! the hole. Recovery is RFC 6675's.
//!
//! Sources: the abstract; from memory: a delay of one round trip. [`super::ncr`] counts duplicates instead of time. The
//! middlebox `dupack_delay` is the receiver-side variant.

use super::doubt::Doubt;
use super::{AckNews, Build, LastResort, LossRecovery, Step};
use crate::ranges::Range;
use crate::sender::scoreboard::Scoreboard;
use lasthop_base::{Duration, Info, Mechanism, Need, Parameter, Time, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "dcr",
        summary: "SACK recovery; a hole counts as lost one round trip after its third report",
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
            doubt: Doubt::new(1),
            wait: values.number("wait"),
            srtt: Duration::ZERO,
            deadline: Time::NEVER,
        })
    },
};

struct Dcr {
    doubt: Doubt,
    wait: f64,
    srtt: Duration,
    deadline: Time,
}

impl Dcr {
    fn enter(&mut self, scoreboard: &mut Scoreboard) -> Step {
        self.deadline = Time::NEVER;
        self.doubt.sack.enter(scoreboard)
    }
}

impl LossRecovery for Dcr {
    fn on_ack(&mut self, news: &AckNews, scoreboard: &mut Scoreboard) -> Step {
        self.srtt = news.rtts.map_or(self.srtt, |(srtt, _)| srtt);
        if self.doubt.sack.repairs() {
            self.doubt.forget();
            return self.doubt.sack.on_ack(news, scoreboard);
        }
        if self.doubt.weigh(news.acked > 0, news.mss, scoreboard).is_some() {
            self.deadline = Time::NEVER;
        }
        if news.certain {
            return self.enter(scoreboard);
        }
        if self.deadline == Time::NEVER && self.doubt.is_told(0, scoreboard) {
            self.deadline = news.now + Duration::from_secs_f64(self.wait * self.srtt.as_secs());
        }
        Step::Same
    }

    fn deadline(&self) -> Time {
        self.deadline
    }

    fn on_deadline(&mut self, _: Time, scoreboard: &mut Scoreboard) -> Step {
        self.deadline = Time::NEVER;
        match self.doubt.sack.repairs() || scoreboard.sacked() == 0 {
            true => Step::Same,
            false => self.enter(scoreboard),
        }
    }

    fn needs_times(&self) -> bool {
        true
    }

    fn on_timeout(&mut self, scoreboard: &Scoreboard) {
        self.deadline = Time::NEVER;
        self.doubt.forget();
        self.doubt.sack.on_timeout(scoreboard);
    }

    fn on_spurious(&mut self, scoreboard: &Scoreboard) {
        self.deadline = Time::NEVER;
        self.doubt.forget();
        self.doubt.sack.on_spurious(scoreboard);
    }

    fn must_send(&mut self, scoreboard: &mut Scoreboard) -> Option<Range> {
        self.doubt.sack.must_send(scoreboard)
    }

    fn may_have_to_send(&self) -> bool {
        self.doubt.sack.may_have_to_send()
    }

    fn next_retransmission(&mut self, scoreboard: &mut Scoreboard) -> Option<Range> {
        self.doubt.sack.next_retransmission(scoreboard)
    }

    fn last_resort(&mut self, scoreboard: &mut Scoreboard) -> Option<LastResort> {
        self.doubt.sack.last_resort(scoreboard)
    }

    fn on_sent(&mut self, range: Range, is_retransmission: bool) {
        self.doubt.on_sent(range, is_retransmission);
    }

    fn in_flight(&self, scoreboard: &Scoreboard) -> u64 {
        match self.doubt.sack.repairs() {
            true => self.doubt.sack.in_flight(scoreboard),
            false => self.doubt.in_flight(scoreboard),
        }
    }

    fn flight_at_loss(&self, scoreboard: &Scoreboard) -> u64 {
        self.doubt.flight_at_loss(scoreboard)
    }

    fn is_recovering(&self) -> bool {
        self.doubt.sack.is_recovering()
    }

    fn is_idle(&self) -> bool {
        self.doubt.sack.is_idle() && self.doubt.flight.is_none()
    }

    fn uses_sack(&self) -> bool {
        true
    }
}
