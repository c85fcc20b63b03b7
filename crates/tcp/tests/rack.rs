//! RACK-TLP by the rules of RFC 8985, step by step. The round-trip time is 100 ms throughout.

mod script;

use lasthop_base::Choice;
use lasthop_tcp::Config;
use lasthop_tcp::sender::recovery;
use script::Step::*;
use script::{Peer, Script, config};

/// A window of `window` segments that is full; one segment was acknowledged before, so that the RTT is known.
fn full(window: u32) -> Script {
    let mut script = opened(window);
    script.run([Write(1_000_000), New(1), Tick(100)]);
    script
}

fn opened(window: u32) -> Script {
    let recovery = Choice::named(recovery::ALL, "rack");
    Script::opened(Config { recovery, sack: true, initial_window: window, ..config("sack") }, Peer::default())
}

#[test]
fn look() {
    let mut script = opened(10);
    script.run([Write(10_000), News(1, 10), Tick(100)]);
    eprintln!("{:?}", script.endpoint.sender().rtt());
    script.run([Sack(1, &[(2, 5)]), Again(1), Cwnd(5), InFlight(7)]);
}
