//! Test of two endpoints over a path ("pipe") that loses, duplicates, delays, reorders and marks segments. A forger
//! inserts forged segments.

#![allow(dead_code, reason = "each test file is a separate program and uses a part")]

use lasthop_base::{Choice, Duration, Mechanism, Stream, Time, Value};
use lasthop_tcp::endpoint::{EndReason, Sending};
use lasthop_tcp::receiver::{ack_policy, ack_splitting, loss_discrimination, window};
use lasthop_tcp::rtt::RtoLimits;
use lasthop_tcp::sender::{ack_counting, recovery};
use lasthop_tcp::{Arriving, Catalogue, Config, Endpoint, Notice, Role, State};
use lasthop_wire::{Backlog, Ecn, Flags, LinkReport, Segment, Seq, Timestamps};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Mechanisms and options of one end.
#[derive(Clone, Debug)]
pub struct Host {
    pub recovery: &'static str,
    pub ack_counting: &'static str,
    pub ack_policy: &'static str,
    pub ack_splitting: &'static str,
    pub cause: &'static str,
    pub limited_transmit: bool,
    pub reenter: bool,
    pub sack: bool,
    pub timestamps: bool,
    pub ecn: bool,
    pub nagle: bool,
    pub segment: u32,
    pub initial_window: u32,
    /// Receive buffer, bytes.
    pub buffer: u64,
    /// Bytes that the application reads every 50 ms.
    pub reads: u64,
    pub iss: u32,
    pub writes: u64,
    /// Numbers that select the mechanisms of all other seams, see [`Catalogue::pick`].
    pub others: [u8; 16],
}

#[derive(Clone, Debug)]
pub struct Pipe {
    pub seed: u64,
    pub loss: f64,
    pub repeat: f64,
    pub mark: f64,
    /// Largest random delay, ms, in addition to the delay of 20 ms that all segments have.
    pub spread: u64,
    pub simultaneous: bool,
    /// Probability that a forged segment arrives before a genuine segment. The receiving end must reject the forged
    /// segment (RFC 5961, RFC 7323).
    pub forge: f64,
}

pub fn names<B: ?Sized>(list: &'static [Mechanism<B>]) -> Vec<&'static str> {
    list.iter().map(|mechanism| mechanism.info.name).collect()
}

/// Names of all ACK splitting mechanisms, and of two variants of `split` (always three ACKs; number by queue length).
pub fn ack_splittings() -> Vec<&'static str> {
    [names(ack_splitting::ALL), vec!["split_always", "split_by_queue"]].concat()
}

fn set<B: ?Sized>(list: &'static [Mechanism<B>], name: &str, values: &[(&'static str, Value)]) -> Choice<B> {
    let mut choice = Choice::named(list, name);
    values.iter().for_each(|(name, value)| choice.values.set(name, value.clone()));
    choice
}

impl Host {
    fn config(&self) -> Config {
        let mut recovery =
            set(recovery::ALL, self.recovery, &[("limited_transmit", Value::Flag(self.limited_transmit))]);
        if self.recovery == "reno" {
            recovery.values.set("reenter", Value::Flag(self.reenter));
        }
        let always = ("when", Value::Word("always"));
        let ack_splitting = match self.ack_splitting {
            "split_always" => set(ack_splitting::ALL, "split", &[always, ("count", Value::Count(3))]),
            "split_by_queue" => set(ack_splitting::ALL, "split", &[always]),
            name => Choice::named(ack_splitting::ALL, name),
        };
        Config {
            segment: self.segment,
            initial_window: self.initial_window,
            nagle: self.nagle,
            sack: self.sack,
            timestamps: self.timestamps,
            ecn: self.ecn,
            accecn: self.iss.is_multiple_of(7) || (self.ecn && self.iss.is_multiple_of(2)),
            ecn_waits: self.iss.is_multiple_of(2),
            f_rto: self.iss.is_multiple_of(3),
            validates_window: self.iss.is_multiple_of(5),
            time_wait: Duration::from_secs(600),
            rto: RtoLimits {
                initial: Duration::from_secs(1),
                smallest: Duration::from_millis(200),
                largest: Duration::from_secs(2),
                tick: Duration::ZERO,
                above_srtt: false,
            },
            recovery,
            ack_counting: Choice::named(ack_counting::ALL, self.ack_counting),
            ack_policy: Choice::named(ack_policy::ALL, self.ack_policy),
            ack_splitting,
            receiver_discrimination: Choice::named(loss_discrimination::ALL, self.cause),
            window: set(window::ALL, "buffer", &[("size", Value::Bytes(self.buffer))]),
            ..Catalogue::default().pick(Config::default(), &self.others)
        }
    }
}

