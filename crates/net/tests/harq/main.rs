//! Tests hybrid ARQ under RLC: losses, delays and rates against theory, and times of single SDUs.

mod arbitrary;
mod link;

use lasthop_base::{Duration, Rate, Time};
use lasthop_net::channel;
use lasthop_net::channel::Channel;
use lasthop_net::service::{RatePlan, Service, Trace};
use lasthop_wire::LossReason;
use link::*;
use std::sync::Arc;

/// A channel that loses all transmissions of the blocks with these numbers.
struct Losing {
    blocks: &'static [u64],
    next: u64,
}

impl Channel for Losing {
    fn transmit(&mut self, transmission: &channel::Transmission) -> channel::Reception {
        self.next += u64::from(transmission.attempt == 0);
        if self.blocks.contains(&(self.next - 1)) {
            channel::Reception::Lost
        } else {
            channel::Reception::Intact
        }
    }
}

fn losing(blocks: &'static [u64]) -> Box<dyn Channel> {
    Box::new(Losing { blocks, next: 0 })
}

/// Returns the error probabilities of the first transmission and of each retransmission.
fn steps(loss: f64, combining: f64, transmissions: usize) -> Vec<f64> {
    (0..transmissions as i32).map(|repeats| loss * combining.powi(repeats)).collect()
}

fn close(value: f64, expected: f64, error: f64, what: &str) {
    assert!((value - expected).abs() < 5.0 * error, "{what}: {value} instead of {expected} ± {error}");
}

/// Whole blocks are sent back to back in unacknowledged mode. A block must be lost if all of its transmissions fail, or
/// if a NACK is misread. The number of blocks delivered per slot must be 1 - loss, divided by the mean number of
/// transmissions.
#[test]
fn what_harq_leaves_and_what_it_costs() {
    let all = 40_000;
    for (loss, combining, transmissions, misread) in
        [(0.5, 0.5, 3, 0.0), (0.3, 0.2, 4, 0.0), (0.3, 1.0, 4, 0.0), (0.3, 0.2, 4, 0.1), (0.5, 0.2, 1, 0.0)]
    {
        let settings = [
            word("mode", "um"),
            number("combining", combining),
            count("transmissions", transmissions as u64),
            number("misread", misread),
        ];
        let mut link = Link::new(&config(&settings, loss), 1);
        (0..all).for_each(|number| link.offer(Time::ZERO, number, WHOLE));
        link.run(at(1_000_000));
        let steps = steps(loss, combining, transmissions);
        let (mut reaches, mut sent, mut residual) = (1.0, 0.0, 0.0);
        for (index, step) in steps.iter().enumerate() {
            sent += reaches;
            let fails = reaches * step;
            let stops = if index + 1 == transmissions { 1.0 } else { misread };
            residual += fails * stops;
            reaches = fails * (1.0 - stops);
        }
        let n = all as f64;
        let what = format!("{loss} {combining} {transmissions} {misread}");
        let share = link.lost.len() as f64 / n;
        close(share, residual, (residual * (1.0 - residual) / n).sqrt().max(1.0 / n), &what);
        assert!(link.lost.iter().all(|(_, _, reason)| *reason == LossReason::Channel));
        assert_eq!(link.arrived.len() + link.lost.len(), all as usize);
        let counters = link.counters();
        // The standard deviation of a block's number of transmissions is at most `transmissions` / 2.
        close(counters.blocks as f64 / n, sent, transmissions as f64 / 2.0 / n.sqrt(), &what);
        let slots = link.now.as_secs() * 1000.0;
        assert!(slots - (counters.blocks as f64) < 100.0, "{what}: {slots} slots, {counters:?}");
        assert_eq!(counters.blocks, counters.blocks_retransmitted + n as u64);
        assert_eq!(counters.blocks_given_up, link.lost.len() as u64);
    }
}

