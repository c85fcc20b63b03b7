//! Reports of wireless losses, by hints in ACKs, by the receiver and by nodes. The sender retransmits, but does not
//! reduce cwnd.

use lasthop_base::{Choice, Duration, Stream, Time};
use lasthop_tcp::sender::{loss_discrimination, recovery};
use lasthop_tcp::{Arriving, Config, Endpoint, Notice, Role};
use lasthop_wire::{Flags, LossHint, NodeNotice, Segment, Seq};

const MSS: u32 = 1000;
const ISS: u32 = u32::MAX - 4000;

struct Peer {
    sender: Endpoint,
    now: Time,
}

fn at(segment: u32) -> Seq {
    Seq(ISS.wrapping_add(1 + segment * MSS))
}

impl Peer {
    fn new(sender_discrimination: &str, recovery: &str, has_persist_state: bool) -> Peer {
        let config = Config {
            segment: MSS,
            sack: false,
            timestamps: false,
            nagle: false,
            has_persist_state,
            sender_discrimination: Choice::named(loss_discrimination::ALL, sender_discrimination),
            recovery: Choice::named(recovery::ALL, recovery),
            ..Config::default()
        };
        let mut sender = Endpoint::new(config, Role::Active, Seq(ISS), Stream::named(1, "test"));
        sender.open(Time::ZERO);
        sender.write(1_000_000);
        let mut peer = Peer { sender, now: Time::ZERO };
        assert_eq!(peer.sent(), [(Seq(ISS), true)]);
        peer.now += Duration::from_millis(50);
        let flags = Flags::SYN | Flags::ACK;
        peer.receive(Segment {
            seq: Seq(0),
            ack: at(0),
            flags,
            window: 60_000,
            mss: Some(1460),
            ..Segment::default()
        });
        let sent: Vec<Seq> = peer.sent().into_iter().filter(|(_, full)| *full).map(|(seq, _)| seq).collect();
        assert_eq!(sent, (0..10).map(at).collect::<Vec<_>>());
        peer.now += Duration::from_millis(50);
        peer
    }

    fn receive(&mut self, segment: Segment) {
        self.sender.handle_segment(self.now, &segment, &Arriving::default());
    }

    fn ack(&mut self, segment: u32, hint: LossHint) {
        self.receive(Segment { flags: Flags::ACK.with_hint(hint), ..ack(segment) });
    }

    fn sent(&mut self) -> Vec<(Seq, bool)> {
        let mut sent = Vec::new();
        while let Some(sending) = self.sender.poll_segment(self.now) {
            sent.push((sending.segment.seq, sending.segment.sequence_space() > 0));
        }
        sent
    }

    fn level(&self) -> (u64, u64) {
        (self.sender.sender().window(), self.sender.sender().ssthresh())
    }
}

fn ack(segment: u32) -> Segment {
    Segment { seq: Seq(1), ack: at(segment), flags: Flags::ACK, window: 60_000, ..Segment::default() }
}

#[test]
fn the_first_duplicate_with_a_hint_brings_the_repeat_and_the_window_stays() {
    for recovery in ["reno", "new_reno"] {
        let mut peer = Peer::new("eln", recovery, false);
        peer.ack(1, LossHint::None);
        peer.sent();
        let before = peer.level();
        peer.ack(1, LossHint::Wireless);
        assert_eq!(peer.sent()[0], (at(1), true), "{recovery}");
        (0..6).for_each(|_| peer.ack(1, LossHint::Wireless));
        assert_eq!(peer.level(), before, "{recovery}");
        peer.sent();
        peer.ack(10, LossHint::None);
        assert!(peer.level().0 >= before.0 && peer.level().1 == before.1, "{recovery}: {:?}", peer.level());
        assert_eq!(peer.sender.counters().judged_wireless, 1);
    }
}