struct End {
    host: Host,
    probes_tail: bool,
    endpoint: Endpoint,
    read: u64,
    reads_at: Time,
    scales: Option<u8>,
    /// Right edge of the window that the peer has advertised to this end, as an offset.
    admitted: u64,
    /// Right edge of the window that this end has advertised, as an offset.
    right_edge: u64,
    highest_sent: u64,
}

pub struct Run {
    ends: [End; 2],
    now: Time,
    /// Segments in flight. The key is the arrival time and the sending order. The value is the index of the receiving
    /// end, the segment, and its ECN code point.
    wire: BTreeMap<(Time, u64), (usize, Segment, Ecn)>,
    sent: u64,
    random: Stream,
    pipe: Pipe,
}

impl Run {
    pub fn new(hosts: [Host; 2], pipe: Pipe) -> Run {
        let roles = [Role::Active, if pipe.simultaneous { Role::Active } else { Role::Passive }];
        let mut index = 0;
        let ends = hosts.map(|host| {
            let iss = Seq(host.iss);
            let config = host.config();
            let probes_tail = (config.recovery.build)(&config.recovery.values).probes_tail();
            let endpoint = Endpoint::new(
                config,
                roles[index],
                iss,
                Stream::named(pipe.seed, "sender.loss_discrimination"),
            );
            index += 1;
            let (now, offset) = (Time::ZERO, 1);
            End {
                probes_tail,
                host,
                endpoint,
                read: 0,
                reads_at: now,
                scales: None,
                admitted: offset,
                right_edge: offset,
                highest_sent: 0,
            }
        });
        let random = Stream::named(pipe.seed, "pipe");
        Run { ends, now: Time::ZERO, wire: BTreeMap::new(), sent: 0, random, pipe }
    }

    /// Runs until both connections are closed, then checks that all data has arrived.
    pub fn complete(&mut self) {
        for end in &mut self.ends {
            end.endpoint.open(self.now);
            end.endpoint.write(end.host.writes);
            end.endpoint.close_when_sent();
        }
        for _ in 0..100_000 {
            (0..2).for_each(|side| self.pump(side));
            if self.ends.iter().all(|end| end.endpoint.state() == State::Closed) {
                return self.check();
            }
            self.advance();
        }
        let states = self.ends.each_ref().map(|end| (end.endpoint.state(), end.endpoint.delivered()));
        panic!("not both closed at {}: states and bytes delivered {states:?}", self.now);
    }

    fn check(&self) {
        for (end, peer) in [(&self.ends[0], &self.ends[1]), (&self.ends[1], &self.ends[0])] {
            assert_eq!(end.endpoint.ended(), Some(EndReason::Closed));
            assert_eq!(end.endpoint.delivered(), peer.host.writes);
            assert_eq!(end.endpoint.poll_timeout(), Time::NEVER);
        }
    }

    fn pump(&mut self, side: usize) {
        while let Some(sending) = self.ends[side].endpoint.poll_segment(self.now) {
            self.inspect(side, &sending);
            let marked = sending.ecn != Ecn::NotEct && self.random.uniform() < self.pipe.mark;
            let ecn = if marked { Ecn::Ce } else { sending.ecn };
            let copies = 1 + u32::from(self.random.uniform() < self.pipe.repeat);
            for _ in 0..copies {
                let lost = self.random.uniform() < self.pipe.loss;
                let extra = (self.random.uniform() * self.pipe.spread as f64) as u64;
                self.sent += 1;
                if !lost {
                    let due = self.now + Duration::from_millis(20 + extra);
                    self.wire.insert((due, self.sent), (1 - side, sending.segment, ecn));
                } else if sending.segment.len > 0 {
                    let (seq, len) = (sending.segment.seq, sending.segment.len);
                    let report = LinkReport::Discarded { seq, len, readable: false };
                    self.ends[1 - side].endpoint.handle_notice(self.now, Notice::Link(report));
                }
            }
        }
        let endpoint = &mut self.ends[side].endpoint;
        if endpoint.wanted_notices().backlog {
            let after = Backlog { waiting: (self.sent % 4) as u32, ..Backlog::default() };
            endpoint.handle_notice(self.now, Notice::AcksQueued(after));
        }
        let sender = endpoint.sender();
        // A gradual window reduction in recovery may let cwnd fall below a segment for a while.
        let is_whole = sender.window() >= sender.segment();
        assert!(is_whole || sender.is_recovering(), "cwnd below a segment: {:?}", self.ends[side].host);
    }