/// A single packet must take one slot, and one round trip for each retransmission.
#[test]
fn the_delay_is_a_slot_and_round_trips() {
    let settings = [word("mode", "um"), word("order", "none"), number("combining", 0.5)];
    let mut link = Link::new(&config(&settings, 0.4), 2);
    let all = 20_000u64;
    (0..all).for_each(|number| link.offer(at(50 * number), number, 500));
    link.run(at(50 * all));
    let mut late = [0u64; 4];
    for (number, arrived) in &link.arrived {
        let waited = arrived.since(at(50 * number)).as_nanos() - MS.as_nanos();
        assert_eq!(waited % (MS * 8).as_nanos(), 0, "packet {number}");
        late[(waited / (MS * 8).as_nanos()) as usize] += 1;
    }
    let steps = steps(0.4, 0.5, 4);
    let mut reaches = 1.0;
    for (repeats, step) in steps.iter().enumerate() {
        let expected = reaches * (1.0 - step);
        let error = (expected * (1.0 - expected) / all as f64).sqrt();
        close(late[repeats] as f64 / all as f64, expected, error, "share of a delay");
        reaches *= step;
    }
}

#[test]
fn harq_reorders_and_rlc_puts_in_order() {
    let mut last = None;
    for order in ["none", "rlc", "pdcp"] {
        let mut link = Link::new(&config(&[word("mode", "um"), word("order", order)], 0.1), 3);
        (0..5000).for_each(|number| link.offer(Time::ZERO, number, 700));
        link.run(at(20_000));
        let numbers = link.numbers();
        let late = numbers.windows(2).filter(|pair| pair[0] > pair[1]).count();
        let in_order = order != "none";
        assert_eq!(late == 0, in_order, "{order}: {late} SDUs out of order");
        assert_eq!(in_order, link.counters().late == 0);
        assert_eq!(link.counters().waited > Duration::ZERO, in_order, "{order}");
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        assert_eq!(*last.get_or_insert(sorted.clone()), sorted);
        assert_eq!(numbers.len() + link.lost.len(), 5000);
    }
}

/// SDU 1 is lost in slot 1. SDU 2 arrives at 3 ms and starts t-Reassembly (50 ms). At 53 ms, all SDUs received until
/// then must be delivered.
#[test]
fn without_acknowledgement_a_lost_block_costs_one_t_reassembly() {
    let mut link = Link::with(&config(&[word("mode", "um"), number("combining", 1.0)], 0.0), losing(&[1]), 1);
    (0..100).for_each(|number| link.offer(at(number), number, WHOLE));
    link.run(at(1000));
    assert_eq!(link.lost, [(1, Time::NEVER, LossReason::Channel)]);
    assert_eq!(link.given_up, [(1, at(53))]);
    // The three retransmissions of the lost block use slots 9, 17 and 25. Each retransmission delays all later SDUs by
    // one slot.
    let sent = |number: u64| {
        let later = [9, 17, 25].iter().filter(|slot| number + 1 > **slot).count() as u64;
        let slot = (number..)
            .find(|slot| slot - [9, 17, 25].iter().filter(|at| *at < slot).count() as u64 >= number);
        let slot = slot.unwrap();
        assert!(slot <= number + later + 3);
        slot
    };
    for (number, arrived) in &link.arrived {
        let there = at(sent(*number).max(*number) + 1);
        let expected = if *number > 1 { there.max(at(53)) } else { there };
        assert!(arrived.since(expected) <= MS, "{number} at {arrived:?}, not {expected:?}");
    }
    let counters = link.counters();
    assert_eq!((counters.reordering_timeouts, counters.longest_wait), (1, MS * 50));
    let pdcp = [word("order", "pdcp"), time("t_reordering", MS * 80)];
    let settings = [&[word("mode", "um"), number("combining", 1.0)], &pdcp[..]].concat();
    let mut link = Link::with(&config(&settings, 0.0), losing(&[1]), 1);
    (0..100).for_each(|number| link.offer(at(number), number, WHOLE));
    link.run(at(1000));
    assert_eq!(link.given_up, [(1, at(83))]);
    assert_eq!(link.counters().longest_wait, MS * 80);
    assert_eq!(link.arrived.len(), 99);
}

