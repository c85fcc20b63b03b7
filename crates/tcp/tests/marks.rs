//! Echoes of ECN marks by the receiver, and the response of saad's congestion control W_CW.

mod script;

use lasthop_base::{Choice, Value};
use lasthop_tcp::event::Cause;
use lasthop_tcp::receiver::ecn_echo;
use lasthop_tcp::sender::congestion;
use lasthop_tcp::{Config, Event};
use lasthop_wire::Flags;
use script::Step::*;
use script::{Peer, Script, choose, config};

const ECN: Peer = Peer { mss: 1000, window: 60_000, scale: None, sack: false, timestamps: false, ecn: true };

/// Returns for the ACK of each of the segments 1 to 6 whether it echoes a mark. Segments 2 and 4 arrive marked.
fn echoes(name: &str) -> Vec<bool> {
    let ecn_echo = Choice::named(ecn_echo::ALL, name);
    let mut script = Script::opened(Config { ecn: true, ecn_echo, ..config("reno") }, ECN);
    let mut echoes = Vec::new();
    for number in 1..=6 {
        script.run([if number == 2 || number == 4 { Marked(number) } else { Data(number) }]);
        echoes.push(script.sent("an ACK").segment.flags.has(Flags::ECE));
    }
    echoes
}

/// RFC 3168 §6.1.3 (`latched`): the receiver sets ECE until CWR arrives. With `per_packet`, only the ACK of a marked
/// segment has ECE.
#[test]
fn an_echo_per_packet_is_not_latched() {
    assert_eq!(echoes("latched"), [false, true, true, true, true, true]);
    assert_eq!(echoes("per_packet"), [false, true, false, true, false, false]);
}

fn w_cw(marks: &'static str) -> Script {
    let congestion = choose(congestion::ALL, "w_cw", &[("marks", Value::Word(marks))]);
    let mut script =
        Script::opened(Config { ecn: true, congestion, initial_window: 16, ..config("reno") }, ECN);
    script.endpoint.write(1 << 30);
    script.run([News(1, 16), Tick(100)]);
    script
}

/// saad Fig. 4, rate control (1): marks halve cwnd once per window of data, once per RTT, or at every ACK with an echo.
#[test]
fn marked_acks_halve() {
    let windows = |marks| {
        let mut script = w_cw(marks);
        script.run([Echo(2), Echo(3), Echo(4)]);
        script.endpoint.sender().window()
    };
    assert_eq!(windows("window"), 7500, "cwnd is not half of the 15 segments outstanding");
    assert_eq!(windows("rtt"), 7500);
    // The three echoes reduce cwnd to 7500, 3750, and then the minimum of two segments.
    assert_eq!(windows("every"), 2000);
}

fn causes(script: &mut Script) -> Vec<Cause> {
    let mut causes = Vec::new();
    while let Some((_, event)) = script.endpoint.poll_event() {
        if let Event::LossClassified { cause, .. } = event {
            causes.push(cause);
        }
    }
    causes
}

/// The mark on the third duplicate ACK decides about a loss. With a mark, the loss is congestion and halves cwnd.
/// Without a mark, the loss is wireless and sets ssthresh to the estimate, here two segments because no estimate exists
/// yet. The segment is retransmitted in both cases.
#[test]
fn the_third_duplicate_decides() {
    let mut script = w_cw("window");
    script.run([Acks(1, 3), Again(1), SsthreshBytes(2000)]);
    assert_eq!(causes(&mut script), [Cause::Wireless]);
}

#[test]
fn marked_duplicates_halve_once() {
    let mut script = w_cw("window");
    script.run([Echo(1), SsthreshBytes(8000), Echo(1), Echo(1), SsthreshBytes(8000), Again(1)]);
    assert_eq!(causes(&mut script), [Cause::Congestion]);
}
