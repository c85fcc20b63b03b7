//! Loss discrimination without notices from nodes. ECN echoes on duplicate ACKs, or round-trip times, decide whether a
//! loss reduces cwnd.

mod script;

use lasthop_base::Choice;
use lasthop_tcp::Config;
use lasthop_tcp::sender::loss_discrimination;
use script::Step::*;
use script::{Peer, Script, config};

fn with(sender_discrimination: &str) -> Config {
    Config {
        sender_discrimination: Choice::named(loss_discrimination::ALL, sender_discrimination),
        ..config("new_reno")
    }
}

/// Method of Ramani and Karandikar, as described in huang §2: a loss is congestion if three duplicate ACKs echo a mark.
/// The first echo halves cwnd (RFC 3168 §6.1.2), and the loss does not halve cwnd again. Without echoes the loss is
/// wireless, and cwnd stays.
#[test]
fn echoes_of_the_duplicates_decide() {
    const ECN: Peer =
        Peer { mss: 1000, window: 60_000, scale: None, sack: false, timestamps: false, ecn: true };
    for (echoes, window, congestion) in [(true, 8, 1), (false, 16, 0)] {
        let mut script =
            Script::opened(Config { ecn: true, initial_window: 16, sack: false, ..with("ecn") }, ECN);
        script.run([Write(1 << 30), News(1, 16), Tick(100)]);
        for _ in 0..3 {
            script.run([if echoes { Echo(1) } else { Ack(1) }]);
        }
        script.run([Again(1), Cwnd(window)]);
        let counters = script.endpoint.counters();
        assert_eq!((counters.judged_congestion, counters.judged_wireless), (congestion, 1 - congestion));
    }
}

/// The receive window limits the flight to ten segments. If ACKs arrive every 10 ms, each round trip takes 100 ms, and
/// a loss counts as wireless. If the ACK spacing grows by 2 ms per round, the round-trip time grows by 20 ms. This
/// growth indicates a longer queue, and a loss counts as congestion.
#[test]
fn round_trips_decide() {
    for name in ["ncpld", "santa_cruz", "trend"] {
        for (grows, congestion) in [(false, 0), (true, 1)] {
            let config = Config { initial_window: 10, ..with(name) };
            let mut script = Script::opened(config, Peer { window: 10_000, sack: false, ..Peer::default() });
            script.run([PeerWindow(10_000), Write(1 << 30), News(1, 10), Tick(90)]);
            for acked in 1..=100 {
                let later = if grows && acked > 60 { 2 * ((acked - 61) / 10 + 1) } else { 0 };
                script.run([Tick(10 + later), Ack(acked + 1), New(acked + 10), Nothing]);
            }
            let before = script.endpoint.sender().window();
            script.run([Acks(101, 3), Again(101)]);
            let counters = script.endpoint.counters();
            let verdicts = (counters.judged_congestion, counters.judged_wireless);
            assert_eq!(verdicts, (congestion, 1 - congestion), "{name}, queue grows: {grows}");
            let after = script.endpoint.sender().window();
            assert_eq!(after < before, grows, "{name}, queue grows: {grows}: cwnd {before} became {after}");
        }
    }
}