/// SDU 1 is lost in slot 1, and HARQ does not retransmit. At 3 ms, SDU 2 reveals the hole, and t-Reassembly ends at 23
/// ms. The status report uses the slot from 23 to 24 ms in the opposite direction. The forward slot that begins at 24
/// ms is filled before the report is handled, so SDU 1 uses the slot from 25 to 26 ms.
#[test]
fn a_status_brings_a_lost_block_back() {
    let settings =
        [count("transmissions", 1), time("t_reassembly", MS * 20), time("t_status_prohibit", MS * 5)];
    let mut link = Link::with(&config(&settings, 0.0), losing(&[1]), 1);
    (0..40).for_each(|number| link.offer(at(number), number, WHOLE));
    link.run(at(1000));
    // Each block empties the buffer, so each block polls. One status report must follow for SDU 0, and one status
    // report when SDU 1 counts as lost. t-StatusProhibit must delay the next report until SDU 1 has arrived. Otherwise
    // the next report would request SDU 1 again.
    assert_eq!(link.statuses[..2], [at(1), at(23)]);
    assert_eq!(link.numbers(), (0..40).collect::<Vec<_>>());
    let when = |number: usize| link.arrived[number].1;
    assert_eq!((when(0), when(1), when(2), when(24)), (at(1), at(26), at(26), at(26)));
    assert_eq!((when(25), when(39)), (at(27), at(41)));
    let counters = link.counters();
    assert_eq!((counters.retransmissions, counters.discarded, counters.blocks_given_up), (1, 0, 1));
}

/// If a poll is lost with its SDU, the sender must poll again after t-PollRetransmit.
#[test]
fn a_lost_poll_is_sent_again() {
    let mut link = Link::with(&config(&[count("transmissions", 1)], 0.0), losing(&[0]), 1);
    link.offer(at(0), 0, WHOLE);
    link.run(at(10_000));
    assert_eq!(link.arrived, [(0, at(121))]);
    assert_eq!((link.counters().polls, link.counters().statuses), (2, 1));
    assert_eq!(link.sides[0].poll_timeout(), Time::NEVER, "all data must be acknowledged");
    assert_eq!(link.sides[1].poll_timeout(), Time::NEVER);
}

/// If all transmissions fail, each SDU must be sent three times and then given up.
#[test]
fn what_is_repeated_too_often_is_given_up() {
    let settings = [count("transmissions", 1), count("retransmissions", 2)];
    let mut link = Link::new(&config(&settings, 1.0), 1);
    (0..5).for_each(|number| link.offer(Time::ZERO, number, WHOLE));
    link.run(at(100_000));
    assert_eq!(link.arrived, []);
    let lost: Vec<u64> = link.lost.iter().map(|(number, _, _)| *number).collect();
    assert_eq!(lost.len(), 5, "{lost:?}");
    assert!(link.lost.iter().all(|(_, _, reason)| *reason == LossReason::Discarded));
    assert_eq!(link.counters().pdus, 15);
    assert_eq!(link.sides[0].poll_timeout(), Time::NEVER);
}

#[test]
fn in_acknowledged_mode_nothing_is_lost() {
    for (transmissions, loss, order) in [(1, 0.5, "rlc"), (2, 0.3, "pdcp"), (4, 0.1, "rlc"), (1, 0.1, "none")]
    {
        let settings = [
            count("transmissions", transmissions),
            count("retransmissions", 1000),
            word("order", order),
            time("t_reordering", Duration::from_secs(100)),
            number("misread", 0.05),
        ];
        let mut link = Link::new(&config(&settings, loss), 5);
        (0..5000).for_each(|number| link.offer(Time::ZERO, number, 300 + (number % 13) as u32 * 100));
        link.run(at(200_000));
        assert_eq!((link.lost.len(), link.counters().blocks_given_up > 0), (0, true));
        let mut numbers = link.numbers();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..5000).collect::<Vec<_>>());
        assert_eq!(link.counters().late == 0, order != "none");
        assert!(link.statuses.windows(2).all(|pair| pair[1].since(pair[0]) >= MS * 50), "t-StatusProhibit");
    }
}

/// Four processes with a round trip of eight slots can use only every other slot. At 64 kbit/s a slot has 8 bytes, so a
/// block must use the bytes of several slots.
#[test]
fn processes_and_low_rates() {
    let mut link = Link::new(&config(&[count("processes", 4)], 0.0), 1);
    (0..2000).for_each(|number| link.offer(Time::ZERO, number, WHOLE));
    link.run(at(2000));
    assert!(link.arrived.len().abs_diff(1000) <= 4, "{}", link.arrived.len());
    let mut slow = config(&[number_of_bytes("header", 0)], 0.0);
    slow.service = Service::Rate(Rate::from_bps(64_000));
    let mut link = Link::new(&slow, 1);
    (0..2000).for_each(|number| link.offer(Time::ZERO, number, 80));
    link.run(at(10_000));
    // Each SDU of 80 bytes must take 10 ms.
    assert!(link.arrived.len().abs_diff(1000) <= 4, "{}", link.arrived.len());
}

