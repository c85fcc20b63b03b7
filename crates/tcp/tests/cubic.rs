//! CUBIC (RFC 9438): its closed forms and tables, its state after each signal, and what it makes of nonsense.

mod script;

use lasthop_base::{Choice, Duration, Time, Value};
use lasthop_tcp::sender::congestion::{
    self, AckEvent, CongestionControl, Level, LossEvent, Phase, Recovered, Start,
};
use lasthop_tcp::sender::counting::{self, AckCounting};
use lasthop_tcp::{Config, sender::recovery};
use proptest::prelude::*;
use script::Step::*;
use script::{Peer, Script, choose, config};

const MSS: u64 = 1000;
const C: f64 = 0.4;
const BETA: f64 = 0.7;

fn cubic(values: &[(&'static str, Value)], window: u64, ssthresh: u64) -> Box<dyn CongestionControl> {
    let choice = choose(congestion::ALL, "cubic", values);
    let start = Start { window: window * MSS, ssthresh: ssthresh * MSS, mss: MSS };
    (choice.mechanism(congestion::ALL).build)(&choice.values, start)
}

/// A path with one round-trip time on which each window goes out evenly spread, and each segment is acknowledged.
struct Path {
    control: Box<dyn CongestionControl>,
    counting: Box<dyn AckCounting>,
    now: Time,
    rtt: Duration,
    /// Bytes in the network that the sender would like to have there; beyond cwnd it may not.
    wanted: u64,
}

impl Path {
    fn new(control: Box<dyn CongestionControl>, rtt_ms: u64) -> Path {
        let counting = Choice::named(counting::ALL, "rfc5681");
        Path {
            control,
            counting: (counting.mechanism(counting::ALL).build)(&counting.values),
            now: Time::ZERO + Duration::from_secs(100),
            rtt: Duration::from_millis(rtt_ms),
            wanted: u64::MAX,
        }
    }

    /// cwnd in segments, a fraction left out.
    fn window(&self) -> f64 {
        self.control.window() as f64 / MSS as f64
    }

    fn event(&self) -> AckEvent {
        let in_flight = self.control.window().min(self.wanted).saturating_sub(MSS);
        AckEvent {
            now: self.now,
            phase: Phase::Open,
            acked: MSS,
            segments: 1,
            delivered: MSS,
            rtt: Some(self.rtt),
            srtt: Some(self.rtt),
            in_flight,
            held: false,
        }
    }

    /// The next acknowledgement, a window's share of a round-trip time later.
    fn acknowledge(&mut self) {
        let in_flight = self.control.window().min(self.wanted) as f64 / MSS as f64;
        self.now += Duration::from_secs_f64(self.rtt.as_secs() / in_flight);
        let ack = self.event();
        self.control.on_ack(&ack, &mut *self.counting);
    }

    fn acknowledge_for(&mut self, seconds: f64) {
        let end = self.now + Duration::from_secs_f64(seconds);
        while self.now < end {
            self.acknowledge();
        }
    }

    fn signal(&self) -> LossEvent {
        let flight = self.control.window().min(self.wanted);
        LossEvent { now: self.now, flight, window: flight, marked: false }
    }

    /// A loss, repaired a round-trip time later.
    fn lose(&mut self) {
        self.control.on_loss(&self.signal());
        self.now += self.rtt;
        self.control.on_recovered(self.control.window(), Recovered::Kept);
    }
}

fn w_cubic(t: f64, rise: f64, plateau: f64) -> f64 {
    C * (t - rise).powi(3) + plateau
}

/// §4.2 and §4.4: after a loss at 1000 segments the window is W_cubic(t). It goes to W_cubic(t + RTT) within an RTT: x' =
/// (W(t + R) - x) / R, whose solution is nowhere farther from W(t) than R^2/2 max|W''| = 3 C R^2 max|t - K|.
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
            assert!((window - expected).abs() < allowed, "{rtt_ms} ms, {t} s: {window}, not {expected}");
            path.acknowledge();
        }
    }
}

