//! Tests of CUBIC as in Linux, HyStart, HyStart++ and RACK-TLP on whole paths.

use super::{AIR, EventLog, Setting, UNFILLED, observed, path};
use lasthop_base::Time;
use lasthop_scenario::Draft;
use lasthop_sim::{FlowOutcome, Samples, run_probed};
use lasthop_tcp::Event;
use lasthop_tcp::event::Reason;
use lasthop_wire::Packet;

fn probed(path: &str, settings: &[Setting<'_>], seed: u64) -> (FlowOutcome, Samples) {
    let mut draft = Draft::load(path).expect("an inline path");
    for (key, value) in settings {
        draft.set(key, value).unwrap_or_else(|why| panic!("{key}: {why:?}"));
    }
    let (mut outcome, samples) = run_probed(&draft.check().expect("a valid scenario"), seed);
    (outcome.flows.remove(0), samples)
}

/// RFC 8312 §4.1: after the loss, the window must be W(t) = C (t - K)^3 + W_max. Here t is the time since the loss, C
/// is 0.4, W_max is the window before the loss, and K is the cube root of 0.3 W_max / C. CUBIC's target is the value of
/// W one round trip (100 ms) later.
#[test]
fn linux_cubic_returns_by_the_cubic_of_time() {
    let settings: &[Setting<'_>] = &[
        ("congestion", "{ kind = \"cubic\", variant = \"linux\" }"),
        ("link.path.down.channel", "{ kind = \"scripted\", packets = \"3000\" }"),
        ("initial_ssthresh", "144800 bytes"),
        ("receiver.ack_policy", "immediate"),
        ("sample", "1 ms"),
        ("duration", "20 s"),
    ];
    let (outcome, samples) =
        probed("profile=plain,rate=200Mbit/s,rtt=100ms,queue=unlimited,recovery=rack", settings, 1);
    assert_eq!((outcome.source.recoveries, outcome.source.timeouts), (1, 0));
    let windows: Vec<(f64, f64)> =
        samples.flows.iter().map(|it| (it.time.as_secs(), it.cwnd_bytes as f64 / 1448.0)).collect();
    let cut = windows.windows(2).position(|pair| pair[1].1 < pair[0].1).expect("a loss");
    let top = windows[cut].1;
    // Recovery takes a round trip. Growth begins with the ACK that ends recovery.
    let begins = windows[cut + 1].0 + 0.1;
    let rise = (0.3 * top / 0.4).cbrt();
    let since = windows.iter().map(|(at, window)| (at - begins, *window));
    let off = since.filter(|(t, _)| (0.0..9.0).contains(t)).map(|(t, window)| {
        let error = (window - (0.4 * (t - rise).powi(3) + top)).abs();
        // Each round trip has a gap without ACKs, in which the window does not grow. The window may therefore lag by
        // the growth of one round trip.
        (error, error - 0.1 * 1.2 * (t - rise).powi(2))
    });
    let (all, beyond) =
        off.fold((0.0, f64::MIN), |most: (f64, f64), it| (most.0.max(it.0), most.1.max(it.1)));
    println!("CUBIC, from {top} segments: {all:.2} off at most, {beyond:.2} beyond a round trip's growth");
    // The tolerance is 3.2 segments: 1 because cwnd is a whole number of segments, 1 because `top` may be up to one
    // segment too small, and 1.2 because the curve's value may be up to 31 ms old.
    assert!(beyond < 3.2, "{beyond}");
}

/// The path holds 33 segments, and its queue another 33. Slow start that lasts until a loss overshoots by up to 66
/// segments. HyStart and HyStart++ must end slow start earlier.
#[test]
fn slow_start_that_is_left_early_repeats_hardly_anything() {
    let path = "profile=plain,rate=10Mbit/s,rtt=40ms,queue=1bdp,congestion=reno,recovery=rack";
    let again = |exit| {
        let (flow, _) = probed(path, &[("slow_start", exit), ("duration", "3 s")], 1);
        flow.source.retransmitted
    };
    let [none, hystart, hystart_pp] = ["none", "hystart", "hystart_pp"].map(again);
    println!("retransmitted: {none}, HyStart {hystart}, HyStart++ {hystart_pp}");
    assert!(none > 30 && hystart <= 20 && hystart_pp <= 20, "{none}, {hystart}, {hystart_pp}");
}

/// An empty path has up to 20 ms of jitter. Neither HyStart nor HyStart++ may leave slow start before the path is full,
/// because both use the smallest RTT sample of a round. HyStart must leave first, because it has no conservative phase
/// from which it could return to slow start.
#[test]
fn jitter_does_not_end_slow_start_for_good() {
    let path =
        "profile=plain,rate=10Mbit/s,rtt=40ms,queue=1000packets,congestion=reno,recovery=rack,jitter=20ms";
    // Window at the end of slow start, relative to the bandwidth-delay product of 50 ms and 10 Mbit/s. If slow start
    // lasts all 4 s, the last window is used.
    let left = |exit: &str| {
        let ends = (1..=10).map(|seed| {
            let settings: &[Setting<'_>] = &[("slow_start", exit), ("sample", "5 ms"), ("duration", "4 s")];
            let (_, samples) = probed(path, settings, seed);
            let flows = &samples.flows;
            let end = flows.iter().find(|it| it.ssthresh_bytes <= it.cwnd_bytes);
            end.or(flows.last()).expect("samples").cwnd_bytes as f64 / 62_500.0
        });
        let mut ends: Vec<f64> = ends.collect();
        ends.sort_by(f64::total_cmp);
        ends
    };
    let (hystart, hystart_pp) = (left("hystart"), left("hystart_pp"));
    println!("window at slow start's end, of the pipe: HyStart {hystart:.2?}, HyStart++ {hystart_pp:.2?}");
    assert!(hystart_pp[0] >= 0.9, "{hystart_pp:?}");
    assert!(hystart[0] >= 0.9 && hystart[9] < hystart_pp[0], "{hystart:?}");
}

/// Packets are reordered by delays of up to a fifth of an RTT. These delays are within RACK's reordering window of a
/// quarter of the RTT, so RACK must hardly retransmit. The reordering causes three duplicate ACKs, so SACK must
/// retransmit often.
#[test]
fn rack_bears_reordering_within_its_window() {
    let path = "profile=plain,rate=10Mbit/s,rtt=40ms,queue=1000packets";
    let with = |recovery: &str, duration: &str| {
        let settings: &[Setting<'_>] = &[
            ("recovery", recovery),
            ("link.path.down.jitter", "{ kind = \"random\", most = \"8 ms\", reorders = true }"),
            ("window", "{ kind = \"buffer\", size = \"40000 bytes\" }"),
            ("duration", duration),
        ];
        let (flow, _) = probed(path, settings, 1);
        (flow.source.retransmitted, flow.source.recoveries)
    };
    let (sack, rack, soon) = (with("sack", "30 s"), with("rack", "30 s"), with("rack", "5 s"));
    println!(
        "retransmissions and recoveries, nothing lost: sack {sack:?}, rack {rack:?}, {soon:?} of them in the first \
         five seconds"
    );
    assert!(sack.0 > 50 && rack.0 * 20 < sack.0, "{sack:?} {rack:?}");
    assert_eq!(soon, rack, "RACK retransmits after the first D-SACK");
}

fn retransmissions(recorded: &EventLog) -> Vec<(Time, Reason)> {
    let repeat = |(at, event): &(Time, Event)| match event {
        Event::Retransmitted { reason, .. } => Some((*at, *reason)),
        _ => None,
    };
    recorded.events.iter().filter_map(repeat).collect()
}

/// The last of 100 segments is lost. RACK-TLP must repair the loss with a probe after two round trips, whereas RFC 6675
/// waits for the timer.
#[test]
fn a_lost_tail_is_probed() {
    let run = |recovery: &str, place: usize| {
        let channel = format!("{{ kind = \"scripted\", packets = \"{place}\" }}");
        let settings: &[Setting<'_>] = &[
            ("recovery", recovery),
            ("flow.bulk.transfer", "100000 bytes"),
            ("min_rto", "1 s"),
            (AIR, &channel),
        ];
        observed(&path(false, &[UNFILLED, settings]), 1)
    };
    // Finds the last data segment's position among the packets that enter the air, including the packets of the
    // handshake.
    let (.., recorded) = run("rack", 100_000);
    let is_data = |packet: &Packet| packet.segment().is_some_and(|segment| segment.len > 0);
    let places = recorded.on(1, true).enumerate().filter(|(_, (_, packet, _))| is_data(packet));
    let place = places.last().expect("data").0;
    let ((sack, ..), (rack, _, recorded)) = (run("sack", place), run("rack", place));
    let again = retransmissions(&recorded);
    let last = recorded.on(0, true).filter(|(_, packet, _)| is_data(packet)).nth(99).expect("100 segments").0;
    let waited = again[0].0.since(last).as_secs();
    println!(
        "tail: probed after {waited:.3} s, SRTT {:?}; complete after {:.2} s, by the timer {:.2} s",
        rack.srtt_s, rack.active_s, sack.active_s
    );
    assert_eq!((rack.source.timeouts, sack.source.timeouts), (0, 1));
    assert_eq!(again.len(), 1);
    assert_eq!(again[0].1, Reason::TailProbe);
    // The measured wait begins with the last data segment. The probe timer begins with the last ACK before the probe.
    // The wait may therefore exceed two smoothed RTTs by up to a round trip.
    let srtt = rack.srtt_s.expect("measured");
    assert!((2.0 * srtt..3.0 * srtt).contains(&waited), "{waited} {srtt}");
    assert!(rack.active_s + 0.5 < sack.active_s);
}

#[test]
fn a_lost_copy_goes_again_after_a_round_trip() {
    let run = |packets: &str, recovery: &str| {
        let channel = format!("{{ kind = \"scripted\", packets = \"{packets}\" }}");
        let settings: &[Setting<'_>] = &[
            (AIR, &channel),
            ("recovery", recovery),
            ("initial_ssthresh", "16000 bytes"),
            ("duration", "10 s"),
        ];
        observed(&path(false, &[settings]), 1)
    };
    for recovery in ["rack", "sack"] {
        let (_, _, recorded) = run("400", recovery);
        let place = recorded
            .on(1, true)
            .position(|(_, packet, _)| packet.is_retransmission)
            .expect("a retransmission");
        let (outcome, _, recorded) = run(&format!("400, {place}"), recovery);
        let again = retransmissions(&recorded);
        let apart = again[1].0.since(again[0].0).as_secs();
        println!(
            "{recovery}: retransmission at {place}, the next after {apart:.3} s, {} timeouts",
            outcome.source.timeouts
        );
        let [smallest, largest] =
            [outcome.smallest_rtt_s, outcome.largest_rtt_s].map(|rtt| rtt.expect("measured"));
        match recovery {
            "rack" => {
                assert_eq!((outcome.source.timeouts, outcome.source.recoveries, again.len()), (0, 1, 2));
                assert!((smallest..1.25 * largest).contains(&apart), "{apart}: {smallest} to {largest}");
            }
            _ => assert_eq!(outcome.source.timeouts, 1),
        }
    }
}
