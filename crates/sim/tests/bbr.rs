//! BBRv3 on the paths of google/quiche's public simulator tests (`bbr3_simulator_test.cc`): a bottleneck of 4 Mbit/s, 32 ms one
//! way, a queue of so many bandwidth-delay products. The thresholds are those tests'; where the draft's gains are others than
//! quiche's (STARTUP 2.77 and not 2.885), what differs is said.

use lasthop_scenario::Draft;
use lasthop_sim::{FlowOutcome, Outcome, run};

fn outcome(text: &str, settings: &[(&str, &str)]) -> Outcome {
    let mut draft = Draft::load(text).expect("an inline path");
    for (key, value) in settings {
        draft.set(key, value).unwrap_or_else(|why| panic!("{key}: {why:?}"));
    }
    run(&draft.check().expect("a valid scenario"), 1)
}

/// The share of the link that arrives, of what its headers leave (1448 of 1500 bytes), after so many seconds.
fn used(flow: &FlowOutcome, kbps: f64) -> f64 {
    flow.goodput_kbps() / (kbps * 1448.0 / 1500.0)
}

fn lost(flow: &FlowOutcome) -> f64 {
    flow.source.retransmitted as f64 / flow.source.data_sent as f64
}

/// NormalStartup, SimpleTransfer2BDPBuffer: no loss at all where the queue holds two products, and the whole bandwidth.
#[test]
fn two_products_of_queue_lose_nothing() {
    for (duration, least) in [("3 s", 0.7), ("60 s", 0.95)] {
        let path = "rate=4Mbit/s,rtt=64ms,queue=2bdp,congestion=bbr3";
        let flow = outcome(path, &[("duration", duration)]).flows.swap_remove(0);
        assert_eq!(flow.source.retransmitted, 0, "{duration}");
        assert!(used(&flow, 4000.0) > least, "{duration}: {}", used(&flow, 4000.0));
    }
}

/// SimpleTransferSmallBuffer (0.5 BDP): 5 % lost at most.
#[test]
fn half_a_product_of_queue_loses_little() {
    let path = "rate=4Mbit/s,rtt=64ms,queue=0.5bdp,congestion=bbr3";
    let flow = outcome(path, &[("duration", "30 s")]).flows.swap_remove(0);
    assert!(lost(&flow) < 0.05, "{}", lost(&flow));
    assert!(used(&flow, 4000.0) > 0.85, "{}", used(&flow, 4000.0));
}
