//! Accurate ECN between two endpoints (RFC 9768): negotiation, header counts, and fallback.

use lasthop_base::{Duration, Stream, Time};
use lasthop_tcp::endpoint::{Feedback, Sending};
use lasthop_tcp::{Arriving, Config, Endpoint, Role, State};
use lasthop_wire::accecn::CounterOrder;
use lasthop_wire::{Ecn, Flags, Segment, Seq};

const MS: Duration = Duration::from_millis(1);
/// Header bits of the ACE field: the flags AE, CWR and ECE.
const ACE: u16 = 0b111 << 6;

/// ECN variant that an end offers.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Offer {
    Nothing,
    Classic,
    Accurate,
}
use Offer::{Accurate, Classic, Nothing};

fn config(offer: Offer) -> Config {
    Config { segment: 1000, ecn: offer == Classic, accecn: offer == Accurate, ..Config::default() }
}

struct Pair {
    client: Endpoint,
    server: Endpoint,
    now: Time,
}

impl Pair {
    fn new(client: Config, server: Config) -> Pair {
        let end = |config, role, seq| Endpoint::new(config, role, Seq(seq), Stream::named(1, "end"));
        let mut pair = Pair {
            client: end(client, Role::Active, 1000),
            server: end(server, Role::Passive, 9000),
            now: Time::ZERO,
        };
        pair.client.open(pair.now);
        pair.server.open(pair.now);
        pair
    }

    fn offers(client: Offer, server: Offer) -> Pair {
        Pair::new(config(client), config(server))
    }

    /// Delivers the client's next segment to the server, with the IP header's ECN code point `ecn` on arrival.
    fn up(&mut self, ecn: Ecn) -> Sending {
        let sending = self.client.poll_segment(self.now).expect("a segment of the client");
        self.now += MS;
        self.server.handle_segment(self.now, &sending.segment, &Arriving { ecn });
        sending
    }

    fn down(&mut self, ecn: Ecn) -> Sending {
        let sending = self.server.poll_segment(self.now).expect("a segment of the server");
        self.now += MS;
        self.client.handle_segment(self.now, &sending.segment, &Arriving { ecn });
        sending
    }

    /// Opens the connection. `ecn`: code points with which SYN, SYN-ACK and ACK arrive. Returns these three segments.
    fn open(&mut self, ecn: [Ecn; 3]) -> [Segment; 3] {
        let syn = self.up(ecn[0]).segment;
        let syn_ack = self.down(ecn[1]).segment;
        let ack = self.up(ecn[2]).segment;
        assert_eq!((self.client.state(), self.server.state()), (State::Established, State::Established));
        [syn, syn_ack, ack]
    }

    /// Delivers one data segment of the client for each code point in `arrive`. Returns the server's ACKs.
    fn data(&mut self, arrive: &[Ecn]) -> Vec<Segment> {
        self.client.write(1000 * arrive.len() as u64);
        let mut acks = Vec::new();
        for ecn in arrive {
            self.up(*ecn);
            while let Some(sending) = self.server.poll_segment(self.now) {
                self.client.handle_segment(self.now, &sending.segment, &Arriving::default());
                acks.push(sending.segment);
            }
        }
        acks
    }
}

fn bits(segment: &Segment) -> u16 {
    (segment.flags.0 & ACE) >> 6
}

const PLAIN: [Ecn; 3] = [Ecn::NotEct; 3];

/// Tests the negotiation of RFC 9768 §3.1.2, Table 2. If an end offers only classic ECN, RFC 3168 §6.1.1 applies. Each
/// case lists the offers of client and server, the ACE bits of SYN and SYN-ACK, and the agreed feedback mode.
#[test]
fn both_ends_agree_on_what_both_know() {
    let cases = [
        (Accurate, Accurate, 0b111, 0b010, Feedback::Accurate),
        (Accurate, Classic, 0b111, 0b001, Feedback::Classic),
        (Accurate, Nothing, 0b111, 0b000, Feedback::None),
        (Classic, Accurate, 0b011, 0b001, Feedback::Classic),
        (Nothing, Accurate, 0b000, 0b000, Feedback::None),
        (Classic, Classic, 0b011, 0b001, Feedback::Classic),
    ];
    for (client, server, offered, answered, feedback) in cases {
        let mut pair = Pair::offers(client, server);
        let [syn, syn_ack, _] = pair.open(PLAIN);
        assert_eq!(
            (bits(&syn), bits(&syn_ack)),
            (offered, answered),
            "client offers {client:?}, server {server:?}"
        );
        assert_eq!((pair.client.agreed().ecn, pair.server.agreed().ecn), (feedback, feedback));
        pair.client.write(1000);
        let ecn = pair.up(Ecn::NotEct).ecn;
        assert_eq!(ecn, if feedback == Feedback::None { Ecn::NotEct } else { Ecn::Ect0 });
    }
}

