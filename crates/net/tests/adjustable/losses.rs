//! Changes of the loss probability.

use super::driver::{Fates, adjustable, at, fates, loss, secs, wire, with_channel, with_layer};
use lasthop_base::{Time, Value};
use lasthop_net::Config;
use lasthop_net::steps::Steps;
use lasthop_wire::LossReason;

/// A packet of 100 bytes every ms.
fn arrivals(count: u64) -> Vec<(Time, u32)> {
    (0..count).map(|n| (at(n), 100)).collect()
}

fn lost(fates: &Fates, from: u64, until: u64) -> usize {
    let part = fates.iter().filter(|fate| (from * 1000..until * 1000).contains(&fate.0));
    part.filter(|fate| fate.2 == Some(LossReason::Channel)).count()
}

/// After the change, losses must be independent on each channel: on average, 4000 of 20,000 packets are lost, with a
/// standard deviation of 56.6 packets. A fifth of the packets after a lost packet is lost, too. The bounds are five
/// standard deviations.
#[test]
fn independent_losses_replace_each_channel() {
    for channel in ["none", "iid", "bit_error", "two_state", "fading"] {
        let config = with_channel(wire(100_000_000), channel);
        let changes = [(at(0), loss(0.0)), (secs(10.0), loss(0.2)), (secs(30.0), loss(0.0))];
        let fates = fates(adjustable(&config), &arrivals(40_000), &changes);
        assert_eq!((lost(&fates, 0, 10), lost(&fates, 30, 40)), (0, 0), "{channel}");
        assert!((3717..4283).contains(&lost(&fates, 10, 30)), "{channel}: {}", lost(&fates, 10, 30));
        let pairs = fates.windows(2).filter(|pair| pair.iter().all(|fate| fate.2.is_some())).count() as f64;
        // About 4000 pairs begin with a lost packet: the standard deviation of the second packet's losses is 25.3.
        assert!((pairs - lost(&fates, 10, 30) as f64 * 0.2).abs() < 127.0, "{channel}: {pairs}");
    }
}

/// A channel whose state changes keeps its losses until the change.
#[test]
fn losses_before_the_change_stay() {
    let mut config = with_channel(wire(100_000_000), "two_state");
    config.channel.values.set("mean_loss", Value::Number(0.1));
    let before = fates(super::plain(&config), &arrivals(10_000), &[]);
    let after = fates(adjustable(&config), &arrivals(10_000), &[(secs(8.0), loss(1.0))]);
    assert!(lost(&before, 0, 8) > 0);
    assert!(before[..8000] == after[..8000]);
    assert_eq!(lost(&after, 8, 10), 2000);
}

/// Planned losses continue beside losses that are set: the total is 0.1 + 0.9 x 0.5 = 0.55, with a standard deviation
/// of 50 packets of 10,000. The bound is five standard deviations.
#[test]
fn planned_losses_continue() {
    for channel in ["none", "two_state"] {
        let loss_plan = Some(Steps::parse("50 % for 1000 s").expect("a plan"));
        let config = Config { loss_plan, ..with_channel(wire(100_000_000), channel) };
        let fates = fates(adjustable(&config), &arrivals(10_000), &[(at(0), loss(0.1))]);
        assert!((5250..5750).contains(&lost(&fates, 0, 10)), "{channel}: {}", lost(&fates, 0, 10));
    }
}

/// Link layers apply the probability to each transmission. With probability 1, nothing arrives, and with probability 0
/// each later packet arrives.
#[test]
fn each_link_layer_applies_losses() {
    for layer in ["rlc", "harq", "wifi", "fec", "repeat"] {
        let mut config = with_channel(with_layer(wire(10_000_000), layer), "two_state");
        match layer {
            // A combined retransmission fails with probability 1.
            "harq" => {
                config.arq.values.set("mode", Value::Word("um"));
                config.arq.values.set("combining", Value::Number(1.0));
            }
            "rlc" => config.arq.values.set("discard", Value::Word("retransmissions")),
            _ => {}
        }
        let arrivals: Vec<(Time, u32)> = (0..300).map(|n| (at(100 * n), 1000)).collect();
        let changes = [(at(0), loss(1.0)), (at(14_950), loss(0.0))];
        let fates = fates(adjustable(&config), &arrivals, &changes);
        let arrived: Vec<u64> = fates.iter().filter(|fate| fate.2.is_none()).map(|fate| fate.0).collect();
        let late = (150..300).collect::<Vec<u64>>();
        // A packet whose retransmissions were not over at the change may still arrive.
        assert!(arrived.ends_with(&late) && arrived.len() < 160, "{layer}: {arrived:?}");
    }
}
