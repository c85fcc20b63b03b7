//! Forward error correction (FEC) on a link, with a systematic erasure code over packets.
//!
//! * This file: the sending side, and the direction of the link.
//! * `decoder`: the receiving side.
//!
//! A block has k data packets, sent as they arrive, followed by n - k parity packets. Parity packets use the link's
//! capacity. Each parity packet is as long as the block's longest data packet (padding: RFC 6363 §3, RFC 6865). Intact
//! data packets are delivered at once. Lost packets are rebuilt as soon as any k packets of the block have arrived, as
//! with an ideal code such as Reed-Solomon. The parameter `excess` models codes that need more packets. Packets that
//! cannot be rebuilt are given up at the end of the last parity packet of the interleaved blocks.
//!
//! After an idle time of `wait`, a block with only k' < k data packets is closed with all n - k parity packets. Any k'
//! packets of that block then suffice for decoding (a shortened code). The channel decides for each packet separately,
//! parity packets included.
//!
//! # Not modelled
//! Headers and computing times of the code, adaptive code rates, and parity in several pieces are not modelled. Codes
//! of the physical layer (convolutional, turbo, LDPC) correct bits. A channel's loss rate already is the rate after the
//! decoding of these codes.
//!
//! # Changes at run time
//! A new rate applies to the next packet: the packet in transmission keeps its rate. At rate 0, no packet is sent, and
//! no block is closed. A new delay applies to the next packet. In a direction that is not built for
//! changes, packets may arrive out of order after a shorter delay.

mod decoder;
mod parameters;

pub use parameters::MECHANISM;

use crate::arq::{Build, DirectionParts, Layer};
use crate::change::{ChangeRefused, LinkChange, LinkSettings};
use crate::channel::{self, Channel, Reception, Transmission};
use crate::discipline::Discipline;
use crate::element::{Element, Output, lacks};
use crate::link_queue::LinkQueue;
use crate::service::{Server, Service};
use decoder::Decoder;
use lasthop_base::{Duration, Mechanism, Rate, Time};
use lasthop_wire::{Backlog, Packet, Priority};
use parameters::Code;

/// List of this module's link layers: `fec`.
pub const ALL: &[Mechanism<Build>] = &[MECHANISM];

struct FecLayer {
    code: Code,
    wait: Duration,
}

impl Layer for FecLayer {
    fn build_direction(self: Box<Self>, parts: DirectionParts) -> Box<dyn Element> {
        Box::new(FecDirection {
            draws: parts.queue.draws() || parts.channel.draws() || parts.service.draws(),
            code: self.code,
            wait: self.wait,
            delay: parts.delay,
            bps: parts.service.constant_bps(),
            server: Server::new(&parts.service),
            channel: parts.channel,
            queue: LinkQueue::new(parts.queue),
            decoder: Decoder::new(self.code),
            longest: vec![0; self.code.depth],
            sent: 0,
            phase: FecPhase::Data,
            frees_at: Time::ZERO,
            free_before_stop: None,
            acts_at: Time::NEVER,
        })
    }

    fn reports_failures(&self) -> bool {
        false
    }
}

struct FecDirection {
    code: Code,
    wait: Duration,
    delay: Duration,
    /// Constant rate, bit/s, or 0 if the direction is stopped; `None` if the rate is planned or recorded.
    bps: Option<u64>,
    server: Server,
    channel: Box<dyn Channel>,
    draws: bool,
    queue: LinkQueue,
    decoder: Decoder,
    /// Size in bytes of the longest data packet of each open block.
    longest: Vec<u32>,
    /// Number of data packets sent in all open blocks.
    sent: usize,
    phase: FecPhase,
    /// End of the last transmission; [`Time::NEVER`] while the rate is 0.
    frees_at: Time,
    /// End of the last transmission, if the rate was set to 0.
    free_before_stop: Option<Time>,
    /// Time of the next action; [`Time::NEVER`] if nothing is due before the next packet arrives.
    acts_at: Time,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FecPhase {
    Data,
    /// Number of parity packets sent in all open blocks.
    Parity(usize),
}

impl FecDirection {
    fn serve(&mut self, now: Time, out: &mut Vec<Output>) {
        if now < self.frees_at {
            self.acts_at = self.frees_at;
            return;
        }
        let phase = self.phase;
        match phase {
            FecPhase::Parity(number) => self.send_parity(now, number, out),
            FecPhase::Data if self.send_data(now, out) => {}
            FecPhase::Data if now >= self.closes_at() => self.phase = FecPhase::Parity(0),
            FecPhase::Data => {
                let waits = self.queue.backlog().waiting > 0;
                let ready_at = if waits { self.queue.ready_at(now) } else { Time::NEVER };
                self.acts_at = self.closes_at().min(ready_at);
                return;
            }
        }
        self.close(now, out);
        self.acts_at = self.frees_at.max(now);
    }

