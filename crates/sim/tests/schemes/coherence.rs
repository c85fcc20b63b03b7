//! Tests of congestion coherence (Liu and Jain, HICSS 2003), a rule that classifies losses as wireless or congestion by
//! ECN marks: its accuracy for each kind of loss.

use super::{DISCRIMINATION, EventLog, Setting, flow, observed, path};
use lasthop_engine::Fate;
use lasthop_wire::LossReason;

/// The wired bottleneck marks packets before it drops any. The radio link loses 1 % of the packets.
const MARKING: &[Setting<'_>] = &[
    ("ecn", "true"),
    ("link.wired.rate", "500 kbit/s"),
    ("link.wired.queue", "{ kind = \"red\", packets = 20 }"),
    ("duration", "300 s"),
];
const DROPPING: &[Setting<'_>] =
    &[("link.wired.rate", "500 kbit/s"), ("link.wired.queue", "10 packets"), ("duration", "300 s")];

#[derive(Default, Debug)]
struct Matrix {
    air: [u64; 2],
    congestion: [u64; 2],
}

impl Matrix {
    fn count(&mut self, is_air: bool, is_right: bool) {
        let row = if is_air { &mut self.air } else { &mut self.congestion };
        row[0] += u64::from(is_right);
        row[1] += 1;
    }
}

/// Returns the accuracy of the receiver's rule. The rule classifies a hole as congestion if the receiver sends the
/// first duplicate ACK for the hole at once. Losses less than ten packets apart form one hole. A hole truly counts as
/// congestion if any of its losses is a congestion loss.
fn at_the_receiver(recorded: &EventLog) -> Matrix {
    let ahead = |one: u32, other: u32| one.wrapping_sub(other).cast_signed();
    let mut holes: Vec<(u32, u32, bool)> = Vec::new();
    let mut losses: Vec<(u32, bool)> = Vec::new();
    for (_, _, packet, fate) in &recorded.packets {
        if let (Fate::Lost(reason), Some(segment)) = (fate, packet.segment())
            && packet.forward
            && !packet.is_retransmission
            && segment.len > 0
        {
            losses.push((segment.seq.0, *reason == LossReason::Channel));
        }
    }
    // Sorts the losses by sequence number. In the log, a drop at the first queue may precede the radio loss of a packet
    // that was sent earlier.
    let first =
        losses.iter().map(|(seq, _)| *seq).min_by(|one, other| ahead(*one, *other).cmp(&0)).unwrap_or(0);
    losses.sort_by_key(|(seq, _)| ahead(*seq, first));
    for (lost, is_air) in losses {
        match holes.last_mut() {
            Some((_, last, is_airs)) if ahead(lost, *last) < 10_000 => {
                (*last, *is_airs) = (lost, *is_airs && is_air)
            }
            _ => holes.push((lost, lost, is_air)),
        }
    }
    let arrivals: Vec<(u32, _)> =
        recorded.on(1, true).filter_map(|(_, packet, at)| Some((packet.segment()?.seq.0, at?))).collect();
    let acks: Vec<_> = recorded.on(1, false).map(|(at, ..)| at).collect();
    let mut matrix = Matrix::default();
    for (lost, _, is_air) in holes {
        // Finds the first arrival of a packet with a sequence number above the hole, and whether the receiver sent an
        // ACK at that time.
        let behind = arrivals.iter().find(|(seq, _)| ahead(*seq, lost) > 0);
        if let Some((_, at)) = behind {
            let spoke = acks.binary_search(at).is_ok();
            matrix.count(is_air, spoke != is_air);
        }
    }
    matrix
}

/// Returns the accuracy of the sender's rule, summed over the flow accounts of five runs.
fn at_the_sender(settings: &[&[Setting<'_>]], up: bool) -> Matrix {
    let judge: &[Setting<'_>] = &[(DISCRIMINATION, "coherence")];
    let scenario = path(up, &[settings, &[judge]].concat());
    let mut matrix = Matrix::default();
    for seed in 1..=5 {
        let counts = flow(&scenario, seed).account.accuracy;
        matrix.air = [matrix.air[0] + counts.wireless_correct, matrix.air[1] + counts.wireless];
        matrix.congestion =
            [matrix.congestion[0] + counts.congestion_correct, matrix.congestion[1] + counts.congestion];
    }
    matrix
}

const LOSSY_DOWN: &[Setting<'_>] = &[("link.air.down.channel", "{ kind = \"iid\", loss = 0.01 }")];
const LOSSY_UP: &[Setting<'_>] = &[("link.air.up.channel", "{ kind = \"iid\", loss = 0.01 }")];

#[test]
fn at_the_receiver_with_a_queue_that_marks_and_one_that_does_not() {
    let receiver: &[Setting<'_>] = &[("flow.bulk.receiver.ack_policy", "coherence")];
    let matrix = |bottleneck| {
        let scenario = path(false, &[bottleneck, LOSSY_DOWN, receiver]);
        let mut sum = Matrix::default();
        for seed in 1..=5 {
            let one = at_the_receiver(&observed(&scenario, seed).2);
            for (sum, one) in [(&mut sum.air, one.air), (&mut sum.congestion, one.congestion)] {
                *sum = [sum[0] + one[0], sum[1] + one[1]];
            }
        }
        sum
    };
    let (marking, dropping) = (matrix(MARKING), matrix(DROPPING));
    println!("receiver, RED with ECN: {marking:?}; drop-tail: {dropping:?}");
    assert!(marking.air[1] > 100 && marking.air[0] * 10 > marking.air[1] * 9, "{marking:?}");
    assert!(dropping.air[0] * 10 > dropping.air[1] * 9, "{dropping:?}");
    // Without marks, all losses appear wireless. The only exceptions are holes that open while the receiver still waits
    // for an earlier hole to be filled.
    assert!(
        dropping.congestion[1] > 100 && dropping.congestion[0] * 5 < dropping.congestion[1],
        "{dropping:?}"
    );
}

#[test]
fn at_the_sender_with_a_queue_that_marks_and_one_that_does_not() {
    let marking = at_the_sender(&[MARKING, LOSSY_UP], true);
    let dropping = at_the_sender(&[DROPPING, LOSSY_UP], true);
    println!("sender, RED with ECN: {marking:?}; drop-tail: {dropping:?}");
    // The sender receives echoes of a mark for a round trip. Wireless losses during that time are classified as
    // congestion.
    assert!(marking.air[1] > 100 && marking.air[0] * 10 > marking.air[1] * 8, "{marking:?}");
    assert!(marking.congestion[1] * 20 < dropping.congestion[1], "{marking:?}");
    assert!(dropping.congestion[1] > 100 && dropping.congestion[0] == 0, "{dropping:?}");
}

#[test]
fn without_losses_on_the_air_it_changes_nothing() {
    for (key, value) in [("flow.bulk.receiver.ack_policy", "coherence"), (DISCRIMINATION, "coherence")] {
        let quiet: &[Setting<'_>] =
            &[("duration", "60 s"), ("initial_ssthresh", "8000 bytes"), ("link.wired.queue", "red")];
        let with = flow(&path(false, &[MARKING, quiet, &[(key, value)]]), 1);
        let without = flow(&path(false, &[MARKING, quiet]), 1);
        assert!(with.source.marks > 5 && with.account.lost.total() == 0, "{:?}", with.account.lost);
        assert_eq!(with.source, without.source, "{key}");
        assert_eq!(with.delivered_bytes, without.delivered_bytes, "{key}");
    }
}
