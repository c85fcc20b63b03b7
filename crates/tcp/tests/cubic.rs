//! CUBIC (RFC 9438): cwnd agrees with the closed forms and tables of the RFC, and with the rules for each kind of
//! congestion signal.

mod fluid;
mod script;

use fluid::{MSS, Path, cubic};
use lasthop_base::{Choice, Duration, Time, Value};
use lasthop_tcp::Config;
use lasthop_tcp::sender::congestion::{self, AckEvent, Level, LossEvent, Recovered};
use lasthop_tcp::sender::{ack_counting, recovery};
use script::Step::*;
use script::{Peer, Script, config};

const C: f64 = 0.4;
const BETA: f64 = 0.7;

fn w_cubic(t: f64, rise: f64, plateau: f64) -> f64 {
    C * (t - rise).powi(3) + plateau
}

/// RFC 9438 §4.2 and §4.4: after a loss at 1000 segments cwnd follows W_cubic(t) = C (t - K)^3 + 1000. Within an RTT,
/// R, cwnd x moves towards W_cubic(t + R): x' = (W_cubic(t + R) - x) / R. The deviation of x from W_cubic(t) is at most
/// R^2/2 max|W_cubic''| = 3 C R^2 max|t - K|.
#[test]
fn the_window_is_the_cubic_of_the_time_since_the_loss() {
    for (rtt_ms, friendly) in [(100, true), (100, false), (30, false)] {
        let control = cubic(&[("reno_friendly", Value::Flag(friendly))], 1000, 1);
        let mut path = Path::new(control, rtt_ms);
        path.lose();
        assert_eq!(path.control.window(), 700 * MSS);
        assert_eq!(path.control.ssthresh(), 700 * MSS);
        let rise = ((1.0 - BETA) * 1000.0 / C).cbrt();
        path.acknowledge();
        let began = path.now;
        let allowed = 3.0 * C * (rtt_ms as f64 / 1000.0).powi(2) * rise + 0.01;
        while path.now.since(began).as_secs() < 2.0 * rise {
            let t = path.now.since(began).as_secs();
            let (expected, window) = (w_cubic(t, rise, 1000.0), path.window());
            assert!(
                (window - expected).abs() < allowed,
                "RTT {rtt_ms} ms, {t} s after the loss: cwnd {window}, not {expected}"
            );
            path.acknowledge();
        }
    }
}

/// RFC 9438 §4.2: even if the cubic function grows faster, cwnd grows by at most half of cwnd within an RTT, that is by
/// 0.5 segments per ACK.
#[test]
fn the_target_is_a_window_and_a_half_at_most() {
    let control = cubic(&[("c", Value::Number(1000.0))], 10, 1);
    let mut path = Path::new(control, 500);
    path.acknowledge();
    path.acknowledge_for(5.0);
    let mut last = path.window();
    let mut reached = 0;
    for _ in 0..1000 {
        path.acknowledge();
        let gain = path.window() - last;
        assert!(gain < 0.5 + 0.0011, "cwnd grew by {gain} segments for one ACK");
        reached += u32::from(gain > 0.49);
        last = path.window();
    }
    assert!(reached > 900, "the bound was reached at only {reached} of 1000 ACKs");
}

