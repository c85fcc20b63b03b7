//! Test cases of spurious losses: reordering, and a pause of the bottleneck.

use super::{Observations, Why, check, name};
use crate::lab::Lab;
use lasthop_base::Duration;
use lasthop_tcp::sender::congestion::bbr3::{Bbr3State, ModelSnapshot};

fn restored(before: &ModelSnapshot, after: &ModelSnapshot) -> Result<(), Why> {
    let pairs = [
        (before.inflight_long_term, after.inflight_long_term, "inflight_longterm"),
        (before.inflight_short_term, after.inflight_short_term, "inflight_shortterm"),
    ];
    for (before, after, name) in pairs {
        let is_back = after.unwrap_or(u64::MAX) >= before.unwrap_or(u64::MAX);
        check(is_back, || format!("{name} {before:?}, then {after:?}"))?;
    }
    let is_back = after.bandwidth_short_term >= before.bandwidth_short_term;
    check(is_back, || {
        format!("bw_shortterm {}, then {}", before.bandwidth_short_term, after.bandwidth_short_term)
    })?;
    let goes_on = matches!(after.state, Bbr3State::Up | Bbr3State::Refill);
    check(goes_on, || format!("{:?} after the undo", after.state))
}

/// A packet arrives half a round trip late. Such a delay exceeds RACK's reordering window of a quarter of a round trip,
/// so a spurious recovery begins.
pub fn fast_recovery(lab: &mut Lab) -> Observations {
    lab.run_to(Bbr3State::Up)?;
    let before = lab.snapshot();
    lab.path.late_by = lab.rtt.divided_by(2) + Duration::from_millis(5);
    let offered = lab.path.offered;
    lab.run_until("a packet to send", 5.0, |lab| lab.path.offered > offered)?;
    lab.path.late_by = Duration::ZERO;
    lab.run_until("a recovery", 5.0, |lab| lab.counters().recoveries > 0)?;
    let during = lab.state();
    lab.run_until("the undo", 5.0, |lab| lab.counters().recoveries_undone > 0)?;
    restored(&before, &lab.snapshot())?;
    Ok(format!("{} in the recovery, {} after the undo", name(during), name(lab.state())))
}

/// The bottleneck pauses once, for longer than the RTO, so a spurious timeout occurs.
pub fn timeout(lab: &mut Lab) -> Observations {
    lab.run_to(Bbr3State::Up)?;
    let before = lab.snapshot();
    // The pause is long enough for the tail loss probe, then for the timeout. The pause is too short for a second
    // timeout, at twice the RTO, which would count as a real loss.
    let (srtt, rto) = (lab.sender().rtt().srtt().unwrap_or(lab.rtt), lab.sender().rtt().rto());
    lab.path.pause(lab.now, srtt * 3 + rto.divided_by(2) * 3);
    lab.run_until("a timeout", 10.0, |lab| lab.counters().timeouts > 0)?;
    let during = lab.state();
    lab.run_until("the undo", 10.0, |lab| lab.counters().timeouts_undone > 0)?;
    restored(&before, &lab.snapshot())?;
    Ok(format!("{} after the timeout, {} after the undo", name(during), name(lab.state())))
}

/// Exception of the case `spurious-rto` on all paths, because the draft's StartProbeBW_DOWN calls
/// ResetCongestionSignals.
pub fn no_undoing(_: f64, _: f64) -> Option<&'static str> {
    Some(
        "the lost packet that ends PROBE_UP clears is_loss_in_round; the next loss therefore saves the state again, \
         and the undo restores the lowered values",
    )
}
