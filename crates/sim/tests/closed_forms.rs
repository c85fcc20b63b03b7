//! What can be computed by hand comes out.

use lasthop_scenario::Draft;
use lasthop_sim::Outcome;

fn run(path: &str, settings: &[(&str, &str)]) -> Outcome {
    let mut draft = Draft::load(path).expect("a path");
    for (key, value) in settings {
        draft.set(key, value).expect("a key of that path");
    }
    lasthop_sim::run(&draft.check().expect("a valid scenario"), 1)
}

fn near(measured: f64, expected: f64, share: f64) {
    assert!((measured / expected - 1.0).abs() < share, "{measured} is not {expected} within {share}");
}

#[test]
fn a_clean_path_is_filled() {
    // 1000 of 1040 bytes on the wire are payload; slow start costs a few round trips of 1000 s.
    let outcome = run("hasegawa", &[("link.wireless.down.channel", "none")]);
    near(outcome.flows[0].goodput_kbps(), 2000.0 * 1000.0 / 1040.0, 0.001);
}

#[test]
fn the_residual_loss_of_arq_is_p_to_the_fourth() {
    // p = 1 - (1 - b)^(8 x 1040); all four transmissions fail with p^4 (hasegawa §4.1).
    for (ber, seconds) in [("5e-5", "3000 s"), ("1e-4", "3000 s")] {
        let outcome = run("hasegawa", &[("link.wireless.down.channel.rate", ber), ("duration", seconds)]);
        let p = -(8.0 * 1040.0 * (-ber.parse::<f64>().unwrap()).ln_1p()).exp_m1();
        let link = &outcome.links[1].down;
        let (lost, offered) = (link.lost[1] as f64, (link.offered - link.lost[0]) as f64);
        // Five standard errors of a binomial.
        let error = 5.0 * (p.powi(4) * (1.0 - p.powi(4)) / offered).sqrt();
        assert!((lost / offered - p.powi(4)).abs() < error, "{ber}: {} of {offered}", lost);
    }
}

#[test]
fn a_window_limited_sender_sends_a_window_per_round_trip() {
    // 20 segments of 1000 bytes per RTT of 100 ms and the transmission of one packet of 1052 bytes at 100 Mbit/s
    // and of its ACK of 52 bytes.
    let settings = [
        ("receiver.window.size", "20000 bytes"),
        ("segment", "1000 bytes"),
        ("duration", "60 s"),
        ("timing", "immediate"),
    ];
    let outcome = run("rate=100Mbit/s,rtt=100ms,queue=1000packets", &settings);
    let rtt = 0.1 + (1052.0 + 52.0) * 8.0 / 100e6;
    near(outcome.flows[0].goodput_kbps(), 20.0 * 8.0 / rtt, 0.005);
}

#[test]
fn memory_and_work_do_not_depend_on_history() {
    // Ten times the time takes ten times the packets, and the same number of losses per packet.
    let outcome = |duration: &str| run("hasegawa", &[("duration", duration)]);
    let (short, long) = (outcome("500 s"), outcome("5000 s"));
    near(long.flows[0].goodput_kbps(), short.flows[0].goodput_kbps(), 0.02);
}
