//! Test cases of Startup and Drain.

use super::{Observations, Why, check, mbps, name, needs_a_product, product};
use crate::lab::{Application, Lab, Row, SEGMENT};
use lasthop_tcp::sender::congestion::bbr3::Bbr3State;

fn end_of_startup(lab: &mut Lab) -> Result<Row, Why> {
    lab.run_until("the end of STARTUP", 60.0, |lab| lab.state() != Bbr3State::Startup)?;
    Ok(lab.last())
}

pub fn plateau(lab: &mut Lab) -> Observations {
    let row = end_of_startup(lab)?;
    let ratio = row.snapshot.max_bandwidth / lab.payload_rate();
    check((0.98..=1.02).contains(&ratio), || format!("max_bw is {ratio:.3} of the path's"))?;
    check(row.snapshot.flat_rounds == 3, || format!("after {} flat rounds", row.snapshot.flat_rounds))?;
    check(row.snapshot.is_full && row.snapshot.was_full, || "the pipe is not marked full".to_owned())?;
    let is_drained = row.in_flight <= row.snapshot.target;
    check(row.snapshot.state == Bbr3State::Drain || is_drained, || format!("then {:?}", row.snapshot.state))?;
    check(lab.path.dropped == 0, || format!("{} packets lost", lab.path.dropped))?;
    Ok(format!(
        "max_bw {:.2} Mbit/s ({ratio:.3} of the path's) after {} rounds",
        mbps(row.snapshot.max_bandwidth),
        row.snapshot.rounds
    ))
}

pub fn loss(lab: &mut Lab) -> Observations {
    // The application sends at half the path's rate, and every fifth packet is lost. A path with few packets per round
    // cannot have the six separate losses that the case needs.
    if product(lab) < 40.0 {
        return Err(Why::NotHere("too few packets in a round for six separate losses"));
    }
    lab.application = Application::Writes(0.5 * lab.payload_rate());
    lab.run_for(1.0 + 10.0 * lab.rtt.as_secs());
    check(lab.state() == Bbr3State::Startup, || "STARTUP was over before".to_owned())?;
    check(lab.last().app_limited, || "not application-limited".to_owned())?;
    lab.path.drop_every = 5;
    let before = lab.last().snapshot.rounds;
    let row = end_of_startup(lab)?;
    lab.path.drop_every = 0;
    let rounds = row.snapshot.rounds - before;
    check(row.snapshot.is_full && row.snapshot.was_full, || "the pipe is not marked full".to_owned())?;
    check(row.snapshot.inflight_long_term.is_some(), || "inflight_longterm is not set".to_owned())?;
    Ok(format!("{} {rounds} rounds after the first loss", name(row.snapshot.state)))
}

pub fn drain_by_inflight(lab: &mut Lab) -> Observations {
    needs_a_product(lab)?;
    let row = end_of_startup(lab)?;
    check(row.snapshot.state == Bbr3State::Drain, || format!("then {:?}", row.snapshot.state))?;
    check(row.snapshot.pacing_gain == 0.5, || format!("pacing gain {}", row.snapshot.pacing_gain))?;
    let begun = row.snapshot.rounds;
    lab.run_until("the end of DRAIN", 20.0, |lab| lab.state() != Bbr3State::Drain)?;
    let row = lab.last();
    check(row.in_flight <= row.snapshot.target, || {
        format!("{} in flight, target {}", row.in_flight, row.snapshot.target)
    })?;
    // The ACK that ends DRAIN may also end PROBE_DOWN, so the next state may be PROBE_CRUISE.
    let is_next = matches!(row.snapshot.state, Bbr3State::Down | Bbr3State::Cruise);
    check(is_next, || format!("then {:?}", row.snapshot.state))?;
    Ok(format!("drained in round {}", row.snapshot.rounds - begun))
}

/// The draft's case reduces the bandwidth by a tenth, to 0.9. BBR then sends at 0.5 of the old bandwidth, and the queue
/// drains at the difference, 0.4. DRAIN thus ends on all paths because the queue is empty, not by time. This case
/// reduces the bandwidth by three quarters instead, so that the queue stays.
pub fn drain_by_time(lab: &mut Lab) -> Observations {
    needs_a_product(lab)?;
    let row = end_of_startup(lab)?;
    check(row.snapshot.state == Bbr3State::Drain, || format!("then {:?}", row.snapshot.state))?;
    let begun = row.snapshot.rounds;
    lab.path.rate = lasthop_base::Rate::from_bps(lab.path.rate.bps() / 4);
    lab.run_until("the end of DRAIN", 60.0, |lab| lab.state() != Bbr3State::Drain)?;
    let row = lab.last();
    let rounds = row.snapshot.rounds - begun;
    check(row.in_flight > row.snapshot.target, || format!("drained after {rounds} rounds"))?;
    check(rounds == 4 && row.snapshot.state == Bbr3State::Down, || {
        format!("{:?} after {rounds} rounds", row.snapshot.state)
    })?;
    Ok(format!(
        "PROBE_BW in the round after the third, {:.1} times the target in flight",
        row.in_flight as f64 / row.snapshot.target as f64
    ))
}

pub fn aggregation(lab: &mut Lab) -> Observations {
    let lump = lab.rtt.divided_by(2).max(lasthop_base::Duration::from_millis(20));
    lab.path.ack_lumps = Some(lump);
    let row = end_of_startup(lab)?;
    let ratio = row.snapshot.max_bandwidth / lab.payload_rate();
    check((0.9..=1.3).contains(&ratio), || format!("max_bw is {ratio:.2} of the path's"))?;
    check(row.snapshot.extra_acked > 0, || "extra_acked is 0".to_owned())?;
    let products = row.cwnd as f64 / (product(lab) * SEGMENT as f64);
    check(products > 2.0, || format!("cwnd is {products:.2} products"))?;
    Ok(format!(
        "max_bw {ratio:.2} of the path's, extra_acked {} kB, cwnd {products:.1} products",
        row.snapshot.extra_acked / 1000
    ))
}
