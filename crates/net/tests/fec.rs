//! Tests the erasure code on a link against times computed by hand, against closed forms, and for properties that
//! random settings must keep.

use lasthop_base::{Choice, Duration, Rate, Stream, Time, Value};
use lasthop_net::service::Service;
use lasthop_net::{Config, Element, LinkDirection, Output, channel, fec};
use lasthop_wire::{Body, Ecn, FlowId, LossReason, Packet, Priority};
use proptest::prelude::*;

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

fn at(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

/// Configures a link of 1 Mbit/s with a delay of 20 ms. The transmission of a packet of 1250 bytes takes 10 ms.
fn config(settings: &[(&'static str, Value)]) -> Config {
    let mut config = Config::wire(Service::Rate(Rate::from_bps(1_000_000)), Duration::from_millis(20));
    config.arq = Choice::named(fec::ALL, "fec");
    settings.iter().for_each(|(name, value)| config.arq.values.set(name, value.clone()));
    config
}

/// Configures a link that loses the transmissions with these numbers. Numbers start at 0 and count parity packets, too.
fn losing(settings: &[(&'static str, Value)], lost: &[u64]) -> Config {
    let mut config = config(settings);
    config.channel = Choice::named(channel::ALL, "scripted");
    config.channel.values.set("packets", Value::Counts(lost.to_vec()));
    config
}

fn code(block: u64, rate: f64) -> Vec<(&'static str, Value)> {
    vec![("block", Value::Count(block)), ("rate", Value::Number(rate))]
}

/// Outcome of a packet: its number, the time of arrival or loss, and whether the packet was delivered.
type End = (u64, Time, bool);

/// Returns the outcomes, in order of decision, of packets that are offered at these times with these sizes.
fn offered(config: &Config, seed: u64, packets: &[(Time, u32)]) -> Vec<End> {
    let LinkDirection::Element(mut link) = LinkDirection::new(config, Stream::named(seed, "channel")) else {
        panic!("a coded direction is an element");
    };
    let mut out = Vec::new();
    for (number, (time, bytes)) in packets.iter().enumerate() {
        run(&mut *link, *time, &mut out);
        link.handle_packet(*time, packet(number as u64, *bytes), &mut out);
    }
    run(&mut *link, Time::NEVER, &mut out);
    let backlog = link.backlog(at(1_000_000_000));
    assert!(backlog.waiting == 0 && !backlog.in_service, "{backlog:?}");
    let ends = out.into_iter().map(|output| match output {
        Output::Arrives { packet, at } => (packet.number, at, true),
        Output::Lost { packet, at, reason: LossReason::Channel, .. } => (packet.number, at, false),
        other => panic!("{other:?}"),
    });
    ends.collect()
}

fn run(link: &mut dyn Element, end: Time, out: &mut Vec<Output>) {
    let mut now = Time::ZERO;
    while link.poll_timeout() < end {
        assert!(link.poll_timeout() >= now, "time must never decrease");
        now = link.poll_timeout();
        link.handle_timeout(now, out);
    }
}

fn backlogged(count: usize) -> Vec<(Time, u32)> {
    vec![(Time::ZERO, 1250); count]
}

/// A block has 4 data packets (0 to 3) and 2 parity packets. The transmissions of packets 0 to 3 end at 10, 20, 30 and
/// 40 ms. The transmissions of the parity packets end at 50 and 60 ms. The transmission of packet 4, of the next block,
/// ends at 70 ms. Each packet arrives 20 ms after the end of its transmission. Packets 1 and 3 are lost, and must be
/// rebuilt at 80 ms, when the second parity packet arrives as the fourth packet of the block.
#[test]
fn lost_packets_are_rebuilt_when_as_many_arrived_as_the_block_has_of_data() {
    let ends = offered(&losing(&code(6, 4.0 / 6.0), &[1, 3]), 1, &backlogged(5));
    let expected =
        [(0, at(30), true), (2, at(50), true), (1, at(80), true), (3, at(80), true), (4, at(90), true)];
    assert_eq!(ends, expected);
}

#[test]
fn rebuilding_does_not_wait_for_parity_that_is_not_needed() {
    let ends = offered(&losing(&code(6, 4.0 / 6.0), &[1]), 1, &backlogged(4));
    assert_eq!(ends, [(0, at(30), true), (2, at(50), true), (3, at(60), true), (1, at(70), true)]);
    let mut settings = code(6, 4.0 / 6.0);
    settings.push(("excess", Value::Count(1)));
    let ends = offered(&losing(&settings, &[1]), 1, &backlogged(4));
    assert_eq!(ends[3], (1, at(80), true));
    // Five of the block's six packets arrive. With an excess of two, rebuilding needs two packets more than the four data
    // packets, that is, six. Packet 1 must therefore be lost.
    settings[2].1 = Value::Count(2);
    let ends = offered(&losing(&settings, &[1]), 1, &backlogged(4));
    assert_eq!(ends[3], (1, at(80), false));
}

/// Three of six packets are lost, two of them data packets. Both data packets must be given up when the last parity
/// packet arrives (60 + 20 ms).
#[test]
fn too_many_losses_are_given_up_at_the_block_s_end() {
    let ends = offered(&losing(&code(6, 4.0 / 6.0), &[1, 3, 4]), 1, &backlogged(4));
    assert_eq!(ends, [(0, at(30), true), (2, at(50), true), (1, at(80), false), (3, at(80), false)]);
}

#[test]
fn packets_behind_a_lost_one_wait_where_order_is_kept() {
    let mut settings = code(6, 4.0 / 6.0);
    settings.push(("order", Value::Word("kept")));
    let ends = offered(&losing(&settings, &[1]), 1, &backlogged(5));
    let expected =
        [(0, at(30), true), (1, at(70), true), (2, at(70), true), (3, at(70), true), (4, at(90), true)];
    assert_eq!(ends, expected);
    let ends = offered(&losing(&settings, &[1, 3, 4]), 1, &backlogged(4));
    assert_eq!(ends, [(0, at(30), true), (1, at(80), false), (2, at(80), true), (3, at(80), false)]);
}

/// The transmissions of two packets end at 10 and 20 ms. After 10 ms of idle time, the block must be closed with parity
/// packets, sent from 30 to 50 ms. Packet 2 is offered at 35 ms, and must be sent from 50 to 60 ms.
#[test]
fn an_incomplete_block_ends_by_the_timer() {
    let packets = [(Time::ZERO, 1250), (Time::ZERO, 1250), (at(35), 1250)];
    let ends = offered(&losing(&code(6, 4.0 / 6.0), &[0, 1]), 1, &packets);
    assert_eq!(ends, [(0, at(70), true), (1, at(70), true), (2, at(80), true)]);
    // The first parity packet is lost, too, so both data packets must be given up at the block's end.
    let ends = offered(&losing(&code(6, 4.0 / 6.0), &[0, 1, 2]), 1, &packets);
    assert_eq!(ends[..2], [(0, at(70), false), (1, at(70), false)]);
    // A packet offered within the idle time must be added to the block, whose data then ends at 35 ms.
    let packets = [(Time::ZERO, 1250), (Time::ZERO, 1250), (at(25), 1250)];
    let ends = offered(&losing(&code(6, 4.0 / 6.0), &[0]), 1, &packets);
    assert_eq!(ends, [(1, at(40), true), (2, at(55), true), (0, at(75), true)]);
}

/// A block has packets of 1250 and 125 bytes, so its parity packet must have 1250 bytes. The data takes 10 + 1 ms, and
/// the parity packet 10 ms. In the second run, the block has room for another data packet. The parity packet must then
/// be sent only after 10 ms of idle time.
#[test]
fn parity_is_as_long_as_the_longest_packet() {
    let ends = offered(&losing(&code(3, 2.0 / 3.0), &[1]), 1, &[(Time::ZERO, 1250), (Time::ZERO, 125)]);
    assert_eq!(ends, [(0, at(30), true), (1, at(41), true)]);
    let ends = offered(&losing(&code(4, 0.75), &[1]), 1, &[(Time::ZERO, 1250), (Time::ZERO, 125)]);
    assert_eq!(ends, [(0, at(30), true), (1, at(51), true)]);
}

/// Three blocks of 2 + 1 packets are interleaved. A burst of three losses then hits one packet of each block, and all
/// three packets are rebuilt. Without interleaving, two losses hit the same block, which then loses packets 2 and 3.
#[test]
fn interleaving_spreads_a_burst_over_blocks() {
    let mut settings = code(3, 2.0 / 3.0);
    let together = offered(&losing(&settings, &[1, 3, 4]), 1, &backlogged(6));
    assert_eq!(together.iter().filter(|end| !end.2).map(|end| end.0).collect::<Vec<_>>(), [2, 3]);
    settings.push(("depth", Value::Count(3)));
    let ends = offered(&losing(&settings, &[2, 3, 4]), 1, &backlogged(6));
    let expected = [
        (0, at(30), true),
        (1, at(40), true),
        (5, at(80), true),
        (3, at(90), true),
        (4, at(100), true),
        (2, at(110), true),
    ];
    assert_eq!(ends, expected);
}

/// Without losses, each data packet must arrive as soon as the link has sent the parity packets before it. A block has
/// k data packets and n - k parity packets.
#[test]
fn without_losses_only_the_rate_is_lost() {
    for (block, data) in [(10, 8), (10, 10), (6, 4), (1, 1)] {
        let ends =
            offered(&config(&code(block, data as f64 / block as f64)), 1, &backlogged(data as usize * 50));
        let numbers: Vec<u64> = ends.iter().map(|end| end.0).collect();
        assert_eq!(numbers, (0..data * 50).collect::<Vec<_>>(), "packets must arrive in order");
        // The last data packet of the 50th block must arrive after 49 whole blocks, k packets and the propagation
        // delay.
        assert_eq!(
            ends.last().map(|end| end.1),
            Some(at((49 * block + data) * 10 + 20)),
            "{data} of {block}"
        );
    }
}

fn binomial(n: u64, lost: u64, loss: f64) -> f64 {
    let ways: f64 = (0..lost).map(|i| (n - i) as f64 / (i + 1) as f64).product();
    ways * loss.powi(lost as i32) * (1.0 - loss).powi((n - lost) as i32)
}

/// A block of n packets cannot be decoded if more than n - k packets are lost. If L packets are lost, L k/n of these
/// are data packets on average. The residual loss of data packets must therefore be the sum of P(L) L / n over L > n -
/// k, where P(L) is the binomial probability of L losses. For k = 8, n = 10 and a loss probability of 5 %, this sum is
/// 0.0036. The bound is five standard errors.
#[test]
fn residual_losses_are_those_of_the_binomial_formula() {
    for (block, data, loss) in [(10u64, 8u64, 0.05), (10, 8, 0.2), (20, 15, 0.2), (4, 2, 0.3), (5, 5, 0.1)] {
        let blocks = 20_000u64;
        let mut lossy = config(&code(block, data as f64 / block as f64));
        lossy.channel = Choice::named(channel::ALL, "iid");
        lossy.channel.values.set("loss", Value::Number(loss));
        let ends = offered(&lossy, 11, &backlogged((data * blocks) as usize));
        let lost = ends.iter().filter(|end| !end.2).count() as f64 / blocks as f64;
        let (n, k) = (block as f64, data as f64);
        let (mut mean, mut square) = (0.0, 0.0);
        for losses in block - data + 1..=block {
            let (p, count) = (binomial(block, losses, loss), losses as f64);
            let expected = count * k / n;
            let spread = if block > 1 { expected * (1.0 - k / n) * (n - count) / (n - 1.0) } else { 0.0 };
            mean += p * expected;
            square += p * (spread + expected * expected);
        }
        let error = ((square - mean * mean) / blocks as f64).sqrt();
        assert!(
            (lost - mean).abs() < 5.0 * error,
            "{data} of {block}, {loss}: {lost}, expected {mean} ± {error}"
        );
        assert!(error < 0.1 * mean, "the error must be small: {error} of {mean}");
    }
}

proptest! {
    /// Each packet must be either delivered once or lost once, and not before the end of its transmission. If the order
    /// is kept, packets must arrive in order.
    #[test]
    fn every_packet_has_one_end(
        block in 1u64..12,
        rate in 0.05f64..1.0,
        excess in 0u64..3,
        depth in 1u64..5,
        wait in 0u64..40,
        kept: bool,
        loss in 0.0f64..0.9,
        seed: u64,
        gaps in proptest::collection::vec((0u64..60, 40u32..1500), 1..80),
    ) {
        let mut settings = code(block, rate);
        settings.push(("excess", Value::Count(excess)));
        settings.push(("depth", Value::Count(depth)));
        settings.push(("wait", Value::Duration(Duration::from_millis(wait))));
        settings.push(("order", Value::Word(if kept { "kept" } else { "at_once" })));
        let mut config = config(&settings);
        config.channel = Choice::named(channel::ALL, "iid");
        config.channel.values.set("loss", Value::Number(loss));
        let mut time = Time::ZERO;
        let mut packets = Vec::new();
        for (gap, bytes) in gaps {
            time += Duration::from_millis(if gap % 3 == 0 { 0 } else { gap });
            packets.push((time, bytes));
        }
        let ends = offered(&config, seed, &packets);
        let mut numbers: Vec<u64> = ends.iter().map(|end| end.0).collect();
        if kept {
            prop_assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{ends:?}");
            prop_assert!(ends.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{ends:?}");
        }
        numbers.sort_unstable();
        prop_assert_eq!(numbers, (0..packets.len() as u64).collect::<Vec<_>>());
        for (number, time, _) in &ends {
            let (joined, bytes) = packets[*number as usize];
            prop_assert!(*time >= joined + Duration::from_micros(u64::from(bytes) * 8) + Duration::from_millis(20));
        }
    }

    /// Each packet that arrives with a larger `excess` must also arrive with a smaller `excess`, if the channel loses
    /// the same transmissions.
    #[test]
    fn an_ideal_code_delivers_all_that_another_one_does(
        block in 2u64..12,
        rate in 0.3f64..0.95,
        loss in 0.0f64..0.5,
        seed: u64,
        count in 1usize..200,
    ) {
        let mut ends = Vec::new();
        for excess in 0..3 {
            let mut settings = code(block, rate);
            settings.push(("excess", Value::Count(excess)));
            let mut config = config(&settings);
            config.channel = Choice::named(channel::ALL, "iid");
            config.channel.values.set("loss", Value::Number(loss));
            let mut all = offered(&config, seed, &backlogged(count));
            all.sort();
            ends.push(all);
        }
        for pair in ends.windows(2) {
            prop_assert!(pair[0].iter().zip(&pair[1]).all(|(better, worse)| better.2 || !worse.2));
        }
    }
}
