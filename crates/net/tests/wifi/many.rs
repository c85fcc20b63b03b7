//! Compares more than two stations with Bianchi's model, and tests slow stations, access points and load stations.

use crate::air::{Direction, config, run, run_cell, run_cell_of};
use crate::bianchi::{BUSY, PAYLOAD, bianchi, bianchis, bianchis_throughput, dcf, saturated, throughput};
use lasthop_base::{Duration, Rate, Time, Value};
use lasthop_net::Config;
use lasthop_net::service::Service;

fn seconds(seconds: u64) -> Time {
    Time::ZERO + Duration::from_secs(seconds)
}

/// The throughput must agree with Bianchi's model within 1 %, and with the model of DCF's back-off within 0.5 %. The
/// share of collisions must agree with Bianchi's model within 4 %, and with the model of DCF's back-off within 3 %.
#[test]
fn saturated_stations_are_bianchis() {
    let near = |value: f64, expected: f64, by: f64| (value - expected).abs() < by * expected + 0.001;
    for n in [1, 2, 5, 10, 20, 50] {
        let (throughput, collide) = saturated(n);
        let ((p, _), expected) = (bianchi(n as i32), bianchis_throughput(n as i32));
        assert!(near(throughput, expected, 0.01), "{n}: {throughput} instead of {expected}");
        assert!(near(collide, p, 0.04), "{n}: {collide} instead of {p}");
        let (dcf, collisions) = dcf(n as i32);
        assert!(near(throughput, dcf, 0.005), "{n}: {throughput} instead of {dcf}");
        assert!(near(collide, collisions, 0.03), "{n}: {collide} instead of {collisions}");
    }
}

/// Heusse et al., INFOCOM 2003: all stations have equal access to the medium. A station at 1 Mbit/s must therefore
/// reduce the throughput of each station at 11 Mbit/s to the throughput of the slow station. The expected value is that
/// of Bianchi's model with longer frames for the slow station.
#[test]
fn one_slow_station_makes_all_slow() {
    let slow = bianchis(&[]);
    let fast = Config { service: Service::Rate(Rate::from_bps(11_000_000)), ..bianchis(&[]) };
    let n = 4;
    let directions: Vec<Direction<'_>> =
        (0..n).map(|sender| (if sender == 0 { &slow } else { &fast }, sender, true)).collect();
    let statistics = run_cell_of(PAYLOAD, &directions, seconds(600));
    let each: Vec<f64> = (0..n).map(|one| throughput(&statistics, one..one + 1, 600)).collect();
    let tau = bianchi(n as i32).1;
    let silent = (1.0 - tau).powi(n as i32);
    let alone = tau * (1.0 - tau).powi(n as i32 - 1);
    let fast_busy = BUSY - (272.0 + 8184.0) * 10.0 / 11.0;
    let slot = silent * 50.0 + tau * BUSY + (1.0 - silent - tau) * fast_busy;
    let expected = alone * f64::from(8 * PAYLOAD) / slot;
    // Each station sends about 20,000 frames.
    assert!(each.iter().all(|one| (one / expected - 1.0).abs() < 0.04), "{each:?} instead of {expected}");
    let all_fast: Vec<Direction<'_>> = (0..n).map(|sender| (&fast, sender, true)).collect();
    let statistics = run_cell_of(PAYLOAD, &all_fast, seconds(200));
    let without = alone * f64::from(8 * PAYLOAD) / (silent * 50.0 + (1.0 - silent) * fast_busy);
    let measured = throughput(&statistics, 1..2, 200);
    assert!(
        (measured / without - 1.0).abs() < 0.04,
        "{measured} instead of {without} without the slow station"
    );
    assert!(measured > 2.0 * each[1]);
}

/// An access point counts as one station. With three other senders, the access point must have a quarter of the
/// accesses. Its receivers must share these accesses equally.
#[test]
fn an_access_point_is_one_of_them() {
    let config = bianchis(&[]);
    let up = (1..4).map(|sender| (&config, sender, true));
    let directions: Vec<Direction<'_>> = (0..5).map(|_| (&config, 0, true)).chain(up).collect();
    let statistics = run_cell_of(PAYLOAD, &directions, seconds(600));
    let [down, all] = [0..5, 0..8].map(|some| throughput(&statistics, some, 600));
    assert!((down / all - 0.25).abs() < 0.01, "share of the access point's accesses: {}", down / all);
    assert!((all / bianchis_throughput(4) - 1.0).abs() < 0.01, "{all}");
    let counts: Vec<usize> = statistics.arrived[..5].iter().map(Vec::len).collect();
    assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
}

/// Stations that only produce background load must, if saturated, take as large a share of the medium as stations that
/// send packets of flows.
#[test]
fn load_takes_what_stations_take() {
    let access = Value::Duration(Duration::from_micros(128 + 272 + 8184 + 28 + 240));
    for n in [2, 5, 10] {
        let others = [("stations", Value::Count(n - 1)), ("access", access.clone())];
        let config = bianchis(&others);
        let statistics = run_cell_of(PAYLOAD, &[(&config, 0, true)], seconds(2000));
        let (measured, expected) =
            (throughput(&statistics, 0..1, 2000), bianchis_throughput(n as i32) / n as f64);
        // There are at least 12,000 frames, and n stations have equal chances. Five standard errors are therefore below
        // 5 %.
        assert!((measured / expected - 1.0).abs() < 0.05, "{n}: {measured} instead of {expected}");
    }
}

/// The load stations have Poisson arrivals with a load of 30 % or 50 %: 300 or 500 accesses of 1 ms per second. Each
/// access also has a DIFS, and collisions cause additional accesses. The station with packets must get the remaining
/// time, with 417.6 us per frame. With a load of 0, the station with packets must get all of the time.
#[test]
fn a_share_of_the_time_is_taken() {
    let of = |load, stations| {
        config(
            &[
                ("frames", Value::Count(1)),
                ("stations", Value::Count(stations)),
                ("load", Value::Number(load)),
                ("access", Value::Duration(Duration::from_millis(1))),
            ],
            0.0,
        )
    };
    let alone = run(&config(&[("frames", Value::Count(1))], 0.0), [true, false], seconds(20));
    let none = run_cell(&[(&of(0.0, 5), 0, true)], seconds(20));
    assert!(none.arrived[0] == alone.arrived[0], "arrivals must be those without load stations");
    for load in [0.3, 0.5] {
        let statistics = run_cell(&[(&of(load, 1), 0, true)], seconds(50));
        let collisions = (statistics.begun[0].len() - statistics.arrived[0].len()) as f64 / 50.0;
        let own = statistics.arrived[0].len() as f64 / 50.0 * 417.6e-6;
        let others = (1000.0 * load + collisions) * 1034e-6;
        assert!((own + others - 1.0).abs() < 0.02, "{own} and {others}");
        // If the station with packets and the load station wait for the medium at the same time, they start together in
        // about one of ten cases.
        assert!(collisions > 20.0 && collisions < 100.0, "{collisions} a second");
    }
}
