//! Sessions: the results of a run without acts, orders, requests, changes of links, and forks.

use lasthop_base::{Duration, Rate, Time};
use lasthop_engine::LinkChange;
use lasthop_scenario::{Catalogue, Hop, Scenario};
use lasthop_sim::{Act, Observation, Outcome, Refused, Session, Stopped, Until, run};
use lasthop_tcp::sender::congestion::Steer;
use std::sync::Arc;

const DOWN: Hop = Hop { link: 0, is_down: true };

fn scenario(line: &str) -> Arc<Scenario> {
    Arc::new(Catalogue::default().load(line).expect("a scenario").check().expect("a valid scenario"))
}

fn session(line: &str, changing: &[Hop]) -> Session {
    Session::new(scenario(line), 1, changing, Observation::default())
}

fn at(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

fn window(bytes: u64) -> Act {
    Act::Steer(0, Steer { window: Some(bytes), pacing: None })
}

/// Everything that metrics are computed from. The raw account of a link counts a packet when its arrival is determined,
/// and a link that may change determines the arrival later.
fn seen(outcome: &Outcome) -> String {
    let links: Vec<_> = outcome.links.iter().map(|link| (&link.name, &link.traffic, &link.rlc)).collect();
    format!("{} {:?} {links:?}", outcome.duration_s, outcome.flows)
}

/// A run in steps of 7 ms has the same outcome as a run in one step, with and without links that may change.
#[test]
fn without_acts_a_session_is_a_run() {
    for line in [
        "rate=10Mbit/s,rtt=60ms,queue=50packets,loss=1%,duration=5s,congestion=cubic",
        "rate=10Mbit/s,rtt=60ms,queue=50packets,loss=1%,duration=5s,warmup=1s,congestion=bbr3",
        "rate=2Mbit/s,rtt=60ms,queue=50packets,duration=5s,request=400bytes,response=30KB,think=100ms",
    ] {
        let whole = run(&scenario(line), 1);
        for changing in [&[][..], &[DOWN]] {
            let mut stepped = session(line, changing);
            let mut now = Time::ZERO;
            while stepped.run_to(now) == Stopped::Met {
                stepped.look(0);
                stepped.look_at_link(DOWN);
                now += Duration::from_millis(7);
            }
            assert!(stepped.has_ended());
            assert_eq!(seen(&stepped.finish().0), seen(&whole), "{line} {changing:?}");
        }
    }
}

/// A window below the BDP carries one window per round trip: 50 segments of 1448 bytes per 60 ms, and 10 after the
/// second order. The propagation delay is 60 ms; the transmission of a segment adds 0.12 ms to the round trip.
#[test]
fn an_ordered_window_sets_the_rate() {
    let mut session =
        session("rate=100Mbit/s,rtt=60ms,queue=1000packets,duration=60s,congestion=external", &[]);
    for segments in [50_u64, 10] {
        session.act(window(segments * 1448)).expect("an external control");
        session.run_to(session.now() + Duration::from_secs(2));
        session.look(0);
        session.run_to(session.now() + Duration::from_secs(6));
        let look = session.look(0);
        let (expected, got) = ((segments * 1448) as f64 / 0.0602, look.delivered_bytes as f64 / look.span_s);
        assert!((got / expected - 1.0).abs() < 0.02, "{segments}: {got} {expected}");
        assert_eq!(look.cwnd_bytes, segments * 1448);
    }
}

/// Paced at 4 Mbit/s of payload with a large window, the flow delivers 4 Mbit/s. An order before the connection opens
/// holds from the first segment on: no queue builds up.
#[test]
fn an_ordered_pacing_rate_sets_the_rate_from_the_first_segment_on() {
    let mut session =
        session("rate=10Mbit/s,rtt=60ms,queue=1000packets,duration=60s,congestion=external", &[DOWN]);
    let pacing = Some(Some(Rate::from_bps(4_000_000)));
    session.act(Act::Steer(0, Steer { window: Some(1_000_000), pacing })).expect("an external control");
    let mut longest = 0;
    for step in 1..=200 {
        session.run_to(at(10 * step));
        longest = longest.max(session.look_at_link(DOWN).backlog.waiting);
    }
    assert_eq!(longest, 0);
    session.look(0);
    session.run_to(at(12_000));
    let look = session.look(0);
    let rate = look.delivered_bytes as f64 * 8.0 / look.span_s;
    assert!((rate / 4e6 - 1.0).abs() < 0.005, "{rate}");
}

/// After 2 s, the rate falls from 10 to 2 Mbit/s. The queue never empties, so the link carries 2 Mbit/s, give or take a
/// packet at each end of the measurement.
#[test]
fn a_named_link_changes_and_others_do_not() {
    let line = "rate=10Mbit/s,rtt=60ms,queue=50packets,duration=60s,congestion=cubic";
    let change = || Act::Change(DOWN, LinkChange { bps: Some(2_000_000), ..LinkChange::default() });
    let mut session = session(line, &[DOWN]);
    session.run_to(at(2000));
    session.act(change()).expect("a link that changes");
    session.run_to(at(4000));
    session.look_at_link(DOWN);
    session.run_to(at(14_000));
    let look = session.look_at_link(DOWN);
    assert!((2_500_000 - 1500..=2_500_000 + 1500).contains(&look.carried_bytes), "{}", look.carried_bytes);
    let up = Act::Change(Hop { is_down: false, ..DOWN }, LinkChange::default());
    assert_eq!(session.act(up), Err(Refused("it was not named as a link that changes")));
    assert_eq!(session.act(window(1)), Err(Refused("its congestion control is not external")));
}

/// The outcome of a fork is the outcome of the session that it was made from, if both receive the same further acts.
#[test]
fn a_fork_goes_on_as_the_session_does() {
    let line = "rate=10Mbit/s,rtt=60ms,queue=50packets,loss=1%,duration=8s,congestion=external";
    let mut one = session(line, &[DOWN]);
    let act = |session: &mut Session, step: u64| {
        session.act(window(20_000 + 7919 * step % 50_000)).expect("an external control");
        if step.is_multiple_of(10) {
            let change = LinkChange { bps: Some(1_000_000 * (1 + step % 9)), ..LinkChange::default() };
            session.act(Act::Change(DOWN, change)).expect("a link that changes");
        }
        match step % 3 {
            0 => session.run_until(Until::Loss { flow: 0 }, session.now() + Duration::from_millis(90)),
            1 => session.run_until(Until::Acks { flow: 0, count: 5 }, session.now() + Duration::from_secs(1)),
            _ => session.run_to(session.now() + Duration::from_millis(60)),
        };
    };
    (0..40).for_each(|step| act(&mut one, step));
    let mut two = one.fork(Observation::default());
    assert_eq!(two.now(), one.now());
    for step in 40..80 {
        act(&mut one, step);
        act(&mut two, step);
        assert_eq!(one.look(0), two.look(0), "step {step}");
    }
    assert_eq!(format!("{:?}", one.finish().0), format!("{:?}", two.finish().0));
}

/// A step that ends with a response over an idle path.
#[test]
fn a_step_may_end_with_a_response() {
    let line = "rate=10Mbit/s,rtt=60ms,queue=100packets,duration=20s,request=400bytes,response=external";
    let mut session = session(line, &[]);
    session.run_to(at(1000));
    // Seven full segments: Nagle's algorithm would hold back a short one.
    session.act(Act::Ask(0, 7 * 1448)).expect("a flow with requests on demand");
    assert_eq!(session.run_until(Until::Response { flow: 0 }, at(5000)), Stopped::Met);
    // Seven segments and their headers take 8.4 ms at 10 Mbit/s, the request and its headers 0.4 ms.
    let took = session.now().since(at(1000)).as_secs();
    assert!((0.068..0.0705).contains(&took), "{took}");
    assert_eq!(session.run_until(Until::Response { flow: 0 }, at(5000)), Stopped::Limit);
    assert_eq!(session.now(), at(5000));
}
