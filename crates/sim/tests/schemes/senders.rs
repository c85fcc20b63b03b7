//! Tests of senders from the literature on wireless TCP. Each sender must have the properties that its paper promises,
//! on a suitable path.

use lasthop_scenario::Draft;
use lasthop_sim::{FlowOutcome, run, run_probed};

fn outcomes(path: &str, settings: &[(&str, &str)], seeds: u64) -> Vec<FlowOutcome> {
    let mut draft = Draft::load(path).expect("an inline path");
    for (key, value) in settings {
        draft.set(key, value).unwrap_or_else(|why| panic!("{key}: {why:?}"));
    }
    let scenario = draft.check().unwrap_or_else(|why| panic!("{why:?}"));
    (1..=seeds).map(|seed| run(&scenario, seed).flows.swap_remove(0)).collect()
}

fn goodput(path: &str, congestion: &str, seeds: u64) -> f64 {
    let flows = outcomes(path, &[("congestion", congestion), ("duration", "60 s")], seeds);
    flows.iter().map(FlowOutcome::goodput_kbps).sum::<f64>() / seeds as f64
}

/// If a loss reduces the window to the share b, the rate is proportional to the square root of (1 + b) / (2 (1 - b))
/// with periodic losses, or of 1 / (1 - b) with independent losses. With b = 4/5 instead of 1/2, the rate is 1.73 or
/// 1.58 times as high. Veno treats losses as random while the queue is nearly empty, and then uses 4/5. If losses are
/// few, the window fills the path, a queue forms, and Veno halves the window.
#[test]
fn veno_gains_what_a_smaller_cut_gains() {
    let path = |loss: &str| format!("profile=plain,rate=10Mbit/s,rtt=40ms,queue=1000packets,loss={loss}");
    for (loss, least, most) in [("0.5%", 1.35, 1.85), ("1%", 1.45, 1.85)] {
        let ratio = goodput(&path(loss), "veno", 10) / goodput(&path(loss), "reno", 10);
        println!("Veno over Reno at {loss}: {ratio:.2}");
        assert!((least..most).contains(&ratio), "{loss}: {ratio}");
    }
    let full = "profile=plain,rate=10Mbit/s,rtt=40ms,queue=1bdp";
    let ratio = goodput(full, "veno", 1) / goodput(full, "reno", 1);
    println!("Veno over Reno without random losses: {ratio:.3}");
    assert!((0.95..1.05).contains(&ratio), "{ratio}");
}

/// After a loss, Westwood+ reduces the window only to the amount that the path carries without a queue. Westwood+ must
/// therefore have a high goodput.
#[test]
fn westwood_plus_fills_the_path_after_a_loss() {
    let path = "profile=plain,rate=10Mbit/s,rtt=40ms,queue=100packets,loss=1%";
    let (reno, westwood) = (goodput(path, "reno", 5), goodput(path, "westwood_plus", 5));
    println!("Westwood+ at 1 %: {westwood:.0} kbit/s, Reno {reno:.0}");
    assert!(westwood > 2.0 * reno, "{westwood} {reno}");
    let full = "profile=plain,rate=10Mbit/s,rtt=40ms,queue=1bdp";
    let (reno, westwood) = (goodput(full, "reno", 1), goodput(full, "westwood_plus", 1));
    println!("Westwood+ without random losses: {westwood:.0} kbit/s, Reno {reno:.0}");
    assert!(westwood > 0.97 * reno, "{westwood} {reno}");
}

/// A satellite path has an RTT of 600 ms. Hybla's RTT ratio rho is then 24, and its window grows as on a path with an
/// RTT of 25 ms. The initial ssthresh is the bandwidth-delay product. Otherwise slow start would add 2^24 segments at a
/// time.
#[test]
fn hybla_fills_a_satellites_path_in_three_seconds() {
    let path = "profile=plain,rate=20Mbit/s,rtt=600ms,queue=3000packets,initial_ssthresh=1500KB";
    let reaches = |congestion: &str| {
        let mut draft = Draft::load(path).expect("an inline path");
        for (key, value) in [("congestion", congestion), ("duration", "20 s"), ("sample", "100 ms")] {
            draft.set(key, value).expect("a key of every path");
        }
        let (_, samples) = run_probed(&draft.check().expect("a valid scenario"), 1);
        let full = samples.flows.iter().find(|sample| sample.cwnd_bytes >= 1_425_000);
        full.map_or(f64::INFINITY, |sample| sample.time.as_secs())
    };
    let (hybla, reno) = (reaches("hybla"), reaches("reno"));
    println!("95 % of the pipe: Hybla after {hybla} s, Reno after {reno} s");
    assert!(hybla <= 3.0 && reno > 1.5 * hybla, "{hybla} {reno}");
}

/// Akyildiz, Morabito and Palazzo 2001: on an idle satellite path, Sudden Start opens the window within a round trip
/// after the first segment. The ACKs of 63 dummy segments must arrive two round trips after the connection is open,
/// 1.65 s after the SYN. At that time, slow start has only four segments. After channel losses, the window recovers
/// within a round trip, so at 1 % the goodput must be more than twice Reno's.
#[test]
fn peach_opens_the_window_in_two_round_trips() {
    let path = "profile=plain,rate=10Mbit/s,rtt=550ms,queue=low_first,initial_window=1";
    let segments_at = |congestion: &str| {
        let mut draft = Draft::load(path).expect("an inline path");
        for (key, value) in [("congestion", congestion), ("duration", "3 s"), ("sample", "50 ms")] {
            draft.set(key, value).expect("a key of every path");
        }
        let (_, samples) = run_probed(&draft.check().expect("a valid scenario"), 1);
        let at =
            samples.flows.iter().find(|sample| sample.time.as_secs() >= 1.699).expect("the run continues");
        at.cwnd_bytes / 1000
    };
    let (peach, reno) = (segments_at("peach"), segments_at("reno"));
    println!("kB of cwnd after 1.7 s: Peach {peach}, Reno {reno}");
    assert!(peach >= 64 && reno <= 8, "{peach} {reno}");
    let lossy = "profile=plain,rate=10Mbit/s,rtt=550ms,queue=low_first,loss=1%";
    let (peach, reno) = (goodput(lossy, "peach", 10), goodput(lossy, "reno", 10));
    println!("kbit/s at 1 %: Peach {peach:.0}, Reno {reno:.0}");
    assert!(peach > 2.0 * reno, "{peach} {reno}");
}

