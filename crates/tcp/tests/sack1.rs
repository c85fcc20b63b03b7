//! `recovery = "sack1"` must send the same segments at each ACK as ns-2 for some patterns of losses. The expected
//! traces come from Debian's ns2 2.35+dfsg-5 (`Agent/TCP/Sack1`, 10 Mbit/s, 40 ms, `window_ 20`, `windowInit_ 10`,
//! `singledup_ 0`, an `ErrorModel/List` on the link).

mod script;

use lasthop_tcp::Config;
use lasthop_tcp::sender::recovery;
use script::Step::*;
use script::{Peer, Script, choose, config, halving_the_window};
use std::collections::{BTreeSet, VecDeque};

/// Trace of slow start up to the fast retransmit of segment 11. `S11` is the sending of segment 11, and `A10` the
/// arrival of an ACK up to segment 10.
const START: &str = "S1 S2 S3 S4 S5 S6 S7 S8 S9 S10 A1 S11 S12 A2 S13 S14 A3 S15 S16 A4 S17 S18 A5 S19 S20 A6 S21 S22 A7 \
    S23 S24 A8 S25 S26 A9 S27 S28 A10 S29 S30 A10 A10 A10 S11";

/// A receiver that acknowledges each segment with at most three SACK blocks, newest first (RFC 2018 §4).
#[derive(Default)]
struct Receiver {
    next: u64,
    held: BTreeSet<u64>,
    recent: Vec<u64>,
}

impl Receiver {
    fn take(&mut self, segment: u64) {
        if segment > self.next {
            self.held.insert(segment);
            self.recent.retain(|other| *other != segment);
            self.recent.insert(0, segment);
        } else if segment == self.next {
            self.next += 1;
            while self.held.remove(&self.next) {
                self.next += 1;
            }
        }
    }

    fn blocks(&self) -> Vec<(u64, u64)> {
        let mut blocks: Vec<(u64, u64)> = Vec::new();
        for segment in self.recent.iter().filter(|segment| self.held.contains(segment)) {
            let mut block = (*segment, *segment + 1);
            while self.held.contains(&(block.0 - 1)) {
                block.0 -= 1;
            }
            while self.held.contains(&block.1) {
                block.1 += 1;
            }
            if !blocks.contains(&block) && blocks.len() < 3 {
                blocks.push(block);
            }
        }
        blocks
    }
}

/// Plays a trace and checks what is sent. `A7` is the arrival of an ACK of segments up to 7, `S7` the sending of
/// segment 7, `T` a timeout. `lost`: numbers of the lost transmissions, counted from 1.
#[track_caller]
fn play(trace: &str, lost: &[usize]) {
    let config = Config {
        recovery: choose(recovery::ALL, "sack1", &[]),
        sack: true,
        initial_window: 10,
        ..config("sack")
    };
    let mut script = Script::opened(halving_the_window(config), Peer { window: 20_000, ..Peer::default() });
    script.run([PeerWindow(20_000), Write(1_000_000)]);
    let mut receiver = Receiver { next: 1, ..Receiver::default() };
    let (mut under_way, mut transmissions, mut highest) = (VecDeque::new(), 0, 0);
    let mut events = trace.split_whitespace().peekable();
    while let Some(event) = events.next() {
        let number = || event[1..].parse::<u64>().unwrap();
        match &event[..1] {
            "S" => {
                transmissions += 1;
                let segment = number();
                if segment > highest {
                    script.run([New(segment)])
                } else {
                    script.run([Again(segment)])
                };
                highest = highest.max(segment);
                if !lost.contains(&transmissions) {
                    under_way.push_back(segment);
                }
            }
            "A" => {
                receiver.take(under_way.pop_front().expect("a segment in flight that causes the ACK"));
                assert_eq!(receiver.next - 1, number(), "the receiver acknowledges as in the trace");
                script.tick(1);
                script.sack(receiver.next, &receiver.blocks());
            }
            _ => {
                script.run([Timeout]);
            }
        }
        if events.peek().is_none_or(|next| !next.starts_with('S')) {
            script.run([Nothing]);
        }
    }
}

/// `pipe` is 20 - 3 at the third duplicate ACK. Eight ACKs later `pipe` is below cwnd = 10, and then one hole is
/// retransmitted per ACK. The partial ACKs of segments 12 and 17 permit two and four segments.
#[test]
fn losses_stay_in_the_pipe() {
    play(
        &format!(
            "{START} A10 A10 A10 A10 A10 A10 A10 A10 S13 A10 S14 A10 S18 A10 A10 A10 A12 S31 S32 A13 S33 A17 S34 \
             S35 S36 S37 A30 S38 S39 S40 A31 S41 A32 S42 A33 S43 A34 S44 A35 S45 A36 S46 A37 S47 A38 S48 A39 S49 \
             A40 S50"
        ),
        &[11, 13, 14, 18],
    );
}

/// The retransmission of segment 13 is lost, so the timer expires and go-back-N begins. The second retransmission of 13
/// fills the last hole, and slow start continues with segment 33.
#[test]
fn a_lost_retransmission_waits_for_the_timer() {
    play(
        &format!(
            "{START} A10 A10 A10 A10 A10 A10 A10 A10 S13 A10 S14 A10 S18 A10 A10 A10 A12 S31 S32 A12 A12 A12 A12 T \
             S13 A32 S33 S34 A33 S35 S36 A34 S37 S38 A35 S39 S40 A36 S41"
        ),
        &[11, 13, 14, 18, 32],
    );
}

/// Segments 32, 34 and 37, sent in recovery, are lost. Three duplicate ACKs after the end of the recovery begin the
/// next recovery.
#[test]
fn a_second_recovery_begins_with_three_duplicates() {
    play(
        &format!(
            "{START} A10 A10 A10 A10 A10 A10 A10 A10 S13 A10 S14 A10 S18 A10 A10 A10 A12 S31 S32 A13 S33 A17 S34 \
             S35 S36 S37 A30 S38 S39 S40 A31 S41 A31 A31 A31 S32 A31 A31 A31 S34 A31 S37 A33 S42 S43 A36 S44 S45 \
             A41 S46 A42 S47 A43 S48 A44 S49"
        ),
        &[11, 13, 14, 18, 36, 38, 41],
    );
}

/// Every second segment of a window of data is lost. After each of the two timeouts all outstanding segments are
/// retransmitted, SACKed segments included.
#[test]
fn after_a_timeout_reports_are_forgotten() {
    play(
        "S1 S2 S3 S4 S5 S6 S7 S8 S9 S10 A1 S11 S12 A2 S13 S14 A3 S15 S16 A4 S17 S18 A5 S19 S20 A6 S21 S22 A7 S23 S24 \
         A8 S25 S26 A8 A8 A8 S9 A8 A8 A8 A8 A8 A8 T S9 A10 S11 S12 A12 S13 S14 S15 A12 A12 A12 T S13 A16 S17 S18 A18 \
         S19 S20 A18 A20 S21 S22 A20 A22 S23 S24 S25 A22 A24 S26 S27 A24 A26 S28 S29",
        &[9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 31],
    );
}