/// RFC 9768, Tables 2 and 3: the SYN-ACK reports the code point with which the SYN arrived, and the ACK reports the
/// code point of the SYN-ACK. Any code point but Not-ECT shows that the network has changed the code point. The sender
/// then stops sending ECN-capable packets (§3.2.2.3).
#[test]
fn the_handshake_says_how_it_came() {
    for (ecn, field) in [(Ecn::NotEct, 0b010), (Ecn::Ect1, 0b011), (Ecn::Ect0, 0b100), (Ecn::Ce, 0b110)] {
        let mut pair = Pair::offers(Accurate, Accurate);
        let [_, syn_ack, ack] = pair.open([ecn, ecn, Ecn::NotEct]);
        assert_eq!((bits(&syn_ack), bits(&ack)), (field, field));
        let is_whole = ecn == Ecn::NotEct;
        pair.client.write(1000);
        assert_eq!(pair.up(Ecn::NotEct).ecn == Ecn::Ect0, is_whole);
        pair.server.write(1000);
        assert_eq!(pair.down(Ecn::NotEct).ecn == Ecn::Ect0, is_whole);
    }
}

/// RFC 9768 §3.2.2.1: the client answers a repeated SYN-ACK with the handshake encoding in the ACE bits. After a
/// segment has shown that the server is in ESTABLISHED, the ACE bits are the count of marks, which starts at 5. Answers
/// to a repeated SYN-ACK are limited like challenge ACKs: at most five at once.
#[test]
fn a_syn_ack_again_is_reflected() {
    let mut pair = Pair::offers(Accurate, Accurate);
    pair.up(Ecn::NotEct);
    let syn_ack = pair.server.poll_segment(pair.now).expect("a SYN-ACK").segment;
    let answer = |pair: &mut Pair, ecn| {
        pair.client.handle_segment(pair.now, &syn_ack, &Arriving { ecn });
        pair.client.poll_segment(pair.now).map(|sending| sending.segment)
    };
    let mut fields = Vec::new();
    for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce, Ecn::NotEct] {
        let ack = answer(&mut pair, ecn).expect("an ACK");
        assert!(ack.is_pure_ack() && ack.seq == Seq(1001) && ack.ack == Seq(9001));
        fields.push(bits(&ack));
    }
    assert_eq!(fields, [0b010, 0b100, 0b011, 0b110, 0b010]);
    pair.now += Duration::from_secs(5);
    pair.client.write(1000);
    pair.up(Ecn::Ect0);
    pair.server.write(1000);
    pair.down(Ecn::NotEct);
    let ack = answer(&mut pair, Ecn::Ect0).expect("an ACK");
    assert_eq!(bits(&ack), 5);
    (0..4).for_each(|_| _ = answer(&mut pair, Ecn::Ect0));
    assert_eq!(answer(&mut pair, Ecn::Ect0), None);
}

/// If the SYN-ACK only reflects the SYN's three bits (0b111), the client uses no ECN (RFC 9768 §3.1.2). After a
/// reserved combination (0b101), the client uses AccECN (§3.1.3).
#[test]
fn strange_answers() {
    for (field, feedback) in [(0b111, Feedback::None), (0b101, Feedback::Accurate)] {
        let mut client = Endpoint::new(config(Accurate), Role::Active, Seq(1000), Stream::named(1, "end"));
        client.open(Time::ZERO);
        client.poll_segment(Time::ZERO).expect("the SYN");
        let flags = Flags(Flags::SYN.0 | Flags::ACK.0 | field << 6);
        let answer = Segment {
            seq: Seq(1),
            ack: Seq(1001),
            flags,
            window: 1000,
            mss: Some(1000),
            ..Segment::default()
        };
        client.handle_segment(Time::ZERO + MS, &answer, &Arriving::default());
        assert_eq!(client.agreed().ecn, feedback);
    }
}