/// In an outage of 50 ms, HARQ loses the blocks in flight. Acknowledged mode must recover them.
#[test]
fn an_outage_by_plan() {
    let plan = RatePlan::parse("12 Mbit/s for 100 ms, 0 bit/s for 50 ms").unwrap();
    for (mode, all) in [("am", true), ("um", false)] {
        let mut config = config(&[word("mode", mode)], 0.3);
        config.service = Service::Plan(Arc::new(plan.clone()));
        let mut link = Link::new(&config, 1);
        (0..2000).for_each(|number| link.offer(Time::ZERO, number, WHOLE));
        link.run(at(60_000));
        assert_eq!(link.lost.is_empty(), all, "{mode}");
        assert_eq!(link.arrived.len() + link.lost.len(), 2000);
        let quiet = |time: &Time| (time.as_nanos() % 150_000_000) as f64 / 1e6;
        if all {
            // The last block before an outage must be decoded no later than the end of the last slot with service.
            assert!(
                link.arrived.iter().all(|(_, at)| quiet(at) <= 100.0),
                "packets must not arrive in an outage"
            );
        }
    }
}

/// The trace has opportunities of 1504 bytes at 5, 5, 5 and 10 ms. Packets must arrive at these times, which are ends
/// of slots.
#[test]
fn a_recorded_rate_fills_the_slots() {
    let mut config = config(&[word("mode", "um")], 0.0);
    config.service = Service::Trace(Arc::new(Trace::parse("5\n5\n5\n10\n").unwrap()));
    let mut link = Link::new(&config, 1);
    (0..8).for_each(|number| link.offer(Time::ZERO, number, 1496));
    link.run(at(100));
    let times: Vec<Time> = link.arrived.iter().map(|(_, at)| *at).collect();
    assert_eq!(times, [5, 5, 5, 10, 15, 15, 15, 20].map(at));
}

/// The sender has 1600 blocks with one PDU each to send. The sender must poll after the configured number of PDUs or
/// bytes, and with the last PDU.
#[test]
fn polls_come_by_pdus_and_by_bytes() {
    for (pdus, bytes, polls) in [(16, 0, 100), (0, 15_000, 160), (16, 15_000, 160), (0, 0, 1)] {
        let settings = [count("poll_pdus", pdus), number_of_bytes("poll_bytes", bytes)];
        let mut link = Link::new(&config(&settings, 0.0), 1);
        (0..1600).for_each(|number| link.offer(Time::ZERO, number, WHOLE));
        link.run(at(10_000));
        assert_eq!((link.counters().polls, link.counters().retransmissions), (polls, 0), "{pdus} {bytes}");
    }
}

/// The window holds four SDUs, which use four slots. The fourth SDU must poll, because the window is full. The status
/// report uses the fifth slot of the opposite direction, so four SDUs arrive every five slots.
#[test]
fn a_full_window_polls() {
    let settings = [count("window", 4), time("t_status_prohibit", Duration::ZERO)];
    let mut link = Link::new(&config(&settings, 0.0), 1);
    (0..1000).for_each(|number| link.offer(Time::ZERO, number, WHOLE));
    link.run(at(1000));
    assert_eq!(link.arrived.len(), 800);
}

/// An idle transmitter admits a packet of any size. During a slot, a packet must fit into the queue, here 100 bytes.
#[test]
fn a_slot_in_use_is_no_idle_transmitter() {
    let mut config = config(&[word("mode", "um")], 0.0);
    config.queue.values.set("bytes", lasthop_base::Value::Bytes(100));
    let mut link = Link::new(&config, 1);
    let half = at(0) + Duration::from_micros(500);
    link.offer(at(0), 0, WHOLE);
    link.run(at(0));
    link.offer(half, 1, WHOLE);
    link.offer(at(5), 2, WHOLE);
    link.run(at(100));
    assert_eq!(link.lost, [(1, half, LossReason::QueueFull)]);
    assert_eq!(link.arrived, [(0, at(1)), (2, at(6))]);
}
