//! A split connection: the node terminates the sender's connection, and opens its own connection to the other end
//! (I-TCP: Bakre and Badrinath, ICDCS 1995). Each connection has its own retransmissions and windows. The split is
//! transparent: addresses, ports and initial sequence numbers are those of the endpoints.
//! * `relay`: the two connections of one flow, and the data passed between them.
//! * `presets`: the mechanisms I-TCP and METP; `fixed`: a congestion window of constant size.
//!
//! The node acknowledges data before the other end has received that data. If the node fails, the data is lost, and the
//! sender does not notice.
//!
//! # Not modelled
//! Handoff is not modelled. The node does not offer ECN on its own connection.

mod fixed;
mod presets;
mod relay;

pub use presets::{ITCP, METP};

use crate::{Build, Decision, Middlebox, Site};
use lasthop_base::mechanism::find;
use lasthop_base::{Choice, Duration, Info, Mechanism, Parameter, Stream, Time, Unit, Value, Values};
use lasthop_tcp::Config;
use lasthop_tcp::endpoint::opens;
use lasthop_tcp::receiver::window;
use lasthop_tcp::sender::{Sender, congestion, recovery};
use lasthop_wire::{Packet, Segment};
use relay::Relay;
use std::sync::Arc;

const RECOVERIES: &[&str] = &names::<_, { recovery::ALL.len() }>(recovery::ALL);
const CONTROLS: &[&str] = &names::<_, { congestion::ALL.len() }>(congestion::ALL);

/// Returns the names of all mechanisms in `list`. Scenarios can therefore select a new mechanism without a change here.
const fn names<B: ?Sized, const N: usize>(list: &[Mechanism<B>]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut index = 0;
    while index < N {
        names[index] = list[index].info.name;
        index += 1;
    }
    names
}

