//! Bianchi's model of saturated stations (IEEE JSAC 18(3), 2000), and the configuration of a cell with the paper's
//! parameters.

use crate::air::{AirStatistics, Direction, config, run_cell_of};
use lasthop_base::{Duration, Rate, Time, Value};
use lasthop_net::Config;
use lasthop_net::service::Service;

/// Returns the configuration of Bianchi 2000, §V. The rate is 1 Mbit/s. Frames have 8184 bits of payload, a MAC header
/// of 272 bits and a PHY header of 128 bits. ACKs have 112 bits and a PHY header of 128 bits. Slots last 50 us, SIFS 28
/// us and DIFS 128 us. The contention windows are those of Fig. 6, W = 32 and m = 5.
pub(crate) fn bianchis(more: &[(&'static str, Value)]) -> Config {
    let us = |micros| Value::Duration(Duration::from_micros(micros));
    let mut settings = vec![
        ("frames", Value::Count(1)),
        ("transmissions", Value::Count(1000)),
        ("slot", us(50)),
        ("sifs", us(28)),
        ("difs", us(128)),
        ("preamble", us(128)),
        ("ack", us(240)),
        ("overhead", Value::Bytes(34)),
        ("cw_min", Value::Count(31)),
        ("cw_max", Value::Count(1023)),
    ];
    settings.extend(more.iter().cloned());
    Config { service: Service::Rate(Rate::from_bps(1_000_000)), ..config(&settings, 0.0) }
}

/// Payload of a frame, bytes.
pub(crate) const PAYLOAD: u32 = 1023;
/// Time in us for which a frame occupies the medium, ACK and DIFS included.
pub(crate) const BUSY: f64 = 128.0 + 272.0 + 8184.0 + 28.0 + 240.0 + 128.0;

/// Solves Eq. 7 and 9 for `n` stations. Returns the probability that a transmission collides, and the probability that
/// a station sends in a slot.
pub(crate) fn bianchi(n: i32) -> (f64, f64) {
    let (w, m) = (32.0, 5);
    // This form of Eq. 9 has no singularity at p = 1/2, where p is the collision probability.
    let sum = |p: f64| (0..m).map(|stage| (2.0 * p).powi(stage)).sum::<f64>();
    let tau_of = |p: f64| 2.0 / (1.0 + w + p * w * sum(p));
    // 1 - (1 - tau)^(n - 1) rises with tau, and tau falls with p. The equation therefore has only one root.
    let p = root(|p| 1.0 - (1.0 - tau_of(p)).powi(n - 1) - p);
    (p, tau_of(p))
}

/// Returns the throughput of payload as a share of the rate (Eq. 13). A collision here lasts as long as a success, ACK
/// time included, because of 802.11's EIFS. In the paper, the time of a collision, T_c, excludes the ACK time.
pub(crate) fn bianchis_throughput(n: i32) -> f64 {
    let tau = bianchi(n).1;
    let some = 1.0 - (1.0 - tau).powi(n);
    let one = f64::from(n) * tau * (1.0 - tau).powi(n - 1) / some;
    some * one * f64::from(8 * PAYLOAD) / ((1.0 - some) * 50.0 + some * BUSY)
}

/// Computes Bianchi's model with DCF's back-off, which does not count busy slots. (Tinnirello, Bianchi and Xiao, IEEE
/// TVT 59(3), 2010, explain why; the formulas here are our own.) A station that draws 0 after its own transmission
/// sends at once, without collision. A station that draws another number waits for that many idle slots. Returns the
/// throughput, and the share of transmissions that collide.
pub(crate) fn dcf(n: i32) -> (f64, f64) {
    // Returns two rates of a station, in transmissions per idle slot: the rate of transmissions that follow idle slots,
    // and the rate of transmissions that directly follow the station's previous transmission.
    let rates = |p: f64| {
        let (mut visits, mut sent, mut at_once, mut slots) = (1.0, 0.0, 0.0, 0.0);
        for stage in 0..=5 {
            let w = 32.0 * f64::from(1 << stage);
            let fails = p * (1.0 - 1.0 / w);
            // A station whose transmissions fail stays in the last back-off stage.
            let here = if stage < 5 { visits } else { visits / (1.0 - fails) };
            sent += here * (1.0 - 1.0 / w);
            at_once += here / w;
            slots += here * (w - 1.0) / 2.0;
            visits *= fails;
        }
        (sent / slots, at_once / slots)
    };
    let p = root(|p| 1.0 - (1.0 - rates(p).0).powi(n - 1) - p);
    let (tau, at_once) = rates(p);
    let alone = f64::from(n) * (tau * (1.0 - tau).powi(n - 1) + at_once);
    let busy = 1.0 - (1.0 - tau).powi(n) + f64::from(n) * at_once;
    (alone * f64::from(8 * PAYLOAD) / (50.0 + busy * BUSY), p * tau / (tau + at_once))
}

/// Returns the root of a falling function between 0 and 1.
fn root(function: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if function(middle) > 0.0 { low = middle } else { high = middle }
    }
    low
}

/// Returns the throughput of payload in Mbit/s on these directions.
pub(crate) fn throughput(
    statistics: &AirStatistics,
    directions: std::ops::Range<usize>,
    seconds: u64,
) -> f64 {
    let arrived: usize = statistics.arrived[directions].iter().map(Vec::len).sum();
    arrived as f64 * f64::from(8 * PAYLOAD) / (seconds as f64 * 1e6)
}

/// Runs `n` saturated stations for 400 s. Returns the throughput as a share of the rate, and the share of colliding
/// transmissions.
pub(crate) fn saturated(n: usize) -> (f64, f64) {
    let config = bianchis(&[]);
    let directions: Vec<Direction<'_>> = (0..n).map(|sender| (&config, sender, true)).collect();
    let statistics = run_cell_of(PAYLOAD, &directions, Time::ZERO + Duration::from_secs(400));
    let arrived = statistics.arrived.iter().map(Vec::len).sum::<usize>() as f64;
    let begun = statistics.begun.iter().map(Vec::len).sum::<usize>() as f64;
    (throughput(&statistics, 0..n, 400), 1.0 - arrived / begun)
}
