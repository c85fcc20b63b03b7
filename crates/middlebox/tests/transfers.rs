//! Tests whole transfers through every middlebox, under bad conditions. Sequence numbers wrap, and packets are lost and
//! reordered on both sides of the middlebox. A middlebox may see only the later part of a connection, and resets and
//! ACKs are forged. Each transfer must complete, because the same transfer completes without a middlebox.

use lasthop_base::{Choice, Duration, Stream, Time};
use lasthop_middlebox::{ALL, Build, Decision, Exit, Middlebox, Site};
use lasthop_tcp::{Arriving, Config, Endpoint, Notice, Role};
use lasthop_wire::{Body, Ecn, Flags, FlowId, Packet, Priority, Segment, Seq};

const BYTES: u64 = 400_000;
/// Initial sequence number, chosen so that numbers wrap after 100 kB.
const ISN: u32 = u32::MAX - 100_000;
const WIRED: Duration = Duration::from_millis(20);
const AIR: Duration = Duration::from_millis(3);

#[derive(Clone, Copy, PartialEq)]
enum To {
    Box,
    End,
}

#[derive(Clone, Copy, Default)]
struct Script {
    /// Every n-th packet over the air is lost; 0: no packet is lost.
    air: u64,
    /// Every n-th packet over the wired network is lost; 0: no packet is lost.
    wired: u64,
    /// Every n-th packet is delayed by 15 ms.
    late: u64,
    /// Number of packets that bypass the middlebox before the middlebox sees its first packet.
    begins: u64,
    /// Every n-th packet is followed by forged packets.
    forged: u64,
}

struct World {
    now: Time,
    ends: [Endpoint; 2],
    middlebox: Option<Box<dyn Middlebox>>,
    script: Script,
    passed: u64,
    carried: u64,
    /// Packets in flight, in no particular order.
    travelling: Vec<(Time, u64, To, Packet)>,
    number: u64,
}

fn middlebox(choice: &Choice<Build>) -> Option<Box<dyn Middlebox>> {
    let exit = |down| Some(Exit { down, round_trip: Duration::from_millis(10) });
    let site = Site { flows: vec![[exit(true), exit(false)]], random: Stream::named(1, "test") };
    (choice.build)(&choice.values, &site)
}

fn config() -> Config {
    Config { segment: 1000, nagle: false, ..Config::default() }
}

fn packet(forward: bool, segment: Segment) -> Packet {
    Packet {
        number: 0,
        flow: FlowId(0),
        wire_bytes: segment.len + 40,
        forward,
        is_retransmission: false,
        before_first_loss: false,
        damaged: false,
        ecn: Ecn::NotEct,
        priority: Priority::NORMAL,
        route: 0,
        hop: 0,
        enqueued_at: Time::ZERO,
        body: Body::Tcp(segment),
    }
}

impl World {
    fn new(script: Script, config: &Config, middlebox: Option<Box<dyn Middlebox>>) -> World {
        let mut source = Endpoint::new(config.clone(), Role::Active, Seq(ISN), Stream::named(1, "source"));
        let mut sink = Endpoint::new(config.clone(), Role::Passive, Seq(77), Stream::named(1, "sink"));
        source.write(BYTES);
        source.close_when_sent();
        sink.open(Time::ZERO);
        source.open(Time::ZERO);
        let (ends, travelling) = ([source, sink], Vec::new());
        World { now: Time::ZERO, ends, middlebox, script, passed: 0, carried: 0, travelling, number: 0 }
    }

    /// Sends a packet over the air, or over the wired network if `air` is false.
    fn carry(&mut self, to: To, air: bool, packet: Packet) {
        self.carried += 1;
        let every = |n: u64| n > 0 && self.carried.is_multiple_of(n);
        if every(if air { self.script.air } else { self.script.wired }) {
            return;
        }
        let late = if every(self.script.late) { Duration::from_millis(15) } else { Duration::ZERO };
        let due = self.now + if air { AIR } else { WIRED } + late;
        self.number += 1;
        self.travelling.push((due, self.number, to, packet));
    }

    fn poll_ends(&mut self) {
        for end in 0..2 {
            while let Some(sending) = self.ends[end].poll_segment(self.now) {
                self.carry(To::Box, end == 1, packet(end == 0, sending.segment));
            }
            if self.ends[end].receiver().has_finished() {
                self.ends[end].close();
            }
        }
    }

    fn pass(&mut self, packet: Packet) {
        self.passed += 1;
        let mut out = vec![Decision::Forward(packet)];
        let is_active = self.passed > self.script.begins;
        if let Some(middlebox) = self.middlebox.as_mut().filter(|_| is_active) {
            out.clear();
            middlebox.handle_packet(self.now, packet, &mut out);
        }
        self.leave(out);
        if self.script.forged > 0 && self.passed.is_multiple_of(self.script.forged) {
            self.forge(packet);
        }
    }

