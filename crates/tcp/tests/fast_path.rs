//! The endpoint's fast paths change nothing but the computing time. For any path and any applications, endpoints with
//! and without fast paths send the same segments, report the same events and have the same state. The fast paths are
//! `FAST_PATH` in `sender/ack.rs` for ACKs without losses, `endpoint/predicted.rs` for expected segments,
//! `sender/half.rs` for an end that sends nothing, and [`SendInfo::more`].

use lasthop_base::{Choice, Duration, Stream, Time};
use lasthop_tcp::endpoint::{KeepAlive, SendInfo};
use lasthop_tcp::receiver::ack_policy;
use lasthop_tcp::sender::{ack_counting, congestion};
use lasthop_tcp::{Arriving, Config, Endpoint, Event, Role};
use lasthop_wire::{Ecn, Flags, Segment, Seq};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Step {
    Write(usize, u64),
    /// The application of a side leaves a number of bytes unread.
    Hold(usize, u64),
    Close(usize),
    /// The oldest segments in flight to a side arrive. Values: side, number of segments, spacing in microseconds.
    Deliver(usize, usize, u64),
    /// A segment overtakes the segments sent before it.
    Overtake(usize, usize),
    Lose(usize, usize),
    /// A copy of a segment arrives, and the segment itself stays in flight. The last value is whether the copy carries
    /// a congestion mark.
    Copy(usize, usize, bool),
    /// A segment is altered in flight. Values: side, place of the segment, field, and change of the field.
    Alter(usize, usize, u8, u32),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let (side, place) = (0..2_usize, 0..6_usize);
    prop_oneof![
        4 => (side.clone(), 1..60_000_u64).prop_map(|(side, bytes)| Step::Write(side, bytes)),
        1 => (side.clone(), 0..40_000_u64).prop_map(|(side, bytes)| Step::Hold(side, bytes)),
        1 => (0..40_usize).prop_map(Step::Close),
        40 => (side.clone(), 1..12_usize, 0..900_u64).prop_map(|(side, count, us)| Step::Deliver(side, count, us)),
        2 => (side.clone(), place.clone()).prop_map(|(side, place)| Step::Overtake(side, place)),
        2 => (side.clone(), place.clone()).prop_map(|(side, place)| Step::Lose(side, place)),
        2 => (side.clone(), place.clone(), any::<bool>()).prop_map(|(side, place, marked)| Step::Copy(side, place, marked)),
        2 => (side, place, 0..8_u8, prop_oneof![Just(1), Just(u32::MAX), Just(1000), any::<u32>()])
            .prop_map(|(side, place, what, by)| Step::Alter(side, place, what, by)),
        4 => prop_oneof![3 => 0..30_u64, 1 => 0..3000_u64].prop_map(Step::Wait),
    ]
}

fn config() -> impl Strategy<Value = Config> {
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), prop::bool::weighted(0.2));
    (switches, prop_oneof![Just(1_448_u64 * 20), Just(4 << 20)], 0..2_usize, 0..3_usize, 1..11_u32).prop_map(
        |((timestamps, sack, nagle, ecn), buffer, control, counted, initial_window)| {
            let accecn = ecn && nagle;
            let mut config =
                Config { timestamps, sack, nagle, ecn, accecn, initial_window, ..Config::default() };
            (config.validates_window, config.validates_as_linux) = (initial_window > 7, nagle);
            let idle = Duration::from_millis(400);
            config.keep_alive = Some(KeepAlive { idle, interval: idle, probes: 5 });
            config.window.values.set("size", lasthop_base::Value::Bytes(buffer));
            config.congestion = Choice::named(congestion::ALL, ["reno", "cubic"][control]);
            config.ack_counting = Choice::named(ack_counting::ALL, ["per_ack", "bytes", "packets"][counted]);
            config.ack_policy = Choice::named(ack_policy::ALL, ["immediate", "delayed", "linux"][counted]);
            config
        },
    )
}

struct World {
    now: Time,
    ends: [Endpoint; 2],
    wires: [Vec<Segment>; 2],
    sent: Vec<(Time, usize, Segment, bool, Ecn)>,
    events: Vec<(Time, usize, Event)>,
    /// Deadline that each end last reported. An end reports its deadline only if the deadline has become earlier.
    due: [Time; 2],
}

