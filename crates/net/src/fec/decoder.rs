//! Receiving side of the erasure code: decides for each data packet of the open blocks when the packet is delivered or
//! lost.

use super::parameters::Code;
use crate::element::Output;
use lasthop_base::Time;
use lasthop_wire::{LossReason, Packet};
use std::collections::VecDeque;

/// Receiver of a set of interleaved blocks. All blocks of a set end before the first block of the next set begins.
pub(super) struct Decoder {
    code: Code,
    blocks: Vec<DecoderBlock>,
    /// Packets that are not delivered yet, in order of transmission: the missing packets and, if the order is kept, the
    /// packets after a missing packet.
    held: VecDeque<HeldPacket>,
}

#[derive(Clone, Copy, Default)]
struct DecoderBlock {
    data: usize,
    arrived: usize,
    is_decoded: bool,
}

struct HeldPacket {
    packet: Packet,
    block: usize,
    state: PacketState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PacketState {
    Available,
    Missing,
    Unrecoverable,
}

impl Decoder {
    pub(super) fn new(code: Code) -> Decoder {
        Decoder { code, blocks: vec![DecoderBlock::default(); code.depth], held: VecDeque::new() }
    }

    /// Handles a data packet of a block. The packet arrives at `at` if `intact`; otherwise the packet is lost.
    pub(super) fn on_data(
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
        if intact && !waits {
            return out.push(Output::Arrives { packet, at });
        }
        let state = if intact { PacketState::Available } else { PacketState::Missing };
        self.held.push_back(HeldPacket { packet, block, state });
    }

    /// Handles a parity packet of a block. The packet arrives at `at` if `intact`; otherwise the packet is lost. No
    /// data packet of that block follows.
    pub(super) fn on_parity(&mut self, block: usize, intact: bool, at: Time, out: &mut Vec<Output>) {
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
            held.state = PacketState::Available;
        }
        self.deliver(at, out);
    }

    /// Ends all blocks at `at`. Packets that cannot be rebuilt are output as lost.
    pub(super) fn end_blocks(&mut self, at: Time, out: &mut Vec<Output>) {
        for held in &mut self.held {
            if held.state == PacketState::Missing {
                held.state = PacketState::Unrecoverable;
            }
        }
        self.deliver(at, out);
        self.blocks.fill(DecoderBlock::default());
    }

    fn deliver(&mut self, at: Time, out: &mut Vec<Output>) {
        if self.code.keeps_order {
            while let Some(held) = self.held.front()
                && held.state != PacketState::Missing
            {
                out.push(held.outcome(at));
                self.held.pop_front();
            }
            return;
        }
        self.held.retain(|held| {
            let is_missing = held.state == PacketState::Missing;
            if !is_missing {
                out.push(held.outcome(at));
            }
            is_missing
        });
    }
}

impl HeldPacket {
    fn outcome(&self, at: Time) -> Output {
        let packet = self.packet;
        match self.state {
            PacketState::Unrecoverable => Output::lost(packet, at, LossReason::Channel),
            PacketState::Available | PacketState::Missing => Output::Arrives { packet, at },
        }
    }
}
