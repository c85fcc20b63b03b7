//! Test cases on very slow paths, on paths that become faster or slower, and with policers.

use super::{Observations, check, mbps};
use crate::lab::{Lab, Policer, SEGMENT};
use lasthop_base::Rate;
use lasthop_tcp::sender::congestion::bbr3::Bbr3State;

pub fn sub_packet(lab: &mut Lab) -> Observations {
    lab.run_to(Bbr3State::Cruise)?;
    let (begun, before) = (lab.now, lab.delivered());
    lab.run_for(4.0);
    let share = (lab.delivered() - before) as f64 / lab.now.since(begun).as_secs() / lab.payload_rate();
    let smallest = lab.rows().iter().map(|row| row.cwnd).min().unwrap_or(0);
    check(smallest >= 4 * SEGMENT, || format!("cwnd {smallest}"))?;
    check(share > 0.95, || format!("{share:.3} of the path is used"))?;
    let ratio = lab.snapshot().max_bandwidth / lab.payload_rate();
    check((0.9..1.1).contains(&ratio), || format!("max_bw is {ratio:.3} of the path's"))?;
    Ok(format!("{share:.3} of the path used, max_bw {ratio:.3} of the path's"))
}

pub fn ten_times(lab: &mut Lab) -> Observations {
    lab.run_to(Bbr3State::Cruise)?;
    lab.path.rate = Rate::from_bps(10 * lab.path.rate.bps());
    lab.path.queue *= 10;
    let (begun, mut rounds, mut last) = (lab.now, 0, 0);
    lab.run_until("95 % of the new bandwidth", 40.0, |lab| {
        let snapshot = lab.snapshot();
        rounds += u64::from(snapshot.state == Bbr3State::Up && snapshot.rounds != last);
        last = snapshot.rounds;
        snapshot.max_bandwidth > 0.95 * lab.payload_rate()
    })?;
    let took = lab.now.since(begun).as_secs();
    // A tenfold bandwidth needs log(10) / log(1.2375) = 10.8 rounds at the gain of PROBE_UP, and some rounds to detect
    // the growth.
    check(rounds <= 30, || format!("{rounds} rounds of PROBE_UP, {took:.1} s"))?;
    Ok(format!(
        "{:.0} Mbit/s after {rounds} rounds of PROBE_UP, {took:.1} s",
        mbps(lab.snapshot().max_bandwidth)
    ))
}

pub fn a_tenth(lab: &mut Lab) -> Observations {
    lab.run_to(Bbr3State::Cruise)?;
    let old = lab.snapshot().max_bandwidth;
    lab.path.rate = Rate::from_bps(lab.path.rate.bps() / 10);
    let (begun, mut at) = (lab.now, None);
    let mut lowest = f64::INFINITY;
    lab.run_until("max_bw below 1.1 of the new bandwidth", 60.0, |lab| {
        let snapshot = lab.snapshot();
        lowest = lowest.min(snapshot.bandwidth_short_term);
        if snapshot.bandwidth_short_term < 0.75 * old && at.is_none() {
            at = Some(lab.now.since(begun).as_secs());
        }
        snapshot.max_bandwidth < 1.1 * lab.payload_rate()
    })?;
    let took = lab.now.since(begun).as_secs();
    let at = at.ok_or_else(|| format!("bw_shortterm does not fall (lowest {lowest:.0})"))?;
    check(at < 3.0, || format!("bw_shortterm falls after {at:.1} s"))?;
    // max_bw is the maximum over two PROBE_BW cycles of 2 to 3 s each, and the probes take additional time.
    check(took < 12.0, || format!("max_bw falls after {took:.1} s"))?;
    Ok(format!("bw_shortterm below three quarters after {at:.2} s, max_bw down after {took:.1} s"))
}

pub fn policer(lab: &mut Lab) -> Observations {
    let rate = Rate::from_bps(lab.path.rate.bps() / 4);
    let bucket = (rate.bps() as f64 / 8.0 * lab.rtt.as_secs()).max(15_000.0);
    lab.path.policer = Some(Policer::new(lab.now, rate, bucket));
    lab.run_to(Bbr3State::Cruise)?;
    let mut adapts = false;
    lab.run_until("the end of the case", 10.0, |lab| {
        adapts |=
            lab.snapshot().inflight_short_term.is_some() && lab.snapshot().bandwidth_short_term.is_finite();
        false
    })
    .ok();
    check(adapts, || "the short-term model stays infinite".to_owned())?;
    let (offered, dropped, before, begun) = (lab.path.offered, lab.path.dropped, lab.delivered(), lab.now);
    lab.run_for(15.0);
    let lost = (lab.path.dropped - dropped) as f64 / (lab.path.offered - offered) as f64;
    let share =
        (lab.delivered() - before) as f64 / lab.now.since(begun).as_secs() / (lab.payload_rate() / 4.0);
    check(lost < 0.15, || format!("{:.1} % lost, {share:.2} of the tokens used", 100.0 * lost))?;
    check(share > 0.7, || format!("{share:.2} of the tokens used, {:.1} % lost", 100.0 * lost))?;
    Ok(format!("{share:.2} of the tokens used, {:.1} % lost", 100.0 * lost))
}

/// Exception of the case `a-tenth` for slow paths. After the reduction, the bandwidth-delay product is a few packets,
/// but the queue holds many, so a round takes more than half a second.
pub fn no_tenth(rate: f64, _: f64) -> Option<&'static str> {
    (rate < 5e6).then_some(
        "PROBE_RTT, every 5 s, ends PROBE_UP or the round after PROBE_UP, so the filter of max_bw never advances \
         (§5.3.3.9)",
    )
}

/// Exception of the case `policer` for short or slow paths. In a round-trip time, the policer gets tokens for fewer
/// packets than BBR's minimum of four in flight.
pub fn no_policer(rate: f64, rtt: f64) -> Option<&'static str> {
    (rate * rtt < 5e4)
        .then_some("at least four segments are in flight, but a round trip has tokens for only one")
}
