//! M-TCP: the station lowers every ACK of the mobile by one byte. A later ACK of that byte closes the sender's window
//! when the mobile falls silent. The sender then waits with an unchanged congestion window until the mobile returns
//! (Brown and Singh, Computer Communication Review 27(5), 1997). The station caches and retransmits nothing: M-TCP
//! suits few losses and long outages. MTCP (Haas's Mobile-TCP) is a different scheme.
//!
//! The sender must stop its retransmission timer at a zero window, as BSD does (`freezes`). A sender that retransmits
//! reduces its window.
//!
//! # Our choices
//! Sources: the author's page and lecture notes, not the paper. Ours are the length of silence (`silence`, or twice the
//! smoothed gap of the mobile's segments if longer) and of the delay of the last byte (`hold`). In the source a
//! returning mobile sends a message; here the station probes with copies of the last data packet. A link whose rate
//! changes by plan reports outages itself (`away`). The source's wireless TCP and channel sharing are not modelled.

use crate::acks::{Acks, Kind};
use crate::directions::{Directions, Toward};
use crate::numbers::is_before;
use crate::silence::{Silence, ack_like};
use crate::{Build, Middlebox, Onward};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Rate, Time, Unit};
use lasthop_wire::{Body, Flags, FlowId, Packet, Segment, Seq};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "mtcp",
        summary: "withholds the last byte of each ACK, and closes the window with that byte when the mobile is silent",
        source: "Brown and Singh, CCR 27(5) 1997 (the author's page; times are ours)",
        parameters: &[
            Parameter {
                name: "silence",
                unit: SILENCE,
                default: Some("100 ms"),
                doc: "shortest silence of the mobile that closes the window; keep it below the sender's timeout",
            },
            Parameter {
                name: "hold",
                unit: Unit::Duration(Duration::ZERO, Duration::from_secs(60)),
                default: Some("200 ms"),
                doc: "delay of the last byte's ACK after all data has arrived",
            },
            AWAY,
        ],
        ..Info::PLAIN
    },
    build: &|values, place| {
        let silence = values.duration("silence");
        Some(Box::new(Mtcp {
            hold: values.duration("hold"),
            away: values.rate("away"),
            flows: Directions::new(place, Toward::Mobile, |_| Watched::new(silence)),
            next: Time::NEVER,
        }))
    },
};

/// Shortest silence. At 0 s the probes would repeat without end at one instant.
pub(crate) const SILENCE: Unit = Unit::Duration(Duration::from_millis(1), Duration::from_secs(60));

/// Rate below which a link by plan counts as an outage.
pub(crate) const AWAY: Parameter = Parameter {
    name: "away",
    unit: Unit::Rate,
    default: Some("1 kbit/s"),
    doc: "outage limit: a planned rate below this closes the window at once, a higher rate reopens it",
};

struct Mtcp {
    hold: Duration,
    away: Rate,
    flows: Directions<Watched>,
    next: Time,
}

struct Watched {
    acks: Acks,
    /// Number last advertised to the sender.
    told: Option<Seq>,
    /// Last segment of the mobile, and last data to the mobile.
    heard: Option<Packet>,
    sent: Option<Packet>,
    silence: Silence,
    /// Time to acknowledge the last byte.
    release: Time,
}

impl Middlebox for Mtcp {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Onward>) {
        let Some(segment) = packet.segment() else { return out.push(Onward::Same(packet)) };
        let hold = self.hold;
        let (mut number, mut window) = (segment.ack, segment.window);
        let mut next = Time::NEVER;
        let [data, acknowledged] = self.flows.of(&packet);
        if let Some(watched) = data {
            watched.pass_data(now, &packet, segment, out);
            next = next.min(watched.deadline());
        }
        if let Some(watched) = acknowledged {
            if segment.flags.has(Flags::SYN | Flags::RST) {
                watched.reset();
                if segment.flags.has(Flags::ACK) && !segment.flags.has(Flags::RST) {
                    watched.acks.take(segment);
                }
            } else if segment.flags.has(Flags::ACK) {
                number = watched.acknowledge(now, hold, &packet, segment);
                // The segment left the mobile before the outage: the window stays closed.
                window = if watched.silence.is_away() && watched.silence.is_frozen() { 0 } else { window };
            }
            next = next.min(watched.deadline());
        }
        self.next = self.next.min(next);
        out.push(if (number, window) == (segment.ack, segment.window) {
            Onward::Same(packet)
        } else {
            let body = Body::Tcp(Segment { ack: number, window, ..*segment });
            Onward::Changed(Packet { body, ..packet })
        });
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Onward>) {
        self.next = Time::NEVER;
        for watched in self.flows.iter_mut() {
            watched.expire(now, out);
            self.next = self.next.min(watched.deadline());
        }
    }

    fn poll_timeout(&self) -> Time {
        self.next
    }

    fn handle_rate(&mut self, now: Time, flow: FlowId, forward: bool, rate: Rate, out: &mut Vec<Onward>) {
        let away = rate < self.away;
        if let Some(watched) = self.flows.one(flow, forward) {
            watched.tell(now, away, out);
            self.next = self.next.min(watched.deadline());
        }
    }

    fn asks_plan(&self) -> bool {
        true
    }

    fn draws(&self) -> bool {
        false
    }
}