    fn inspect(&mut self, side: usize, sending: &Sending) {
        let segment = &sending.segment;
        let peer_iss = Seq(self.ends[1 - side].host.iss);
        let shift = if segment.flags.has(Flags::SYN) { 0 } else { self.shift(side) };
        let end = &mut self.ends[side];
        if segment.flags.has(Flags::SYN) {
            end.scales = segment.window_scale;
            return;
        }
        assert!(!segment.flags.has(Flags::RST), "an end sent a reset");
        let sender = end.endpoint.sender();
        let start = Seq(end.host.iss)
            .offset_of(segment.seq, sender.scoreboard().una())
            .expect("SEG.SEQ within the sender's stream");
        let past = start + u64::from(segment.len);
        let blocks = if segment.sack.is_empty() { 0 } else { 4 + 8 * segment.sack.len() as u64 };
        let is_full = segment.len == 0 || u64::from(segment.len) + blocks <= sender.segment();
        assert!(is_full, "payload and SACK blocks exceed a full segment");
        assert!(segment.len == 0 || past <= 1 + end.host.writes, "an end sent data that was not written");
        let is_probe = segment.len == 1 && sender.scoreboard().outstanding() == 0;
        assert!(
            segment.len == 0 || past <= end.admitted || is_probe,
            "data beyond the receiver's window was sent"
        );
        if segment.len > 0 && !sending.is_retransmission && !is_probe {
            // A tail loss probe may exceed cwnd (RFC 8985 §7.3).
            let (in_flight, window) = (sender.in_flight(), sender.window());
            let fits = end.probes_tail || in_flight <= window + 1;
            assert!(fits, "{in_flight} bytes in flight exceed cwnd {window}: {:?}", end.host);
        }
        end.highest_sent = end.highest_sent.max(past);
        let ack = peer_iss
            .offset_of(segment.ack, end.endpoint.receiver().next())
            .expect("SEG.ACK within the peer's stream");
        let right_edge = ack + (u64::from(segment.window) << shift);
        assert!(right_edge >= end.right_edge, "the advertised right edge moved left");
        end.right_edge = right_edge;
    }

    fn advance(&mut self) {
        let arrival = self.wire.first_key_value().map_or(Time::NEVER, |((due, _), _)| *due);
        let deadlines = self.ends.each_ref().map(|end| end.endpoint.poll_timeout());
        let reads = self
            .ends
            .each_ref()
            .map(|end| if end.unread() > 0 { end.reads_at.max(self.now) } else { Time::NEVER });
        let next = deadlines.into_iter().chain(reads).fold(arrival, Time::min);
        assert_ne!(
            next,
            Time::NEVER,
            "no arrival, no timer and no read is left, but the connections are open"
        );
        assert!(next >= self.now, "a deadline lies in the past");
        self.now = next;
        if arrival == next
            && let Some((_, (side, segment, ecn))) = self.wire.pop_first()
        {
            if self.random.uniform() < self.pipe.forge
                && let Some(forged) = self.forge(side)
            {
                let arriving = Arriving::default();
                self.ends[side].endpoint.handle_segment(self.now, &forged, &arriving);
            }
            self.arrive(side, &segment, ecn);
            return;
        }
        for end in &mut self.ends {
            if end.unread() > 0 && end.reads_at <= next {
                end.reads_at = next + Duration::from_millis(50);
                end.read = end.endpoint.delivered().min(end.read + end.host.reads);
                end.endpoint.hold_unread(end.unread());
            }
            end.endpoint.handle_timeout(next);
        }
    }

