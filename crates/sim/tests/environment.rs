//! Environments: closed forms of a constant rate, determinism, draws from ranges, several agents, refusals.

use lasthop_base::{Duration, Stream};
use lasthop_scenario::{Catalogue, Scenario};
use lasthop_sim::environment::{
    Action, Environment, Features, Interval, Path, PathRefused, QueueRange, Range, Ranges, Settings,
    StepLength, StepRefused, Weights,
};
use std::sync::Arc;

const LIMIT: Duration = Duration::from_secs(30);

fn scenario(line: &str) -> Scenario {
    Catalogue::default().load(line).expect("a scenario").check().expect("a valid scenario")
}

fn settings() -> Settings {
    Settings {
        features: Features::Full,
        history: 2,
        action: Action::Continuous { alpha: 0.2 },
        step: StepLength::BaseRtt,
        weights: Weights { goodput: 1.0, delay: 2.0, loss: 0.5 },
        rate_bounds: None,
        first_rate: (0.3, 1.5),
        window: 2.0,
    }
}

fn path(line: &str, agents: usize, ranges: Ranges) -> Path {
    Path::new(&scenario(line), agents, Vec::new(), LIMIT, ranges).expect("a path")
}

fn environment(settings: Settings, path: Path) -> Environment {
    Environment::new(Arc::new(settings), Arc::new([path]), 7)
}

fn constant(value: f64) -> Option<Range> {
    Some(Range { low: value, high: value, is_log: false })
}

/// Measurements of 60 steps with this action.
fn steps(environment: &mut Environment, action: f64) -> Vec<Interval> {
    environment.reset(None);
    let mut all = vec![environment.interval(0)];
    for _ in 0..60 {
        environment.step(&vec![action; environment.agents()]).expect("a step");
        all.extend((0..environment.agents()).map(|agent| environment.interval(agent)));
    }
    all
}

/// At 8 of 10 Mbit/s no queue builds up. The goodput is the pacing rate, and the RTT is the RTT of the idle path: 60 ms of
/// propagation, and the transmission of 1500 bytes and of an ACK with 52 bytes at 10 Mbit/s.
#[test]
fn a_constant_rate_below_the_bottleneck_has_its_goodput_and_the_base_rtt() {
    let settings = Settings {
        rate_bounds: Some((8e6, 8e6)),
        step: StepLength::Fixed(Duration::from_secs(1)),
        ..settings()
    };
    let line = "rate=10Mbit/s,rtt=60ms,ack_policy=immediate,congestion=external";
    let mut environment = environment(settings, path(line, 1, Ranges::default()));
    environment.reset(None);
    environment.step(&[0.0]).expect("a step");
    let base = 0.060 + 8.0 * (1500.0 + 52.0) / 10e6;
    for _ in 0..20 {
        environment.step(&[0.0]).expect("a step");
        let interval = environment.interval(0);
        // A second has 690.6 segments: the count differs by at most one segment, 0.15 %.
        assert!((interval.goodput_bps / 8e6 - 1.0).abs() < 0.0015, "{}", interval.goodput_bps);
        assert!((interval.base_rtt_s - base).abs() < 1e-9, "{}", interval.base_rtt_s);
        assert!((interval.mean_rtt_s - base).abs() < 1e-6, "{}", interval.mean_rtt_s);
        assert!((environment.reward(0) - 0.8).abs() < 0.0015 + 2e-4, "{}", environment.reward(0));
    }
}

#[test]
fn episodes_depend_on_the_seed_only() {
    let run = |seed| {
        let mut environment = environment(
            settings(),
            path("rate=10Mbit/s,rtt=60ms,loss=1%,congestion=external", 1, Ranges::default()),
        );
        environment.seed(seed);
        [steps(&mut environment, 0.1), steps(&mut environment, 0.1)]
    };
    let [first, second] = run(3);
    assert_eq!(run(3), [first.clone(), second.clone()]);
    assert_ne!(first, second);
    assert_ne!(first, run(4)[0]);
}

