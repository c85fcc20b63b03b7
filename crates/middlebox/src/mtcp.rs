//! M-TCP: in every ACK of the mobile, the base station lowers the acknowledgement number by one byte. If the mobile
//! sends nothing for some time, the station acknowledges the withheld byte with a zero window, which closes the
//! sender's window. The sender then waits with an unchanged congestion window until the mobile returns (Brown and
//! Singh, Computer Communication Review 27(5), 1997). The station caches no data and recovers no losses, so M-TCP suits
//! few losses and long outages. Haas's Mobile-TCP, also called MTCP, is a different scheme.
//!
//! The sender must stop its retransmission timer at a zero window, as BSD does (parameter `freezes` of the sender).
//! Otherwise the sender retransmits, and reduces its congestion window.
//!
//! # Our choices
//! The sources are the author's page and lecture notes, not the paper. We chose when the mobile counts as silent: after
//! `silence`, or after twice the smoothed gap between the mobile's segments, whichever is longer. We also chose the
//! time for which the last byte is withheld (`hold`). In the original scheme, a returning mobile sends a message; here,
//! the station probes the mobile with copies of the last data packet. A link whose rate changes by plan (key `plan`)
//! reports its outages to the station (`away`). The wireless TCP and the channel sharing of the original scheme are not
//! modelled.

use crate::acks::{AckKind, Acks};
use crate::directions::{PerDirection, Toward};
use crate::sequence::is_before;
use crate::silence::{SilenceDetector, synthetic_ack};
use crate::{Build, Decision, Middlebox};
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
    build: &|values, site| {
        let silence = values.duration("silence");
        Some(Box::new(Mtcp {
            hold: values.duration("hold"),
            away: values.rate("away"),
            flows: PerDirection::new(site, Toward::Mobile, |_| MtcpFlow::new(silence)),
            next: Time::NEVER,
        }))
    },
};

/// Range of `silence`. With 0 s, the station would send endless probes at one instant.
pub(crate) const SILENCE: Unit = Unit::Duration(Duration::from_millis(1), Duration::from_secs(60));

/// Outage threshold for links whose rate follows a plan (key `plan`). While the link's rate is below the threshold, the
/// station treats the link as being in an outage.
pub(crate) const AWAY: Parameter = Parameter {
    name: "away",
    unit: Unit::Rate,
    default: Some("1 kbit/s"),
    doc: "outage limit of a link with `plan`: a lower rate closes the sender's window at once, a higher rate reopens the \
          window",
};

struct Mtcp {
    hold: Duration,
    away: Rate,
    flows: PerDirection<MtcpFlow>,
    next: Time,
}

struct MtcpFlow {
    acks: Acks,
    /// Last acknowledgement number sent to the sender.
    advertised: Option<Seq>,
    last_from_mobile: Option<Packet>,
    last_data: Option<Packet>,
    silence: SilenceDetector,
    /// Time at which the station acknowledges the withheld byte.
    release: Time,
}

impl Middlebox for Mtcp {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Decision>) {
        let Some(segment) = packet.segment() else { return out.push(Decision::Forward(packet)) };
        let hold = self.hold;
        let (mut number, mut window) = (segment.ack, segment.window);
        let mut next = Time::NEVER;
        let [data, acknowledged] = self.flows.by_direction(&packet);
        if let Some(flow) = data {
            flow.on_data(now, &packet, segment, out);
            next = next.min(flow.deadline());
        }
        if let Some(flow) = acknowledged {
            if segment.flags.has(Flags::SYN | Flags::RST) {
                flow.reset();
                if segment.flags.has(Flags::ACK) && !segment.flags.has(Flags::RST) {
                    flow.acks.classify(segment);
                }
            } else if segment.flags.has(Flags::ACK) {
                number = flow.on_ack(now, hold, &packet, segment);
                // The mobile sent this segment before the outage, so the window stays closed.
                window = if flow.silence.is_in_outage() && flow.silence.is_frozen() { 0 } else { window };
            }
            next = next.min(flow.deadline());
        }
        self.next = self.next.min(next);
        out.push(if (number, window) == (segment.ack, segment.window) {
            Decision::Forward(packet)
        } else {
            let body = Body::Tcp(Segment { ack: number, window, ..*segment });
            Decision::Rewrite(Packet { body, ..packet })
        });
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Decision>) {
        self.next = Time::NEVER;
        for flow in self.flows.iter_mut() {
            flow.on_timeout(now, out);
            self.next = self.next.min(flow.deadline());
        }
    }

    fn poll_timeout(&self) -> Time {
        self.next
    }

    fn handle_rate(&mut self, now: Time, flow: FlowId, forward: bool, rate: Rate, out: &mut Vec<Decision>) {
        let is_outage = rate < self.away;
        if let Some(flow) = self.flows.get_mut(flow, forward) {
            flow.on_link_report(now, is_outage, out);
            self.next = self.next.min(flow.deadline());
        }
    }

    fn needs_rates(&self) -> bool {
        true
    }

    fn draws(&self) -> bool {
        false
    }
}