/// RFC 9768 §3.1.4: a lost SYN is retransmitted once with all three ACE bits, then without these bits. A lost SYN-ACK
/// is retransmitted once without the AccECN option, then also without the ACE bits. The server then sends no
/// ECN-capable packets.
#[test]
fn handshakes_that_get_lost_fall_back() {
    let mut pair = Pair::offers(Accurate, Accurate);
    let mut offered = Vec::new();
    for _ in 0..3 {
        offered.push(bits(&pair.client.poll_segment(pair.now).expect("a SYN").segment));
        pair.now = pair.client.poll_timeout();
        pair.client.handle_timeout(pair.now);
    }
    assert_eq!(offered, [0b111, 0b111, 0b000]);

    let mut pair = Pair::offers(Accurate, Accurate);
    pair.up(Ecn::NotEct);
    let mut answered = Vec::new();
    for _ in 0..3 {
        let syn_ack = pair.server.poll_segment(pair.now).expect("a SYN-ACK").segment;
        answered.push((bits(&syn_ack), syn_ack.accecn().is_some()));
        pair.now = pair.server.poll_timeout();
        pair.server.handle_timeout(pair.now);
    }
    assert_eq!(answered, [(0b010, true), (0b010, false), (0b000, false)]);
    pair.down(Ecn::NotEct);
    pair.up(Ecn::NotEct);
    pair.server.write(1000);
    assert_eq!(pair.down(Ecn::NotEct).ecn, Ecn::NotEct);
}

/// A retransmitted SYN without ECN bits suggests that a middlebox drops ECN packets. The server keeps AccECN feedback,
/// but the SYN-ACK has no AccECN option, and the server sends no ECN-capable packets (RFC 9768 §3.1.5). If the client
/// offered classic ECN, the second SYN-ACK carries no ECN bits (RFC 3168 §6.1.1).
#[test]
fn a_syn_again_without_ecn_ends_it() {
    for (offer, answers) in [(Accurate, [0b010, 0b010]), (Classic, [0b001, 0b000])] {
        let mut pair = Pair::offers(offer, offer);
        let syn = pair.up(Ecn::NotEct).segment;
        let answer = |pair: &mut Pair| pair.server.poll_segment(pair.now).expect("a SYN-ACK").segment;
        let first = answer(&mut pair);
        let plain = Segment { flags: Flags::SYN, ..syn };
        pair.server.handle_segment(pair.now, &plain, &Arriving::default());
        let second = answer(&mut pair);
        assert_eq!([bits(&first), bits(&second)], answers);
        assert!(second.accecn().is_none() && second.flags.has(Flags::SYN | Flags::ACK));
        pair.client.handle_segment(pair.now, &second, &Arriving::default());
        pair.up(Ecn::NotEct);
        assert_eq!(pair.server.state(), State::Established);
        pair.server.write(1000);
        assert_eq!(pair.down(Ecn::NotEct).ecn, Ecn::NotEct, "{offer:?}");
    }
}

/// RFC 9768 §3.1.2: the SYN-ACK reports the code point of the SYN that it answers. The first SYN arrives as Not-ECT
/// (0b010), the retransmitted SYN as CE (0b110).
#[test]
fn a_syn_again_is_answered_with_its_own_code_point() {
    let mut pair = Pair::offers(Accurate, Accurate);
    let syn = pair.up(Ecn::NotEct).segment;
    assert_eq!(bits(&pair.server.poll_segment(pair.now).expect("a SYN-ACK").segment), 0b010);
    pair.server.handle_segment(pair.now, &syn, &Arriving { ecn: Ecn::Ce });
    assert_eq!(bits(&pair.server.poll_segment(pair.now).expect("a SYN-ACK").segment), 0b110);
}