/// §4.2: never more than half a window beyond cwnd within an RTT, however far the cubic has gone.
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
        assert!(gain < 0.5 + 0.0011, "{gain} segments for one ACK");
        reached += u32::from(gain > 0.49);
        last = path.window();
    }
    assert!(reached > 900, "the bound is met {reached} times");
}

/// The mean window when one packet of `1/p` is lost, over ten of them, the first at a window of `top` segments.
fn mean_window(values: &[(&'static str, Value)], rtt_ms: u64, p: f64, top: f64) -> f64 {
    let mut path = Path::new(cubic(values, top.round() as u64, 1), rtt_ms);
    path.lose();
    let packets = (1.0 / p).round() as u64;
    let (mut time, mut count) = (0.0, 0u64);
    for _ in 0..10 {
        let before = path.now;
        (0..packets).for_each(|_| path.acknowledge());
        let flight = path.control.window();
        path.control.on_loss(&LossEvent { now: path.now, flight, window: flight, marked: false });
        path.control.on_recovered(flight, Recovered::Kept);
        time += path.now.since(before).as_secs();
        count += packets;
    }
    count as f64 * path.rtt.as_secs() / time
}

/// §5.1, Tables 1 and 2: the average window with C = 0.4, in the concave region by the closed form, in the Reno-friendly
/// one that of Reno, and of AIMD(alpha, 0.7) with §4.3's alpha. The closed form is for windows that come back to the
/// same plateau each time, of which the mean is 1 - (1 - 0.7)/4 in the concave region and (1 + 0.7)/2 in the other.
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
        // A share for the sum that the closed form takes for an integral: a round of the K/RTT, or W/2 of them.
        // Where both are as large the window follows now the one, now the other, whichever is larger.
        let meet = formula / aimd > 0.8 && formula / aimd < 1.25;
        let share = 0.03 + 1.0 / table + if meet { 0.05 } else { 0.0 };
        let expected = formula.max(aimd);
        let top = if formula > aimd { formula / 0.925 } else { aimd / 0.85 };
        let mean = mean_window(&alone, rtt_ms, p, top);
        assert!((mean / expected - 1.0).abs() < share, "{rtt_ms} ms, {p}: {mean}, not {expected}");
        assert!((mean / table - 1.0).abs() < share, "{rtt_ms} ms, {p}: {mean}, not {table}");
    }
    // Without the region there is less than Reno's.
    let without = [("fast_convergence", Value::Flag(false)), ("reno_friendly", Value::Flag(false))];
    let formula = 1.054 * libm::pow(0.01 / 1e-4, 0.75);
    let mean = mean_window(&without, 10, 1e-4, formula / 0.925);
    assert!((mean / formula - 1.0).abs() < 0.06, "{mean}, not {formula}");
}

/// §4.3: one segment per window, as Reno, once the estimate has reached what the window was; 3 (1 - beta)/(1 + beta) of
/// one before.
#[test]
fn alpha_is_one_beyond_the_prior_window() {
    // W_cubic stays behind: 1 ms.
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
    assert!((slow / alpha - 1.0).abs() < 0.03, "{slow}, not {alpha}");
    while path.window() < 101.0 {
        path.acknowledge();
    }
    let fast = per_round(&mut path);
    assert!((fast - 1.0).abs() < 0.03, "{fast}, not 1");
}

/// §4.3 and §4.2: the bytes count for Reno's estimate, and by `counting` for the cubic: ACKs of two segments are half as
/// many.
#[test]
fn delayed_acks_count_what_they_cover() {
    let gain = |name: &str, friendly: bool, rtt_ms: u64| {
        let mut path = Path::new(cubic(&[("reno_friendly", Value::Flag(friendly))], 1000, 1), rtt_ms);
        let counting = Choice::named(counting::ALL, name);
        path.counting = (counting.mechanism(counting::ALL).build)(&counting.values);
        path.lose();
        path.acknowledge();
        let before = path.window();
        for _ in 0..70 {
            path.now += Duration::from_secs_f64(path.rtt.as_secs() / 350.0);
            let ack = AckEvent { acked: 2 * MSS, segments: 2, delivered: 2 * MSS, ..path.event() };
            path.control.on_ack(&ack, &mut *path.counting);
        }
        path.window() - before
    };
    // A fifth of a window: a fifth of alpha segments.
    let fifth = 3.0 * (1.0 - BETA) / (1.0 + BETA) / 5.0;
    for name in ["rfc5681", "bytes"] {
        let gained = gain(name, true, 1);
        assert!((gained - fifth).abs() < 0.01, "{name}: {gained}, not {fifth}");
    }
    let (acks, bytes) = (gain("rfc5681", false, 100), gain("bytes", false, 100));
    assert!((bytes / acks - 2.0).abs() < 0.2, "{bytes} by bytes, {acks} by ACKs");
}

