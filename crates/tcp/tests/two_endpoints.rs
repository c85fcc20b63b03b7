//! Results of the example `examples/two_endpoints.rs`.

#[path = "../examples/two_endpoints.rs"]
mod two_endpoints;

use lasthop_base::{Duration, Time};

/// Every byte arrives, and the number of retransmissions equals the number of losses. Both ends are closed soon after
/// TIME-WAIT of 60 s.
#[test]
fn everything_arrives_and_both_close() {
    two_endpoints::main();
    let (end, delivered, lost, again) = two_endpoints::transfer(1_000_000);
    assert_eq!((delivered, again), (1_000_000, lost));
    // A megabyte has 691 segments, and every twentieth transmission is lost. 691 = sent · 19 / 20 gives 727
    // transmissions, of which 36 are lost.
    assert_eq!(lost, 36);
    let since_time_wait = end.since(Time::ZERO + Duration::from_secs(60));
    assert!(since_time_wait < Duration::from_secs(10), "{end}");
}