/// Returns the mean cwnd, in segments, over ten losses. The first loss occurs at a cwnd of `top` segments. After that,
/// every (1/p)-th packet is lost.
fn mean_window(values: &[(&'static str, Value)], rtt_ms: u64, p: f64, top: f64) -> f64 {
    let mut path = Path::new(cubic(values, top.round() as u64, 1), rtt_ms);
    path.lose();
    let packets = (1.0 / p).round() as u64;
    let (mut time, mut count) = (0.0, 0u64);
    for _ in 0..10 {
        let before = path.now;
        (0..packets).for_each(|_| path.acknowledge());
        let flight = path.control.window();
        path.control.on_loss(&LossEvent { now: path.now, flight, window: flight, ..LossEvent::default() });
        path.control.on_recovered(flight, Recovered::Kept);
        time += path.now.since(before).as_secs();
        count += packets;
    }
    count as f64 * path.rtt.as_secs() / time
}

/// RFC 9438 §5.1, Tables 1 and 2: average cwnd with C = 0.4. In the concave region cwnd follows the cubic function. In
/// the Reno-friendly region cwnd follows AIMD(alpha, 0.7) with alpha of §4.3. cwnd returns to the same plateau before
/// each loss. The mean cwnd is 1 - (1 - 0.7)/4 = 0.925 of the plateau in the concave region, and (1 + 0.7)/2 = 0.85 in
/// the Reno-friendly region.
#[test]
fn the_average_windows_of_tables_1_and_2() {
    let alone = [("fast_convergence", Value::Flag(false))];
    for (rtt_ms, p, table) in [
        (100, 1e-2, 12.0),
        (100, 1e-3, 38.0),
        (100, 1e-4, 187.0),
        (100, 1e-5, 1054.0),
        (100, 1e-6, 5926.0),
        (10, 1e-2, 12.0),
        (10, 1e-3, 38.0),
        (10, 1e-4, 120.0),
        (10, 1e-5, 379.0),
    ] {
        let rtt = rtt_ms as f64 / 1000.0;
        let formula = libm::pow(C * (3.0 + BETA) / (4.0 * (1.0 - BETA)) * (rtt / p).powi(3), 0.25);
        let aimd = (1.5 / p).sqrt();
        // The tolerance allows for the sum over ACKs in place of the integral. If both closed forms give similar
        // windows, the tolerance is larger, since cwnd follows whichever window is larger at any time.
        let meet = formula / aimd > 0.8 && formula / aimd < 1.25;
        let share = 0.03 + 1.0 / table + if meet { 0.05 } else { 0.0 };
        let expected = formula.max(aimd);
        let top = if formula > aimd { formula / 0.925 } else { aimd / 0.85 };
        let mean = mean_window(&alone, rtt_ms, p, top);
        assert!(
            (mean / expected - 1.0).abs() < share,
            "RTT {rtt_ms} ms, loss {p}: mean cwnd {mean}, not {expected}"
        );
        assert!(
            (mean / table - 1.0).abs() < share,
            "RTT {rtt_ms} ms, loss {p}: mean cwnd {mean}, not {table}"
        );
    }
    let without = [("fast_convergence", Value::Flag(false)), ("reno_friendly", Value::Flag(false))];
    let formula = 1.054 * libm::pow(0.01 / 1e-4, 0.75);
    let mean = mean_window(&without, 10, 1e-4, formula / 0.925);
    assert!((mean / formula - 1.0).abs() < 0.06, "mean cwnd {mean}, not {formula}");
}

/// RFC 9438 §4.3: W_est grows by alpha = 3 (1 - beta)/(1 + beta) segments per round trip until it reaches the cwnd
/// before the loss, then by one segment.
#[test]
fn alpha_is_one_beyond_the_prior_window() {
    // At an RTT of 1 ms, W_cubic stays below W_est, so cwnd follows W_est.
    let mut path = Path::new(cubic(&[], 100, 1), 1);
    path.lose();
    let per_round = |path: &mut Path| {
        let (before, rounds) = (path.window(), 20);
        for _ in 0..rounds {
            path.acknowledge_for(path.rtt.as_secs());
        }
        (path.window() - before) / f64::from(rounds)
    };
    let alpha = 3.0 * (1.0 - BETA) / (1.0 + BETA);
    let slow = per_round(&mut path);
    assert!((slow / alpha - 1.0).abs() < 0.03, "cwnd grew by {slow} segments per RTT, not by {alpha}");
    while path.window() < 101.0 {
        path.acknowledge();
    }
    let fast = per_round(&mut path);
    assert!((fast - 1.0).abs() < 0.03, "cwnd grew by {fast} segments per RTT, not by 1");
}

/// W_est grows by the acknowledged bytes, whatever `ack_counting` is (RFC 9438 §4.3). In the cubic region, cwnd grows
/// by the credit that `ack_counting` gives to each ACK (§4.2). Each ACK covers two segments here, so a sender that
/// counts ACKs grows half as fast as a sender that counts bytes.
#[test]
fn delayed_acks_count_what_they_cover() {
    let gain = |name: &str, friendly: bool, rtt_ms: u64| {
        let mut path = Path::new(cubic(&[("reno_friendly", Value::Flag(friendly))], 1000, 1), rtt_ms);
        let ack_counting = Choice::named(ack_counting::ALL, name);
        path.ack_counting = (ack_counting.build)(&ack_counting.values);
        path.lose();
        path.acknowledge();
        let before = path.window();
        for _ in 0..70 {
            path.now += Duration::from_secs_f64(path.rtt.as_secs() / 350.0);
            let ack = AckEvent { acked: 2 * MSS, segments: 2, delivered: 2 * MSS, ..path.event() };
            path.control.on_ack(&ack, &mut *path.ack_counting);
        }
        path.window() - before
    };
    let fifth = 3.0 * (1.0 - BETA) / (1.0 + BETA) / 5.0;
    for name in ["rfc5681", "bytes"] {
        let gained = gain(name, true, 1);
        assert!((gained - fifth).abs() < 0.01, "{name}: cwnd grew by {gained} segments, not by {fifth}");
    }
    let (acks, bytes) = (gain("rfc5681", false, 100), gain("bytes", false, 100));
    assert!(
        (bytes / acks - 2.0).abs() < 0.2,
        "cwnd grew by {bytes} segments when bytes count, which is not twice the growth of {acks} when ACKs count"
    );
}

/// RFC 9438 §4.7, fast convergence: a loss below the last plateau (1000) sets the next plateau to (1 + beta)/2 of cwnd
/// (700). Without fast convergence the next plateau is cwnd. A loss above the last plateau always sets the plateau to
/// cwnd.
#[test]
fn fast_convergence() {
    for (fast, plateau) in [(true, 700.0 * (1.0 + BETA) / 2.0), (false, 700.0)] {
        let mut path = Path::new(cubic(&[("fast_convergence", Value::Flag(fast))], 1000, 1), 100);
        path.lose();
        path.lose();
        assert_eq!(path.control.window(), 490 * MSS);
        let rise = ((plateau - 490.0) / C).cbrt();
        path.acknowledge();
        path.acknowledge_for(rise);
        assert!((path.window() - plateau).abs() < 0.2, "{}, not {plateau}", path.window());
    }
    let mut path = Path::new(cubic(&[], 100, 1), 100);
    path.lose();
    path.acknowledge_for(10.0);
    let top = path.window();
    assert!(top > 105.0);
    path.lose();
    let rise = ((1.0 - BETA) * top / C).cbrt();
    path.acknowledge();
    path.acknowledge_for(rise);
    assert!((path.window() - top).abs() < 0.2, "{}, not {top}", path.window());
}

/// RFC 9438 §4.6: cwnd becomes 0.7 of FlightSize, but at least two segments after a loss and one segment after a mark.
/// A loss never increases cwnd.
#[test]
fn what_is_left() {
    let after = |cwnd: u64, flight: u64, marked: bool| {
        let mut control = cubic(&[], cwnd, 1);
        let loss = LossEvent {
            now: Time::ZERO,
            flight: flight * MSS,
            window: flight * MSS,
            marked,
            ..LossEvent::default()
        };
        if marked {
            control.on_mark(&loss)
        } else {
            control.on_loss(&loss)
        }
        (control.window(), control.ssthresh())
    };
    assert_eq!(after(100, 100, false), (70_000, 70_000));
    assert_eq!(after(100, 50, false), (35_000, 35_000));
    assert_eq!(after(20, 100, false), (20_000, 20_000));
    assert_eq!(after(2, 2, false), (2000, 2000));
    assert_eq!(after(100, 100, true), (70_000, 70_000));
    assert_eq!(after(2, 2, true), (1400, 2000));
    assert_eq!(after(1, 1, true), (1000, 2000));
}

/// RFC 9438 §4.8: a timeout sets cwnd to one segment, as in Reno, and ssthresh to 0.7 of FlightSize. The next
/// congestion avoidance begins in the convex region (K = 0).
#[test]
fn after_a_timeout() {
    let mut path = Path::new(cubic(&[("reno_friendly", Value::Flag(false))], 1000, 1), 100);
    path.lose();
    path.control.on_timeout(&path.signal(), true);
    assert_eq!((path.control.window(), path.control.ssthresh()), (1000, 490 * MSS));
    // A second timeout of the same data leaves ssthresh unchanged (RFC 5681 §3.1).
    path.control.on_timeout(&path.signal(), false);
    assert_eq!((path.control.window(), path.control.ssthresh()), (1000, 490 * MSS));
    while path.window() < 490.0 {
        path.acknowledge();
    }
    path.acknowledge();
    let began = path.now;
    path.acknowledge_for(4.0);
    let t = path.now.since(began).as_secs();
    let expected = w_cubic(t, 0.0, 490.0);
    let allowed = 3.0 * C * 0.01 * t + 0.01;
    assert!((path.window() - expected).abs() < allowed, "{}, not {expected}", path.window());
}

/// RFC 9438 §4.10: if slow start ends without a loss, the plateau is the cwnd at the start of congestion avoidance, 100
/// segments.
#[test]
fn avoidance_without_a_loss() {
    let mut path = Path::new(cubic(&[("reno_friendly", Value::Flag(false))], 10, 100), 100);
    (0..90).for_each(|_| path.acknowledge());
    assert_eq!(path.control.window(), 100 * MSS);
    path.acknowledge();
    path.acknowledge_for(3.0);
    assert!((path.window() - w_cubic(3.0, 0.0, 100.0)).abs() < 0.1, "{}", path.window());
}

/// RFC 9438 §4.9: undoing a spurious reduction restores CUBIC's state, including the time since congestion avoidance
/// began. cwnd then continues on the same cubic function.
#[test]
fn an_undone_loss_changes_nothing() {
    let mut path = Path::new(cubic(&[], 1000, 1), 100);
    path.lose();
    path.acknowledge();
    let began = path.now;
    path.acknowledge_for(3.0);
    let before = Level { window: path.control.window(), ssthresh: path.control.ssthresh() };
    path.control.on_loss(&path.signal());
    path.now += path.rtt;
    let from = Level { window: path.control.window(), ssthresh: path.control.ssthresh() };
    assert!(from.window < before.window);
    path.control.on_recovered(before.window, Recovered::Revised { from, to: before });
    assert_eq!((path.control.window(), path.control.ssthresh()), (before.window, before.ssthresh));
    path.acknowledge_for(2.0);
    let expected = w_cubic(path.now.since(began).as_secs(), ((1.0 - BETA) * 1000.0 / C).cbrt(), 1000.0);
    assert!((path.window() - expected).abs() < 0.2, "{}, not {expected}", path.window());
}

/// RFC 9438 §5.8 and §4.2: cwnd does not grow while the sender does not fill cwnd. The time without a full cwnd does
/// not count in the cubic function. `used`: segments in flight during 60 s; 0 means that nothing is sent.
#[test]
fn time_in_which_the_window_is_not_used_does_not_count() {
    let rise = ((1.0 - BETA) * 1000.0 / C).cbrt();
    for used in [0, 1, 500] {
        let mut path = Path::new(cubic(&[], 1000, 1), 100);
        path.lose();
        path.acknowledge();
        let began = path.now;
        path.acknowledge_for(2.0);
        let window = path.window();
        let idle = path.now;
        if used == 0 {
            path.now += Duration::from_secs(60);
        } else {
            path.wanted = used * MSS;
            path.acknowledge_for(60.0);
            assert_eq!(path.window(), window);
            path.wanted = u64::MAX;
        }
        let idle = path.now.since(idle).as_secs();
        path.acknowledge_for(2.0);
        let expected = w_cubic(path.now.since(began).as_secs() - idle, rise, 1000.0);
        // The end of the pause is known only to within a round trip R = 0.1 s, so the tolerance is the growth of
        // W_cubic in R.
        let doubt = 3.0 * C * (rise - 2.0).powi(2) * 0.1 + 0.2;
        assert!((path.window() - expected).abs() < doubt, "{used}: {}, not {expected}", path.window());
    }
}

/// ACKs that arrive in a batch count as ACKs of a filled cwnd. Nothing is sent between the ACKs of a batch, so the
/// flight falls below cwnd during the batch.
#[test]
fn acks_in_one_go_find_the_window_used() {
    let mut path = Path::new(cubic(&[("reno_friendly", Value::Flag(false))], 1000, 1), 100);
    path.lose();
    path.acknowledge();
    let began = path.now;
    while path.now.since(began).as_secs() < 5.0 {
        let window = path.control.window() / MSS;
        let burst = window / 10;
        path.now += Duration::from_secs_f64(0.1 * burst as f64 / window as f64);
        for gone in 1..=burst {
            let ack = AckEvent { in_flight: (window - gone) * MSS, ..path.event() };
            path.control.on_ack(&ack, &mut *path.ack_counting);
        }
    }
    let t = path.now.since(began).as_secs();
    let expected = w_cubic(t, ((1.0 - BETA) * 1000.0 / C).cbrt(), 1000.0);
    assert!((path.window() - expected).abs() < 1.0, "{}, not {expected}", path.window());
}

/// After idle time, slow start begins from the restart window (10 segments). At ssthresh (700), congestion avoidance
/// begins anew: t = 0, with the former plateau of 1000.
#[test]
fn idle_time_begins_a_new_stage() {
    let mut path = Path::new(cubic(&[], 1000, 1), 100);
    path.lose();
    path.acknowledge_for(2.0);
    path.now += Duration::from_secs(60);
    path.control.on_idle(10 * MSS);
    assert_eq!((path.control.window(), path.control.ssthresh()), (10 * MSS, 700 * MSS));
    while path.window() < 700.0 {
        path.acknowledge();
    }
    path.acknowledge();
    let began = path.now;
    path.acknowledge_for(5.0);
    let t = path.now.since(began).as_secs();
    let expected = w_cubic(t, (300.0 / C).cbrt(), 1000.0);
    assert!((path.window() - expected).abs() < 0.2, "{}, not {expected}", path.window());
}

fn endpoint(name: &str, changes: Config) -> Script {
    let congestion = Choice::named(congestion::ALL, "cubic");
    let recovery = Choice::named(recovery::ALL, name);
    Script::opened(Config { congestion, recovery, sack: name == "sack", ..changes }, Peer::default())
}

/// In a connection, a loss reduces cwnd to 0.7 of FlightSize, and cwnd does not grow during recovery. A timeout reduces
/// cwnd to one segment. F-RTO undoes a spurious timeout.
#[test]
fn in_a_connection() {
    for name in ["reno", "new_reno"] {
        let mut script = endpoint(name, Config { initial_window: 10, ..config(name) });
        script.endpoint.write(1 << 30);
        script.run([News(1, 10), Nothing, Tick(100), Acks(1, 3), SsthreshBytes(7000), CwndBytes(7000)]);
        script.run([Again(1), Tick(100), Ack(11), CwndBytes(7000)]);
    }
    let mut script = endpoint("sack", Config { initial_window: 10, ..config("sack") });
    script.endpoint.write(1 << 30);
    script.run([News(1, 10), Timeout, CwndBytes(1000), SsthreshBytes(7000), Again(1)]);
    let mut script = endpoint("sack", Config { initial_window: 8, f_rto: true, ..config("sack") });
    script.endpoint.write(1 << 30);
    script.run([News(1, 8), Timeout, Again(1), Nothing, CwndBytes(1000), SsthreshBytes(5600)]);
    // cwnd is eight segments again, as before the timeout, plus one segment for the ACK.
    script.run([Tick(100), Ack(2), News(9, 10), Nothing, Ack(3), Cwnd(9), SsthreshBytes(1 << 30)]);
}

/// The ACK that ends a recovery covers ten segments. Eight of the ten segments were SACKed earlier, so only two
/// segments count. W_est grows from 7 segments to 7 + 0.53 × 2/7 = 7.15, not to 7 + 0.53 × 10/7 = 7.76.
#[test]
fn the_ack_that_ends_a_recovery_counts_what_it_delivers() {
    let mut script = Script::sender(Config {
        congestion: Choice::named(congestion::ALL, "cubic"),
        ack_counting: Choice::named(ack_counting::ALL, "delivered"),
        recovery: Choice::named(recovery::ALL, "rack"),
        initial_window: 10,
        ..config("sack")
    });
    script.run([News(1, 10), Nothing, Tick(100)]);
    script.sack(1, &[(2, 10)]);
    script.run([Again(1), News(11, 15), Nothing, Tick(100), Ack(11)]);
    let sender = script.endpoint.sender();
    assert!(!sender.is_recovering());
    let grown = sender.window() - sender.ssthresh();
    assert!(grown > 0 && grown < script::SEGMENT / 4, "cwnd grew by {grown} bytes, not by about 150");
}
