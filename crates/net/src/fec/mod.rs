//! Forward error correction on a link: a systematic erasure code over packets.
//!
//! * This file: the sending side, which fills blocks, and the direction of the link.
//! * `decoder`: the receiving side. `parameters`: what can be set.
//!
//! A block has k data packets, which are sent as they come, and n - k parity packets behind them. Parity takes the link's
//! capacity, and nothing else is sent meanwhile. A parity packet is as long as the block's longest data packet (padding:
//! RFC 6363 §3, RFC 6865). Intact data packets are delivered at once. Lost ones are delivered as soon as k packets of the
//! block have arrived, whichever (an ideal code: Reed-Solomon's; `excess` for others). If too few arrive, the lost packets
//! are given up when the last parity packet of the interleaved blocks is over.
//!
//! A block that is not full is closed if the link had nothing to send for `wait`. All its n - k parity packets are sent (a
//! shortened code: k' + n - k packets for k' of data, any k' of which decode).
//!
//! The channel is asked about each packet, parity included, as about a transmission of its own.
//!
//! # What is not modelled
//! Headers of the code, times of coding and decoding, adaptive rates, parity of the same block in several pieces. Codes in
//! the physical layer (convolutional, turbo, LDPC) correct bits: a channel's loss rate here is what they leave.

mod decoder;
mod parameters;

pub use parameters::MECHANISM;

use crate::arq::{Build, Layer, Parts};
use crate::channel::{Air, Channel, Reception};
use crate::element::{Element, Output, lacks};
use crate::service::Server;
use crate::store::Store;
use decoder::Decoder;
use lasthop_base::{Duration, Mechanism, Time};
use lasthop_wire::{Backlog, Packet, Priority};
use parameters::Code;

/// All link layers of this kind.
pub const ALL: &[Mechanism<Build>] = &[MECHANISM];

/// With these parameters, before it is part of a link.
struct Coded {
    code: Code,
    wait: Duration,
}

impl Layer for Coded {
    fn element(self: Box<Self>, parts: Parts) -> Box<dyn Element> {
        Box::new(Direction {
            draws: parts.queue.draws() || parts.channel.draws() || parts.service.draws(),
            code: self.code,
            wait: self.wait,
            delay: parts.delay,
            server: Server::new(&parts.service),
            channel: parts.channel,
            store: Store::new(parts.queue),
            decoder: Decoder::new(self.code),
            longest: vec![0; self.code.depth],
            sent: 0,
            phase: Phase::Data,
            frees_at: Time::ZERO,
            asks_at: Time::NEVER,
        })
    }

    fn reports_trouble(&self) -> bool {
        false
    }
}

/// One direction of a link.
struct Direction {
    code: Code,
    wait: Duration,
    delay: Duration,
    server: Server,
    channel: Box<dyn Channel>,
    draws: bool,
    store: Store,
    decoder: Decoder,
    /// Longest data packet of each open block, bytes.
    longest: Vec<u32>,
    /// Data packets sent of the open blocks, all together.
    sent: usize,
    phase: Phase,
    /// When the transmitter is free.
    frees_at: Time,
    /// When something is to be done next, [`Time::NEVER`] if only a packet can bring it about.
    asks_at: Time,
}

/// The kind of packet that is sent next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Data packets.
    Data,
    /// Parity packets, of which so many of all open blocks were sent.
    Parity(usize),
}

impl Direction {
    /// Sends what may be sent at `now`, and notes when to ask again.
    fn serve(&mut self, now: Time, out: &mut Vec<Output>) {
        if now < self.frees_at {
            self.asks_at = self.frees_at;
            return;
        }
        let phase = self.phase;
        match phase {
            Phase::Parity(number) => self.send_parity(now, number, out),
            Phase::Data if self.send_data(now, out) => {}
            Phase::Data if now >= self.closes_at() => self.phase = Phase::Parity(0),
            Phase::Data => {
                let waits = self.store.backlog().waiting > 0;
                let ready_at = if waits { self.store.ready_at(now) } else { Time::NEVER };
                self.asks_at = self.closes_at().min(ready_at);
                return;
            }
        }
        self.close(now, out);
        self.asks_at = self.frees_at.max(now);
    }

    /// When the open blocks are closed although they are not full.
    fn closes_at(&self) -> Time {
        if self.sent == 0 { Time::NEVER } else { self.frees_at + self.wait }
    }

    /// Sends the next data packet, if there is one.
    fn send_data(&mut self, now: Time, out: &mut Vec<Output>) -> bool {
        let Some(packet) = self.store.pop(now, out) else { return false };
        let block = self.sent % self.code.depth;
        let intact = self.transmit(now, packet.wire_bytes, packet.priority);
        self.longest[block] = self.longest[block].max(packet.wire_bytes);
        self.sent += 1;
        self.decoder.take_data(block, packet, intact, self.frees_at + self.delay, out);
        if self.sent == self.code.data * self.code.depth {
            self.phase = Phase::Parity(0);
        }
        true
    }

    fn send_parity(&mut self, now: Time, number: usize, out: &mut Vec<Output>) {
        if number >= self.parity() {
            return;
        }
        let block = number % self.open();
        let intact = self.transmit(now, self.longest[block], Priority::Normal);
        self.decoder.take_parity(block, intact, self.frees_at + self.delay, out);
        self.phase = Phase::Parity(number + 1);
    }

    /// Ends the open blocks if all their parity packets are sent.
    fn close(&mut self, now: Time, out: &mut Vec<Output>) {
        if let Phase::Parity(number) = self.phase
            && number >= self.parity()
        {
            self.decoder.end(self.frees_at.max(now) + self.delay, out);
            self.longest.fill(0);
            self.sent = 0;
            self.phase = Phase::Data;
        }
    }

    /// Blocks that have data packets.
    fn open(&self) -> usize {
        self.sent.min(self.code.depth)
    }

    /// Parity packets of all open blocks.
    fn parity(&self) -> usize {
        self.code.parity * self.open()
    }

    /// Sends so many bytes from `now` on. Returns whether they arrive intact.
    fn transmit(&mut self, now: Time, bytes: u32, priority: Priority) -> bool {
        let served = self.server.serve(now, bytes);
        self.frees_at = served.ends;
        let air = Air { start: served.begins, end: served.ends, bytes, priority, attempt: 0 };
        self.channel.transmit(&air) == Reception::Intact
    }
}

impl Element for Direction {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        self.store.push(now, packet, now < self.frees_at, now.since(self.frees_at), out);
        self.serve(now, out);
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        if now >= self.asks_at {
            self.serve(now, out);
        }
    }

    fn poll_timeout(&self) -> Time {
        self.asks_at
    }

    fn backlog(&mut self, now: Time) -> Backlog {
        Backlog { in_service: now < self.frees_at, ..self.store.backlog() }
    }

    fn draws(&self) -> bool {
        self.draws
    }

    fn average(&self) -> Option<f64> {
        self.store.average()
    }

    lacks!(copies, passing, peer, pdus, trouble, settings, changes);
}