/// The split connection; the module describes the rules.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "split",
        summary: "terminates the connection at the node and opens a second connection to the other end",
        source: "Bakre and Badrinath, ICDCS 1995; RFC 3135 §2.4",
        parameters: &[
            Parameter {
                name: "buffer",
                unit: Unit::Bytes(1000, 1 << 30),
                default: Some("64 KiB"),
                doc: "buffer per flow and direction, bytes; the free part is the advertised window",
            },
            Parameter {
                name: "handshake",
                unit: Unit::Word(&["far", "near"]),
                default: Some("far"),
                doc: "time of the answer to a SYN: after the other end has answered (far), or at once (near)",
            },
            Parameter {
                name: "recovery",
                unit: Unit::Word(RECOVERIES),
                default: Some("sack"),
                doc: "loss recovery of both senders; new_reno replaces SACK recoveries if the SYN offers no SACK",
            },
            Parameter {
                name: "congestion",
                unit: Unit::Word(CONTROLS),
                default: Some("reno"),
                doc: "congestion control of both senders",
            },
            Parameter {
                name: "initial_window",
                unit: Unit::Count(1, 10_000),
                default: Some("10"),
                doc: "initial window of both senders, segments",
            },
            Parameter {
                name: "min_rto",
                unit: Unit::Duration(Duration::ZERO, Duration::from_secs(60)),
                default: Some("200 ms"),
                doc: "smallest retransmission timeout of both senders",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values, site| {
        let config = config(values);
        Some(Box::new(Split::new([config.clone(), config], values.word("handshake") == "near", site)))
    },
};

/// Returns the configuration of both connections. [`offered`] adds the options that a SYN offers.
fn config(values: &Values) -> Config {
    let mut config = Config { initial_window: values.count("initial_window") as u32, ..Config::default() };
    config.rto.smallest = values.duration("min_rto");
    config.window = Choice::named(window::ALL, "buffer");
    config.window.values.set("size", Value::Bytes(values.bytes("buffer")));
    if let Some(recovery) = find(recovery::ALL, values.word("recovery")) {
        config.recovery = Choice::of(recovery);
    }
    if let Some(congestion) = find(congestion::ALL, values.word("congestion")) {
        config.congestion = Choice::of(congestion);
    }
    config
}

/// Size of the timestamps option in every segment, bytes (RFC 7323 appendix A).
const TIMESTAMP_BYTES: u32 = 12;

/// Returns the configuration with the options that the SYN offers, and no other options.
fn offered(config: &Config, syn: &Segment) -> Config {
    let stamps = if syn.timestamps.is_some() { TIMESTAMP_BYTES } else { 0 };
    let mss = syn.mss.map_or(config.default_mss, u32::from);
    Config {
        segment: mss.saturating_sub(stamps).max(1),
        sack: syn.sack_permitted,
        timestamps: syn.timestamps.is_some(),
        ..config.clone()
    }
}

struct Split {
    /// Configurations of two connections: first the connection over the wired network, then the connection over the
    /// last hop.
    configs: [Config; 2],
    /// For each flow and direction, whether packets go towards the last hop.
    down: Vec<[bool; 2]>,
    answers_at_once: bool,
    random: Stream,
    /// The two connections of each flow; `None` before the flow's SYN.
    flows: Vec<Option<Box<Relay>>>,
    next: Time,
}

impl Split {
    fn new(configs: [Config; 2], answers_at_once: bool, site: &Site) -> Split {
        let down = |flow, forward| site.exit(flow, forward).is_some_and(|exit| exit.down);
        Split {
            configs,
            down: (0..site.flows.len()).map(|flow| [down(flow, true), down(flow, false)]).collect(),
            answers_at_once,
            random: site.random.clone(),
            flows: (0..site.flows.len()).map(|_| None).collect(),
            next: Time::NEVER,
        }
    }
}

impl Middlebox for Split {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Decision>) {
        let Some(segment) = packet.segment() else { return out.push(Decision::Forward(packet)) };
        let Some(slot) = self.flows.get_mut(packet.flow.0 as usize) else {
            return out.push(Decision::Forward(packet));
        };
        let is_new = opens(segment) && slot.as_ref().is_none_or(|relay| relay.is_over());
        if is_new {
            // One of the relay's two connections crosses the last hop, and uses the configuration for the air. If the
            // SYN travels towards the last hop, this connection is the connection to the SYN's destination. Otherwise
            // it is the connection to the SYN's sender.
            let goes_down = self.down[packet.flow.0 as usize][usize::from(!packet.forward)];
            let of_half = |is_air: bool| offered(&self.configs[usize::from(is_air)], segment);
            let configs = [of_half(!goes_down), of_half(goes_down)];
            *slot = Some(Box::new(Relay::new(now, configs, &packet, segment, &mut self.random)));
        }
        // If the node has not seen the connection's SYN, the node only forwards the packets.
        let Some(relay) = slot else { return out.push(Decision::Forward(packet)) };
        if is_new && self.answers_at_once {
            relay.answer(now, &mut self.random);
        }
        out.push(Decision::Consume(packet));
        relay.handle_segment(now, &packet, segment, &mut self.random);
        relay.exchange_data(now, out);
        self.next = self.next.min(relay.deadline());
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Decision>) {
        self.next = Time::NEVER;
        for relay in self.flows.iter_mut().flatten() {
            if relay.deadline() <= now {
                relay.handle_timeout(now);
                relay.exchange_data(now, out);
            }
            self.next = self.next.min(relay.deadline());
        }
    }

    fn poll_timeout(&self) -> Time {
        self.next
    }

    fn draws(&self) -> bool {
        self.configs
            .iter()
            .any(|config| Sender::new(&Arc::new(config.clone()), config.segment, self.random.clone()).draws())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_recovery_and_each_control_has_its_word() {
        let mut values = MECHANISM.info.defaults();
        for (recovery, congestion) in
            RECOVERIES.iter().flat_map(|one| CONTROLS.iter().map(move |two| (one, two)))
        {
            values.set("recovery", Value::Word(recovery));
            values.set("congestion", Value::Word(congestion));
            let config = config(&values);
            assert_eq!((config.recovery.info.name, config.congestion.info.name), (*recovery, *congestion));
        }
        assert!(RECOVERIES.contains(&"rack") && CONTROLS.contains(&"bbr"));
    }
}
