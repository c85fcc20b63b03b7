//! Time during which each factor limits a sender, counted as in Linux's `tcp_info`.

mod script;

use lasthop_tcp::Config;
use script::Step::*;
use script::{Peer, Script, config};

fn opened(initial_window: u32) -> Script {
    Script::opened(Config { initial_window, ..config("sack") }, Peer::default())
}

/// The sender counts how long cwnd, the receive window and the application have limited it since the handshake, in ms.
#[test]
fn what_a_sender_waits_for() {
    fn counted(script: &Script) -> [f64; 3] {
        let limited = script.endpoint.sender().limited(script.now);
        [limited.congestion, limited.receiver, limited.application].map(|span| span.as_millis())
    }
    let mut script = opened(4);
    script.run([Nothing, Tick(30), Write(100_000), News(1, 4), Nothing, Tick(20)]);
    assert_eq!(counted(&script), [20.0, 0.0, 30.0]);
    // cwnd permits another segment, but the receive window does not, so the receive window limits the sender.
    script.run([PeerWindow(4500), Ack(2), New(5), Nothing, Tick(40)]);
    assert_eq!(counted(&script), [20.0, 40.0, 30.0]);
    script.run([PeerWindow(6000), Ack(3), News(6, 8), Nothing, Tick(10)]);
    assert_eq!(counted(&script), [30.0, 40.0, 30.0]);
    let mut script = opened(1);
    script.run([Write(100_000), New(1), Nothing, PeerWindow(2000), Ack(2), News(2, 3), Nothing, Tick(10)]);
    assert_eq!(counted(&script), [10.0, 0.0, 0.0]);
    // After a timeout, the time counts as limited by cwnd.
    script.run([Timeout, Again(2), Nothing, Tick(5)]);
    assert_eq!(counted(&script)[1..], [0.0, 0.0]);
    // While Nagle's algorithm delays a short segment, the time (7 ms) counts as limited by the application.
    let mut script = opened(4);
    script.run([Write(1500), New(1), Nothing, Tick(7)]);
    assert_eq!(counted(&script), [0.0, 0.0, 7.0]);
}