/// §4.7: a loss short of the last plateau puts the next one at (1 + beta)/2 of the window.
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
    // A loss beyond it: the window itself.
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

/// §4.6: 0.7 of what was in flight, at least two segments after a loss and one after a mark; a loss raises nothing.
#[test]
fn what_is_left() {
    let after = |cwnd: u64, flight: u64, marked: bool| {
        let mut control = cubic(&[], cwnd, 1);
        let loss = LossEvent { now: Time::ZERO, flight: flight * MSS, window: flight * MSS, marked };
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

/// §4.8: as Reno, but 0.7; the first avoidance after it is convex from where it begins (K = 0), whatever was before.
#[test]
fn after_a_timeout() {
    let mut path = Path::new(cubic(&[("reno_friendly", Value::Flag(false))], 1000, 1), 100);
    path.lose();
    path.control.on_timeout(&path.signal(), true);
    assert_eq!((path.control.window(), path.control.ssthresh()), (1000, 490 * MSS));
    // The same data again: ssthresh stays (RFC 5681 §3.1).
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

/// §4.10, as when slow start is left without a loss: the plateau is where avoidance begins.
#[test]
fn avoidance_without_a_loss() {
    let mut path = Path::new(cubic(&[("reno_friendly", Value::Flag(false))], 10, 100), 100);
    (0..90).for_each(|_| path.acknowledge());
    assert_eq!(path.control.window(), 100 * MSS);
    path.acknowledge();
    path.acknowledge_for(3.0);
    assert!((path.window() - w_cubic(3.0, 0.0, 100.0)).abs() < 0.1, "{}", path.window());
}

/// §4.9: what a loss that was none has changed is taken back, the time since the stage began included.
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

/// §5.8 and §4.2: a window that is not used does not grow, and that time does not count.
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
        // Half of the window, one segment, or nothing at all for a minute.
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
        // A round-trip time of doubt about when the pause ended: W' R.
        let doubt = 3.0 * C * (rise - 2.0).powi(2) * 0.1 + 0.2;
        assert!((path.window() - expected).abs() < doubt, "{used}: {}, not {expected}", path.window());
    }
}

/// ACKs that come in one go, between which nothing can be sent, count like others.
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
            path.control.on_ack(&ack, &mut *path.counting);
        }
    }
    let t = path.now.since(began).as_secs();
    let expected = w_cubic(t, ((1.0 - BETA) * 1000.0 / C).cbrt(), 1000.0);
    assert!((path.window() - expected).abs() < 1.0, "{}, not {expected}", path.window());
}

/// After idle time the window is slow start's again, and a stage of its own begins at ssthresh.
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

/// In a connection: 0.7 of the flight at the third duplicate, no growth until it is repaired, one segment after a
/// timeout; F-RTO puts back what a spurious one took.
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
    // The eight of before, and slow start's one for the ACK.
    script.run([Tick(100), Ack(2), News(9, 10), Nothing, Ack(3), Cwnd(9), SsthreshBytes(1 << 30)]);
}

/// A signal at any moment.
#[derive(Clone, Debug)]
enum Op {
    Ack { millis: u64, acked: u64, flight: u64, rtt: Option<u64>, phase: u8, held: bool },
    Loss(u64),
    Restart(u64),
    Timeout(u64, bool),
    Mark(u64),
    Idle(u64),
    Recovered(u8, u64),
}