#[test]
fn what_no_hint_or_another_one_tells_is_congestion() {
    for hints in [[LossHint::None; 3], [LossHint::Congestion; 3]] {
        let mut peer = Peer::new("eln", "new_reno", false);
        peer.ack(1, LossHint::None);
        peer.sent();
        let before = peer.level();
        hints[..2].iter().for_each(|hint| peer.ack(1, *hint));
        assert!(!peer.sent().contains(&(at(1), true)), "two duplicate ACKs have caused a retransmission");
        peer.ack(1, hints[2]);
        assert_eq!(peer.sent()[0], (at(1), true));
        assert!(peer.level().0 < before.0, "{:?}", peer.level());
        assert_eq!(peer.sender.counters().judged_congestion, 1);
    }
    // A sender without loss discrimination ignores hints and waits for three duplicate ACKs.
    let mut peer = Peer::new("always", "new_reno", false);
    peer.ack(1, LossHint::None);
    peer.sent();
    (0..2).for_each(|_| peer.ack(1, LossHint::Wireless));
    assert!(!peer.sent().contains(&(at(1), true)));
}

#[test]
fn a_segment_that_arrived_damaged_goes_again_once() {
    let mut peer = Peer::new("hack", "new_reno", false);
    peer.ack(1, LossHint::None);
    peer.sent();
    let before = peer.level();
    let mut damaged = ack(1);
    damaged.set_damaged(at(1));
    peer.receive(damaged);
    assert_eq!(peer.sent(), [(at(1), true)], "the report alone causes the retransmission");
    // The later duplicate ACKs are due to the same hole, so they cause no second retransmission, and cwnd stays.
    (0..5).for_each(|_| peer.ack(1, LossHint::None));
    assert!(!peer.sent().contains(&(at(1), true)));
    assert_eq!(peer.level(), before);
    // A report of a segment that was never sent is ignored.
    let mut forged = ack(1);
    forged.set_damaged(Seq(at(1).0.wrapping_add(1 << 30)));
    peer.receive(forged);
    assert!(!peer.sent().iter().any(|(seq, _)| *seq == at(1)));
}

#[test]
fn what_has_reached_the_last_hop_was_lost_on_the_air() {
    for (reaches, keeps) in [(true, true), (false, false)] {
        let mut peer = Peer::new("lhack", "new_reno", false);
        if reaches {
            let notice = NodeNotice::LastHop { seq: at(0), len: 10 * MSS };
            peer.sender.handle_notice(peer.now, Notice::Node(notice));
        }
        peer.ack(1, LossHint::None);
        peer.sent();
        let before = peer.level();
        (0..3).for_each(|_| peer.ack(1, LossHint::None));
        assert_eq!(peer.sent()[0], (at(1), true));
        assert_eq!(peer.level() == before, keeps);
    }
}

#[test]
fn a_notice_of_a_bad_state_starts_the_timer_anew_for_so_long() {
    let mut peer = Peer::new("ebsn", "new_reno", false);
    let first = peer.sender.poll_timeout();
    peer.now += Duration::from_millis(100);
    peer.sender.handle_notice(peer.now, Notice::Node(NodeNotice::BadState));
    assert_eq!(
        peer.sender.poll_timeout().since(first),
        Duration::from_millis(150),
        "the notice comes 150 ms after the data, and restarts the timer"
    );
    // A notice has no effect after the receiver has been silent for ten seconds.
    peer.now += Duration::from_secs(11);
    let timer = peer.sender.poll_timeout();
    peer.sender.handle_notice(peer.now, Notice::Node(NodeNotice::BadState));
    assert_eq!(peer.sender.poll_timeout(), timer);
}

#[test]
fn a_window_of_zero_freezes_a_sender_that_can_and_no_other() {
    for (has_persist_state, timeouts) in [(true, 0), (false, 3)] {
        let mut peer = Peer::new("always", "new_reno", has_persist_state);
        peer.receive(Segment { window: 0, ..ack(1) });
        let before = peer.level();
        for _ in 0..3 {
            peer.now = peer.sender.poll_timeout();
            peer.sender.handle_timeout(peer.now);
            assert_eq!(
                peer.sent(),
                [(at(1), true)],
                "each expiry sends the first segment, as a probe or a retransmission"
            );
        }
        assert_eq!(peer.sender.counters().timeouts, timeouts);
        assert_eq!(peer.level() == before, has_persist_state);
        // The receiver's window opens. A sender with Freeze-TCP retransmits all outstanding data with its former cwnd.
        peer.receive(ack(1));
        if has_persist_state {
            let sent = peer.sent();
            assert_eq!(sent[..9], (1..10).map(|segment| (at(segment), true)).collect::<Vec<_>>()[..]);
        }
    }
}
