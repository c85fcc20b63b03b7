//! Tests a Wi-Fi cell: medium access, collisions and arrivals.
//!
//! * This file: the two directions of one link. `many`: more stations, slow stations, access points and load stations.
//!   `bianchi`: Bianchi's model. `air`: runs a cell.

mod air;
mod bianchi;
mod many;

use air::{config, run};
use lasthop_base::{Choice, Duration, Time, Value};
use lasthop_net::{Config, arq};

const SECOND: Time = Time::from_nanos(1_000_000_000);

/// A single station sends single frames. Each frame must take 417.6 us: DIFS 34 us, on average 7.5 slots of 9 us,
/// preamble 40 us, frame 228.1 us, SIFS 16 us and ACK 32 us. Aggregates are limited to 64 frames or 4 ms. In 4 ms, 17.5
/// frames are sent. A frame that starts within 4 ms is included, so an aggregate must have 18 frames, which take 4296
/// us with overhead.
#[test]
fn a_station_alone_has_the_medium() {
    let seconds = 20.0;
    let end = Time::ZERO + Duration::from_secs(20);
    let single = run(&config(&[("frames", Value::Count(1))], 0.0), [true, false], end);
    let cycle = seconds * 1e6 / single.arrived[0].len() as f64;
    let expected = 34.0 + 67.5 + 40.0 + 1540.0 * 8.0 / 54.0 + 16.0 + 32.0;
    // The bound is five standard errors of the back-off, 9 us * sqrt((16^2 - 1) / 12), over 47,900 frames.
    let error = 9.0 * (255.0f64 / 12.0).sqrt() / (single.arrived[0].len() as f64).sqrt();
    assert!((cycle - expected).abs() < 5.0 * error + 0.01, "{cycle} us instead of {expected}");
    let many = run(&config(&[], 0.0), [true, false], end);
    let cycle = seconds * 1e6 / many.begun[0].len() as f64;
    let expected = 34.0 + 67.5 + 40.0 + 18.0 * 1540.0 * 8.0 / 54.0 + 16.0 + 32.0;
    let error = 9.0 * (255.0f64 / 12.0).sqrt() / (many.begun[0].len() as f64).sqrt();
    assert!((cycle - expected).abs() < 5.0 * error + 1.0, "{cycle} us instead of {expected}");
}

/// Bianchi 2000, Eq. 7 and 9, for two stations with windows of 16 to 1024 (W = 16, m = 6). The collision probability p
/// equals tau, the probability of sending in a slot: `p = tau = 2 (1 - 2p) / ((1 - 2p) 17 + 16 p (1 - (2p)^6))`.
/// Bianchi's model counts busy slots as back-off slots, but DCF does not. Collisions must therefore be slightly rarer
/// than in the model. The bound is 20 %.
#[test]
fn two_stations_share_and_collide_as_bianchi_says() {
    let end = Time::ZERO + Duration::from_secs(30);
    let statistics = run(&config(&[("frames", Value::Count(1))], 0.0), [true, true], end);
    let tau =
        |p: f64| 2.0 * (1.0 - 2.0 * p) / ((1.0 - 2.0 * p) * 17.0 + 16.0 * p * (1.0 - (2.0 * p).powi(6)));
    let p = (0..200).fold(0.1, |p, _| 0.5 * (p + tau(p)));
    let [down, up] = &statistics.begun[..] else { panic!("two") };
    let collisions = down.iter().filter(|from| up.binary_search(from).is_ok()).count() as f64;
    for begun in &statistics.begun {
        let share = collisions / begun.len() as f64;
        assert!((share / p - 1.0).abs() < 0.2, "{share} instead of {p}");
    }
    // The difference between the two stations' numbers of frames must be at most five standard errors, as for a fair
    // coin.
    let (one, other) = (statistics.arrived[0].len() as f64, statistics.arrived[1].len() as f64);
    assert!((one - other).abs() < 5.0 * (one + other).sqrt(), "{one} and {other}");
    let alone = run(&config(&[("frames", Value::Count(1))], 0.0), [true, false], end).arrived[0].len() as f64;
    // Two stations have less back-off, but more collisions, than one station. Together they must have about the
    // throughput of one station.
    assert!(((one + other) / alone - 1.0).abs() < 0.1, "{one} and {other}, {alone} alone");
}

/// Lost frames must be retransmitted with the next aggregate, and frames must arrive in order. With a loss probability
/// of 0.3, a share of 0.3^n of the frames must be given up after n transmissions.
#[test]
fn lost_frames_come_again_in_order() {
    for (transmissions, loss) in [(7, 0.3f64.powi(7)), (2, 0.09)] {
        let config = config(&[("transmissions", Value::Count(transmissions))], 0.3);
        let statistics = run(&config, [true, false], SECOND + Duration::from_secs(9));
        let arrived = &statistics.arrived[0];
        assert!(arrived.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1));
        let all = arrived.len() as f64 + statistics.lost[0] as f64;
        let share = statistics.lost[0] as f64 / all;
        assert!((share - loss).abs() < 5.0 * (loss / all).sqrt(), "{share} instead of {loss} of {all}");
    }
}

#[test]
fn it_needs_the_other_direction() {
    let config = config(&[], 0.0);
    assert!(config.partner().is_some());
    assert!(Config { arq: Choice::of(&arq::DEFAULT), ..config }.partner().is_none());
}
