//! A transport protocol in a separate crate, over Lasthop's links. It has a fixed window of numbered datagrams, an ACK
//! for each datagram, and a retransmission after a fixed time. A scenario selects the protocol with `kind = "quic"` and
//! `stack = "fixed_window"`.

use lasthop_base::{Duration, Info, Mechanism, Parameter, Time, Unit};
use lasthop_scenario::{Catalogue, Problem};
use lasthop_stack::transport::{Build, Transport};
use lasthop_stack::{Layer, SentDatagram, Stack};
use lasthop_wire::Ecn;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Description of the protocol, for the catalogue.
pub const FIXED_WINDOW: Mechanism<Build> = Mechanism {
    info: Info {
        name: "fixed_window",
        summary: "a fixed window of datagrams, with selective repeat",
        source: "an example",
        parameters: &[
            Parameter {
                name: "window",
                unit: Unit::Count(1, 10_000),
                default: Some("20"),
                doc: "datagrams in flight",
            },
            Parameter {
                name: "timeout",
                unit: Unit::Duration(Duration::from_millis(1), Duration::from_secs(60)),
                default: Some("500 ms"),
                doc: "time after which a datagram without an ACK is retransmitted",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values| {
        let (window, timeout) = (values.count("window") as usize, values.duration("timeout"));
        Transport::Own(Arc::new(move |connection| {
            let payload = usize::from(connection.datagram) - HEADER;
            [(); 2].map(|()| Box::new(End { window, timeout, payload, ..End::default() }) as Box<dyn Stack>)
        }))
    },
};

/// Size of a datagram's header, bytes: 1 for the kind, and 8 for the number.
const HEADER: usize = 9;
const DATA: u8 = 0;
const LAST: u8 = 1;
const ACK: u8 = 2;

/// One end of a connection, which has a sender and a receiver.
#[derive(Default)]
struct End {
    window: usize,
    timeout: Duration,
    payload: usize,
    unsent: u64,
    is_finished: bool,
    next: u64,
    /// Datagrams that are not acknowledged, by number: time of the last transmission, payload in bytes, kind.
    in_flight: BTreeMap<u64, (Time, usize, u8)>,
    acks: VecDeque<u64>,
    /// Datagrams that arrived ahead of `expected`, by number: payload in bytes, kind.
    early: BTreeMap<u64, (usize, u8)>,
    expected: u64,
    readable: u64,
    has_ended: bool,
}

impl Stack for End {
    fn layer(&self) -> Layer {
        Layer::Udp
    }

    fn open(&mut self, _: Time) {}

    fn handle_datagram(&mut self, _: Time, datagram: &[u8], _: Ecn) {
        let Some((&kind, rest)) = datagram.split_first() else { return };
        let Some((number, payload)) = rest.split_first_chunk() else { return };
        let number = u64::from_be_bytes(*number);
        if kind == ACK {
            self.in_flight.remove(&number);
            return;
        }
        self.acks.push_back(number);
        if number >= self.expected {
            self.early.insert(number, (payload.len(), kind));
        }
        while let Some((bytes, kind)) = self.early.remove(&self.expected) {
            self.expected += 1;
            self.readable += bytes as u64;
            self.has_ended |= kind == LAST;
        }
    }

    fn handle_timeout(&mut self, _: Time) {}

    fn poll_datagram(&mut self, now: Time, datagram: &mut Vec<u8>) -> Option<SentDatagram> {
        let mut write = |kind: u8, number: u64, payload: usize| {
            datagram.push(kind);
            datagram.extend(number.to_be_bytes());
            datagram.resize(HEADER + payload, 7);
            Some(SentDatagram::default())
        };
        if let Some(number) = self.acks.pop_front() {
            return write(ACK, number, 0);
        }
        let timeout = self.timeout;
        if let Some((number, (sent, bytes, kind))) =
            self.in_flight.iter_mut().find(|(_, (sent, ..))| *sent + timeout <= now)
        {
            *sent = now;
            return write(*kind, *number, *bytes);
        }
        let bytes = (self.payload as u64).min(self.unsent) as usize;
        let ends = self.is_finished && bytes as u64 == self.unsent;
        if self.in_flight.len() >= self.window || (bytes == 0 && !ends) {
            return None;
        }
        let kind = if ends { LAST } else { DATA };
        self.is_finished &= !ends;
        self.unsent -= bytes as u64;
        self.in_flight.insert(self.next, (now, bytes, kind));
        self.next += 1;
        write(kind, self.next - 1, bytes)
    }

    fn poll_timeout(&mut self, _: Time) -> Time {
        let oldest = self.in_flight.values().map(|(sent, ..)| *sent).min();
        oldest.map_or(Time::NEVER, |sent| sent + self.timeout)
    }

    fn write(&mut self, _: Time, bytes: u64) -> u64 {
        let accepted = bytes.min((self.window * self.payload) as u64 - self.unsent);
        self.unsent += accepted;
        accepted
    }

    fn finish(&mut self, _: Time) {
        self.is_finished = true;
    }

    fn read(&mut self, _: Time) -> u64 {
        std::mem::take(&mut self.readable)
    }

    fn is_at_end(&self) -> bool {
        self.has_ended
    }
}

/// Runs a transfer of 1 MB over a path that loses 1 % of the packets. Returns the completion time, s. Returns `None` if
/// the transfer is not complete after 1 min.
pub fn completed_s(settings: &[(&str, &str)]) -> Result<Option<f64>, Problem> {
    let mut catalogue = Catalogue::default();
    catalogue.transport.stack.add(&FIXED_WINDOW);
    let mut draft = catalogue.load("rate=10Mbit/s,rtt=40ms,loss=1%,transfer=1MB")?;
    for (key, value) in settings {
        draft.set(key, value)?;
    }
    let outcome = lasthop_sim::run(&draft.check()?, 1);
    Ok(outcome.flows[0].transfers().find(|transfer| transfer.is_complete).map(|transfer| transfer.took_s))
}

/// Prints one line for TCP, and one line for each of two windows of the protocol.
pub fn main() -> Result<(), Problem> {
    let own = [("flow.bulk.kind", "quic"), ("stack", "fixed_window")];
    for settings in [vec![], own.to_vec(), [&own[..], &[("stack.window", "35")]].concat()] {
        println!("{settings:?}: {:?} s", completed_s(&settings)?);
    }
    Ok(())
}
