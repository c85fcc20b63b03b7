//! Fall and Floyd's drop patterns: one to six segments lost from one window, for Tahoe, Reno, NewReno and SACK.
//!
//! Snapshot tests compare the list of each run's events. To redraw the pictures of
//! docs/explanation/loss-recovery-in-pictures.md, run `LASTHOP_DRAW=1 cargo test -p lasthop-sim --test drop_patterns`.

mod events;
mod picture;
mod text;

use events::{Case, EventList, NEW_RENO, PATTERNS, RENO, SACK, SENDERS, Sender, TAHOE};
use lasthop_wire::LossReason;
use std::path::Path;

/// RTT without queueing, s. A packet of 1000 bytes and an ACK of 40 bytes are each transmitted once at 8 Mbit/s and
/// once at 800 kbit/s. Propagation takes twice 100.1 ms.
const ROUND_TRIP: f64 = 0.001 + 0.010 + 0.000_04 + 0.000_4 + 2.0 * 0.100_1;

fn run(sender: Sender, drops: usize) -> EventList {
    Case { sender, dropped: PATTERNS[drops - 1] }.run()
}

fn gaps(events: &EventList) -> Vec<f64> {
    events.retransmissions().windows(2).map(|two| two[1].1 - two[0].1).collect()
}

#[test]
fn what_is_lost_is_the_script_and_nothing_else() {
    for sender in SENDERS {
        for dropped in PATTERNS {
            let lost = Case { sender, dropped }.run().dropped();
            let script: Vec<_> = dropped.iter().map(|number| (*number, LossReason::Channel)).collect();
            assert_eq!(lost, script, "{}", sender.name);
        }
    }
}

#[test]
fn one_drop_is_repaired_by_one_fast_retransmit_whoever_sends() {
    for sender in SENDERS {
        let events = run(sender, 1);
        assert_eq!(
            (events.timeouts(), events.recoveries(), events.retransmissions().len()),
            (0, 1, 1),
            "{}",
            sender.name
        );
    }
    assert_eq!(run(TAHOE, 1).window_at_repair(), 1.0);
    for sender in [RENO, NEW_RENO, SACK] {
        // Segments 14 to 28 are outstanding. Fast recovery must set cwnd to half of these 15 segments, 7.5 segments.
        assert_eq!(run(sender, 1).window_at_repair(), 7.5);
        assert_eq!(
            run(sender, 1).highest_acked(),
            run(RENO, 1).highest_acked(),
            "Reno, NewReno and SACK differ"
        );
    }
    assert!(run(TAHOE, 1).highest_acked() < run(RENO, 1).highest_acked());
}

#[test]
fn tahoe_starts_slowly_and_sends_again_what_had_arrived() {
    for drops in 2..=6 {
        let events = run(TAHOE, drops);
        assert_eq!((events.timeouts(), events.recoveries()), (0, 1));
        assert_eq!(events.window_at_repair(), 1.0);
        assert!(events.retransmissions().len() >= drops);
    }
    // With two drops, the second dropped segment is the last segment of the window. With more drops, Tahoe must also
    // retransmit segments that had arrived.
    for drops in 3..=6 {
        assert!(run(TAHOE, drops).retransmissions().len() > drops, "no segment was retransmitted needlessly");
    }
}

#[test]
fn reno_halves_twice_for_two_drops_and_waits_for_the_timer_from_three_on() {
    let events = run(RENO, 2);
    assert_eq!((events.timeouts(), events.recoveries()), (0, 2));
    for drops in 3..=6 {
        assert_eq!(run(RENO, drops).timeouts(), 1, "{drops} drops");
    }
    // The third lost segment must be retransmitted only when the timer expires, at least a second after the
    // retransmission of the second lost segment.
    let repaired = gaps(&run(RENO, 3));
    assert!(repaired[1] >= 1.0, "{repaired:?}");
}

#[test]
fn new_reno_repairs_one_segment_per_round_trip_without_the_timer() {
    for drops in 2..=5 {
        let events = run(NEW_RENO, drops);
        assert_eq!((events.timeouts(), events.recoveries(), events.retransmissions().len()), (0, 1, drops));
        for gap in gaps(&events) {
            assert!((ROUND_TRIP - 1e-6..ROUND_TRIP + 0.01).contains(&gap), "{drops} drops: {gap} s");
        }
    }
    // RFC 6582 §4: only the first partial ACK restarts the timer. With six drops, the timer must therefore expire
    // before the sixth segment is retransmitted.
    assert_eq!(run(NEW_RENO, 6).timeouts(), 1);
}

#[test]
fn sack_repairs_several_segments_per_round_trip_without_the_timer() {
    for drops in 2..=6 {
        let events = run(SACK, drops);
        assert_eq!((events.timeouts(), events.recoveries(), events.retransmissions().len()), (0, 1, drops));
        let retransmitted: Vec<u64> = events.retransmissions().iter().map(|(number, _)| *number).collect();
        assert_eq!(retransmitted, PATTERNS[drops - 1], "only lost segments are retransmitted");
    }
    for drops in 3..=6 {
        let events = run(SACK, drops);
        assert!(
            gaps(&events).iter().any(|gap| *gap < ROUND_TRIP / 2.0),
            "no two retransmissions within half a round trip"
        );
        assert!(
            gaps(&events).iter().sum::<f64>() < (drops - 1) as f64 * ROUND_TRIP,
            "retransmissions take as long as NewReno's"
        );
        assert!(events.acked_at(28) < run(NEW_RENO, drops).acked_at(28));
    }
}

#[test]
fn from_three_drops_on_sack_comes_farthest_and_reno_least_far() {
    for drops in 3..=6 {
        let [tahoe, reno, new_reno, sack] = SENDERS.map(|sender| run(sender, drops).highest_acked());
        assert!(sack > new_reno.max(tahoe), "{drops}: {tahoe} {reno} {new_reno} {sack}");
        assert!(reno < new_reno.min(tahoe), "{drops}: {tahoe} {reno} {new_reno} {sack}");
    }
}

#[test]
fn no_burst_needs_the_limit_that_the_paper_s_senders_have() {
    for sender in SENDERS {
        for drops in 1..=6 {
            let burst = run(sender, drops).largest_burst();
            assert!(burst <= 4, "{}, {drops} drops: {burst} at once", sender.name);
        }
    }
}

#[test]
fn each_run_line_by_line() {
    for sender in SENDERS {
        for (index, dropped) in PATTERNS.iter().enumerate() {
            let events = Case { sender, dropped }.run();
            let name = format!("{}_{}", sender.name.to_lowercase(), index + 1);
            insta::assert_snapshot!(name, text::lines(&events, dropped[0], 40));
        }
    }
}

#[test]
fn the_pictures_show_these_runs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/images");
    let counts =
        ["One segment", "Two segments", "Three segments", "Four segments", "Five segments", "Six segments"];
    for (index, (dropped, count)) in PATTERNS.iter().zip(counts).enumerate() {
        let numbers: Vec<String> = dropped.iter().map(u64::to_string).collect();
        let title = format!("{count} lost: {}", numbers.join(", "));
        let runs = SENDERS.map(|sender| (sender.name, Case { sender, dropped }.run()));
        let drawn = picture::draw(&title, &runs);
        let file = folder.join(format!("drop-patterns-{}.svg", index + 1));
        if std::env::var_os("LASTHOP_DRAW").is_some() {
            std::fs::write(&file, &drawn).expect("the folder exists");
        }
        let shown = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            shown == drawn,
            "{} differs from the current drawing: redraw with LASTHOP_DRAW=1",
            file.display()
        );
    }
}