    /// Returns a forged segment to `side`. The forger knows all sequence numbers, but never forges an acceptable
    /// segment.
    fn forge(&mut self, side: usize) -> Option<Segment> {
        let endpoint = &self.ends[side].endpoint;
        let is_open =
            !matches!(endpoint.state(), State::Closed | State::Listen | State::SynSent | State::SynReceived);
        let agreed = endpoint.agreed();
        if !is_open {
            return None;
        }
        let (next, scoreboard) = (endpoint.receiver().next(), endpoint.sender().scoreboard());
        let (ours, theirs) = (Seq(self.ends[side].host.iss), Seq(self.ends[1 - side].host.iss));
        let far = 1 + (self.random.uniform() * 100_000.0) as u64;
        let ticks = (self.now.as_nanos() / 1_000_000) as u32;
        let stamps = |value| agreed.timestamps.then_some(Timestamps { value, echo: 0 });
        let good = Segment {
            seq: theirs.at(next),
            ack: ours.at(scoreboard.una()),
            len: 1 + (far % 1000) as u32,
            flags: Flags::ACK,
            window: 1000,
            timestamps: stamps(ticks),
            ..Segment::default()
        };
        let forged = match far % 7 {
            0 => Segment { seq: theirs.at(next + far), flags: Flags::RST, ..good },
            1 => Segment { seq: Seq(theirs.at(next).0.wrapping_sub(far as u32)), flags: Flags::RST, ..good },
            2 => Segment { seq: theirs.at(next + far), flags: Flags::SYN, ..good },
            3 => Segment { ack: ours.at(scoreboard.nxt() + 1 + far), flags: Flags::ACK | Flags::FIN, ..good },
            // The ACK number is older than the largest window, 1 MB, so RFC 5961 §5 rejects it.
            4 => {
                Segment { ack: Seq(ours.at(scoreboard.una()).0.wrapping_sub((2 << 20) + far as u32)), ..good }
            }
            5 => Segment { flags: Flags::PSH, ..good },
            _ if agreed.timestamps => Segment { timestamps: stamps(ticks.wrapping_sub(1 << 30)), ..good },
            _ => return None,
        };
        Some(forged)
    }

    fn arrive(&mut self, side: usize, segment: &Segment, ecn: Ecn) {
        if !segment.flags.has(Flags::SYN) {
            let ack =
                Seq(self.ends[side].host.iss).offset_of(segment.ack, self.ends[side].admitted).unwrap_or(0);
            let edge = ack + (u64::from(segment.window) << self.shift(1 - side));
            self.ends[side].admitted = self.ends[side].admitted.max(edge);
        } else {
            self.ends[side].admitted = self.ends[side].admitted.max(1 + u64::from(segment.window));
        }
        let highest = self.ends[1 - side].highest_sent;
        let end = &mut self.ends[side];
        let before = end.endpoint.delivered();
        end.endpoint.handle_segment(self.now, segment, &Arriving { ecn });
        assert!(end.endpoint.delivered() >= before && end.endpoint.delivered() < highest.max(1));
        end.endpoint.hold_unread(end.unread());
    }

    fn shift(&self, side: usize) -> u8 {
        match (self.ends[side].scales, self.ends[1 - side].scales) {
            (Some(shift), Some(_)) => shift,
            _ => 0,
        }
    }
}

impl End {
    fn unread(&self) -> u64 {
        self.endpoint.delivered() - self.read
    }
}

pub fn host() -> impl Strategy<Value = Host> {
    use prop::sample::select;
    let mechanisms = (
        select(names(recovery::ALL)),
        select(names(ack_counting::ALL)),
        select(names(ack_policy::ALL)),
        select(ack_splittings()),
        select(names(loss_discrimination::ALL)),
        any::<[u8; 16]>(),
    );
    let flags = prop::array::uniform6(any::<bool>());
    let sizes = (100..1500u32, 1..12u32, prop_oneof![2000..20_000u64, Just(1 << 20)], 500..20_000u64);
    let stream =
        (prop_oneof![any::<u32>(), (u32::MAX - 5000)..=u32::MAX], prop_oneof![Just(0u64), 1..40_000u64]);
    (mechanisms, flags, sizes, stream).prop_map(
        |(
            (recovery, ack_counting, ack_policy, ack_splitting, cause, others),
            flags,
            (segment, initial_window, buffer, reads),
            (iss, writes),
        )| Host {
            recovery,
            ack_counting,
            ack_policy,
            ack_splitting,
            cause,
            others,
            limited_transmit: flags[0],
            reenter: flags[1],
            sack: flags[2],
            timestamps: flags[3],
            ecn: flags[4],
            nagle: flags[5],
            segment,
            initial_window,
            buffer,
            reads,
            iss,
            writes,
        },
    )
}

pub fn pipe() -> impl Strategy<Value = Pipe> {
    (any::<u64>(), 0..25u32, 0..20u32, 0..20u32, 0..60u64, prop::bool::weighted(0.1)).prop_map(
        |(seed, loss, repeat, mark, spread, simultaneous)| Pipe {
            seed,
            loss: f64::from(loss) / 100.0,
            repeat: f64::from(repeat) / 100.0,
            mark: f64::from(mark) / 100.0,
            spread,
            simultaneous,
            forge: 0.0,
        },
    )
}
