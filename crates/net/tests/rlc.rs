//! Tests RLC: throughput against closed forms, and arrivals and losses of single SDUs.

use lasthop_base::{Choice, Duration, Rate, Stream, Time, Value};
use lasthop_net::arq::DirectionParts;
use lasthop_net::channel::Channel;
use lasthop_net::counters::RlcCounters;
use lasthop_net::discipline::QueueContext;
use lasthop_net::rlc::Rlc;
use lasthop_net::service::{RatePlan, Service};
use lasthop_net::{Config, Element, Output, admission, channel, rlc};
use lasthop_wire::{Body, Ecn, FlowId, LinkReport, LossReason, Packet, Priority};
use std::sync::Arc;

const MS: Duration = Duration::from_millis(1);

fn at(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

fn packet(number: u64, wire_bytes: u32) -> Packet {
    Packet {
        number,
        flow: FlowId(0),
        route: 0,
        wire_bytes,
        forward: true,
        is_retransmission: false,
        before_first_loss: false,
        damaged: false,
        ecn: Ecn::NotEct,
        priority: Priority::NORMAL,
        hop: 0,
        enqueued_at: Time::ZERO,
        body: Body::Datagram { number },
    }
}

/// Configures a link of 384 kbit/s with a delay of 10 ms. All other settings are defaults.
fn config(settings: &[(&'static str, Value)]) -> Config {
    let mut config = Config::wire(Service::Rate(Rate::from_bps(384_000)), MS * 10);
    config.arq = Choice::named(rlc::ALL, "rlc");
    for (name, value) in settings {
        config.arq.values.set(name, value.clone());
    }
    config
}

fn lossy(mut config: Config, loss: f64) -> Config {
    config.channel = Choice::named(channel::ALL, "iid");
    config.channel.values.set("loss", Value::Number(loss));
    config
}

/// Outcome of an SDU: its number, the time of arrival or loss, and the reason for a loss.
type End = (u64, Time, Option<LossReason>);

fn ends(outputs: Vec<Output>) -> Vec<End> {
    outputs
        .into_iter()
        .filter_map(|output| match output {
            Output::Arrives { packet, at } => Some((packet.number, at, None)),
            Output::Lost { packet, at, reason, .. } => Some((packet.number, at, Some(reason))),
            Output::LossNoticed { .. }
            | Output::TransmissionFailed { .. }
            | Output::Duplicate { .. }
            | Output::ToPeer(_)
            | Output::Report(_) => None,
        })
        .collect()
}

/// Builds RLC as a scenario does, with the channel's random stream of this seed.
fn built(config: &Config, seed: u64) -> Rlc {
    let channel = (config.channel.build)(&config.channel.values, Stream::named(seed, "channel"));
    with_channel(config, channel)
}

/// Builds RLC with this channel. The seed of the queue's stream has no effect, because the queues of these tests draw
/// no random numbers.
fn with_channel(config: &Config, channel: Box<dyn Channel>) -> Rlc {
    let place = QueueContext {
        rate: config.service.rate_at(Time::ZERO),
        random: Stream::named(0, "queue"),
        hosts: None,
    };
    let queue = (config.queue.build)(&config.queue.values, place);
    let parts = DirectionParts {
        service: config.service.clone(),
        delay: config.delay,
        queue,
        channel,
        random: Stream::named(1, "arq"),
    };
    Rlc::new(&config.arq.values, parts)
}

/// Offers `count` packets of `bytes` at time zero. Returns the packets' outcomes, and the counters at `until`.
fn offer(config: &Config, count: u64, bytes: u32, until: Time) -> (Vec<End>, RlcCounters) {
    let mut link = built(config, 3);
    let mut out = Vec::new();
    (0..count).for_each(|number| link.handle_packet(Time::ZERO, packet(number, bytes), &mut out));
    run(&mut link, until, &mut out);
    (ends(out), *link.rlc().expect("counters"))
}

fn run(link: &mut Rlc, until: Time, out: &mut Vec<Output>) {
    while link.poll_timeout() <= until {
        link.handle_timeout(link.poll_timeout(), out);
    }
}

/// Returns the throughput of payload, in kbit/s, of a sender that always has data. A segment with 1500 bytes of payload
/// is an SDU of 1540 bytes.
fn payload_kbps(config: &Config) -> f64 {
    let seconds = 400;
    let (ends, _) = offer(config, 20_000, 1540, at(1000 * seconds));
    ends.iter().filter(|end| end.2.is_none()).count() as f64 * 12.0 / seconds as f64
}

#[test]
fn throughput_without_and_with_errors_has_its_closed_form() {
    // A block of 20 ms has 22 PDUs, and an SDU has 39 PDUs. The throughput must be 22 / 39 x 1500 x 8 / 0.02 = 338.46
    // kbit/s.
    let without = payload_kbps(&config(&[]));
    assert!((without / 338.46 - 1.0).abs() < 0.001, "{without}");
    // With selective repeat, the throughput must fall by the share of lost blocks, to 338.46 (1 - 0.059) = 318.49
    // kbit/s. Five standard errors of the share are 5 sqrt(0.059 x 0.941 / 20000) = 0.8 percentage points for 20,000
    // blocks.
    let with = payload_kbps(&lossy(config(&[("discard", Value::Word("never"))]), 0.059));
    assert!((with / 318.49 - 1.0).abs() < 0.009, "{with}");
    // The largest throughput in koga's table 4.2 is 2085 packets in 80 s, which is 312.75 kbit/s. The throughput here
    // must be higher.
    assert!(2085.0 * 12.0 / 80.0 < with);
    // With concatenation, two packets must take 77 PDUs instead of 78.
    let concatenated = payload_kbps(&config(&[("concatenate", Value::Flag(true))]));
    assert!((concatenated / (12_000.0 * 22.0 * 40.0 / 1540.0 / 20.0) - 1.0).abs() < 0.001, "{concatenated}");
}

#[test]
fn blocks_at_64_and_144_kbit_carry_3_and_8_pdus() {
    for (kbps, pdus) in [(64, 3), (144, 8), (384, 22)] {
        let mut config = config(&[]);
        config.service = Service::Rate(Rate::from_bps(kbps * 1000));
        let (_, counters) = offer(&config, 1000, 1540, at(999));
        assert_eq!(counters.pdus, 50 * pdus, "{kbps} kbit/s");
    }
}

/// A PDU of 42 bytes has 336 bits and 40 bytes of payload. At 5 kbit/s, it must take four intervals of 20 ms, each with
/// 100 bits. At 16.7 kbit/s (334 bits), it must take two intervals, and at 16.8 kbit/s (336 bits) one interval.
#[test]
fn a_pdu_that_an_interval_has_no_room_for_takes_several() {
    for (bps, intervals) in
        [(100, 168), (1_000, 17), (5_000, 4), (8_400, 2), (16_700, 2), (16_800, 1), (20_000, 1)]
    {
        let rate = Config { service: Service::Rate(Rate::from_bps(bps)), ..config(&[]) };
        let count = 400_000 / 20 / intervals;
        let (ends, counters) = offer(&rate, 30_000, 40, at(400_000 + 10));
        let arrived = ends.iter().filter(|end| end.1 <= at(400_000 + 10)).count();
        assert_eq!(arrived as u64, count, "{bps}");
        assert!(counters.pdus * 336 <= bps * 400 + 336, "{bps}: {} PDUs", counters.pdus);
        assert_eq!(ends[0], (0, at(20 * intervals + 10), None), "{bps}");
    }
}

/// The rate is 5 kbit/s for 60 ms, then 0 for 100 ms. Three intervals carry 300 of a PDU's 336 bits. The fourth
/// interval, after the outage, begins at 160 ms. The next PDU must begin with the second interval after the outage.
#[test]
fn an_outage_by_plan_carries_nothing() {
    let plan = RatePlan::parse("5 kbit/s for 60 ms, 0 bit/s for 100 ms").unwrap();
    let config = Config { service: Service::Plan(Arc::new(plan)), ..config(&[]) };
    let (ends, _) = offer(&config, 2, 40, at(10_000));
    let arrived: Vec<Time> = ends.iter().map(|end| end.1).collect();
    // The second PDU uses the intervals that begin at 180 and 200 ms, and then those that begin at 320 and 340 ms.
    assert_eq!(arrived, [at(180 + 10), at(360 + 10)]);
}

#[test]
fn an_sdu_is_discarded_with_the_probability_that_its_retransmissions_fail() {
    // SDUs have one PDU each, and PDUs are lost independently with probability 1/2. With two retransmissions, a share
    // of (1/2)^3 must be discarded.
    let values = [
        ("retransmissions", Value::Count(2)),
        ("loses", Value::Word("pdu")),
        ("wait", Value::Duration(Duration::ZERO)),
    ];
    let (ends, counters) = offer(&lossy(config(&values), 0.5), 20_000, 40, at(1_000_000));
    assert_eq!(ends.len(), 20_000);
    let share = counters.discarded as f64 / 20_000.0;
    assert!((share - 0.125).abs() < 5.0 * (0.125f64 * 0.875 / 20_000.0).sqrt(), "{share}");
    // A PDU must have 1 + 1/2 + 1/4 transmissions on average.
    let transmissions = counters.pdus as f64 / 20_000.0;
    assert!((transmissions - 1.75).abs() < 0.03, "{transmissions}");
}

/// A channel that loses the blocks with these numbers.
struct Losing {
    blocks: &'static [u64],
    next: u64,
}

impl Channel for Losing {
    fn transmit(&mut self, _: &channel::Transmission) -> channel::Reception {
        self.next += 1;
        if self.blocks.contains(&(self.next - 1)) {
            channel::Reception::Lost
        } else {
            channel::Reception::Intact
        }
    }
}

/// Sends an SDU of a whole block (22 PDUs) every 20 ms, from time zero on.
fn whole_blocks(config: &Config, blocks: &'static [u64], count: u64) -> (Vec<End>, RlcCounters) {
    let mut link = with_channel(config, Box::new(Losing { blocks, next: 0 }));
    let mut out = Vec::new();
    for number in 0..count {
        let now = at(20 * number);
        run(&mut link, Time::from_nanos(now.as_nanos().saturating_sub(1)), &mut out);
        link.handle_packet(now, packet(number, 880), &mut out);
    }
    run(&mut link, at(100_000), &mut out);
    let mut ends = ends(out);
    ends.sort_by_key(|end| end.1);
    (ends, *link.rlc().expect("counters"))
}

fn wait(span: Duration) -> (&'static str, Value) {
    ("wait", Value::Duration(span))
}

#[test]
fn in_order_later_sdus_wait_for_the_repeat() {
    // SDU 1 is sent at 20 ms and lost. The report of this loss arrives at 40 + 2 x 10 = 60 ms. SDU 1 is retransmitted
    // at 60 ms, before SDU 3, and arrives at 90 ms. SDU 2 is complete at 70 ms, and must wait until 90 ms.
    let (ends, counters) = whole_blocks(&config(&[wait(MS * 300)]), &[1], 5);
    let expected = [(0, 30), (1, 90), (2, 90), (3, 110), (4, 130)];
    assert_eq!(ends, expected.map(|(number, millis)| (number, at(millis), None)));
    assert_eq!((counters.waited, counters.longest_wait), (MS * 20, MS * 20));
    assert_eq!((counters.retransmissions, counters.late, counters.largest_receiving), (22, 0, 1));
}

#[test]
fn without_wait_they_overtake() {
    let (ends, counters) = whole_blocks(&config(&[wait(Duration::ZERO)]), &[1], 5);
    let expected = [(0, 30), (2, 70), (1, 90), (3, 110), (4, 130)];
    assert_eq!(ends, expected.map(|(number, millis)| (number, at(millis), None)));
    assert_eq!((counters.late, counters.behind_gap), (1, 1));
}

#[test]
fn when_the_wait_is_over_what_is_whole_goes_up_as_far_as_the_next_hole() {
    // The first three transmissions of SDU 1, in blocks 1, 3 and 5, are lost. WT runs for 50 ms from the arrival of SDU
    // 2 at 70 ms, so SDU 2 must be delivered at 120 ms.
    let (ends, counters) = whole_blocks(&config(&[wait(MS * 50)]), &[1, 3, 5], 6);
    let of = |number| ends.iter().find(|end| end.0 == number).map(|end| end.1);
    assert_eq!(of(2), Some(at(120)));
    assert!(of(1) > of(2), "{ends:?}");
    assert_eq!(counters.reordering_timeouts, 1);
    assert_eq!(counters.late, 1);
    assert_eq!(ends.len(), 6);
}

#[test]
fn a_discard_is_announced_or_waited_for() {
    // There are no retransmissions. SDU 1 is discarded at 60 ms, when its loss is reported. The announcement of the
    // discard arrives with the next block, at 90 ms.
    let none = ("retransmissions", Value::Count(0));
    let (outcomes, _) = whole_blocks(&config(&[none.clone(), wait(MS * 300)]), &[1], 5);
    assert!(outcomes.contains(&(1, at(90), Some(LossReason::Discarded))), "{outcomes:?}");
    assert!(outcomes.contains(&(2, at(90), None)), "{outcomes:?}");
    let silent = config(&[none, wait(MS * 300), ("announce", Value::Flag(false))]);
    let (untold, _) = whole_blocks(&silent, &[1], 5);
    // Without an announcement, SDU 2, complete at 70 ms, must wait for 300 ms.
    assert!(untold.contains(&(2, at(370), None)), "{untold:?}");
    assert!(
        untold.contains(&(1, Time::NEVER, Some(LossReason::Discarded))),
        "the receiver must not detect the discard at once: {untold:?}"
    );
}

#[test]
fn the_host_hears_of_an_unannounced_discard_when_the_wait_is_over() {
    let settings = [("retransmissions", Value::Count(0)), wait(MS * 300), ("announce", Value::Flag(false))];
    let mut link = with_channel(&config(&settings), Box::new(Losing { blocks: &[1], next: 0 }));
    let mut out = Vec::new();
    (0..3).for_each(|number| link.handle_packet(Time::ZERO, packet(number, 880), &mut out));
    run(&mut link, at(10_000), &mut out);
    // SDU 2, in the third block, is complete at 70 ms. WT expires 300 ms later.
    let given_up: Vec<(u64, Time)> = out
        .iter()
        .filter_map(|one| match one {
            Output::LossNoticed { packet, at } => Some((packet.number, *at)),
            _ => None,
        })
        .collect();
    assert_eq!(given_up, [(1, at(370))]);
}

/// Both directions of a link with 10 ms of delay. The directions exchange status reports.
struct LinkPair {
    lines: [Rlc; 2],
    out: [Vec<Output>; 2],
}

impl LinkPair {
    fn new(configs: [&Config; 2], lost: [&'static [u64]; 2]) -> LinkPair {
        let line =
            |side: usize| with_channel(configs[side], Box::new(Losing { blocks: lost[side], next: 0 }));
        LinkPair { lines: [line(0), line(1)], out: [Vec::new(), Vec::new()] }
    }

    fn send(&mut self, side: usize, now: Time, packet: Packet) {
        self.lines[side].handle_packet(now, packet, &mut self.out[side]);
    }

    fn run(&mut self, until: Time) {
        loop {
            let [down, up] = [0, 1].map(|side| self.lines[side].poll_timeout());
            let (side, now) = if down <= up { (0, down) } else { (1, up) };
            if now > until {
                return;
            }
            let mut decided = Vec::new();
            self.lines[side].handle_timeout(now, &mut decided);
            for output in decided {
                match output {
                    Output::ToPeer(message) => self.lines[1 - side].handle_peer_message(now, message),
                    other => self.out[side].push(other),
                }
            }
        }
    }

    fn counters(&self) -> [RlcCounters; 2] {
        [0, 1].map(|side| *self.lines[side].rlc().expect("counters"))
    }
}

/// Configures a link with polled status and 22 PDUs per block, on which only the last PDU in the sender's buffer polls.
fn polled(settings: &[(&'static str, Value)]) -> Config {
    let own = [("status", Value::Word("polled")), ("poll_pdus", Value::Count(0))];
    config(&[&own, settings].concat())
}

#[test]
fn a_poll_is_answered_in_the_other_direction_and_the_missing_are_sent_again() {
    // Blocks are sent at 0, 20 and 40 ms, and the second block (SDU 1) is lost. The third block has the last PDU, so it
    // polls; it arrives at 70 ms. The status report uses the opposite direction's block of 80 ms, and arrives at 110
    // ms. SDU 1 is retransmitted at 120 ms and arrives at 150 ms.
    let config = polled(&[]);
    let mut both = LinkPair::new([&config, &config], [&[1], &[]]);
    (0..3).for_each(|number| both.send(0, Time::ZERO, packet(number, 880)));
    both.run(at(10_000));
    let expected = [(0, 30), (1, 150), (2, 150)].map(|(number, millis)| (number, at(millis), None));
    assert_eq!(ends(both.out[0].clone()), expected);
    let [down, up] = both.counters();
    // The last retransmission must poll, too.
    assert_eq!((down.pdus, down.retransmissions, down.polls, down.statuses), (88, 22, 2, 2));
    assert_eq!((up.pdus, up.status_pdus, up.blocks), (0, 2, 2));
    assert_eq!(both.lines[0].backlog(at(10_000)).waiting, 0);
}

#[test]
fn a_lost_status_is_recovered_by_the_poll_timer() {
    // The status report sent at 80 ms is lost. The poll was sent at 40 ms, so the poll timer expires at 340 ms. The
    // last PDU, which had arrived, is then retransmitted to carry a poll, and arrives at 370 ms. The next status report
    // is sent at 380 ms and arrives at 410 ms. SDU 1 is retransmitted at 420 ms and arrives at 450 ms.
    let config = polled(&[("wait", Value::Duration(MS * 1000))]);
    let mut both = LinkPair::new([&config, &config], [&[1], &[0]]);
    (0..3).for_each(|number| both.send(0, Time::ZERO, packet(number, 880)));
    both.run(at(10_000));
    let expected = [(0, 30), (1, 450), (2, 450)].map(|(number, millis)| (number, at(millis), None));
    assert_eq!(ends(both.out[0].clone()), expected);
    let [down, _] = both.counters();
    assert_eq!((down.statuses, down.statuses_lost, down.retransmissions), (3, 1, 23));
}

#[test]
fn a_lost_last_block_of_which_no_status_can_tell_is_recovered_by_the_poll_timer() {
    // The poll is lost together with all of SDU 0, so the receiver has not detected any missing PDU. At 300 ms the last
    // PDU is retransmitted, and arrives at 330 ms. The status report sent at 340 ms lists the other 21 PDUs, and
    // arrives at 370 ms. These 21 PDUs are retransmitted at 380 ms and arrive at 410 ms.
    let config = polled(&[]);
    let mut both = LinkPair::new([&config, &config], [&[0], &[]]);
    both.send(0, Time::ZERO, packet(0, 880));
    both.run(at(10_000));
    assert_eq!(ends(both.out[0].clone()), [(0, at(410), None)]);
    assert_eq!(both.counters()[0].retransmissions, 22);
}

#[test]
fn status_takes_room_from_the_other_directions_data() {
    // At 64 kbit/s a block has 3 PDUs. A status report in each block must leave two PDUs for data.
    let mut slow = config(&[]);
    slow.service = Service::Rate(Rate::from_bps(64_000));
    let delivered = |down: &Config| {
        let mut both = LinkPair::new([down, &slow], [&[], &[]]);
        (0..2000).for_each(|number| {
            both.send(0, Time::ZERO, packet(number, 880));
            both.send(1, Time::ZERO, packet(number, 40));
        });
        both.run(at(10_000));
        (ends(both.out[1].clone()).len(), both.counters()[1])
    };
    let (alone, _) = delivered(&config(&[]));
    let (beside, up) = delivered(&polled(&[("poll_pdus", Value::Count(1))]));
    // 501 blocks begin from 0 to 10 s. Polls arrive at 30, 50, …, 9990 ms. For each poll, the status report takes the
    // place of a PDU in the block 10 ms later.
    assert_eq!((alone, beside, up.status_pdus), (3 * 501, 3 * 501 - 499, 499));
}

#[test]
fn the_prohibit_timer_holds_status_back() {
    let count = |prohibit: Duration| {
        let down = polled(&[("poll_pdus", Value::Count(1)), ("prohibit", Value::Duration(prohibit))]);
        let mut both = LinkPair::new([&down, &config(&[])], [&[], &[]]);
        (0..2000).for_each(|number| both.send(0, Time::ZERO, packet(number, 880)));
        both.run(at(10_000));
        both.counters()[0].statuses
    };
    // From 30 ms on, there must be one status report per block or, with the prohibit timer, one every 200 ms.
    assert_eq!((count(Duration::ZERO), count(MS * 200)), (499, 50));
}

#[test]
fn with_polls_every_sdu_ends_once_however_much_is_lost() {
    for (discard, loses) in
        [("retransmissions", "block"), ("timer", "pdu"), ("never", "pdu"), ("retransmissions", "pdu")]
    {
        for (every, last) in [(0, true), (16, true), (16, false), (0, false)] {
            let config = polled(&[
                ("discard", Value::Word(discard)),
                ("loses", Value::Word(loses)),
                ("lifetime", Value::Duration(MS * 2000)),
                ("retransmissions", Value::Count(2)),
                ("poll_pdus", Value::Count(every)),
                ("poll_last", Value::Flag(last)),
            ]);
            let config = lossy(config, 0.3);
            let line = |side| built(&config, side);
            let mut both = LinkPair { lines: [line(1), line(2)], out: [Vec::new(), Vec::new()] };
            (0..500).for_each(|number| {
                both.send(0, Time::ZERO, packet(number, 1000));
                both.send(1, at(number), packet(number, 100));
            });
            both.run(at(10_000_000));
            for out in &both.out {
                let mut ends = ends(out.clone());
                ends.sort_by_key(|end| end.0);
                let numbers: Vec<u64> = ends.iter().map(|end| end.0).collect();
                assert_eq!(numbers, (0..500).collect::<Vec<u64>>(), "{discard} {loses} {every} {last}");
            }
            assert!(both.counters().iter().all(|counters| counters.statuses_lost > 0));
            assert!(both.lines.iter_mut().all(|line| line.backlog(at(10_000_000)).waiting == 0));
        }
    }
}

#[test]
fn an_sdu_that_overflows_is_waited_for_unless_it_has_no_number() {
    for (numbered, expected) in [(true, 30 + 20 + 300), (false, 30 + 20)] {
        let mut config = config(&[wait(MS * 300), ("number_overflow", Value::Flag(numbered))]);
        config.queue = Choice::named(admission::ALL, "drop_tail");
        config.queue.values.set("packets", Value::Count(1));
        let mut link = built(&config, 1);
        let mut out = Vec::new();
        link.handle_packet(Time::ZERO, packet(0, 880), &mut out);
        link.handle_packet(at(1), packet(1, 880), &mut out);
        assert_eq!(ends(out.clone()), [(1, at(1), Some(LossReason::QueueFull))]);
        // SDU 0 is acknowledged at 40 ms, so the buffer then has room for SDU 2, which is sent at once.
        run(&mut link, at(40), &mut out);
        link.handle_packet(at(40), packet(2, 880), &mut out);
        run(&mut link, at(10_000), &mut out);
        let last = ends(out).into_iter().find(|end| end.0 == 2);
        assert_eq!(last, Some((2, at(20 + expected), None)), "{numbered}");
    }
}

#[test]
fn every_sdu_ends_once_and_both_ends_forget_it() {
    for (discard, loses) in
        [("retransmissions", "block"), ("timer", "block"), ("never", "pdu"), ("retransmissions", "pdu")]
    {
        for concatenate in [false, true] {
            for span in [Duration::ZERO, MS * 100, MS * 3000] {
                let config = config(&[
                    ("discard", Value::Word(discard)),
                    ("loses", Value::Word(loses)),
                    ("lifetime", Value::Duration(MS * 2000)),
                    ("retransmissions", Value::Count(1)),
                    ("concatenate", Value::Flag(concatenate)),
                    wait(span),
                ]);
                let (mut ends, counters) = offer(&lossy(config, 0.3), 500, 1000, at(1_000_000));
                ends.sort_by_key(|end| end.0);
                let numbers: Vec<u64> = ends.iter().map(|end| end.0).collect();
                assert_eq!(numbers, (0..500).collect::<Vec<u64>>(), "{discard} {loses} {concatenate} {span}");
                assert_eq!(counters.delivered + counters.discarded, 500);
            }
        }
    }
}

#[test]
fn a_changing_rate_changes_the_blocks_and_is_reported() {
    let mut config = config(&[]);
    config.service =
        Service::Plan(Arc::new(RatePlan::parse("384 kbit/s for 1 s, 64 kbit/s for 1 s").expect("a plan")));
    let mut link = built(&config, 1);
    let mut out = Vec::new();
    (0..1000).for_each(|number| link.handle_packet(Time::ZERO, packet(number, 1540), &mut out));
    run(&mut link, at(1999), &mut out);
    assert_eq!(link.rlc().expect("counters").pdus, 50 * 22 + 50 * 3);
    let reports: Vec<&Output> = out.iter().filter(|one| matches!(one, Output::Report(_))).collect();
    assert_eq!(reports, [&Output::Report(LinkReport::Rate { bps: 64_000 })]);
}

/// TS 25.322 §9.7.3.3: an SDU is discarded when one of its PDUs was transmitted MaxDAT times without success, here
/// three times. With a loss probability of 0.2, the probability of three losses of a PDU is 0.2^3 = 0.008. An SDU of
/// 1000 bytes has 25 PDUs of 40 bytes. With independent losses, 1 - (1 - 0.008)^25 = 18.19 % of the SDUs must be
/// discarded. If whole blocks are lost, fewer SDUs must be discarded, but at least 0.8 %.
#[test]
fn discards_after_three_transmissions_have_their_share() {
    let discarded = |loses| {
        let config = config(&[
            ("discard", Value::Word("retransmissions")),
            ("loses", Value::Word(loses)),
            ("retransmissions", Value::Count(2)),
            ("status_delay", Value::Duration(MS * 50)),
            ("concatenate", Value::Flag(true)),
            wait(MS * 200),
        ]);
        let (_, counters) = offer(&lossy(config, 0.2), 2000, 1000, at(1_000_000));
        assert_eq!(counters.delivered + counters.discarded, 2000);
        counters.discarded as f64
    };
    let one = 0.2_f64.powi(3);
    let any = 1.0 - (1.0 - one).powi(25);
    // The bounds are four standard errors of the number of discarded SDUs among 2,000.
    let error = |share: f64| 4.0 * (2000.0 * share * (1.0 - share)).sqrt();
    let (by_pdu, by_block) = (discarded("pdu"), discarded("block"));
    assert!((by_pdu - 2000.0 * any).abs() < error(any), "{by_pdu} of {}", 2000.0 * any);
    assert!(by_block > 2000.0 * one - error(one) && by_block < by_pdu, "{by_block} of {by_pdu}");
}

/// TS 25.322 §11.3: for in-sequence delivery, complete SDUs are buffered only to wait for earlier SDUs. A receiver
/// without a reordering timer must not buffer complete SDUs.
#[test]
fn a_receiver_that_waits_no_time_keeps_no_sdu() {
    for (span, keeps) in [(Duration::ZERO, false), (MS * 300, true)] {
        let (_, counters) = offer(&lossy(config(&[wait(span)]), 0.3), 500, 1000, at(1_000_000));
        assert_eq!(counters.largest_receiving > 0, keeps, "{span}");
    }
}
