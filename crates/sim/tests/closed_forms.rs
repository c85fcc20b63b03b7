//! Compares results with values that can be computed by hand.

use lasthop_scenario::Draft;
use lasthop_sim::{FlowOutcome, Outcome};
use lasthop_wire::LossReason;

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
    // The goodput must be 2 Mbit/s x 1000 / 1040, because 1000 of 1040 bytes on the wire are payload. Slow start takes
    // only a few round trips of the 1000 s.
    let outcome = run("hasegawa", &[("link.wireless.down.channel", "none")]);
    near(outcome.flows[0].goodput_kbps(), 2000.0 * 1000.0 / 1040.0, 0.001);
}

#[test]
fn the_residual_loss_of_arq_is_p_to_the_fourth() {
    // With bit error rate b, one transmission of a packet of 1040 bytes fails with probability p = 1 - (1 - b)^(8 x
    // 1040). A packet is lost if all four transmissions fail, which must have probability p^4 (hasegawa §4.1).
    for (ber, seconds) in [("5e-5", "3000 s"), ("1e-4", "3000 s")] {
        let outcome = run("hasegawa", &[("link.wireless.down.channel.rate", ber), ("duration", seconds)]);
        let p = -(8.0 * 1040.0 * (-ber.parse::<f64>().unwrap()).ln_1p()).exp_m1();
        let link = &outcome.links[1].down;
        let (lost, offered) =
            (link.lost[LossReason::Channel], link.offered - link.lost[LossReason::QueueFull]);
        let (lost, offered) = (lost as f64, offered as f64);
        let error = 5.0 * (p.powi(4) * (1.0 - p.powi(4)) / offered).sqrt();
        assert!((lost / offered - p.powi(4)).abs() < error, "{ber}: {} of {offered}", lost);
    }
}

#[test]
fn a_window_limited_sender_sends_a_window_per_round_trip() {
    // The sender must send 20 segments of 1000 bytes per RTT. The RTT is 100 ms plus the transmission of a packet (1052
    // bytes) and of its ACK (52 bytes) at 100 Mbit/s.
    let settings = [
        ("receiver.window.size", "20000 bytes"),
        ("segment", "1000 bytes"),
        ("duration", "60 s"),
        ("ack_policy", "immediate"),
    ];
    let outcome = run("profile=plain,rate=100Mbit/s,rtt=100ms,queue=1000packets", &settings);
    let rtt = 0.1 + (1052.0 + 52.0) * 8.0 / 100e6;
    near(outcome.flows[0].goodput_kbps(), 20.0 * 8.0 / rtt, 0.005);
}

#[test]
fn memory_and_work_do_not_depend_on_history() {
    // With ten times the duration, the goodput must be the same.
    let outcome = |duration: &str| run("hasegawa", &[("duration", duration)]);
    let (short, long) = (outcome("500 s"), outcome("5000 s"));
    near(long.flows[0].goodput_kbps(), short.flows[0].goodput_kbps(), 0.02);
}

/// Runs a flow over 1 Gbit/s with an RTT of 100 ms. Only random losses with probability `p` limit the flow.
fn limited_by_losses(recovery: &str, ack_policy: &str, p: f64) -> FlowOutcome {
    let settings = [
        ("link.path.down.channel.loss", &*p.to_string()),
        ("recovery", recovery),
        ("ack_policy", ack_policy),
        ("min_rto", "1 s"),
        ("segment", "1000 bytes"),
        ("receiver.window.size", "100000000 bytes"),
        // The run has at least 2000 losses. The standard error of their number is about 2 %. The rate is proportional
        // to 1 / sqrt(p), so its standard error is about 1 %.
        ("duration", if p < 0.001 { "10000 s" } else { "5000 s" }),
    ];
    let mut outcome = run("profile=plain,rate=1000Mbit/s,rtt=100ms,queue=100000packets,loss=1%", &settings);
    let flow = outcome.flows.remove(0);
    assert_eq!(flow.account.lost[LossReason::QueueFull], 0, "packets were dropped at a full queue");
    flow
}

fn sent(flow: &FlowOutcome) -> f64 {
    flow.source.data_sent as f64 / flow.active_s
}

/// Mathis, Semke, Mahdavi, Ott 1997, Eq. 3 and its table of constants: the rate must be C / (RTT sqrt(p)), with loss
/// probability p. For random losses, C is 1.31 with an ACK for every segment, and 0.93 with delayed ACKs. (For periodic
/// losses, C is sqrt(3/2) and 0.87.)
///
/// We stated the tolerance of 15 % for p = 3e-4 to 1e-2 before the measurement. The measured rates are 0.97 to 0.92 of
/// the formula up to p = 3e-3. The formula ignores timeouts. At p = 1e-2, about 2 % of the loss indications are
/// timeouts. There, the rates are 0.88 of the formula and, with delayed ACKs, 0.84, which is outside the tolerance. The
/// next test compares this point with a model that includes timeouts.
#[test]
fn sack_has_the_rate_of_mathis() {
    for (ack_policy, constant) in [("immediate", 1.31), ("delayed", 0.93)] {
        for p in [3e-4, 1e-3, 3e-3] {
            near(sent(&limited_by_losses("sack", ack_policy, p)), constant / (0.1 * p.sqrt()), 0.15);
        }
    }
}