/// Verus (SIGCOMM 2015) and Sprout (NSDI 2013) are made for cellular links with deep queues. CUBIC fills the queue of
/// 1000 packets. After slow start, both controls keep the queueing delay below a fifth of CUBIC's.
///
/// Verus limits the RTT to twice the smallest RTT, and has a goodput comparable to CUBIC's. Sprout delivers 95 % of the
/// segments within 100 ms, and uses at least its largest rate, 1000 packets/s.
#[test]
fn cellular_controls_leave_a_deep_queue_nearly_empty() {
    let measure = |congestion: &str| {
        let settings = [("congestion", congestion), ("duration", "40 s"), ("warmup", "10 s")];
        let flow = outcomes("lte,queue=1000packets", &settings, 1).swap_remove(0);
        let (mean, smallest) = (flow.mean_rtt_s.expect("measured"), flow.smallest_rtt_s.expect("measured"));
        println!(
            "{congestion}: RTT {mean:.3} s, smallest {smallest:.3} s, {:.0} kbit/s",
            flow.goodput_kbps()
        );
        (mean, smallest, flow.goodput_kbps())
    };
    let (full, empty, all) = measure("cubic");
    let (verus, smallest, goodput) = measure("verus");
    assert!(verus - smallest < (full - empty) / 5.0 && verus < 2.0 * smallest, "{verus} {full}");
    assert!(goodput > 0.75 * all, "{goodput} {all}");
    let (sprout, smallest, goodput) = measure("sprout");
    assert!(sprout - smallest < (full - empty) / 5.0 && sprout < 0.1, "{sprout} {full}");
    assert!(goodput > 1448.0 * 8.0, "{goodput}");
}

/// Brakmo and Peterson 1995: between alpha = 1 and beta = 3 segments must wait in the queue, and no segment may be
/// lost. Without queueing, the RTT is 40 ms of propagation plus 1.2 ms for a segment and 0.03 ms for its ACK.
#[test]
fn vegas_keeps_one_to_three_segments_in_the_queue() {
    let path = "profile=plain,rate=10Mbit/s,rtt=40ms,queue=100packets";
    let flow = outcomes(path, &[("congestion", "vegas"), ("duration", "60 s")], 1).swap_remove(0);
    let waits = (flow.mean_rtt_s.expect("measured") - flow.smallest_rtt_s.expect("measured")) / 0.0012;
    println!("Vegas: {waits:.2} segments wait, {:.0} kbit/s", flow.goodput_kbps());
    assert!((1.0..=3.0).contains(&waits) && flow.source.retransmitted == 0, "{waits}");
    assert!(flow.goodput_kbps() > 0.99 * 10_000.0 * 1448.0 / 1500.0, "{}", flow.goodput_kbps());
}

/// The link repairs a loss half an RTT later. SACK retransmits before that repair. TCP-DCR waits for an RTT before it
/// retransmits, and NCR for a window. These times are long enough for the repair, so DCR and NCR must hardly enter
/// recovery.
#[test]
fn a_sender_that_waits_lets_the_link_repair() {
    let path = "profile=plain,rate=10Mbit/s,rtt=40ms,queue=1000packets,loss=1%";
    let link: &[(&str, &str)] = &[
        (
            "link.path.down.arq",
            "{ kind = \"repeat\", transmissions = 10, delay = \"20 ms\", mode = \"overtaking\" }",
        ),
        ("duration", "60 s"),
    ];
    let with = |recovery: &str| {
        let flows = outcomes(path, &[link, &[("recovery", recovery)]].concat(), 3);
        let recoveries: u64 = flows.iter().map(|flow| flow.source.recoveries).sum();
        (recoveries, flows.iter().map(FlowOutcome::goodput_kbps).sum::<f64>() / 3.0)
    };
    let (sack, dcr, ncr) = (with("sack"), with("dcr"), with("ncr"));
    println!("recoveries and kbit/s: sack {sack:?}, dcr {dcr:?}, ncr {ncr:?}");
    assert!(sack.0 > 100 && dcr.0 * 20 < sack.0 && ncr.0 * 20 < sack.0);
    // Payload is 1448 of 1500 bytes, so 9000 kbit/s are more than 90 % of the possible goodput.
    assert!(dcr.1 > 9000.0 && ncr.1 > 9000.0);
}

/// A loss without a warning mark must not reduce the window. With warning marks, the path must be fully used although 1
/// % of the packets are lost.
#[test]
fn jersey_answers_warnings_alone() {
    let path = "profile=plain,rate=10Mbit/s,rtt=40ms,queue=warn,ecn=true,ecn_echo=per_packet,loss=1%";
    for congestion in ["jersey", "new_jersey"] {
        let jersey = goodput(path, congestion, 3);
        println!("{congestion} at 1 %: {jersey:.0} kbit/s");
        assert!(jersey > 8500.0, "{congestion}: {jersey}");
    }
}
