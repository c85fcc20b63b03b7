//! Test cases of ProbeRTT.

use super::{Observations, check, needs_a_product};
use crate::lab::{Application, Lab, SEGMENT};
use lasthop_tcp::sender::congestion::bbr3::Bbr3State;

pub fn enters_and_leaves(lab: &mut Lab) -> Observations {
    lab.run_to(Bbr3State::Cruise)?;
    lab.run_to(Bbr3State::ProbeRtt)?;
    let entered = lab.now;
    check(entered.as_secs() > 5.0, || format!("after {:.2} s", entered.as_secs()))?;
    let row = lab.last();
    let product = row.snapshot.max_bandwidth * row.snapshot.min_rtt.map_or(0.0, |rtt| rtt.as_secs());
    let most = (0.5 * product).max(4.0 * SEGMENT as f64) + 1.0;
    check(row.cwnd as f64 <= most, || format!("cwnd {}, {most:.0} allowed", row.cwnd))?;
    lab.run_until("the end of PROBE_RTT", 10.0, |lab| lab.state() != Bbr3State::ProbeRtt)?;
    let lasted = lab.now.since(entered).as_secs();
    check(lasted >= 0.2 + 0.5 * lab.rtt.as_secs(), || format!("PROBE_RTT lasted {lasted:.3} s"))?;
    check(lab.state() == Bbr3State::Cruise, || format!("then {:?}", lab.state()))?;
    let before = lab.delivered();
    lab.run_for(1.0 + lab.rtt.as_secs());
    let share = (lab.delivered() - before) as f64 / lab.payload_rate();
    check(share > 0.8, || format!("in the second after PROBE_RTT, {share:.2} of the path's rate"))?;
    Ok(format!("at {:.2} s, for {:.0} ms", entered.as_secs(), 1000.0 * lasted))
}

pub fn skipped_after_silence(lab: &mut Lab) -> Observations {
    lab.run_to(Bbr3State::Cruise)?;
    lab.application = Application::Silent;
    lab.run_for(6.0);
    check(lab.sender().in_flight() == 0, || "data is still in flight".to_owned())?;
    lab.application = Application::Bulk;
    lab.run_until("data going out", 1.0, |lab| lab.sender().in_flight() > 0)?;
    check(lab.snapshot().is_idle_restart, || "idle_restart is not set".to_owned())?;
    let begun = lab.now;
    lab.run_until("PROBE_RTT", 4.5, |lab| lab.state() == Bbr3State::ProbeRtt).ok();
    let lasted = lab.now.since(begun).as_secs();
    check(lasted > 4.0, || format!("PROBE_RTT {lasted:.2} s later"))?;
    Ok("no PROBE_RTT in the 4.5 s after the silence".to_owned())
}

/// The application sends at a fifth of the path's rate. With a slower application, each packet would restart from idle,
/// and BBR would skip PROBE_RTT.
pub fn in_startup(lab: &mut Lab) -> Observations {
    needs_a_product(lab)?;
    lab.application = Application::Writes(0.2 * lab.payload_rate());
    lab.run_to(Bbr3State::ProbeRtt)?;
    check(!lab.snapshot().was_full, || "the pipe was full before".to_owned())?;
    let entered = lab.now.as_secs();
    lab.run_until("the end of PROBE_RTT", 10.0, |lab| lab.state() != Bbr3State::ProbeRtt)?;
    check(lab.state() == Bbr3State::Startup, || format!("then {:?}", lab.state()))?;
    lab.application = Application::Bulk;
    lab.run_until("the end of STARTUP", 60.0, |lab| lab.state() != Bbr3State::Startup)?;
    let ratio = lab.snapshot().max_bandwidth / lab.payload_rate();
    check((0.98..=1.02).contains(&ratio), || format!("max_bw is {ratio:.3} of the path's"))?;
    Ok(format!("at {entered:.2} s, then STARTUP, which finds {ratio:.3} of the path's rate"))
}