/// Compares SACK with the full model of Padhye et al. Here p is the number of loss indications (recoveries and
/// timeouts) per segment sent, as in the test of NewReno below.
#[test]
fn sack_has_the_rate_of_padhye_where_it_times_out() {
    for (ack_policy, b) in ACKS {
        let flow = limited_by_losses("sack", ack_policy, 1e-2);
        assert!(flow.source.timeouts > 50, "{}", flow.source.timeouts);
        let indications = (flow.source.recoveries + flow.source.timeouts) as f64;
        near(sent(&flow), padhye(indications / flow.source.data_sent as f64, b, 0.1, 1.0), 0.25);
    }
}

/// Returns the segments sent per second in the full model of Padhye, Firoiu, Towsley, Kurose (1998 and 2000) without a
/// receive window limit. `p` is the loss probability, `b` the number of segments per ACK, and `timeout` the first
/// timeout of a series, s.
fn padhye(p: f64, b: f64, rtt: f64, timeout: f64) -> f64 {
    let all = |n: f64| (1.0 - p).powf(n);
    let offset = (2.0 + b) / (3.0 * b);
    let window = offset + (8.0 * (1.0 - p) / (3.0 * b * p) + offset * offset).sqrt();
    let times_out =
        ((1.0 - all(3.0)) * (1.0 + all(3.0) * (1.0 - all(window - 3.0))) / (1.0 - all(window))).min(1.0);
    let backoff = 1.0 + (1..=6).map(|i| 2f64.powi(i - 1) * p.powi(i)).sum::<f64>();
    let sent = (1.0 - p) / p + window + times_out / (1.0 - p);
    sent / (rtt * (b / 2.0 * window + 1.0) + times_out * timeout * backoff / (1.0 - p))
}

/// RFC 9438 §4.3: at short RTTs, CUBIC must have Reno's rate. Here both senders use SACK and have the same loss
/// probability p.
///
/// We stated the tolerance of 15 % before the measurement. CUBIC's additive increase gives Reno's rate for equidistant
/// losses, and nearly that rate for random losses. The measured ratios of CUBIC's rate to Reno's are 1.07 at p = 1e-3
/// and 1.12 at p = 1e-2.
#[test]
fn cubic_has_the_rate_of_reno_on_a_short_path() {
    for (ack_policy, p) in [("immediate", 1e-3), ("immediate", 1e-2), ("delayed", 1e-3)] {
        let sent_by = |congestion: &str| {
            let settings = [
                ("link.path.down.channel.loss", &*p.to_string()),
                ("congestion", congestion),
                ("ack_counting", "bytes"),
                ("ack_policy", ack_policy),
                ("receiver.window.size", "100000000 bytes"),
                ("duration", "1000 s"),
            ];
            sent(
                &run("profile=plain,rate=1000Mbit/s,rtt=10ms,queue=100000packets,loss=1%", &settings).flows
                    [0],
            )
        };
        near(sent_by("cubic"), sent_by("reno"), 0.15);
    }
}

const ACKS: [(&str, f64); 2] = [("immediate", 1.0), ("delayed", 2.0)];

/// Reno must have the rate of Padhye's model within 25 %, from p = 1e-3 to 0.1. We stated this tolerance before the
/// measurement. The measured rates are 0.94 to 1.04 of the model.
#[test]
fn reno_has_the_rate_of_padhye() {
    for (ack_policy, b) in ACKS {
        for p in [1e-3, 1e-2, 3e-2, 0.1] {
            near(sent(&limited_by_losses("reno", ack_policy, p)), padhye(p, b, 0.1, 1.0), 0.25);
        }
    }
}

/// Padhye's model describes Reno, which times out if several segments of a window are lost. NewReno retransmits these
/// segments in one recovery. If p is the channel's loss probability, NewReno sends up to 1.26 times as much as the
/// model (p = 0.03, an ACK for every segment). The ratio of 1.26 exceeds the tolerance of 25 %, stated in advance. But
/// the authors define p as loss indications (recoveries and timeouts) per segment sent. With that p, the ratio is 1.03
/// to 1.07. The agreement requires that repeated timeouts, which form one indication, are few.
#[test]
fn new_reno_has_the_rate_of_padhye_by_its_loss_indications() {
    for (ack_policy, b) in ACKS {
        for p in [1e-3, 1e-2, 3e-2] {
            let flow = limited_by_losses("new_reno", ack_policy, p);
            let indications = (flow.source.recoveries + flow.source.timeouts) as f64;
            near(sent(&flow), padhye(indications / flow.source.data_sent as f64, b, 0.1, 1.0), 0.25);
            let reno = limited_by_losses("reno", ack_policy, p);
            assert!(flow.source.timeouts < reno.source.timeouts && sent(&flow) > sent(&reno));
        }
    }
}