    fn closes_at(&self) -> Time {
        if self.sent == 0 { Time::NEVER } else { self.frees_at + self.wait }
    }

    fn send_data(&mut self, now: Time, out: &mut Vec<Output>) -> bool {
        let Some(packet) = self.queue.pop(now, out) else { return false };
        let block = self.sent % self.code.depth;
        let intact = self.transmit(now, packet.wire_bytes, packet.priority);
        self.longest[block] = self.longest[block].max(packet.wire_bytes);
        self.sent += 1;
        self.decoder.on_data(block, packet, intact, self.frees_at + self.delay, out);
        if self.sent == self.code.data * self.code.depth {
            self.phase = FecPhase::Parity(0);
        }
        true
    }

    fn send_parity(&mut self, now: Time, number: usize, out: &mut Vec<Output>) {
        if number >= self.parity() {
            return;
        }
        let block = number % self.open();
        let intact = self.transmit(now, self.longest[block], Priority::NORMAL);
        self.decoder.on_parity(block, intact, self.frees_at + self.delay, out);
        self.phase = FecPhase::Parity(number + 1);
    }

    fn close(&mut self, now: Time, out: &mut Vec<Output>) {
        if let FecPhase::Parity(number) = self.phase
            && number >= self.parity()
        {
            self.decoder.end_blocks(self.frees_at.max(now) + self.delay, out);
            self.longest.fill(0);
            self.sent = 0;
            self.phase = FecPhase::Data;
        }
    }

    fn open(&self) -> usize {
        self.sent.min(self.code.depth)
    }

    fn parity(&self) -> usize {
        self.code.parity * self.open()
    }

    /// Transmits a packet from `now` on. Returns whether the packet arrives intact.
    fn transmit(&mut self, now: Time, bytes: u32, priority: Priority) -> bool {
        let served = self.server.serve(now, bytes);
        self.frees_at = served.ends;
        let transmission =
            Transmission { start: served.begins, end: served.ends, bytes, priority, attempt: 0 };
        self.channel.transmit(&transmission) == Reception::Intact
    }
}

impl Element for FecDirection {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        self.queue.push(now, packet, now < self.frees_at, now.since(self.frees_at), out);
        self.serve(now, out);
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        if now >= self.acts_at {
            self.serve(now, out);
        }
    }

    fn poll_timeout(&self) -> Time {
        self.acts_at
    }

    fn backlog(&mut self, now: Time) -> Backlog {
        Backlog { in_service: now < self.frees_at, ..self.queue.backlog() }
    }

    fn draws(&self) -> bool {
        self.draws
    }

    fn average(&self) -> Option<f64> {
        self.queue.average()
    }

    fn settings(&self) -> Option<LinkSettings> {
        Some(LinkSettings { bps: self.bps, delay: self.delay, loss: self.channel.loss_probability() })
    }

    fn refusal(&self, change: &LinkChange) -> Option<ChangeRefused> {
        channel::refusal(&*self.channel, change)
    }

    fn change(&mut self, now: Time, change: &LinkChange, out: &mut Vec<Output>) {
        self.delay = change.delay.unwrap_or(self.delay);
        if let Some(share) = change.loss {
            self.channel.set_loss_probability(share);
        }
        if let Some(bps) = change.bps {
            self.server = Server::new(&Service::Rate(Rate::from_bps(bps)));
            self.bps = Some(bps);
            let frees_at = self.free_before_stop.take().unwrap_or(self.frees_at);
            if bps == 0 {
                (self.free_before_stop, self.frees_at) = (Some(frees_at), Time::NEVER);
            } else {
                self.frees_at = frees_at;
            }
            self.serve(now, out);
        }
    }

    fn queue_refusal(&self) -> Option<ChangeRefused> {
        None
    }

    fn set_queue(&mut self, now: Time, queue: Discipline, out: &mut Vec<Output>) {
        let ahead = Backlog { in_service: now < self.frees_at, ..Backlog::default() };
        self.queue.replace(now, queue, &ahead, out);
        self.serve(now, out);
    }

    fn queueing_delay(&mut self, _: Time) -> Option<Duration> {
        None
    }

    lacks!(copies, bypass, peer, pdus, failures);
}
