//! Two endpoints over a path of 20 ms that drops every twentieth data segment. The example shows that a driver needs
//! only fifty lines.
//!
//! The driver has the clock. The driver passes arrivals and deadlines to the endpoints, and the endpoints' segments to
//! the path, until both ends have closed.

use lasthop_base::{Choice, Duration, Stream, Time};
use lasthop_tcp::sender::congestion;
use lasthop_tcp::{Arriving, Config, Endpoint, Role, State};
use lasthop_wire::{Segment, Seq};
use std::collections::VecDeque;

/// One-way delay.
const DELAY: Duration = Duration::from_millis(20);

/// Segments in flight to one endpoint, with their arrival times.
type Wire = VecDeque<(Time, Segment)>;

/// Transfers `bytes` bytes. Returns closing time, bytes delivered, segments lost and segments retransmitted.
pub fn transfer(bytes: u64) -> (Time, u64, u64, u64) {
    let config = Config { congestion: Choice::named(congestion::ALL, "cubic"), ..Config::default() };
    let mut ends = [
        Endpoint::new(config.clone(), Role::Active, Seq(1_000), Stream::named(1, "client")),
        Endpoint::new(config, Role::Passive, Seq(5_000_000), Stream::named(1, "server")),
    ];
    let mut wires: [Wire; 2] = Default::default();
    let (mut now, mut sent, mut lost) = (Time::ZERO, 0, 0);
    for end in &mut ends {
        end.open(now);
    }
    ends[0].write(bytes);
    ends[0].close_when_sent();
    ends[1].close_when_sent();
    loop {
        for side in 0..2 {
            while let Some(sending) = ends[side].poll_segment(now) {
                let has_data = sending.segment.len > 0;
                sent += u64::from(has_data);
                if has_data && sent % 20 == 0 {
                    lost += 1;
                } else {
                    wires[1 - side].push_back((now + DELAY, sending.segment));
                }
            }
        }
        // Next event: an arrival or a deadline.
        let arrival = |wire: &Wire| wire.front().map_or(Time::NEVER, |(at, _)| *at);
        let next = ends.iter().map(Endpoint::poll_timeout).chain(wires.iter().map(arrival)).min();
        now = match next {
            Some(next) if next != Time::NEVER => next.max(now),
            _ => break,
        };
        for side in 0..2 {
            while arrival(&wires[side]) <= now {
                let Some((_, segment)) = wires[side].pop_front() else { break };
                ends[side].handle_segment(now, &segment, &Arriving::default());
            }
            if ends[side].poll_timeout() <= now {
                ends[side].handle_timeout(now);
            }
        }
    }
    assert!(ends.iter().all(|end| end.state() == State::Closed), "both ends have closed");
    (now, ends[1].delivered(), lost, ends[0].counters().retransmitted)
}

/// Runs the example.
pub fn main() {
    let (end, delivered, lost, again) = transfer(1_000_000);
    println!("{delivered} bytes arrived, {lost} segments were lost, {again} retransmitted; closed at {end}");
}