/// Numbers that a draw changes in a checked scenario have the effect of the same numbers in the scenario's text.
#[test]
fn drawn_values_act_like_written_values() {
    let ranges = |queue| Ranges {
        rate_bps: constant(8e6),
        rtt_s: constant(0.040),
        queue: Some(queue),
        loss: constant(0.01),
    };
    let cases = [
        ("30packets", QueueRange::Packets(constant(30.0).expect("a range"))),
        ("0.5bdp", QueueRange::Bdp(constant(0.5).expect("a range"))),
        ("2bdp", QueueRange::Bdp(constant(2.0).expect("a range"))),
    ];
    for (queue, range) in cases {
        let written = format!("rate=8Mbit/s,rtt=40ms,queue={queue},loss=1%,congestion=external");
        let template = "rate=20Mbit/s,rtt=10ms,queue=100packets,congestion=external";
        let settings = || Settings { rate_bounds: Some((4e6, 20e6)), ..settings() };
        let mut written = environment(settings(), path(&written, 1, Ranges::default()));
        let mut drawn = environment(settings(), path(template, 1, ranges(range)));
        let expected = steps(&mut written, 0.1);
        assert!(expected.iter().any(|interval| interval.lost_bytes > 0.0));
        assert_eq!(steps(&mut drawn, 0.1), expected, "{queue}");
    }
}

/// Half of log-uniform values are below the geometric mean, and half of uniform values below the arithmetic mean. The
/// tolerance is four standard errors of 10,000 draws.
#[test]
fn ranges_have_their_medians() {
    let mut stream = Stream::named(1, "ranges");
    for (is_log, median) in [(true, 10.0), (false, 50.5)] {
        let range = Range { low: 1.0, high: 100.0, is_log };
        let below = (0..10_000).filter(|_| range.draw(&mut stream) < median).count();
        assert!((below as f64 - 5000.0).abs() < 4.0 * 50.0, "{below}");
    }
}

/// Three copies of one flow share the bottleneck: together, at most its rate, with 1448 bytes of payload in 1500.
#[test]
fn several_agents_share_the_bottleneck() {
    let settings = Settings { step: StepLength::Fixed(Duration::from_secs(2)), ..settings() };
    let mut environment =
        environment(settings, path("rate=10Mbit/s,rtt=60ms,congestion=external", 3, Ranges::default()));
    assert_eq!(environment.agents(), 3);
    environment.reset(None);
    for _ in 0..5 {
        environment.step(&[1.0, 1.0, 1.0]).expect("a step");
    }
    let sum: f64 = (0..3).map(|agent| environment.interval(agent).acknowledged_bytes).sum();
    let most = 10e6 * 2.0 / 8.0 * 1448.0 / 1500.0;
    assert!(sum > 0.95 * most && sum < 1.01 * most, "{sum} {most}");
}

/// The pacing rate stays within its bounds, by default from 0.5 to 20 Mbit/s on a path of 10 Mbit/s.
#[test]
fn the_rate_has_bounds() {
    let line = "rate=10Mbit/s,rtt=60ms,congestion=external";
    for (action, bound) in [(1.0, 20e6), (-1.0, 0.5e6)] {
        let mut environment = environment(settings(), path(line, 1, Ranges::default()));
        let last = steps(&mut environment, action).pop().expect("a step");
        assert_eq!(last.rate_bps, bound);
    }
}

/// An episode of 0.5 s with steps of 0.1 s: the handshake takes 60 ms and a step may be cut off by the end. NaN changes
/// nothing.
#[test]
fn an_episode_ends_at_its_limit() {
    let line = scenario("rate=10Mbit/s,rtt=60ms,congestion=external");
    let limit = Duration::from_millis(500);
    let path = Path::new(&line, 1, Vec::new(), limit, Ranges::default()).expect("a path");
    let settings = Settings { step: StepLength::Fixed(Duration::from_millis(100)), ..settings() };
    let mut environment = environment(settings, path);
    assert_eq!(environment.step(&[0.0]), Err(StepRefused::NotReset));
    environment.reset(None);
    assert!(matches!(environment.step(&[f64::NAN]), Err(StepRefused::Action(_))));
    assert_eq!(environment.step(&[0.0, 0.0]), Err(StepRefused::Count(2, 1)));
    let ends: Vec<bool> = (0..5).map(|_| environment.step(&[0.0]).expect("a step")).collect();
    assert_eq!(ends, [false, false, false, false, true]);
    assert_eq!(environment.interval(0).time_s, 0.5);
    assert_eq!(environment.step(&[0.0]), Err(StepRefused::Ended));
}

#[test]
fn paths_that_cannot_be_are_refused() {
    let refused = |line: &str, agents, ranges| {
        Path::new(&scenario(line), agents, Vec::new(), LIMIT, ranges).expect_err("refused")
    };
    let none = Ranges::default();
    assert_eq!(refused("rate=10Mbit/s,rtt=60ms,congestion=cubic", 1, none), PathRefused::Agents(0));
    assert_eq!(refused("umts", 1, none), PathRefused::Agents(0));
    let rtt = Ranges { rtt_s: constant(0.001), ..none };
    assert!(matches!(refused("umts,congestion=external", 1, rtt), PathRefused::Rtt(_)));
}
