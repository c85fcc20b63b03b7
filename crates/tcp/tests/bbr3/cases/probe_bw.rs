//! Test cases of the four states of ProbeBW.

use super::{Observations, Why, check, mbps, name, needs_a_product};
use crate::lab::{Application, Lab, SEGMENT};
use lasthop_base::{Duration, Rate};
use lasthop_tcp::sender::congestion::bbr3::Bbr3State;

/// Runs until BBR leaves `state`, at most `longest_s` seconds. Returns the next state.
fn leave(lab: &mut Lab, state: Bbr3State, longest_s: f64) -> Result<Bbr3State, Why> {
    let begun = lab.now;
    lab.run_until(&format!("the end of {state:?}"), longest_s, |lab| lab.state() != state)?;
    let states = lab.states_since(begun);
    let next = states.iter().skip_while(|seen| **seen != state).nth(1);
    Ok(next.copied().unwrap_or(lab.state()))
}

fn run_to_down(lab: &mut Lab) -> Result<(), Why> {
    lab.run_to(Bbr3State::Up)?;
    Ok(lab.run_to(Bbr3State::Down)?)
}

pub fn up_plateau(lab: &mut Lab) -> Observations {
    lab.run_to(Bbr3State::Up)?;
    let (lost, begun) = (lab.path.dropped, lab.snapshot().rounds);
    let next = leave(lab, Bbr3State::Up, 30.0)?;
    let snapshot = lab.snapshot();
    check(lab.path.dropped == lost, || "packets were lost".to_owned())?;
    check(next == Bbr3State::Down, || format!("then {next:?}"))?;
    check(snapshot.is_full && snapshot.flat_rounds == 3, || {
        format!("after {} flat rounds", snapshot.flat_rounds)
    })?;
    Ok(format!("PROBE_DOWN after {} rounds", snapshot.rounds - begun))
}

pub fn up_loss(lab: &mut Lab) -> Observations {
    lab.run_to(Bbr3State::Up)?;
    lab.application = Application::Writes(0.7 * lab.payload_rate());
    lab.run_for(1.5 * lab.rtt.as_secs());
    if lab.state() != Bbr3State::Up {
        return Err(Why::NotHere("PROBE_UP was over before the application's limit showed"));
    }
    let before = lab.snapshot().inflight_long_term;
    lab.path.drop_every = 8;
    let next = leave(lab, Bbr3State::Up, 30.0)?;
    check(next == Bbr3State::Down, || format!("then {next:?}"))?;
    check(!lab.snapshot().is_full, || "by a plateau".to_owned())?;
    let after = lab.snapshot().inflight_long_term;
    check(after == before, || format!("inflight_longterm {before:?}, then {after:?}"))?;
    Ok("PROBE_DOWN by loss; application-limited samples do not change inflight_longterm (§5.5.10.2)"
        .to_owned())
}

pub fn up_for_ever(lab: &mut Lab) -> Observations {
    lab.run_to(Bbr3State::Up)?;
    lab.application = Application::Writes(0.3 * lab.payload_rate());
    let begun = lab.now;
    lab.run_until("the end of PROBE_UP", 12.0, |lab| lab.state() != Bbr3State::Up).ok();
    let lasted = lab.now.since(begun).as_secs();
    let next = lab.state();
    check(next == Bbr3State::Up || next == Bbr3State::ProbeRtt, || format!("{next:?} after {lasted:.2} s"))?;
    Ok(format!("{lasted:.1} s, then {}, because PROBE_RTT was due", name(next)))
}

pub fn down_by_inflight(lab: &mut Lab) -> Observations {
    run_to_down(lab)?;
    check(lab.snapshot().pacing_gain == 0.9, || format!("pacing gain {}", lab.snapshot().pacing_gain))?;
    let next = leave(lab, Bbr3State::Down, 10.0)?;
    let row = lab.last();
    check(next == Bbr3State::Cruise, || {
        format!("then {next:?}, {} in flight, target {}", row.in_flight, row.snapshot.target)
    })?;
    let most = row.snapshot.target.min(row.snapshot.target_with_headroom);
    check(row.in_flight <= most, || format!("{} in flight, {most} allowed", row.in_flight))?;
    Ok(format!(
        "PROBE_CRUISE with {:.2} of the target in flight",
        row.in_flight as f64 / row.snapshot.target as f64
    ))
}