impl MtcpFlow {
    fn new(silence: Duration) -> MtcpFlow {
        MtcpFlow {
            acks: Acks::default(),
            advertised: None,
            last_from_mobile: None,
            last_data: None,
            silence: SilenceDetector::new(silence),
            release: Time::NEVER,
        }
    }

    fn reset(&mut self) {
        self.silence.reset();
        *self = MtcpFlow { silence: self.silence, ..MtcpFlow::new(Duration::ZERO) };
    }

    fn deadline(&self) -> Time {
        self.silence.deadline().min(self.release)
    }

    fn on_data(&mut self, now: Time, packet: &Packet, segment: &Segment, out: &mut Vec<Decision>) {
        if segment.flags.has(Flags::SYN | Flags::RST) {
            return self.reset();
        }
        if segment.sequence_space() == 0 || self.acks.last().is_none() {
            return;
        }
        self.acks.on_data(segment);
        if self.acks.has_outstanding() {
            self.release = Time::NEVER;
            if self.silence.on_data(now) {
                self.advertised = self.acks.last();
            }
        }
        if segment.len > 0 {
            self.last_data = Some(*packet);
        }
        if self.silence.is_frozen()
            && let (Some(last_from_mobile), Some(last)) = (&self.last_from_mobile, self.acks.last())
        {
            // While the window is closed, this ACK also answers window probes from the sender.
            out.extend(synthetic_ack(last_from_mobile, last, 0).map(Decision::Emit));
        }
    }

    fn on_ack(&mut self, now: Time, hold: Duration, packet: &Packet, segment: &Segment) -> Seq {
        let kind = self.acks.classify(segment);
        if kind == AckKind::Old || self.acks.last() != Some(segment.ack) {
            return segment.ack;
        }
        self.last_from_mobile = Some(*packet);
        let short = Seq(segment.ack.0.wrapping_sub(1));
        let advertised = match (kind, self.advertised) {
            _ if segment.flags.has(Flags::FIN) => segment.ack,
            (AckKind::New(_), Some(advertised)) if is_before(advertised, short) => short,
            (AckKind::New(from), None) if is_before(from, short) => short,
            (_, Some(advertised)) => advertised,
            (_, None) => segment.ack,
        };
        self.advertised = Some(advertised);
        let has_outstanding = self.acks.has_outstanding();
        self.silence.on_segment(now, has_outstanding);
        self.release = if has_outstanding || advertised == segment.ack { Time::NEVER } else { now + hold };
        advertised
    }

    fn on_link_report(&mut self, now: Time, is_outage: bool, out: &mut Vec<Decision>) {
        let has_changed = self.silence.on_link_report(now, is_outage, self.acks.has_outstanding());
        if let (true, Some(last_from_mobile), Some(last)) =
            (has_changed, &self.last_from_mobile, self.acks.last())
        {
            self.advertised = Some(last);
            let window = if is_outage { 0 } else { self.acks.window() };
            out.extend(synthetic_ack(last_from_mobile, last, window).map(Decision::Emit));
        }
    }

    fn on_timeout(&mut self, now: Time, out: &mut Vec<Decision>) {
        let (Some(last_from_mobile), Some(last)) = (self.last_from_mobile, self.acks.last()) else {
            // The station derives its ACKs from the mobile's last segment, but the mobile has not sent a segment yet.
            self.silence.reset();
            return;
        };
        if self.release <= now {
            self.release = Time::NEVER;
            self.advertised = Some(last);
            out.extend(synthetic_ack(&last_from_mobile, last, self.acks.window()).map(Decision::Emit));
        }
        match self.silence.expire(now) {
            Some(true) => {
                self.advertised = Some(last);
                out.extend(synthetic_ack(&last_from_mobile, last, 0).map(Decision::Emit));
            }
            Some(false) => out.extend(self.last_data.map(Decision::Retransmit)),
            None => {}
        }
    }
}
