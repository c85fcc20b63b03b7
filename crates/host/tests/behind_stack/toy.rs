//! A small ARQ protocol over UDP, with a fixed window of datagrams, cumulative ACKs and go-back-N. With a `Fault`, the
//! source misbehaves.

use lasthop_base::{Duration, Time};
use lasthop_stack::{Layer, SentDatagram, Stack};
use lasthop_wire::Ecn;

const PAYLOAD: u64 = 1000;
const TIMEOUT: Duration = Duration::from_millis(200);

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fault {
    None,
    SendsWithoutEnd,
    PastDeadline,
    TooLarge,
    Panic,
}

pub struct Toy {
    fault: Fault,
    window: u64,
    written: u64,
    is_open: bool,
    is_finished: bool,
    /// Number of the first datagram that the destination has not acknowledged.
    una: u64,
    nxt: u64,
    deadline: Time,
    /// Number of the next datagram that the receiver expects in order.
    expected: u64,
    read: u64,
    /// Number of all datagrams of the transfer, if the last datagram has arrived.
    total: Option<u64>,
    owes_ack: bool,
}

impl Toy {
    /// Returns the stacks of the source and of the destination. `window` is the number of datagrams in flight.
    pub fn pair(window: u64, fault: Fault) -> [Box<dyn Stack>; 2] {
        [fault, Fault::None].map(|fault| -> Box<dyn Stack> {
            Box::new(Toy {
                fault,
                window,
                written: 0,
                is_open: false,
                is_finished: false,
                una: 0,
                nxt: 0,
                deadline: Time::NEVER,
                expected: 0,
                read: 0,
                total: None,
                owes_ack: false,
            })
        })
    }

    fn last(&self) -> Option<u64> {
        self.is_finished.then(|| self.written.div_ceil(PAYLOAD))
    }
}

impl Stack for Toy {
    fn layer(&self) -> Layer {
        Layer::Udp
    }

    fn open(&mut self, _: Time) {
        self.is_open = true;
    }

    fn handle_datagram(&mut self, now: Time, datagram: &[u8], _: Ecn) {
        let number = u64::from_be_bytes(datagram[..8].try_into().expect("a number"));
        if datagram.len() > 9 {
            if number == self.expected {
                self.expected += 1;
                if datagram[8] == 1 {
                    self.total = Some(self.expected);
                }
            }
            self.owes_ack = true;
        } else if number > self.una {
            self.una = number;
            self.nxt = self.nxt.max(number);
            self.deadline = if self.nxt > self.una { now + TIMEOUT } else { Time::NEVER };
        }
    }

    fn handle_timeout(&mut self, _: Time) {
        self.nxt = self.una;
        self.deadline = Time::NEVER;
    }

    fn poll_datagram(&mut self, now: Time, datagram: &mut Vec<u8>) -> Option<SentDatagram> {
        match self.fault {
            Fault::SendsWithoutEnd if self.is_open => {
                datagram.resize(100, 0);
                return Some(SentDatagram::default());
            }
            Fault::TooLarge if self.is_open => {
                datagram.resize(65_536, 0);
                return Some(SentDatagram::default());
            }
            Fault::Panic if now > Time::ZERO + Duration::from_millis(500) => panic!("no such state"),
            _ => {}
        }
        if std::mem::take(&mut self.owes_ack) {
            datagram.extend_from_slice(&self.expected.to_be_bytes());
            return Some(SentDatagram::default());
        }
        let is_last = self.last() == Some(self.nxt + 1);
        let has_data = is_last || (self.nxt + 1) * PAYLOAD <= self.written;
        if !self.is_open || !has_data || self.nxt >= self.una + self.window {
            return None;
        }
        if self.last().is_some_and(|last| self.nxt >= last) {
            return None;
        }
        datagram.extend_from_slice(&self.nxt.to_be_bytes());
        datagram.push(u8::from(is_last));
        datagram.resize(9 + PAYLOAD as usize, 0);
        self.nxt += 1;
        self.deadline = self.deadline.min(now + TIMEOUT);
        Some(SentDatagram { is_retransmission: Some(false), ..SentDatagram::default() })
    }

    fn poll_timeout(&mut self, _: Time) -> Time {
        if self.fault == Fault::PastDeadline && self.is_open { Time::ZERO } else { self.deadline }
    }

    fn write(&mut self, _: Time, bytes: u64) -> u64 {
        let taken = bytes.min(
            (self.una + 2 * self.window) * PAYLOAD - self.written.min((self.una + 2 * self.window) * PAYLOAD),
        );
        self.written += taken;
        taken
    }

    fn finish(&mut self, _: Time) {
        self.is_finished = true;
    }

    fn read(&mut self, _: Time) -> u64 {
        let new = self.expected * PAYLOAD - self.read;
        self.read += new;
        new
    }

    fn is_at_end(&self) -> bool {
        self.total.is_some_and(|total| self.read == total * PAYLOAD)
    }
}
