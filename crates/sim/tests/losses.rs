//! Tests that SACK retransmits exactly as many segments as packets were lost.

use lasthop_scenario::Draft;

/// Returns the numbers of losses, retransmissions and timeouts of a run with about 400 losses. The run may end before
/// the last losses are repaired.
fn lost_and_sent_again(path: &str, settings: &[(&str, &str)], seed: u64) -> (u64, u64, u64) {
    let mut draft = Draft::load(path).expect("a ready path");
    for (key, value) in settings {
        draft.set(key, value).expect("a key of that path");
    }
    let outcome = lasthop_sim::run(&draft.check().expect("a valid scenario"), seed);
    let flow = &outcome.flows[0];
    (flow.account.lost.total(), flow.source.retransmitted, flow.source.timeouts)
}

#[test]
fn on_hasegawas_path_each_loss_is_repaired_once() {
    for seed in 1..=6 {
        let (lost, again, _) = lost_and_sent_again("hasegawa", &[("duration", "2000 s")], seed);
        assert!(lost > 300, "seed {seed}: {lost} losses");
        assert!(again <= lost && lost - again < 60, "seed {seed}: {lost} lost, {again} retransmitted");
    }
}

#[test]
fn with_random_and_burst_losses_too() {
    let iid =
        [("duration", "300 s"), ("link.path.down.channel", "iid"), ("link.path.down.channel.loss", "0.5 %")];
    let burst = [
        ("duration", "300 s"),
        ("link.path.down.channel", "two_state"),
        ("link.path.down.channel.mean_loss", "0.5 %"),
        ("link.path.down.channel.mean_burst", "3"),
    ];
    for settings in [iid.as_slice(), burst.as_slice()] {
        for seed in 1..=4 {
            let path = "profile=plain,rate=10Mbit/s,rtt=40ms,queue=100packets";
            let (lost, again, timeouts) = lost_and_sent_again(path, settings, seed);
            assert!(lost > 100, "seed {seed}: {lost} losses");
            if timeouts == 0 {
                assert!(
                    again <= lost && lost - again < 60,
                    "seed {seed}: {lost} lost, {again} retransmitted"
                );
            }
        }
    }
}

/// The channel loses 1 % of packets in bursts of 5. With up to four transmissions, a share of 0.8^3 of these losses
/// must remain (docs/explanation/links/losses.md). The seed is the same for any number of transmissions, so the same
/// datagrams lose their first transmission. The datagrams that are finally lost are a subset of the datagrams that lose
/// their first transmission.
#[test]
fn repeats_against_bursts_leave_what_the_chain_says() {
    let lost = |transmissions: u32| -> f64 {
        let text = format!(
            "title = \"t\"\nduration = \"1000 s\"\n[link.air]\nfrom = \"s\"\nto = \"d\"\nrate = \"10 Mbit/s\"\n\
             one_way_delay = \"5 ms\"\n[link.air.down]\nchannel = {{ kind = \"two_state\", mean_loss = 0.01, \
             mean_burst = 5 }}\narq = {{ kind = \"repeat\", transmissions = {transmissions} }}\n[flow.f]\n\
             from = \"s\"\nto = \"d\"\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\npacket = \"500 bytes\"\n"
        );
        let draft = Draft::parse(&text, "test").expect("a valid document");
        let outcome = lasthop_sim::run(&draft.check().expect("a valid scenario"), 1);
        outcome.flows[0].account.lost.total() as f64
    };
    // The channel loses 2,500 of 250,000 datagrams in 500 bursts. The number of bursts and their lengths vary, so the
    // standard error of the number of losses is 2500 sqrt(2 / 500) = 158.
    let alone = lost(1);
    assert!((alone - 2500.0).abs() < 4.0 * 158.0, "{alone}");
    for (transmissions, left) in [(2, 0.8), (4, 0.512), (16, 0.0352)] {
        let share = lost(transmissions) / alone;
        let error = (left * (1.0 - left) / alone).sqrt();
        assert!((share - left).abs() < 4.0 * error, "{transmissions}: {share}, not {left}");
    }
}
