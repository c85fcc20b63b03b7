//! Expectations of google/quiche's public simulator tests of BBRv3 (`bbr3_simulator_test.cc`), on the path of these
//! tests: 4 Mbit/s, 32 ms one way. Quiche's STARTUP gain is 2.885; the gain of the draft, which we use, is 2.77.

use crate::lab::{Lab, Policer};
use lasthop_base::Rate;
use lasthop_tcp::sender::congestion::bbr3::Bbr3State;

/// Returns Quiche's path with a rate of `rate` bit/s and a queue of exactly `queue` bandwidth-delay products.
fn lab(rate: f64, queue: f64) -> Lab {
    let mut lab = Lab::new(rate, 0.064, queue, &[]);
    lab.path.queue = (queue * rate / 8.0 * 0.064) as u64;
    lab
}

fn ratio(lab: &Lab) -> f64 {
    lab.snapshot().max_bandwidth / lab.payload_rate()
}

/// Quiche's tests NormalStartup and SimpleTransfer, with a queue of two bandwidth-delay products. STARTUP ends after
/// three rounds without growth. No packet is lost, and max_bw is within 1 % of the path's rate.
#[test]
fn two_products_of_queue_lose_nothing() {
    let mut lab = lab(4e6, 2.0);
    lab.run_until("the end of STARTUP", 5.0, |lab| lab.state() != Bbr3State::Startup).expect("an end");
    assert_eq!((lab.state(), lab.snapshot().flat_rounds, lab.path.dropped), (Bbr3State::Drain, 3, 0));
    assert!((ratio(&lab) - 1.0).abs() < 0.01, "{}", ratio(&lab));
    lab.run_until("12 MiB", 30.0, |lab| lab.delivered() >= 12 << 20).expect("in 30 s");
    assert_eq!(lab.path.dropped, 0);
}

/// Quiche's test SimpleTransferSmallBuffer: with a queue of half a bandwidth-delay product, max_bw is within 2 % of the
/// path's rate. Quiche's test PacketLossOnSmallBufferStartup: at most 5 % of the first MiB is lost. Our BBR loses up to
/// 10 %: STARTUP has two bandwidth-delay products in flight, but path and queue hold only one and a half. Losses end
/// STARTUP only after a whole round of recovery (draft-ietf-ccwg-bbr §5.3.1.3).
#[test]
fn half_a_product_of_queue_loses_a_tenth_of_a_short_start() {
    let mut lab = lab(4e6, 0.5);
    lab.run_until("1 MiB", 15.0, |lab| lab.delivered() >= 1 << 20).expect("in 15 s");
    let lost = lab.path.dropped as f64 / lab.path.offered as f64;
    assert!((ratio(&lab) - 1.0).abs() < 0.02, "{}", ratio(&lab));
    assert!(lost <= 0.1, "{lost}");
    lab.run_until("12 MiB", 30.0, |lab| lab.delivered() >= 12 << 20).expect("in 30 s");
    let lost = lab.path.dropped as f64 / lab.path.offered as f64;
    assert!(lost <= 0.015, "{lost}");
}

/// From 300 kbit/s to 10 Mbit/s, max_bw is within 2 % of the path's rate. At 100 kbit/s, max_bw is only within 4 %,
/// because of delayed ACKs.
#[test]
fn the_bandwidth_is_found_at_all_rates() {
    for rate in [1e5, 3e5, 1e6, 3e6, 1e7] {
        let mut lab = lab(rate, 2.0);
        lab.path.queue = lab.path.queue.max(15_000);
        lab.run_until("CRUISE", 30.0, |lab| lab.state() == Bbr3State::Cruise).expect("CRUISE");
        let most = if rate < 2e5 { 0.04 } else { 0.02 };
        assert!((ratio(&lab) - 1.0).abs() < most, "{rate}: {}", ratio(&lab));
    }
}

/// With a policer at a quarter of the path's rate, at most 30 % of the packets are lost.
#[test]
fn a_policer_is_seen() {
    let mut lab = lab(4e6, 2.0);
    lab.path.policer = Some(Policer::new(lab.now, Rate::from_bps(1_000_000), 32_000.0));
    lab.run_until("3 MiB", 60.0, |lab| lab.delivered() >= 3 << 20).expect("in 60 s");
    let lost = lab.path.dropped as f64 / lab.path.offered as f64;
    assert!(lost <= 0.3, "{lost}");
}
