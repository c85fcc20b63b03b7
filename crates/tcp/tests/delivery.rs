//! Two endpoints over a path that loses, repeats, reorders and marks packets. With any mechanisms, all written data
//! must arrive, and both connections must close.

mod pipe;

use lasthop_tcp::receiver::{ack_policy, loss_discrimination};
use lasthop_tcp::sender::{ack_counting, recovery};
use pipe::{Host, Pipe, Run, ack_splittings, host, names, pipe};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn everything_arrives_and_both_close(source in host(), destination in host(), pipe in pipe()) {
        Run::new([source, destination], pipe).complete();
    }
}

/// Tests all combinations of recovery, ACK counting, ACK policy and ACK splitting. Sequence numbers wrap in the middle
/// of each stream.
#[test]
fn every_combination_delivers() {
    let mut seed = 0;
    for recovery in names(recovery::ALL) {
        for ack_counting in names(ack_counting::ALL) {
            for ack_policy in names(ack_policy::ALL) {
                for ack_splitting in ack_splittings() {
                    seed += 1;
                    let host = |iss: u32, writes| Host {
                        recovery,
                        ack_counting,
                        ack_policy,
                        ack_splitting,
                        cause: names(loss_discrimination::ALL)
                            [seed as usize % loss_discrimination::ALL.len()],
                        limited_transmit: seed % 2 == 0,
                        reenter: seed % 3 == 0,
                        sack: true,
                        timestamps: seed % 5 != 0,
                        ecn: seed % 7 == 0,
                        nagle: true,
                        segment: 1000,
                        initial_window: 4,
                        buffer: 1 << 20,
                        reads: 1 << 20,
                        iss,
                        writes,
                        others: [seed as u8; 16],
                    };
                    let hosts = [host(u32::MAX - 30_000, 100_000), host(u32::MAX - 10, 20_000)];
                    let pipe = Pipe {
                        seed,
                        loss: 0.05,
                        repeat: 0.02,
                        mark: 0.02,
                        spread: 5,
                        simultaneous: false,
                        forge: 0.0,
                    };
                    Run::new(hosts, pipe).complete();
                }
            }
        }
    }
}
