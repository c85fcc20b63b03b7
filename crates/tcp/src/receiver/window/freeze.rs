//! Freeze-TCP, receiver side (Goff, Moronski, Phatak and Gupta, INFOCOM 2000). The receiver advertises a zero window
//! before an outage that this host's link layer foresees (a planned rate change). After the outage, the receiver
//! repeats the last ACK three times with an open window. No network node takes part, and headers may be encrypted. Only
//! a sender with `freeze = true` keeps its cwnd during the zero window.
//!
//! # Our choices
//! The implementation follows an abstract. From memory: the window closes one round trip before the outage. The
//! round-trip time is smoothed, and comes from timestamps or the handshake. Data in flight when the window closes is
//! accepted, because only the advertised window is zero.

use super::{AdvertisedWindow, Build, LinkPlan, PathSample, WindowDecision, WindowInput};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Rate, Time, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "freeze",
        summary: "free part of the buffer; zero from just before a planned outage of the link until its end",
        source: "Goff et al., INFOCOM 2000 (abstract; the lead of one round trip from memory)",
        parameters: &[
            Parameter {
                name: "size",
                unit: Unit::Bytes(1, 1 << 30),
                default: Some("1 GiB"),
                doc: "receive buffer",
            },
            Parameter {
                name: "lead",
                unit: Unit::Number(0.0, 1000.0),
                default: Some("1"),
                doc: "time from the closing of the window to the outage, round trips",
            },
            Parameter {
                name: "copies",
                unit: Unit::Count(1, 10),
                default: Some("3"),
                doc: "ACKs that advertise the window after the outage",
            },
            Parameter {
                name: "away",
                unit: Unit::Rate,
                default: Some("1 kbit/s"),
                doc: "rate below which a link is in an outage",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values| {
        Box::new(Freeze {
            size: values.bytes("size"),
            lead: values.number("lead"),
            copies: values.count("copies") as u32,
            away: values.rate("away"),
            round_trip: None,
            begins: Time::NEVER,
            is_closed: false,
        })
    },
};

struct Freeze {
    size: u64,
    lead: f64,
    copies: u32,
    away: Rate,
    round_trip: Option<Duration>,
    begins: Time,
    is_closed: bool,
}

impl Freeze {
    /// Closes the window if the outage is at most the lead time away; otherwise requests a later call.
    fn decide(&mut self, now: Time) -> WindowDecision {
        let ahead = self.round_trip.unwrap_or(Duration::ZERO).as_secs() * self.lead;
        let closes = self.begins.as_nanos().saturating_sub(Duration::from_secs_f64(ahead).as_nanos());
        if self.begins == Time::NEVER {
            return WindowDecision { closed: self.is_closed, acks: 0, next: Time::NEVER };
        }
        if now.as_nanos() < closes {
            // Requests the next call earlier than necessary, because the round-trip time may grow in the meantime.
            let next = Time::from_nanos(closes.min(now.as_nanos().midpoint(closes) + 1_000_000));
            return WindowDecision { closed: self.is_closed, acks: 0, next };
        }
        self.begins = Time::NEVER;
        let acks = u32::from(!std::mem::replace(&mut self.is_closed, true));
        WindowDecision { closed: true, acks, next: Time::NEVER }
    }
}

impl AdvertisedWindow for Freeze {
    fn bytes(&mut self, input: &WindowInput) -> u64 {
        self.size.saturating_sub(input.unread)
    }

    fn largest(&self) -> u64 {
        self.size
    }

    fn on_arrival(&mut self, arrived: &PathSample) {
        if let Some(rtt) = arrived.rtt {
            let smoothed = |before: Duration| (before * 7 + rtt).as_nanos() / 8;
            self.round_trip = Some(self.round_trip.map_or(rtt, |it| Duration::from_nanos(smoothed(it))));
        }
    }

    fn needs_arrivals(&self) -> bool {
        true
    }

    fn uses_link_plan(&self) -> bool {
        true
    }

    fn on_plan(&mut self, plan: &LinkPlan) -> WindowDecision {
        let is_away = |rate: Rate| rate < self.away;
        let is_over = self.is_closed && !is_away(plan.rate);
        self.begins = match (is_away(plan.rate), is_away(plan.next)) {
            // The link is in an outage. If the window is still open, for example at the start of a run, the window
            // closes now.
            (true, _) => plan.now,
            (false, true) => plan.until,
            (false, false) => Time::NEVER,
        };
        if is_over {
            self.is_closed = false;
        }
        let decision = self.decide(plan.now);
        if is_over && !decision.closed { WindowDecision { acks: self.copies, ..decision } } else { decision }
    }

    fn on_decision_time(&mut self, now: Time) -> WindowDecision {
        self.decide(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::Value;

    const SLOW: Rate = Rate::from_bps(1);
    const FAST: Rate = Rate::from_bps(2_000_000);

    fn at(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    fn freeze(lead: f64) -> Box<dyn AdvertisedWindow> {
        let mut values = MECHANISM.info.defaults();
        values.set("lead", Value::Number(lead));
        let mut window = (MECHANISM.build)(&values);
        let rtt = Some(Duration::from_millis(100));
        window.on_arrival(&PathSample { now: at(0), bytes: 1000, rtt, read: 0, segment: 1000 });
        window
    }

    fn closes(lead: f64) -> u64 {
        let mut window = freeze(lead);
        let mut now = at(0);
        let mut decision = window.on_plan(&LinkPlan { now, rate: FAST, until: at(10_000), next: SLOW });
        while !decision.closed {
            assert!(decision.acks == 0 && decision.next > now);
            now = decision.next;
            decision = window.on_decision_time(now);
        }
        assert_eq!((decision.acks, decision.next), (1, Time::NEVER));
        now.as_nanos() / 1_000_000
    }

    #[test]
    fn it_closes_round_trips_before_the_outage() {
        assert_eq!([0.0, 1.0, 5.0].map(closes), [10_000, 9900, 9500]);
    }

    #[test]
    fn three_acks_open_it_again() {
        let mut window = freeze(1.0);
        window.on_plan(&LinkPlan { now: at(0), rate: FAST, until: at(1000), next: SLOW });
        assert_eq!(window.on_decision_time(at(900)).acks, 1);
        let out = window.on_plan(&LinkPlan { now: at(1000), rate: SLOW, until: at(6000), next: FAST });
        assert_eq!((out.closed, out.acks), (true, 0), "the window is already closed");
        let over = window.on_plan(&LinkPlan { now: at(6000), rate: FAST, until: at(9000), next: SLOW });
        assert_eq!((over.closed, over.acks), (false, 3));
        assert!(over.next > at(6000) && over.next < at(8900));
    }

    #[test]
    fn a_rate_that_only_falls_is_no_outage() {
        let mut window = freeze(1.0);
        let half = Rate::from_bps(1_000_000);
        let decision = window.on_plan(&LinkPlan { now: at(0), rate: FAST, until: at(1000), next: half });
        assert_eq!(decision, WindowDecision { closed: false, acks: 0, next: Time::NEVER });
    }
}
