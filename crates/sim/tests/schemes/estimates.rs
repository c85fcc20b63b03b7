//! Tests of the rate estimates of Jersey, New Jersey, Westwood and Westwood+. Another congestion control determines the
//! window, and the estimators observe its ACKs.

use super::passive_control::{Log, run_with_estimates};
use super::{AIR, Setting};

const FOUR: &[&str] = &["jersey", "new_jersey", "westwood", "westwood_plus"];

/// Payload capacity of the radio link, bytes/s: 1000 of 1040 bytes at 2 Mbit/s.
const FULL: f64 = 2e6 / 8.0 / 1.04;

/// The receive window has 48 segments, and the path holds 28 segments. The queue is therefore never empty, and the RTT
/// is 200 ms.
const FILLED: &[Setting<'_>] = &[
    ("window", "{ kind = \"buffer\", size = \"48000 bytes\" }"),
    ("flow.bulk.sender.initial_window", "48"),
    ("duration", "30 s"),
];

/// Returns the mean and the maximum of an estimator's absolute relative error.
fn errors(log: &Log, which: usize, [from, to]: [f64; 2], rate: f64) -> (f64, f64) {
    let errors: Vec<f64> =
        log.of(which, from, to).into_iter().map(|read| (read / rate - 1.0).abs()).collect();
    assert!(errors.len() > 500, "{} estimates", errors.len());
    (errors.iter().sum::<f64>() / errors.len() as f64, errors.iter().fold(0.0, |most, it| it.max(most)))
}

/// Jersey's filter window is one round trip. After five round trips, e^-5 of the initial error must remain, which is
/// less than 1 %. Three round trips (400 ms each) after the rate halves, e^-3 of the step must remain, so the estimate
/// must be within 5 % of the new rate.
#[test]
fn jersey_knows_the_rate_after_five_round_trips_and_follows_a_step_in_three() {
    let step: &[Setting<'_>] = &[("link.air.down.plan", "2 Mbit/s for 10 s, 1 Mbit/s for 30 s")];
    let (_, log, _) = run_with_estimates("reno", FOUR, "", &[FILLED, step], 1);
    let first = log.rates[0].0.as_secs();
    for (which, name) in FOUR[..2].iter().enumerate() {
        let (mean, most) = errors(&log, which, [first + 5.0 * 0.2, 10.0], FULL);
        // The last ACKs of packets at the old rate reach the sender 55 ms after the change.
        let after = 10.055 + 3.0 * 0.4;
        let (_, later) = errors(&log, which, [after, 30.0], FULL / 2.0);
        let soon = log.of(which, 10.1, 10.2).into_iter().fold(f64::INFINITY, f64::min) / (FULL / 2.0);
        println!(
            "{name}: error {:.2} % in the mean, {:.2} % at most; three round trips after the step {:.2} % at most; soon after it {soon:.2} of the new rate",
            100.0 * mean,
            100.0 * most,
            100.0 * later
        );
        assert!(most < 0.05, "{name}: {most}");
        assert!(later < 0.05, "{name}: {later}");
        assert!(soon > 1.3, "{name}: {soon}");
    }
}

/// The uplink of 64 kbit/s also carries datagrams of 1000 bytes, each of which takes an eighth of a second, so ACKs
/// arrive in bursts. New Jersey uses the receiver's timestamps, so its estimate must be unaffected. Jersey's filter
/// window is one round trip: 270 ms, 330 ms or 1 s with receive windows of 64, 80 or 250 KB. Jersey's error must grow
/// as the filter window shrinks.
#[test]
fn the_receivers_clock_does_not_mind_a_slow_way_back() {
    let cross = r#"
        [flow.cross]
        kind = "cbr"
        from = "client"
        to = "server"
        rate = "16 kbit/s"
        packet = "1000 bytes"
    "#;
    let off = ["64000", "80000", "250000"].map(|window| {
        let window = format!("{{ kind = \"buffer\", size = \"{window} bytes\" }}");
        let slow: &[Setting<'_>] = &[
            ("link.air.up.rate", "64 kbit/s"),
            ("link.air.up.queue", "60 packets"),
            ("link.air.down.queue", "300 packets"),
            ("window", &window),
            ("flow.bulk.receiver.ack_policy", "delayed"),
            ("duration", "30 s"),
        ];
        let (_, log, _) = run_with_estimates("reno", FOUR, cross, &[slow], 1);
        let read: Vec<_> = (0..4).map(|which| errors(&log, which, [10.0, 30.0], FULL)).collect();
        println!("{window}: {FOUR:?}, mean and largest error: {read:.3?}");
        assert!(read[1].1 < 0.05, "New Jersey: {:?}", read[1]);
        read[0].1
    });
    assert!(off[0] > 0.2 && off.is_sorted_by(|short, long| short > long), "Jersey: {off:?}");
}

#[test]
fn westwood_plus_does_not_mind_lost_acks() {
    // The mean is weighted by time, because a mean over ACKs would favour high rates.
    let mean = |log: &Log, which: usize, from: f64| {
        let (mut sum, mut time) = (0.0, 0.0);
        for pair in log.rates.windows(2).filter(|pair| pair[0].0.as_secs() >= from) {
            let span = pair[1].0.since(pair[0].0).as_secs();
            sum += pair[0].1[which] * span;
            time += span;
        }
        sum / time
    };
    let acks: &[Setting<'_>] = &[("link.air.up.channel", "{ kind = \"iid\", loss = 0.3 }")];
    let (plain, lossy) = (
        run_with_estimates("reno", FOUR, "", &[FILLED], 1).1,
        run_with_estimates("reno", FOUR, "", &[FILLED, acks], 1).1,
    );
    let [before, after] = [&plain, &lossy].map(|log| mean(log, 3, 10.0));
    let (_, most) = errors(&lossy, 3, [10.0, 30.0], FULL);
    println!(
        "Westwood+, of the rate: {:.3}, {:.3} with 30 % of the ACKs lost; {most:.3} off at most",
        before / FULL,
        after / FULL
    );
    assert!((after / before - 1.0).abs() < 0.1 && most < 0.1, "{before} {after} {most}");
    // Westwood+ now controls the sender itself, and 1 % of the data is lost. The estimate must equal the goodput.
    let air: &[Setting<'_>] = &[
        (AIR, "{ kind = \"iid\", loss = 0.01 }"),
        ("link.air.rate", "10 Mbit/s"),
        ("link.wired.rate", "100 Mbit/s"),
        ("link.wired.one_way_delay", "15 ms"),
        ("link.air.down.queue", "100 packets"),
        ("duration", "60 s"),
    ];
    for (name, case) in [("no ACK lost", &[][..]), ("30 % lost", acks)] {
        let shares = (1..=5).map(|seed| {
            let (outcome, log, _) = run_with_estimates("westwood_plus", FOUR, "", &[air, case], seed);
            [2, 3].map(|which| mean(&log, which, 0.0)).map(|read| read * 8e-3 / outcome.goodput_kbps())
        });
        let shares: Vec<_> = shares.collect();
        println!("{name}: Westwood's and Westwood+'s estimate over goodput, by seed: {shares:.3?}");
        for [_, plus] in shares {
            assert!((plus - 1.0).abs() < 0.1, "{name}: {plus}");
        }
    }
}
