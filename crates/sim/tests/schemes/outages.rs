//! Tests of planned outages that the link reports to stations and receivers. Also compares A-TCP's window with the
//! receiver's window (koga, chapter 5).

use super::{AIR, FREEZE, MIDDLEBOX, Setting, at, flow, mean, observed, path, window_at};
use lasthop_scenario::Draft;
use lasthop_sim::FlowOutcome;
use lasthop_tcp::Event;
use lasthop_tcp::event::Reason;

/// The air carries nothing for 5 s. Packets that wait for the air are not lost.
const OUTAGE: &[Setting<'_>] = &[
    ("link.air.down.plan", "2 Mbit/s for 10 s, 0 bit/s for 5 s, 2 Mbit/s for 25 s"),
    ("link.air.down.queue", "unlimited"),
    ("window", "{ kind = \"buffer\", size = \"48000 bytes\" }"),
    ("duration", "30 s"),
];
const ENDS: u64 = 15_000;

/// Returns four results: the time in ms from the end of the outage until the sender sends data; cwnd before and after
/// the outage; the number of retransmissions except window probes; and the outcome.
fn after(settings: &[&[Setting<'_>]]) -> (f64, [f64; 2], usize, FlowOutcome) {
    let (outcome, samples, recorded) = observed(&path(false, &[&[OUTAGE], settings].concat()), 1);
    let data = recorded.on(0, true).find(|(now, ..)| *now >= at(ENDS)).expect("data").0;
    let is_repeat = |event: &Event| matches!(event, Event::Retransmitted { reason, .. } if *reason != Reason::WindowProbe);
    let again = recorded.events.iter().filter(|(_, event)| is_repeat(event)).count();
    let windows = [window_at(&samples, at(9700)), window_at(&samples, at(15_300))];
    (data.since(at(ENDS)).as_secs() * 1e3, windows, again, outcome)
}

/// If the link reports its state, the station must open the sender's window as soon as the outage ends. The sender must
/// then send data half a wired RTT later. If the station only detects silence, it must first receive a segment from the
/// mobile.
#[test]
fn a_station_that_the_link_tells_opens_the_window_at_once() {
    let (late, _, _, plain) = after(&[]);
    println!("plain: data {late:.0} ms after the outage, {} timeouts", plain.source.timeouts);
    assert!(plain.source.timeouts >= 2);
    for name in ["mtcp", "atcp"] {
        let buffer: &[Setting<'_>] =
            if name == "atcp" { &[("node.bs.middlebox.buffer", "128 KB")] } else { &[] };
        let with_middlebox: &[Setting<'_>] = &[(MIDDLEBOX, name), FREEZE];
        // No planned rate is below this threshold, so the station recognises an outage only by silence.
        let silent: &[Setting<'_>] = &[(MIDDLEBOX, name), FREEZE, ("node.bs.middlebox.away", "1 bit/s")];
        let (by_link, [before, behind], _, outcome) = after(&[with_middlebox, buffer]);
        let (by_silence, windows, _, other) = after(&[silent, buffer]);
        println!(
            "{name}: data {by_link:.0} ms after the outage, cwnd {before} and {behind}; by silence {by_silence:.0} ms, {windows:?}"
        );
        assert_eq!((outcome.source.timeouts, other.source.timeouts), (0, 0), "{name}");
        assert!(behind >= before, "{name}: {before} before, {behind} after");
        // There is no lower bound, because the sender may send a window probe earlier.
        assert!(by_link < 105.0, "{name}: {by_link} ms");
        assert!(outcome.goodput_kbps() >= 0.99 * other.goodput_kbps(), "{name}");
    }
}

/// The receiver learns of the outage in advance. If the receiver freezes the sender one RTT before the outage, no
/// packet may be retransmitted. With a lead of five RTTs, the sender is silent for four more RTTs. Without a lead,
/// packets in flight wait in the queue, and the frozen sender retransmits them.
#[test]
fn a_receiver_that_foresees_the_outage_freezes_its_sender() {
    let freeze = |lead: &str| {
        let window = format!("{{ kind = \"freeze\", size = \"48000 bytes\", lead = {lead} }}");
        after(&[&[("window", &window), FREEZE]])
    };
    let (late, _, _, plain) = after(&[]);
    let [none, one, five] = ["0", "1", "5"].map(freeze);
    for (name, (wait, windows, again, outcome)) in [("0", &none), ("1", &one), ("5", &five)] {
        println!(
            "lead of {name}: data {wait:.0} ms after the outage, cwnd {windows:?}, {} timeouts, {again} retransmitted, {:.1} kbit/s",
            outcome.source.timeouts,
            outcome.goodput_kbps()
        );
        assert_eq!(outcome.source.timeouts, 0, "{name}");
        assert!(windows[1] >= windows[0], "{name}: {windows:?}");
        // Data must be sent half an RTT without queueing (55 ms) after the outage, plus a few milliseconds for the ACK.
        assert!(*wait < 60.0 && *wait < late, "{name}: {wait} ms, plain {late} ms");
    }
    assert!(plain.source.timeouts >= 2);
    assert!(one.2 == 0 && five.2 == 0 && none.2 > 20, "{} {} {}", none.2, one.2, five.2);
    // With a lead of five RTTs, the sender stops four RTTs of about 200 ms earlier than with a lead of one.
    let lost = one.3.delivered_bytes - five.3.delivered_bytes;
    assert!((100_000..250_000).contains(&lost), "{lost} bytes");
}

#[test]
fn without_a_plan_there_is_nothing_to_foresee() {
    let lossy: &[Setting<'_>] = &[(AIR, "{ kind = \"iid\", loss = 0.01 }"), ("duration", "30 s")];
    let plain = flow(&path(false, &[lossy]), 1);
    assert_eq!(flow(&path(false, &[lossy, &[("window", "freeze")]]), 1), plain);
}

/// A-TCP's window must keep the station's queue from overflowing. The RTT must not exceed the transmission time of the
/// buffer plus the RTT without queueing.
#[test]
fn atcp_keeps_the_stations_queue_from_overflowing() {
    // The default buffer of 64 KiB is larger than the queue of 50 packets, so the test sets smaller buffers.
    for buffer in [20_000_u64, 40_000] {
        let text = format!("{{ kind = \"atcp\", buffer = \"{buffer} bytes\" }}");
        let with = flow(&path(false, &[&[(MIDDLEBOX, &text), FREEZE]]), 1);
        let without = flow(&path(false, &[]), 1);
        assert!(without.account.lost.total() > 0);
        assert_eq!(with.account.lost.total(), 0, "{buffer}");
        // The buffer counts only the payload, 1000 of the 1040 bytes of a packet.
        let longest = buffer as f64 * 1.04 * 8.0 / 2e6 + 0.125;
        println!(
            "atcp, {buffer} bytes: RTT up to {:?} s, {longest} expected at most, {} kbit/s",
            with.largest_rtt_s,
            with.goodput_kbps()
        );
        assert!(with.largest_rtt_s.expect("measured") < longest, "{buffer}");
    }
}

/// koga's chapter 5 has an RLC link that changes between 384 and 64 kbit/s, and a station's queue of 15 packets. A
/// receiver that follows the link's rate must give the same goodput as A-TCP with an unmodified terminal, if A-TCP's
/// buffer equals that receiver's largest window. Freezing the sender reduces the goodput here. At 64 kbit/s a packet
/// takes 188 ms, so the station detects silence, and its probes of the mobile fill the queue.
#[test]
fn atcp_beside_the_receivers_window_of_koga() {
    let scenario = |settings: &[Setting<'_>]| {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../papers/koga5/changing.toml");
        let mut draft = Draft::load(file).expect("the paper's path");
        for (key, value) in [&[("duration", "80 s"), ("window", "buffer")], settings].concat() {
            draft.set(key, value).unwrap_or_else(|problem| panic!("{key}: {problem:?}"));
        }
        draft.check().unwrap_or_else(|problem| panic!("{problem:?}"))
    };
    let run_case = |settings: &[Setting<'_>]| {
        let scenario = scenario(settings);
        let of = |of: &dyn Fn(&FlowOutcome) -> f64| mean(&scenario, of);
        let lost = |flow: &FlowOutcome| flow.account.lost.total() as f64;
        [of(&FlowOutcome::goodput_kbps), of(&|flow| flow.source.retransmitted as f64), of(&lost)]
    };
    let plain = run_case(&[]);
    let koga5 = run_case(&[("window", "{ kind = \"link_rate\", formula = \"published\", adaptive = true }")]);
    let atcp = run_case(&[(MIDDLEBOX, "{ kind = \"atcp\", buffer = \"15000 bytes\", freezes = false }")]);
    let freezing = run_case(&[(MIDDLEBOX, "{ kind = \"atcp\", buffer = \"15000 bytes\" }"), FREEZE]);
    println!(
        "kbit/s, retransmitted, lost: plain {plain:?}, koga5 {koga5:?}, atcp {atcp:?}, freezing {freezing:?}"
    );
    assert!(plain[1] > 20.0 && plain[2] > 20.0);
    assert_eq!(
        [koga5[1], koga5[2], atcp[1], atcp[2]],
        [0.0; 4],
        "koga5 and atcp have no losses and no retransmissions"
    );
    assert!((atcp[0] / koga5[0] - 1.0).abs() < 0.02, "{} {}", atcp[0], koga5[0]);
    assert!(freezing[2] > 20.0 && freezing[0] < atcp[0]);
}
