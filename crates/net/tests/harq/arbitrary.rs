//! Tests with arbitrary parameters. Each SDU must arrive once or be lost once, and SDUs must arrive in the configured
//! order. When all SDUs have arrived or are lost, sender and receiver must be idle.

use super::link::*;
use lasthop_base::{Choice, Duration, Value};
use lasthop_net::channel;
use proptest::prelude::*;

/// For each packet, the time in ms since the previous packet, and the size of the packet in bytes.
type Offers = Vec<(u64, u32)>;

fn offers() -> impl Strategy<Value = Offers> {
    prop::collection::vec((0u64..6, 1u32..4000), 1..150)
}

fn arbitrary_settings() -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    let words = (prop_oneof![Just("am"), Just("um")], prop_oneof![Just("rlc"), Just("pdcp"), Just("none")]);
    let harq = (1u64..17, 1u64..12, 1u64..6, 0.0..1.0, 0.0..0.5);
    let timers = (0u64..60, 0u64..120, 1u64..100, 0u64..60);
    let limits = (0u64..20, 0u64..20_000, 1u64..8, 1u64..40, 0u64..20);
    (words, harq, timers, limits).prop_map(|(words, harq, timers, limits)| {
        let ms = |millis| MS * millis;
        vec![
            word("mode", words.0),
            word("order", words.1),
            count("processes", harq.0),
            time("round_trip", ms(harq.1)),
            count("transmissions", harq.2),
            number("combining", harq.3),
            number("misread", harq.4),
            time("t_reassembly", ms(timers.0)),
            time("t_reordering", ms(timers.1)),
            time("t_poll_retransmit", ms(timers.2)),
            time("t_status_prohibit", ms(timers.3)),
            count("poll_pdus", limits.0),
            number_of_bytes("poll_bytes", limits.1),
            count("retransmissions", limits.2),
            count("window", limits.3),
            number_of_bytes("header", limits.4),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_sdu_has_one_end(
        settings in arbitrary_settings(),
        offers in offers(),
        loss in 0.0..0.9,
        seed in 0u64..1_000_000,
    ) {
        let word_of = |name: &str| match settings.iter().find(|(known, _)| *known == name) {
            Some((_, Value::Word(word))) => *word,
            _ => "",
        };
        let config = config(&settings, loss);
        let mut link = Link::new(&config, seed);
        let back = Choice::named(channel::ALL, "iid");
        let values = back.values.clone().with("loss", Value::Number(loss));
        let stream = lasthop_base::Stream::named(seed, "back");
        link.sides[1] = element(&config, (back.build)(&values, stream), seed + 1);
        let mut now = at(0);
        for (number, (gap, bytes)) in offers.iter().enumerate() {
            now += MS * *gap;
            link.offer(now, number as u64, *bytes);
        }
        link.run(now + Duration::from_secs(1_000));
        prop_assert!(link.sides.iter().all(|side| side.poll_timeout() == lasthop_base::Time::NEVER), "idle");
        let mut ends: Vec<u64> = link.numbers();
        ends.extend(link.lost.iter().map(|(number, _, _)| *number));
        ends.sort_unstable();
        prop_assert_eq!(ends, (0..offers.len() as u64).collect::<Vec<_>>());
        if word_of("order") != "none" {
            prop_assert!(link.arrived.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1));
        }
        // `given_up` has the losses that the receiver detects later than they happen. Each of these losses must be in
        // `lost` with the time `Time::NEVER`, and must be in `given_up` only once.
        let mut given_up: Vec<u64> = link.given_up.iter().map(|(number, _)| *number).collect();
        given_up.sort_unstable();
        prop_assert!(given_up.windows(2).all(|pair| pair[0] < pair[1]));
        let silent = |number: &u64| link.lost.iter().any(|(lost, at, _)| lost == number && *at == lasthop_base::Time::NEVER);
        prop_assert!(given_up.iter().all(silent));
        if word_of("mode") == "am" {
            prop_assert!(given_up.is_empty());
        }
    }
}

/// A status report may be made before the sender gives an SDU up, but received afterwards. The report may answer the
/// last poll. With a full window, the sender then needs a new poll before it can continue. (A random test found this
/// case.)
#[test]
fn a_late_status_does_not_stop_a_full_window() {
    let settings = [
        word("mode", "am"),
        count("processes", 1),
        time("round_trip", MS * 7),
        number("combining", 0.22),
        number("misread", 0.16),
        time("t_reassembly", MS * 12),
        time("t_poll_retransmit", MS),
        time("t_status_prohibit", Duration::ZERO),
        count("poll_pdus", 3),
        number_of_bytes("poll_bytes", 0),
        count("retransmissions", 1),
        count("window", 2),
    ];
    let config = config(&settings, 0.84);
    for seed in 0..200 {
        let mut link = Link::new(&config, seed);
        link.sides[1] =
            element(&config, (config.channel.build)(&config.channel.values, stream(seed)), seed + 1);
        (0..17).for_each(|number| link.offer(at(0), number, 1500));
        link.run(at(1_000_000));
        assert_eq!(link.arrived.len() + link.lost.len(), 17, "seed {seed}");
    }
}

fn stream(seed: u64) -> lasthop_base::Stream {
    lasthop_base::Stream::named(seed, "back")
}
