//! Receiving side: fate of each packet of the open blocks, in order of transmission.

use super::parameters::Code;
use crate::element::Output;
use lasthop_base::Time;
use lasthop_wire::{LossReason, Packet};
use std::collections::VecDeque;

/// Receiver of a set of interleaved blocks, which ends before the next set begins.
pub(super) struct Decoder {
    code: Code,
    blocks: Vec<Block>,
    /// Packets not delivered: lost ones, and with kept order packets behind a lost one.
    held: VecDeque<Held>,
}

#[derive(Clone, Copy, Default)]
struct Block {
    data: usize,
    arrived: usize,
    is_decoded: bool,
}

struct Held {
    packet: Packet,
    block: usize,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Here,
    Missing,
    GivenUp,
}

impl Decoder {
    pub(super) fn new(code: Code) -> Decoder {
        Decoder { code, blocks: vec![Block::default(); code.depth], held: VecDeque::new() }
    }

    /// A data packet of a block arrives at `at`, or was lost.
    pub(super) fn take_data(
        &mut self,
        block: usize,
        packet: Packet,
        intact: bool,
        at: Time,
        out: &mut Vec<Output>,
    ) {
        let counts = &mut self.blocks[block];
        counts.data += 1;
        counts.arrived += usize::from(intact);
        let waits = self.code.keeps_order && !self.held.is_empty();
        match intact {
            true if !waits => out.push(Output::Arrives { packet, at }),
            true => self.held.push_back(Held { packet, block, state: State::Here }),
            false => self.held.push_back(Held { packet, block, state: State::Missing }),
        }
    }

    /// A parity packet of a block arrives at `at`, or was lost. No data packet of that block follows.
    pub(super) fn take_parity(&mut self, block: usize, intact: bool, at: Time, out: &mut Vec<Output>) {
        self.blocks[block].arrived += usize::from(intact);
        self.decode(block, at, out);
    }

    fn decode(&mut self, block: usize, at: Time, out: &mut Vec<Output>) {
        let counts = &mut self.blocks[block];
        if counts.is_decoded || counts.arrived < counts.data + self.code.excess {
            return;
        }
        counts.is_decoded = true;
        for held in self.held.iter_mut().filter(|held| held.block == block) {
            held.state = State::Here;
        }
        self.hand_up(at, out);
    }

    /// All blocks end at `at`: packets that cannot be rebuilt are given up.
    pub(super) fn end(&mut self, at: Time, out: &mut Vec<Output>) {
        for held in &mut self.held {
            if held.state == State::Missing {
                held.state = State::GivenUp;
            }
        }
        self.hand_up(at, out);
        self.blocks.fill(Block::default());
    }

    fn hand_up(&mut self, at: Time, out: &mut Vec<Output>) {
        if self.code.keeps_order {
            while let Some(held) = self.held.front()
                && held.state != State::Missing
            {
                out.push(held.outcome(at));
                self.held.pop_front();
            }
            return;
        }
        self.held.retain(|held| {
            let is_missing = held.state == State::Missing;
            if !is_missing {
                out.push(held.outcome(at));
            }
            is_missing
        });
    }
}

impl Held {
    fn outcome(&self, at: Time) -> Output {
        let packet = self.packet;
        match self.state {
            State::GivenUp => Output::gone(packet, at, LossReason::Channel),
            State::Here | State::Missing => Output::Arrives { packet, at },
        }
    }
}