/// The draft's case reduces the bandwidth by a tenth. A short queue then still drains, since PROBE_DOWN sends at 0.9 of
/// the estimate, minus a margin of 1 %. This case reduces the bandwidth by 15 % instead.
pub fn down_by_time(lab: &mut Lab) -> Observations {
    needs_a_product(lab)?;
    run_to_down(lab)?;
    let begun = lab.now;
    lab.path.rate = Rate::from_bps(lab.path.rate.bps() / 100 * 85);
    let next = leave(lab, Bbr3State::Down, 10.0)?;
    let lasted = lab.now.since(begun).as_secs();
    check(next == Bbr3State::Refill, || format!("{next:?} after {lasted:.2} s"))?;
    Ok(format!("PROBE_REFILL after {lasted:.2} s"))
}

pub fn cruise_aggregation(lab: &mut Lab) -> Observations {
    lab.run_to(Bbr3State::ProbeRtt)?;
    lab.run_to(Bbr3State::Cruise)?;
    lab.run_for(lab.rtt.as_secs());
    lab.path.ack_lumps = Some(lab.rtt.divided_by(2).max(Duration::from_millis(20)));
    let (begun, before) = (lab.now, lab.delivered());
    lab.run_for(3.0 + 4.0 * lab.rtt.as_secs());
    let share = (lab.delivered() - before) as f64 / lab.now.since(begun).as_secs() / lab.payload_rate();
    let row = lab.last();
    let products = row.cwnd as f64 / (lab.payload_rate() * lab.rtt.as_secs());
    check(row.snapshot.extra_acked > 0, || "extra_acked is 0".to_owned())?;
    check(products > 2.0, || format!("cwnd is {products:.2} products"))?;
    check(share > 0.95, || format!("{share:.3} of the path is used"))?;
    Ok(format!(
        "{share:.3} of the path used, extra_acked {} kB, cwnd {products:.1} products",
        row.snapshot.extra_acked / 1000
    ))
}

pub fn up_loss_again(lab: &mut Lab) -> Observations {
    needs_a_product(lab)?;
    let is_set = lab.run_until("inflight_longterm", 60.0, |lab| {
        lab.state() == Bbr3State::Down && lab.snapshot().inflight_long_term.is_some()
    });
    is_set.map_err(|_| Why::NotHere("the queue never overflows"))?;
    lab.run_to(Bbr3State::Up)?;
    let before = lab.snapshot().inflight_long_term.unwrap_or(0);
    lab.path.drop_every = 10;
    let next = leave(lab, Bbr3State::Up, 30.0)?;
    let (after, snapshot) = (lab.snapshot().inflight_long_term.unwrap_or(u64::MAX), lab.snapshot());
    check(next == Bbr3State::Down, || format!("then {next:?}"))?;
    check(!snapshot.is_full, || "by a plateau".to_owned())?;
    let product = snapshot.max_bandwidth * snapshot.min_rtt.map_or(0.0, |rtt| rtt.as_secs());
    let least = 0.69 * product.min(lab.last().cwnd as f64);
    check(after as f64 >= least, || format!("inflight_longterm {after}, 0.7 of the target is {least:.0}"))?;
    Ok(format!("inflight_longterm from {} to {} segments", before / SEGMENT, after / SEGMENT))
}

pub fn refill_limited(lab: &mut Lab) -> Observations {
    lab.run_to(Bbr3State::Refill)?;
    let before = lab.snapshot().max_bandwidth;
    lab.application = Application::Writes(0.2 * lab.payload_rate());
    let next = leave(lab, Bbr3State::Refill, 30.0)?;
    check(next == Bbr3State::Up, || format!("then {next:?}"))?;
    lab.run_for(lab.rtt.as_secs());
    let after = lab.snapshot().max_bandwidth;
    check((after / before - 1.0).abs() < 0.01, || format!("max_bw from {before:.0} to {after:.0}"))?;
    lab.application = Application::Bulk;
    lab.run_to(Bbr3State::Down)?;
    lab.run_for(2.0);
    let end = lab.snapshot().max_bandwidth / lab.payload_rate();
    check((0.98..1.03).contains(&end), || format!("later {end:.3} of the path's"))?;
    Ok(format!("max_bw stays {:.2} Mbit/s", mbps(after)))
}
