//! Tests the properties that mechanisms of the receiver and of the sender declare, and the decisions of loss
//! discrimination. Expected values follow from the papers and RFCs of the mechanisms.

use lasthop_base::{Choice, Duration, Mechanism, Stream, Time, Value};
use lasthop_tcp::Range;
use lasthop_tcp::receiver::ack_policy;
use lasthop_tcp::receiver::ack_splitting::{self, FixedSplit, Needs};
use lasthop_tcp::receiver::loss_discrimination::{
    self as receiver_loss, Gap, LossDiscriminator, Observation,
};
use lasthop_tcp::receiver::window::{self, LinkPlan};
use lasthop_tcp::receiver::window_estimate::PathEstimate;
use lasthop_tcp::sender::loss_discrimination::{self as sender_loss, AckHint, Cause};
use lasthop_tcp::sender::{ack_counting, recovery};
use lasthop_wire::LossHint;

fn at(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

fn range(start: u64, end: u64) -> Range {
    Range { start, end }
}

/// Returns the names of the mechanisms in `list` for which `is` holds, in order of the list.
fn those<B: ?Sized>(list: &'static [Mechanism<B>], is: impl Fn(&Choice<B>) -> bool) -> Vec<&'static str> {
    list.iter().map(Choice::of).filter(is).map(|choice| choice.info.name).collect()
}

fn receiver(name: &str, settings: &[(&'static str, Value)]) -> Box<dyn LossDiscriminator> {
    let mut choice = Choice::named(receiver_loss::ALL, name);
    settings.iter().for_each(|(name, value)| choice.values.set(name, value.clone()));
    (choice.build)(&choice.values)
}

/// The MAC's reports are the only input of `mac`. JTCP needs cwnd_r, and the rule by round-trip time needs the range of
/// round-trip times and a random number. HACK only reports damage.
#[test]
fn loss_discrimination_of_receivers() {
    let of = |is: fn(&dyn LossDiscriminator) -> bool| {
        those(receiver_loss::ALL, |choice| is(&*(choice.build)(&choice.values)))
    };
    assert_eq!(of(|it| it.needs_reports()), ["mac"]);
    assert_eq!(of(|it| it.needs_estimate()), ["jtcp", "rtt"]);
    assert_eq!(of(|it| it.draws()), ["rtt"]);
    assert_eq!(of(|it| it.discriminates()), ["mac", "jtcp", "rtt"]);
    assert_eq!(of(|it| it.damage_report_copies() == 1), ["hack"]);
    assert_eq!(of(|it| it.damage_report_copies() == 0), ["always", "mac", "jtcp", "rtt"]);
    assert_eq!(receiver("hack", &[("copies", Value::Count(3))]).damage_report_copies(), 3);
}

/// Rules by round-trip samples need the samples. EBSN repairs nothing, so that EBSN attributes no losses. Tagged packets
/// reveal the cause only after a whole window.
#[test]
fn loss_discrimination_of_senders() {
    let of = |is: fn(&dyn sender_loss::LossDiscriminator) -> bool| {
        those(sender_loss::ALL, |choice| (choice.build)(&choice.values).is_some_and(|it| is(&*it)))
    };
    let all = ["tagged", "eln", "hack", "lhack", "coherence", "ecn", "ncpld", "santa_cruz", "trend", "ebsn"];
    assert_eq!(of(|_| true), all);
    assert_eq!(of(|it| it.needs_rtt_samples()), ["ncpld", "santa_cruz", "trend"]);
    assert_eq!(of(|it| it.discriminates_losses()), all[..9]);
    assert_eq!(of(|it| it.discriminates_each_loss()), all[1..9]);
    let restores = |word| {
        let mut choice = Choice::named(sender_loss::ALL, "tagged");
        choice.values.set("restores", Value::Word(word));
        (choice.build)(&choice.values).is_some_and(|it| it.restores_ssthresh())
    };
    assert!(restores("window_and_ssthresh") && !restores("window"));
    assert!(of(|it| it.restores_ssthresh()).iter().all(|name| *name == "tagged"));
}

/// Policies for batches, and policies that delay duplicate ACKs, hold ACKs. Only `immediate` acknowledges each segment.
#[test]
fn ack_policies() {
    let of = |is: fn(&dyn ack_policy::AckPolicy) -> bool| {
        those(ack_policy::ALL, |choice| is(&*(choice.build)(&choice.values)))
    };
    assert_eq!(of(|it| it.holds()), ["gro", "dupack_delay", "coherence"]);
    assert_eq!(of(|it| it.is_immediate()), ["immediate"]);
    let choice = |name| Choice::named(ack_policy::ALL, name);
    assert_eq!(ack_policy::at_once(&choice("immediate")), [true, true]);
    // RFC 5681 §4.2: at least every second full segment.
    assert_eq!(ack_policy::at_once(&choice("delayed")), [false, true]);
}

/// Copies and splitting into a constant number of ACKs need no input. Splitting after wireless losses needs the cause of
/// each loss and the path estimate.
#[test]
fn ack_splitting_mechanisms() {
    let of = |is: fn(&dyn ack_splitting::AckSplitting) -> bool| {
        those(ack_splitting::ALL, |choice| is(&*(choice.build)(&choice.values)))
    };
    assert_eq!(of(|it| it.is_single()), ["once"]);
    let with = |name: &str, settings: &[(&'static str, Value)]| {
        let mut choice = Choice::named(ack_splitting::ALL, name);
        settings.iter().for_each(|(name, value)| choice.values.set(name, value.clone()));
        let built = (choice.build)(&choice.values);
        (built.pieces(), built.needs())
    };
    let none = Needs::default();
    assert_eq!(with("once", &[]), (Some(FixedSplit { count: 1, are_copies: false }), none));
    let three = ("count", Value::Count(3));
    assert_eq!(
        with("copies", std::slice::from_ref(&three)),
        (Some(FixedSplit { count: 3, are_copies: true }), none)
    );
    assert_eq!(with("by_loss", &[]).0, None);
    assert!(with("by_loss", &[]).1.arrivals);
    let (pieces, needs) = with("split", &[]);
    assert_eq!((pieces, needs), (None, Needs { uplink: true, estimate: true, causes: true, ..none }));
    let (_, needs) = with("split", &[("when", Value::Word("always"))]);
    assert_eq!(needs, Needs { uplink: true, ..none });
}

/// Only a constant buffer has a size. Windows that measure need each arrival, and Freeze-TCP needs the link's plan. Only
/// the window by link rate may shrink, and only if `edge` is `shrinks`.
#[test]
fn advertised_windows() {
    let of = |is: fn(&dyn window::AdvertisedWindow) -> bool| {
        those(window::ALL, |choice| is(&*(choice.build)(&choice.values)))
    };
    assert_eq!(of(|it| it.buffer().is_some()), ["buffer"]);
    assert_eq!(of(|it| it.needs_arrivals()), ["dynamic", "autotuned", "freeze"]);
    assert_eq!(of(|it| it.uses_link_plan()), ["freeze"]);
    assert!(of(|it| it.is_growing()).is_empty() && of(|it| it.shrinks()).is_empty());
    let mut shrinking = Choice::named(window::ALL, "link_rate");
    shrinking.values.set("edge", Value::Word("shrinks"));
    assert!((shrinking.build)(&shrinking.values).shrinks());
    let mut sized = Choice::named(window::ALL, "buffer");
    sized.values.set("size", Value::Bytes(70_000));
    let built = (sized.build)(&sized.values);
    assert_eq!((built.buffer(), built.largest()), (Some(70_000), 70_000));
    // A window without a plan decides nothing.
    for name in ["buffer", "link_rate", "dynamic", "autotuned"] {
        let choice = Choice::named(window::ALL, name);
        let mut built = (choice.build)(&choice.values);
        let rate = lasthop_base::Rate::from_bps(1000);
        let plan = LinkPlan { now: at(1), rate, until: at(2), next: rate };
        for decision in [built.on_plan(&plan), built.on_decision_time(at(3))] {
            assert_eq!((decision.closed, decision.acks, decision.next), (false, 0, Time::NEVER), "{name}");
        }
    }
}

/// Linux's counting of delivered data (`tcp_ack`) continues at the end of a recovery. Counting by ACK (RFC 5681) collects
/// no credit.
#[test]
fn ack_counting_mechanisms() {
    let of = |is: fn(&dyn ack_counting::AckCounting) -> bool| {
        those(ack_counting::ALL, |choice| is(&*(choice.build)(&choice.values)))
    };
    assert_eq!(of(|it| it.counts_end()), ["delivered"]);
    let mut collecting = of(|it| it.collects());
    collecting.sort_unstable();
    assert_eq!(collecting, ["bytes", "delivered", "packets"]);
}

/// RFC 6675, RFC 8985 (RACK), RFC 4653 (NCR), and DCR use SACK. RACK and DCR detect losses by time. A new recovery is
/// idle, and has no deadline.
#[test]
fn loss_recovery_mechanisms() {
    let of = |is: fn(&dyn recovery::LossRecovery) -> bool| {
        let mut names = those(recovery::ALL, |choice| is(&*(choice.build)(&choice.values)));
        names.sort_unstable();
        names
    };
    assert_eq!(of(|it| it.uses_sack()), ["dcr", "ncr", "rack", "sack", "sack1"]);
    assert_eq!(of(|it| it.needs_times()), ["dcr", "rack"]);
    assert_eq!(of(|it| it.probes_tail()), ["rack"]);
    assert!(of(|it| !it.is_idle()).is_empty() && of(|it| it.is_recovering()).is_empty());
    assert!(of(|it| it.deadline() < Time::NEVER).is_empty() && of(|it| it.may_have_forced()).is_empty());
}

fn path(cwnd_r: f64, [min, max, latest]: [u64; 3]) -> PathEstimate {
    let [min_rtt, max_rtt, latest_rtt] = [min, max, latest].map(Duration::from_millis);
    PathEstimate { srtt: latest_rtt, min_rtt, max_rtt, latest_rtt, cwnd_r }
}

fn verdict(discriminator: &mut dyn LossDiscriminator, gap: Range, path: &PathEstimate) -> Cause {
    discriminator.discriminate(&Gap { range: gap, segment: 1000 }, path, &mut Stream::named(1, "loss"))
}

/// hasegawa §3.2.2, Eq. 1: Jr is the growth of the delay between packets n-w and n-1, divided by the time between their
/// arrivals. A loss is congestion if Jr exceeds k / w. With w = 4, packets sent over 0.75 s that arrive over 1 s have a
/// Jr of 1/4, which does not exceed 1/4.
#[test]
fn the_jitter_ratio_decides() {
    let of = |spread: u64, cwnd_r: f64, k: f64, newest: &'static str| {
        let mut jtcp = receiver("jtcp", &[("k", Value::Number(k)), ("newest", Value::Word(newest))]);
        for number in 0..5 {
            let (sent, now) = (Some(at(250 * number)), at(5000 + spread * number.max(1) / 3));
            let start = 1 + 1000 * number;
            jtcp.observe(&Observation { now, range: range(start, start + 1000), sent });
        }
        // The packet after the gap is sent 0.5 s after the packet before the gap, and arrives after 6 s.
        let after = Observation { now: at(12_000), range: range(6001, 7001), sent: Some(at(1500)) };
        jtcp.observe(&after);
        verdict(&mut *jtcp, range(5001, 6001), &path(cwnd_r, [1, 1, 1]))
    };
    // Packets 1 to 4 arrive over `spread`, and were sent over 0.75 s.
    assert_eq!(of(1000, 4.0, 1.0, "before_gap"), Cause::Wireless);
    assert_eq!(of(1010, 4.0, 1.0, "before_gap"), Cause::Congestion);
    assert_eq!(of(1010, 4.0, 2.0, "before_gap"), Cause::Wireless);
    assert_eq!(of(750, 4.0, 1.0, "before_gap"), Cause::Wireless);
    assert_eq!([3.6, 4.4].map(|cwnd_r| of(1010, cwnd_r, 1.0, "before_gap")), [Cause::Congestion; 2]);
    assert_eq!(of(750, 4.0, 1.0, "after_gap"), Cause::Congestion, "the packet after the gap is late");
    let mut unknown = receiver("jtcp", &[]);
    assert_eq!(verdict(&mut *unknown, range(5001, 6001), &path(4.0, [1, 1, 1])), Cause::Wireless);
    unknown.observe(&Observation { now: at(1), range: range(1, 1001), sent: None });
    assert_eq!(verdict(&mut *unknown, range(1001, 2001), &path(1.0, [1, 1, 1])), Cause::Wireless);
}

/// hasegawa §3.2.1: a loss is wireless if the link layer reported all bytes of the gap. Each report counts once, and for
/// one gap.
#[test]
fn reports_must_cover_the_gap() {
    let of = |reports: &[(u64, u64)], gap: Range| {
        let mut mac = receiver("mac", &[]);
        reports.iter().for_each(|(start, end)| mac.on_report(range(*start, *end)));
        let first = verdict(&mut *mac, gap, &path(1.0, [1, 1, 1]));
        assert_eq!(verdict(&mut *mac, gap, &path(1.0, [1, 1, 1])), Cause::Congestion, "reports count once");
        first
    };
    assert_eq!(of(&[], range(1001, 3001)), Cause::Congestion);
    assert_eq!(of(&[(1001, 2001), (2001, 3001)], range(1001, 3001)), Cause::Wireless);
    assert_eq!(of(&[(1, 9001)], range(1001, 3001)), Cause::Wireless);
    assert_eq!(of(&[(1001, 2001)], range(1001, 3001)), Cause::Congestion);
    assert_eq!(of(&[(1001, 2001), (1001, 2001)], range(1001, 3001)), Cause::Congestion, "the same report");
    assert_eq!(of(&[(1001, 3000)], range(1001, 3001)), Cause::Congestion);
    assert_eq!(of(&[(3001, 9001), (1, 1001)], range(1001, 3001)), Cause::Congestion);
}

/// hasegawa §3.2.3, Eq. 3: the probability of congestion is (RTT - RTTmin) / (RTTmax - RTTmin). The sentence after Eq. 3
/// inverts this probability.
#[test]
fn the_round_trip_time_decides_at_random() {
    let share = |latest, word| {
        let mut rule = receiver("rtt", &[("probability", Value::Word(word))]);
        let mut random = Stream::named(1, "loss");
        let gap = Gap { range: range(1, 1001), segment: 1000 };
        let estimate = path(1.0, [100, 200, latest]);
        let congested =
            (0..4000).filter(|_| rule.discriminate(&gap, &estimate, &mut random) == Cause::Congestion);
        congested.count() as f64 / 4000.0
    };
    for (latest, expected) in [(100, 0.0), (125, 0.25), (150, 0.5), (200, 1.0)] {
        // The bound is five standard errors, at most sqrt(0.25 / 4000) each.
        assert!((share(latest, "eq3") - expected).abs() < 0.04, "{latest}");
        assert!((share(latest, "sentence") - (1.0 - expected)).abs() < 0.04, "{latest}");
    }
    let mut rule = receiver("rtt", &[]);
    assert_eq!(verdict(&mut *rule, range(1, 1001), &path(1.0, [100, 100, 100])), Cause::Wireless);
}

fn sender(name: &str, settings: &[(&'static str, Value)]) -> Box<dyn sender_loss::LossDiscriminator> {
    let mut choice = Choice::named(sender_loss::ALL, name);
    settings.iter().for_each(|(name, value)| choice.values.set(name, value.clone()));
    (choice.build)(&choice.values).expect("a discriminator")
}

/// ELN (Balakrishnan and Katz 1998): duplicates with the hint mean a wireless loss, at the threshold at once. Any
/// duplicate without the hint means congestion. With the other polarity, only the hint means congestion.
#[test]
fn hints_decide() {
    use LossHint::{Congestion, None, Wireless};
    let of = |says: &'static str, threshold, hints: &[LossHint]| {
        let mut eln = sender("eln", &[("says", Value::Word(says)), ("threshold", Value::Count(threshold))]);
        let ack = AckHint { now: at(1), una: 1, advanced: false, duplicate: true, hint: None, marked: false };
        // The counts of an earlier hole do not matter.
        eln.on_ack(&AckHint { hint: Congestion, ..ack });
        assert!(!eln.on_ack(&AckHint { advanced: true, duplicate: false, hint: Wireless, ..ack }));
        let at_once: Vec<bool> =
            hints.iter().map(|hint| eln.on_ack(&AckHint { hint: *hint, ..ack })).collect();
        (at_once, eln.on_loss(range(1, 1001)))
    };
    let (air, queue) = (Some(Cause::Wireless), Some(Cause::Congestion));
    assert_eq!(of("wireless", 1, &[Wireless, Wireless]), (vec![true, false], air));
    assert_eq!(of("wireless", 2, &[Wireless, Wireless, Wireless]), (vec![false, true, false], air));
    assert_eq!(of("wireless", 2, &[Wireless, None, Wireless]), (vec![false; 3], queue));
    assert_eq!(of("wireless", 1, &[Congestion, Wireless]), (vec![false; 2], queue));
    assert_eq!(of("wireless", 1, &[]), (vec![], queue));
    assert_eq!(of("congestion", 1, &[None, None, Wireless]), (vec![false; 3], air));
    assert_eq!(of("congestion", 1, &[None, Congestion]), (vec![false; 2], queue));
}

/// LHACK (Cobb and Agrawal 1995): a loss is wireless if the whole segment had reached the last hop and was not
/// retransmitted. One timeout of such a segment keeps the window.
#[test]
fn segments_that_reached_the_last_hop() {
    let lost = |reached: Range, resent: Range| {
        let mut lhack = sender("lhack", &[]);
        lhack.on_last_hop(reached);
        lhack.on_retransmitted(resent);
        lhack.on_loss(range(1001, 2001))
    };
    let elsewhere = range(5001, 6001);
    assert_eq!(lost(range(1001, 2001), elsewhere), Some(Cause::Wireless));
    assert_eq!(lost(range(1001, 2000), elsewhere), Some(Cause::Congestion));
    assert_eq!(lost(range(1002, 2001), elsewhere), Some(Cause::Congestion));
    assert_eq!(lost(range(1001, 2001), range(1001, 2001)), Some(Cause::Congestion));
    let mut lhack = sender("lhack", &[("timeouts", Value::Count(2))]);
    lhack.on_last_hop(range(1, 3001));
    let keeps: Vec<bool> = (0..3).map(|_| lhack.keeps_window_at_timeout(range(1, 1001))).collect();
    assert_eq!(keeps, [true, true, false]);
    assert!(lhack.keeps_window_at_timeout(range(1001, 2001)), "another segment has a count of its own");
    assert!(!lhack.keeps_window_at_timeout(range(3001, 4001)), "this segment has not reached the last hop");
    lhack.on_last_hop(range(4001, 6001));
    lhack.on_timeout();
    assert!(!lhack.keeps_window_at_timeout(range(4001, 5001)), "a timeout discards the state");
}
