//! For SACK, exactly as many segments are sent again as packets were lost: nothing in vain, nothing forgotten.

use lasthop_scenario::Draft;

/// A run as long as it takes to see some 400 losses, of which the last may be on their way when it ends.
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
        assert!(again <= lost && lost - again < 60, "seed {seed}: {lost} lost, {again} sent again");
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
                assert!(again <= lost && lost - again < 60, "seed {seed}: {lost} lost, {again} sent again");
            }
        }
    }
}
