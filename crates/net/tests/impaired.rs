//! Tests duplicates, damage and residual losses on every kind of direction.

use lasthop_base::{Choice, Duration, Rate, Stream, Time, Value};
use lasthop_net::service::Service;
use lasthop_net::{Config, LinkDirection, Output, arq, channel, queue, rlc};
use lasthop_wire::{Body, Ecn, FlowId, LossReason, Packet, Priority};

fn packet(number: u64) -> Packet {
    Packet {
        number,
        flow: FlowId(0),
        wire_bytes: 1000,
        forward: true,
        is_retransmission: false,
        before_first_loss: false,
        damaged: false,
        ecn: Ecn::NotEct,
        priority: Priority::NORMAL,
        route: 0,
        hop: 0,
        enqueued_at: Time::ZERO,
        body: Body::Datagram { number },
    }
}

/// Configures a link with a delay of 20 ms, on which the transmission of 1000 bytes takes 1 ms.
fn config(duplicate: f64, corrupt: f64) -> Config {
    let wire = Config::wire(Service::Rate(Rate::from_bps(8_000_000)), Duration::from_millis(20));
    Config { duplicate, corrupt, ..wire }
}

/// Sends a packet every `apart` ms, and handles copies as the engine does. Returns each packet's number, time of
/// arrival or loss, whether the packet is damaged, and the reason for a loss.
fn deliveries(config: &Config, count: u64, apart: u64) -> Vec<(u64, Time, bool, Option<LossReason>)> {
    let mut line = LinkDirection::new(config, Stream::named(1, "channel"));
    let LinkDirection::Element(element) = &mut line else { panic!("an element") };
    let (mut out, mut all) = (Vec::new(), Vec::new());
    for number in 0..count {
        let now = Time::ZERO + Duration::from_millis(number * apart);
        while element.poll_timeout() <= now {
            let due = element.poll_timeout();
            element.handle_timeout(due, &mut out);
        }
        element.handle_packet(now, packet(number), &mut out);
        if let Some(Output::Duplicate { packet }) = out.last().copied() {
            out.pop();
            element.handle_copy(now, Packet { number: packet.number + 1_000_000, ..packet }, &mut out);
        }
        all.append(&mut out);
    }
    while element.poll_timeout() < Time::NEVER {
        element.handle_timeout(element.poll_timeout(), &mut all);
    }
    let of = |one: Output| match one {
        Output::Arrives { packet, at } => (packet.number, at, packet.damaged, None),
        Output::Lost { packet, at, reason, .. } => (packet.number, at, packet.damaged, Some(reason)),
        other => panic!("{other:?}"),
    };
    all.into_iter().map(of).collect()
}

#[test]
fn a_copy_comes_right_behind_and_is_not_copied_again() {
    let ms = |millis| Time::ZERO + Duration::from_millis(millis);
    let all = deliveries(&config(1.0, 0.0), 3, 10);
    let copy = 1_000_000;
    let expected = [(0, 21), (copy, 22), (1, 31), (copy + 1, 32), (2, 41), (copy + 2, 42)];
    assert_eq!(all, expected.map(|(number, at)| (number, ms(at), false, None)));
    // A queue limit of one packet must apply to copies, too, so the queue must drop the copies.
    let mut short = config(1.0, 0.0);
    short.queue = Choice::named(lasthop_net::admission::ALL, "drop_tail");
    short.queue.values.set("packets", Value::Count(1));
    let lost = deliveries(&short, 100, 1).iter().filter(|(.., lost)| lost.is_some()).count();
    assert!((95..=100).contains(&lost), "{lost}");
}

#[test]
fn shares_are_as_told_and_each_is_drawn_by_itself() {
    let is_near = |count: usize, of: f64, share: f64| {
        (count as f64 / of - share).abs() < 5.0 * (share * (1.0 - share) / of).sqrt()
    };
    let damaged = |config: &Config| -> Vec<u64> {
        let all = deliveries(config, 100_000, 2);
        all.iter()
            .filter(|(number, _, damaged, _)| *damaged && *number < 1_000_000)
            .map(|one| one.0)
            .collect()
    };
    let alone = damaged(&config(0.0, 0.01));
    assert!(is_near(alone.len(), 100_000.0, 0.01), "{}", alone.len());
    let copies = deliveries(&config(0.02, 0.01), 100_000, 2);
    let copies: Vec<bool> = copies.iter().filter(|one| one.0 >= 1_000_000).map(|one| one.2).collect();
    assert!(is_near(copies.len(), 100_000.0, 0.02), "{}", copies.len());
    // Damage to copies must be independent of damage to their originals.
    let of_copies = copies.iter().filter(|damaged| **damaged).count();
    assert!(is_near(of_copies, copies.len() as f64, 0.01), "{of_copies}");
}

/// The damage setting must not change which packets the channel loses, with and without a scheduled queue.
#[test]
fn damage_does_not_change_which_packets_the_channel_destroys() {
    for scheduled in [false, true] {
        let lost = |corrupt| {
            let mut config = config(1e-12, corrupt);
            config.channel = Choice::named(channel::ALL, "iid");
            config.channel.values.set("loss", Value::Number(0.1));
            if scheduled {
                config.queue = Choice::named(queue::ALL, "codel");
            }
            let all = deliveries(&config, 5_000, 2);
            all.iter().filter(|(.., lost)| lost.is_some()).map(|one| one.0).collect::<Vec<u64>>()
        };
        assert!(lost(0.0).len() > 400);
        assert_eq!(lost(0.0), lost(0.5));
    }
}

/// With any link layer, the configured share of the packets that the link layer delivers must be lost as residual
/// losses. Other packets must keep their times, and no retransmission may recover a residual loss.
#[test]
fn residual_losses_come_behind_the_link_layer() {
    let count = 50_000;
    for (arq, mechanisms) in [("none", arq::ALL), ("repeat", arq::ALL), ("rlc", rlc::ALL)] {
        let mut config = config(1e-12, 0.0);
        config.arq = Choice::named(mechanisms, arq);
        if arq != "none" {
            config.channel = Choice::named(channel::ALL, "iid");
            config.channel.values.set("loss", Value::Number(0.1));
        }
        let before = deliveries(&config, count, 20);
        config.residual_loss = 0.05;
        let after = deliveries(&config, count, 20);
        assert_eq!(before.len(), after.len(), "{arq}");
        let mut lost = 0;
        for (one, other) in before.iter().zip(&after) {
            assert_eq!((one.0, one.1, one.2), (other.0, other.1, other.2), "{arq}");
            lost += usize::from(one.3 != other.3);
        }
        let delivered = before.iter().filter(|one| one.3.is_none()).count() as f64;
        let error = (delivered * 0.05 * 0.95).sqrt();
        assert!((lost as f64 - delivered * 0.05).abs() < 5.0 * error, "{arq}: {lost} of {delivered}");
    }
}

/// Bursts of residual losses must have the configured mean length.
#[test]
fn residual_losses_come_in_bursts() {
    let mut config = config(0.0, 0.0);
    (config.residual_loss, config.residual_burst) = (0.05, Some(5.0));
    let lost: Vec<bool> = deliveries(&config, 100_000, 2).iter().map(|one| one.3.is_some()).collect();
    let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count();
    let total = lost.iter().filter(|lost| **lost).count();
    // There are 1,000 bursts. The length of a burst is geometric with mean 5, so its standard deviation is 4.5.
    let mean = total as f64 / bursts as f64;
    assert!((mean - 5.0).abs() < 5.0 * 4.5 / (bursts as f64).sqrt(), "{mean} packets in {bursts} bursts");
}