impl Watched {
    fn new(silence: Duration) -> Watched {
        Watched {
            acks: Acks::default(),
            told: None,
            heard: None,
            sent: None,
            silence: Silence::new(silence),
            release: Time::NEVER,
        }
    }

    fn reset(&mut self) {
        self.silence.reset();
        *self = Watched { silence: self.silence, ..Watched::new(Duration::ZERO) };
    }

    fn deadline(&self) -> Time {
        self.silence.deadline().min(self.release)
    }

    fn pass_data(&mut self, now: Time, packet: &Packet, segment: &Segment, out: &mut Vec<Onward>) {
        if segment.flags.has(Flags::SYN | Flags::RST) {
            return self.reset();
        }
        if segment.sequence_space() == 0 || self.acks.last().is_none() {
            return;
        }
        self.acks.pass_data(segment);
        if self.acks.is_awaiting() {
            self.release = Time::NEVER;
            if self.silence.send(now) {
                self.told = self.acks.last();
            }
        }
        if segment.len > 0 {
            self.sent = Some(*packet);
        }
        if self.silence.is_frozen()
            && let (Some(heard), Some(last)) = (&self.heard, self.acks.last())
        {
            // Answers probes of the closed window, too.
            out.extend(ack_like(heard, last, 0).map(Onward::New));
        }
    }

    fn acknowledge(&mut self, now: Time, hold: Duration, packet: &Packet, segment: &Segment) -> Seq {
        let kind = self.acks.take(segment);
        if kind == Kind::Old || self.acks.last() != Some(segment.ack) {
            return segment.ack;
        }
        self.heard = Some(*packet);
        let short = Seq(segment.ack.0.wrapping_sub(1));
        let told = match (kind, self.told) {
            _ if segment.flags.has(Flags::FIN) => segment.ack,
            (Kind::New(_), Some(told)) if is_before(told, short) => short,
            (Kind::New(from), None) if is_before(from, short) => short,
            (_, Some(told)) => told,
            (_, None) => segment.ack,
        };
        self.told = Some(told);
        let awaits = self.acks.is_awaiting();
        self.silence.hear(now, awaits);
        self.release = if awaits || told == segment.ack { Time::NEVER } else { now + hold };
        told
    }

    fn tell(&mut self, now: Time, away: bool, out: &mut Vec<Onward>) {
        let turns = self.silence.tell(now, away, self.acks.is_awaiting());
        if let (true, Some(heard), Some(last)) = (turns, &self.heard, self.acks.last()) {
            self.told = Some(last);
            let window = if away { 0 } else { self.acks.window() };
            out.extend(ack_like(heard, last, window).map(Onward::New));
        }
    }

    fn expire(&mut self, now: Time, out: &mut Vec<Onward>) {
        let (Some(heard), Some(last)) = (self.heard, self.acks.last()) else {
            // No segment of the mobile to copy an ACK from.
            self.silence.reset();
            return;
        };
        if self.release <= now {
            self.release = Time::NEVER;
            self.told = Some(last);
            out.extend(ack_like(&heard, last, self.acks.window()).map(Onward::New));
        }
        match self.silence.expire(now) {
            Some(true) => {
                self.told = Some(last);
                out.extend(ack_like(&heard, last, 0).map(Onward::New));
            }
            Some(false) => out.extend(self.sent.map(Onward::Again)),
            None => {}
        }
    }
}