/// RFC 9768 §3.2.1 and §3.2.2.2: the count of CE marks in the ACE bits begins at 5, increases with each mark and wraps
/// at 8. §3.2.3.3: each new ACK also reports the bytes received in ECT(0) packets, in option AccECN0. From the first
/// mark on, option AccECN0 has two counters, ECT(0) and CE.
#[test]
fn marks_are_counted_in_the_header_and_in_the_option() {
    let mut pair = Pair::offers(Accurate, Accurate);
    let [syn, syn_ack, ack] = pair.open(PLAIN);
    assert!(syn.accecn().is_none());
    for first in [syn_ack, ack] {
        let option = first.accecn().expect("an option that tests the path");
        assert!(option.ect0() != Some(0) && option.ect1() != Some(0));
    }
    let mut arrive = vec![Ecn::Ect0; 11];
    for marked in [2, 4, 6, 8, 10] {
        arrive[marked] = Ecn::Ce;
    }
    let acks = pair.data(&arrive);
    let last = acks.last().expect("ACKs");
    assert_eq!(u32::from(bits(last)), (5 + 5) % 8);
    let option = last.accecn().expect("an option");
    assert_eq!((option.order(), option.bytes()), (CounterOrder::Ect0First, 8));
    assert_eq!((option.ect0(), option.ce()), (Some(1 + 6000), Some(5000)));
    // The first mark after an unmarked packet is reported at once, so each value of the count from 5 to 2 appears in an
    // ACK (§3.2.2.5.1).
    let fields: Vec<u16> = acks.iter().map(bits).collect();
    assert!([5, 6, 7, 0, 1, 2].iter().all(|count| fields.contains(count)), "{fields:?}");
    assert!(acks.iter().all(|ack| !ack.flags.has(Flags::SYN) && ack.option_bytes() <= 40));
}

/// A SYN-ACK with CE counts as the client's first mark (§3.2.2.2): the count begins with 6 instead of 5 (§3.2.2.1).
#[test]
fn a_marked_syn_ack_counts() {
    for (arrives, count) in [(Ecn::Ce, 6), (Ecn::Ect0, 5)] {
        let mut pair = Pair::offers(Accurate, Accurate);
        pair.open([Ecn::Ect0, arrives, Ecn::Ect0]);
        pair.client.write(1000);
        let sent = pair.client.poll_segment(pair.now).expect("data");
        assert_eq!(bits(&sent.segment), count, "{arrives:?}");
    }
}

/// A congestion control that ignores the number of marks halves cwnd once per window of data (RFC 9768 §3.2.5).
#[test]
fn a_classic_control_halves_once() {
    let mut pair = Pair::offers(Accurate, Accurate);
    pair.open(PLAIN);
    pair.client.write(10_000);
    let mut sent = Vec::new();
    while let Some(sending) = pair.client.poll_segment(pair.now) {
        sent.push(sending.segment);
    }
    pair.now += MS;
    for segment in &sent {
        pair.server.handle_segment(pair.now, segment, &Arriving { ecn: Ecn::Ce });
        while let Some(ack) = pair.server.poll_segment(pair.now) {
            pair.client.handle_segment(pair.now, &ack.segment, &Arriving::default());
        }
    }
    assert_eq!(pair.client.counters().marks, 1);
    // When the first mark arrives, nine of the ten segments are outstanding. cwnd becomes half of 9000 bytes.
    assert_eq!(pair.client.sender().window(), 4500);
}

/// RFC 9768 §3.2.2.4: if the first count is 0 instead of 5 or more, a node on the path has cleared the ACE bits. The
/// client then stops sending ECN-capable packets.
#[test]
fn cleared_bits_end_ecn() {
    let mut pair = Pair::offers(Accurate, Accurate);
    pair.open(PLAIN);
    pair.client.write(3000);
    pair.up(Ecn::Ect0);
    pair.up(Ecn::Ect0);
    let mut ack = pair.server.poll_segment(pair.now).expect("an ACK").segment;
    ack.flags = Flags::ACK;
    pair.client.handle_segment(pair.now, &ack, &Arriving::default());
    assert_eq!(pair.up(Ecn::NotEct).ecn, Ecn::NotEct);
}
