//! Tests of JTCP at the sender: the number of losses that JTCP classifies as wireless.

use super::passive_control::{Log, run_with_estimates};
use super::{AIR, EventLog, Setting, UNFILLED};
use lasthop_base::Time;
use lasthop_tcp::Event;
use lasthop_tcp::event::{Cause, Reason};

/// Returns the number of recoveries, and the number of those that did not reduce the window.
fn harmless(log: &Log) -> (usize, usize) {
    harmless_after(log, 0.0)
}

/// Counts like [`harmless`], but only recoveries that begin at least `apart` seconds after the previous recovery.
fn harmless_after(log: &Log, apart: f64) -> (usize, usize) {
    let before = std::iter::once(Time::ZERO).chain(log.losses.iter().map(|(at, _)| *at));
    let losses = log.losses.iter().zip(before).filter(|((at, _), last)| at.since(*last).as_secs() >= apart);
    losses
        .fold((0, 0), |(all, none), ((_, [before, after]), _)| (all + 1, none + usize::from(before == after)))
}

fn sum(of: impl Fn(u64) -> (usize, usize)) -> (usize, usize) {
    (1..=10).map(of).fold((0, 0), |(all, part), (more, wrong)| (all + more, part + wrong))
}

/// Without queueing, delays do not grow. At a loss rate of 0.2 %, JTCP must therefore classify more than 90 % of the
/// losses as wireless. At 1 %, queues form, because each recovery ends with a burst that queues at the slow link. For
/// half a second, this queue affects the verdict on a loss.
#[test]
fn jtcp_takes_random_losses_on_an_idle_path_for_the_airs() {
    let of = |loss: &str, apart: f64| {
        let channel = format!("{{ kind = \"iid\", loss = {loss} }}");
        let lossy: &[Setting<'_>] = &[(AIR, &channel), ("duration", "60 s")];
        let run_case = |seed| run_with_estimates("jtcp", &[], "", &[UNFILLED, lossy], seed).1;
        let (all, air) = sum(|seed| harmless_after(&run_case(seed), apart));
        println!("random losses, {loss}, {apart} s apart: {air} of {all} recoveries classified as wireless");
        (all, air)
    };
    let (few, many, lone) = (of("0.002", 0.0), of("0.01", 0.0), of("0.01", 0.5));
    assert!(lone.0 > 200 && lone.1 as f64 > 0.98 * lone.0 as f64, "{lone:?}");
    assert!(few.0 > 200 && few.1 as f64 > 0.9 * few.0 as f64, "{few:?}");
    assert!((0.75..0.9).contains(&(many.1 as f64 / many.0 as f64)), "{many:?}");
}

/// All losses are congestion losses. JTCP must recognise congestion while the queue fills, before the queue overflows.
/// While the queue stays full, JTCP does not recognise congestion.
#[test]
fn jtcp_and_a_queue_that_overflows() {
    let short: &[Setting<'_>] = &[("duration", "60 s")];
    let neighbour = r#"
        [flow.neighbour]
        from = "server"
        to = "client"
        profile = "plain"
        segment = "1000 bytes"
        start_spread = "2 s"
    "#;
    let ramps = r#"
        [flow.cross]
        kind = "on_off"
        from = "server"
        to = "client"
        rate = "1.2 Mbit/s"
        packet = "1000 bytes"
        on = "2 s"
        off = "4 s"
        start_spread = "6 s"
    "#;
    let wrong =
        |tables: &str| sum(|seed| harmless(&run_with_estimates("jtcp", &[], tables, &[short], seed).1));
    let (alone, beside, ramp) = (wrong(""), wrong(neighbour), wrong(ramps));
    println!(
        "congestion classified as wireless (recoveries, misclassified): alone {alone:?}, beside Reno {beside:?}, under \
         ramps {ramp:?}"
    );
    assert!(alone.0 > 50 && beside.0 > 50 && ramp.0 > 50);
    assert!(ramp.1 as f64 <= 0.2 * ramp.0 as f64, "{ramp:?}");
    assert!(alone.1 * 4 > alone.0 && beside.1 * 4 > beside.0, "{alone:?} {beside:?}");
}

/// Compares the verdicts of sender and receiver on the same hole, with a full queue and channel losses. The verdicts
/// must be equal in most cases. Verdicts differ at times for three reasons. In congestion avoidance, the queue grows by
/// a packet per window, which is just the threshold (k = 1). The window w is cwnd at the sender, but an estimate at the
/// receiver. Times are whole milliseconds.
#[test]
fn the_senders_verdict_is_mostly_the_receivers() {
    let both: &[Setting<'_>] = &[
        ("flow.bulk.receiver.loss_discrimination", "jtcp"),
        (AIR, "{ kind = \"iid\", loss = 0.003 }"),
        ("duration", "60 s"),
    ];
    let (all, same) = sum(|seed| {
        let (_, log, recorded) = run_with_estimates("jtcp", &[], "", &[both], seed);
        let pairs = verdicts(&log, &recorded);
        (pairs.len(), pairs.iter().filter(|[sender, receiver]| sender == receiver).count())
    });
    println!("{same} of {all} verdicts are the same");
    assert!(all > 200 && same as f64 > 0.6 * all as f64, "{same} of {all}");
}

fn verdicts(log: &Log, recorded: &EventLog) -> Vec<[Cause; 2]> {
    let pair = |(at, [before, after]): &(_, [u64; 2])| {
        let hole = recorded.events.iter().find_map(|(time, event)| match event {
            Event::Retransmitted { range, reason: Reason::FastRetransmit } if time == at => Some(range.start),
            _ => None,
        })?;
        let (_, receivers) =
            recorded.classified.iter().find(|(range, _)| (range.start..range.end).contains(&hole))?;
        let senders = if after < before { Cause::Congestion } else { Cause::Wireless };
        Some([senders, *receivers])
    };
    log.losses.iter().filter_map(pair).collect()
}