impl World {
    fn new(config: &Config) -> World {
        let end = |role, iss, name| Endpoint::new(config.clone(), role, Seq(iss), Stream::named(1, name));
        let ends = [end(Role::Active, u32::MAX - 20_000, "one"), end(Role::Passive, 7, "other")];
        let mut world = World {
            now: Time::ZERO,
            ends,
            wires: [vec![], vec![]],
            sent: vec![],
            events: vec![],
            due: [Time::NEVER; 2],
        };
        world.ends.iter_mut().for_each(|end| {
            end.trace();
            end.open(Time::ZERO);
        });
        world.poll();
        world
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Write(side, bytes) => self.ends[side].write(bytes),
            Step::Hold(side, bytes) => self.ends[side].hold_unread(bytes),
            Step::Close(side) if side < 2 => self.ends[side].close_when_sent(),
            Step::Close(_) => {}
            Step::Deliver(side, count, us) => {
                for _ in 0..count.min(self.wires[side].len()) {
                    self.pass(Duration::from_micros(us));
                    if !self.wires[side].is_empty() {
                        let segment = self.wires[side].remove(0);
                        self.hand(side, &segment, false);
                    }
                }
            }
            Step::Overtake(side, place) => {
                if let Some(place) = self.place(side, place) {
                    let segment = self.wires[side].remove(place);
                    self.hand(side, &segment, false);
                }
            }
            Step::Lose(side, place) => {
                if let Some(place) = self.place(side, place) {
                    self.wires[side].remove(place);
                }
            }
            Step::Copy(side, place, marked) => {
                if let Some(place) = self.place(side, place) {
                    let segment = self.wires[side][place];
                    self.hand(side, &segment, marked);
                }
            }
            Step::Alter(side, place, what, by) => {
                if let Some(place) = self.place(side, place) {
                    alter(&mut self.wires[side][place], what, by);
                }
            }
            Step::Wait(ms) => self.pass(Duration::from_millis(ms)),
        }
        self.poll();
    }

    fn place(&self, side: usize, place: usize) -> Option<usize> {
        let under_way = self.wires[side].len();
        (under_way > 0).then(|| place % under_way)
    }

    fn hand(&mut self, side: usize, segment: &Segment, marked: bool) {
        self.ends[side].handle_segment(self.now, segment, &Arriving::marked(marked));
        self.poll();
    }

    /// Advances the time by `span`. Handles each deadline of the endpoints within this span.
    fn pass(&mut self, span: Duration) {
        let until = self.now + span;
        for _ in 0..50 {
            let due = self.ends.iter().map(Endpoint::poll_timeout).min().unwrap_or(Time::NEVER);
            if due > until {
                break;
            }
            self.now = self.now.max(due);
            for end in &mut self.ends {
                if end.poll_timeout() <= self.now {
                    end.handle_timeout(self.now);
                }
            }
            self.poll();
        }
        self.now = until;
    }

    /// Polls each end until no segment is left or [`SendInfo::more`] is false.
    fn poll(&mut self) {
        for side in 0..2 {
            let mut segment = Segment::default();
            let mut sent = SendInfo::default();
            while self.ends[side].poll_segment_into(self.now, &mut segment, &mut sent) {
                let SendInfo { is_retransmission, ecn, more, .. } = sent;
                self.sent.push((self.now, side, segment, is_retransmission, ecn));
                self.wires[1 - side].push(segment);
                if !more {
                    break;
                }
            }
            if let Some(earlier) = self.ends[side].poll_earlier_timeout() {
                self.due[side] = earlier;
            }
            assert!(
                self.due[side] <= self.ends[side].poll_timeout(),
                "the deadline became earlier, but the end did not report it"
            );
            while let Some((at, event)) = self.ends[side].poll_event() {
                self.events.push((at, side, event));
            }
        }
    }

    fn known(&self, side: usize) -> impl PartialEq + std::fmt::Debug + use<> {
        let end = &self.ends[side];
        let (sender, receiver) = (end.sender(), end.receiver());
        (
            (end.state(), end.counters(), end.poll_timeout(), end.delivered(), end.ended()),
            (sender.window(), sender.ssthresh(), sender.in_flight(), sender.limited(self.now)),
            (sender.rtt().srtt(), sender.rtt().rto(), sender.scoreboard().una(), sender.scoreboard().nxt()),
            (receiver.edge(), receiver.next()),
        )
    }
}

fn alter(segment: &mut Segment, what: u8, by: u32) {
    match what {
        0 => segment.seq = Seq(segment.seq.0.wrapping_add(by)),
        1 => segment.ack = Seq(segment.ack.0.wrapping_add(by)),
        2 => segment.window = by as u16,
        3 => segment.len = by % 3000,
        4 => segment.flags = Flags(segment.flags.0 ^ u16::from(by as u8 & 0xfb)),
        5 => segment.timestamps = None,
        6 if segment.is_pure_ack() => segment.set_damaged(Seq(segment.ack.0.wrapping_add(by))),
        _ => {
            if let Some(stamps) = &mut segment.timestamps {
                stamps.value = stamps.value.wrapping_add(by);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Endpoints with and without fast paths do the same in each step. In the first `silent` steps the passive end
    /// sends nothing, so that its sender is not yet created. Reading the state of an end also creates the end's sender.
    /// If `compares_always` is false, the state is therefore read only after the last step.
    #[test]
    fn the_long_way_comes_to_the_same(
        config in config(),
        steps in prop::collection::vec(step(), 20..150),
        silent in prop_oneof![Just(0), 0..150_usize],
        compares_always in any::<bool>(),
    ) {
        let mut short = World::new(&config);
        let mut long = World::new(&Config { has_fast_path: false, ..config });
        let opening = [Step::Deliver(1, 1, 0), Step::Deliver(0, 1, 0), Step::Deliver(1, 1, 0)];
        for (number, step) in opening.into_iter().chain(steps).enumerate() {
            if number < silent && matches!(step, Step::Write(1, _) | Step::Close(1)) {
                continue;
            }
            short.take(step);
            long.take(step);
            prop_assert_eq!(short.sent.last(), long.sent.last());
            prop_assert_eq!(short.sent.len(), long.sent.len());
            prop_assert_eq!(&short.events, &long.events);
            if compares_always {
                for side in 0..2 {
                    prop_assert_eq!(short.known(side), long.known(side));
                }
            }
        }
        for side in 0..2 {
            prop_assert_eq!(short.known(side), long.known(side));
        }
        prop_assert_eq!(short.sent, long.sent);
    }
}