    /// Sends forged segments of an off-path attacker who guesses sequence numbers: a reset, an ACK of unsent data, an
    /// old ACK, and data outside of the window.
    fn forge(&mut self, like: Packet) {
        let Some(segment) = like.segment().copied() else { return };
        let far = |seq: Seq| Seq(seq.0.wrapping_add(1 << 30));
        let forged = [
            Segment { seq: far(segment.seq), flags: Flags::RST, ..Segment::default() },
            Segment { ack: far(segment.ack), len: 0, ..segment },
            Segment { ack: Seq(segment.ack.0.wrapping_sub(1 << 30)), len: 0, ..segment },
            Segment { seq: far(segment.seq), len: 1000, flags: Flags::ACK, ..segment },
        ];
        for segment in forged {
            let mut out = vec![Decision::Forward(packet(like.forward, segment))];
            if let Some(middlebox) = self.middlebox.as_mut().filter(|_| self.passed > self.script.begins) {
                out.clear();
                middlebox.handle_packet(self.now, packet(like.forward, segment), &mut out);
            }
            self.leave(out);
        }
    }

    fn leave(&mut self, out: Vec<Decision>) {
        for one in out {
            match one {
                Decision::Forward(packet)
                | Decision::Rewrite(packet)
                | Decision::Retransmit(packet)
                | Decision::Emit(packet) => {
                    self.carry(To::End, packet.forward, packet);
                }
                Decision::Consume(_) | Decision::Drop(..) => {}
            }
        }
    }

    fn step(&mut self) -> bool {
        self.poll_ends();
        let first = self.travelling.iter().map(|(due, number, ..)| (*due, *number)).min();
        let timers = self.ends.iter().map(Endpoint::poll_timeout).min().unwrap_or(Time::NEVER);
        let boxs = self.middlebox.as_ref().map_or(Time::NEVER, |middlebox| middlebox.poll_timeout());
        let due = first.map_or(Time::NEVER, |(due, _)| due);
        let next = due.min(timers).min(boxs);
        if next == Time::NEVER {
            return false;
        }
        self.now = self.now.max(next);
        if due <= next
            && let Some((due, number)) = first
        {
            let place = self.travelling.iter().position(|one| (one.0, one.1) == (due, number));
            let (_, _, to, packet) = self.travelling.swap_remove(place.expect("the packet is in flight"));
            match to {
                To::Box => self.pass(packet),
                To::End => self.arrive(packet),
            }
        } else if boxs <= next {
            let mut out = Vec::new();
            if let Some(middlebox) = &mut self.middlebox {
                middlebox.handle_timeout(self.now, &mut out);
            }
            self.leave(out);
        } else {
            for end in &mut self.ends {
                if end.poll_timeout() <= self.now {
                    end.handle_timeout(self.now);
                }
            }
        }
        true
    }

    fn arrive(&mut self, packet: Packet) {
        let end = &mut self.ends[usize::from(packet.forward)];
        match &packet.body {
            Body::Tcp(segment) => end.handle_segment(self.now, segment, &Arriving::default()),
            Body::Notice(notice) => end.handle_notice(self.now, Notice::Node(*notice)),
            Body::Datagram { .. } => {}
        }
    }

    /// Runs until the receiver has all data, and returns the time. Returns `None` if the transfer does not complete.
    fn run(&mut self) -> Option<Time> {
        let limit = Time::ZERO + Duration::from_secs(600);
        while self.ends[1].delivered() < BYTES {
            if !self.step() || self.now > limit {
                return None;
            }
        }
        Some(self.now)
    }
}

const SCRIPTS: &[(&str, Script)] = &[
    ("nothing", Script { air: 0, wired: 0, late: 0, begins: 0, forged: 0 }),
    ("losses on the air", Script { air: 13, wired: 0, late: 0, begins: 0, forged: 0 }),
    ("losses on both sides", Script { air: 17, wired: 29, late: 0, begins: 0, forged: 0 }),
    ("disorder", Script { air: 0, wired: 0, late: 7, begins: 0, forged: 0 }),
    ("everything", Script { air: 19, wired: 31, late: 11, begins: 0, forged: 23 }),
    ("the box comes later", Script { air: 13, wired: 37, late: 0, begins: 60, forged: 0 }),
    ("forged segments", Script { air: 0, wired: 0, late: 0, begins: 0, forged: 9 }),
];

#[test]
fn each_transfer_is_completed_through_each_box() {
    for (what, script) in SCRIPTS {
        for (sack, freezes) in [(true, false), (false, true)] {
            let config = Config { sack, has_persist_state: freezes, ..config() };
            let without = World::new(*script, &config, None).run();
            assert!(without.is_some(), "{what} without a middlebox");
            for mechanism in ALL {
                let choice = Choice::of(mechanism);
                let Some(standing) = middlebox(&choice) else { continue };
                let done = World::new(*script, &config, Some(standing)).run();
                assert!(done.is_some(), "{what}, SACK {sack}, through {}", choice.info.name);
            }
        }
    }
}