fn op() -> impl Strategy<Value = Op> {
    let size = || prop_oneof![0..5000u64, 0..3_000_000u64, Just(1 << 31)];
    let time = prop_oneof![0..200u64, Just(86_400_000), Just(1 << 43)];
    let ack = (time, size(), size(), prop::option::of(0..100_000u64), 0..3u8, prop::bool::weighted(0.1));
    prop_oneof![
        12 => ack.prop_map(|(millis, acked, flight, rtt, phase, held)| Op::Ack { millis, acked, flight, rtt, phase, held }),
        1 => size().prop_map(Op::Loss),
        1 => size().prop_map(Op::Restart),
        1 => (size(), any::<bool>()).prop_map(|(flight, first)| Op::Timeout(flight, first)),
        1 => size().prop_map(Op::Mark),
        1 => (1000..100_000u64).prop_map(Op::Idle),
        2 => (0..3u8, 1000..(1u64 << 30)).prop_map(|(kind, window)| Op::Recovered(kind, window)),
    ]
}

fn play(control: &mut dyn CongestionControl, counting: &mut dyn AckCounting, ops: &[Op]) -> Vec<u64> {
    let mut now = Time::ZERO;
    let mut windows = Vec::new();
    for op in ops {
        let before = control.window();
        let loss = |flight: u64| LossEvent { now, flight, window: flight, marked: false };
        match *op {
            Op::Ack { millis, acked, flight, rtt, phase, held } => {
                now = Time::from_nanos(now.as_nanos().saturating_add(millis * 1_000_000));
                let rtt = rtt.map(Duration::from_millis);
                let ack = AckEvent {
                    now,
                    phase: [Phase::Open, Phase::Recovery, Phase::Restart][usize::from(phase)],
                    acked,
                    segments: acked.div_ceil(MSS) as u32,
                    delivered: acked,
                    rtt,
                    srtt: rtt,
                    in_flight: flight,
                    held,
                };
                control.on_ack(&ack, counting);
                assert!(control.window() >= before, "an ACK lowers it");
            }
            Op::Loss(flight) => control.on_loss(&loss(flight)),
            Op::Restart(flight) => control.on_restart(&loss(flight)),
            Op::Timeout(flight, first) => control.on_timeout(&loss(flight), first),
            Op::Mark(flight) => control.on_mark(&loss(flight)),
            Op::Idle(window) => control.on_idle(window),
            Op::Recovered(kind, window) => {
                let from = Level { window: control.window(), ssthresh: control.ssthresh() };
                let to = Level { window, ssthresh: window.max(2 * MSS) };
                let all = [Recovered::Kept, Recovered::Revised { from, to }, Recovered::Probed { window }];
                control.on_recovered(window, all[usize::from(kind)]);
            }
        }
        if !matches!(op, Op::Ack { .. } | Op::Recovered(1 | 2, _)) {
            assert!(control.window() <= before.max(2 * MSS), "{op:?} raises it");
        }
        assert!(control.window() >= MSS && control.ssthresh() >= 2 * MSS);
        assert!(control.window() <= (1 << 30) + (1 << 31), "{}", control.window());
        windows.push(control.window());
    }
    windows
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Never below a segment, never beyond what a window can be (slow start adds an ACK's worth to it at most), never
    /// lowered by an ACK nor raised by anything else; and the same again.
    #[test]
    fn any_signals(
        ops in prop::collection::vec(op(), 1..300),
        name in prop::sample::select(vec!["per-ack", "rfc5681", "bytes", "packets"]),
        c in prop::sample::select(vec![0.001, 0.4, 1000.0]),
        beta in prop::sample::select(vec![0.1, 0.5, 0.7, 0.99]),
        fast: bool,
        friendly: bool,
    ) {
        let values = [
            ("c", Value::Number(c)),
            ("beta", Value::Number(beta)),
            ("fast_convergence", Value::Flag(fast)),
            ("reno_friendly", Value::Flag(friendly)),
        ];
        let run = || {
            let counting = Choice::named(counting::ALL, name);
            let mut counting = (counting.mechanism(counting::ALL).build)(&counting.values);
            play(&mut *cubic(&values, 10, 1 << 20), &mut *counting, &ops)
        };
        prop_assert_eq!(run(), run());
    }
}
