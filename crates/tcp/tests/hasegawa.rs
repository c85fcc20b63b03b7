//! ACK splitting (hasegawa §2.3 and Fig. 2): its effect on senders with each kind of ACK counting, and the receiver
//! that splits ACKs.

mod script;

use lasthop_base::{Choice, Value};
use lasthop_tcp::Config;
use lasthop_tcp::receiver::ack_splitting;
use lasthop_tcp::sender::ack_counting;
use script::Step::*;
use script::{Script, choose, config};

/// Returns a sender after hasegawa Fig. 2: in slow start with cwnd 1, one packet of 1000 bytes is answered by ACKs for
/// 300, 600 and 1000 bytes.
fn after_figure_2(ack_counting: &str) -> Script {
    let ack_counting = Choice::named(ack_counting::ALL, ack_counting);
    let mut script = Script::sender(Config { ack_counting, ..config("sack") });
    script.run([Cwnd(1), New(1), Nothing, Tick(100), AckBytes(300), AckBytes(600), AckBytes(1000)]);
    script
}

/// hasegawa Fig. 2: a sender that counts ACKs adds three segments for the three ACKs of one packet. "cwnd becomes 4 in
/// one RTT instead of 2".
#[test]
fn figure_2_acks_counted() {
    after_figure_2("per_ack").run([Cwnd(4), News(2, 5), Nothing]);
}

/// RFC 3465 §2.2: cwnd grows by the bytes acknowledged, so that splitting gains nothing.
#[test]
fn figure_2_bytes_counted() {
    after_figure_2("bytes").run([CwndBytes(2000), News(2, 3), Nothing]);
}

/// hasegawa §2.3: Linux counts whole packets, so that splitting gains nothing.
#[test]
fn figure_2_packets_counted() {
    after_figure_2("packets").run([CwndBytes(2000), News(2, 3), Nothing]);
}

/// RFC 5681 §3.1, Eq. 2: an ACK of N bytes adds min(N, SMSS), so the three ACKs add 300 + 300 + 400 bytes, and
/// splitting gains nothing.
#[test]
fn figure_2_rfc5681() {
    after_figure_2("rfc5681").run([CwndBytes(2000), News(2, 3), Nothing]);
}

/// In congestion avoidance, Eq. 3 of RFC 5681 counts ACKs (hasegawa §3). If a packet is acknowledged in M slices, its M
/// ACKs add about M SMSS²/cwnd.
#[test]
fn in_avoidance_rfc5681_counts_acks() {
    let ack_counting = Choice::named(ack_counting::ALL, "rfc5681");
    let initial = Config { ack_counting, initial_window: 4, initial_ssthresh: Some(4000), ..config("sack") };
    let mut script = Script::sender(initial);
    script.run([Cwnd(4), News(1, 4), Nothing, Tick(100), AckBytes(300), CwndBytes(4250)]);
    // Each ACK adds 1000 × 1000 / cwnd bytes: 4250 + 235.3 = 4485.3, then 4485.3 + 222.9 = 4708.2.
    script.run([AckBytes(600), CwndBytes(4485), AckBytes(1000), CwndBytes(4708)]);
}

/// In congestion avoidance, RFC 3465 §2.1 (`bytes`) and Linux (`packets`) add one segment when a whole cwnd is
/// acknowledged, regardless of the number of ACKs.
#[test]
fn in_avoidance_bytes_and_packets_are_immune() {
    for name in ["bytes", "packets"] {
        let ack_counting = Choice::named(ack_counting::ALL, name);
        let initial =
            Config { ack_counting, initial_window: 4, initial_ssthresh: Some(4000), ..config("sack") };
        let mut script = Script::sender(initial);
        script.run([News(1, 4), Tick(100)]);
        for bytes in [300, 600, 1000, 1001, 1500, 2000, 2999, 3000, 3999] {
            script.run([AckBytes(bytes), CwndBytes(4000)]);
        }
        script.run([AckBytes(4000), CwndBytes(5000)]);
    }
}

fn splitter(values: &[(&'static str, Value)]) -> Script {
    let mut all = vec![("when", Value::Word("always")), ("count", Value::Count(3))];
    all.extend_from_slice(values);
    Script::receiver(Config { ack_splitting: choose(ack_splitting::ALL, "split", &all), ..config("sack") })
}

/// hasegawa §2.3: the receiver answers each packet of 1000 bytes with three ACKs, each for a further third.
#[test]
fn a_packet_is_acknowledged_in_slices() {
    let mut script = splitter(&[]);
    script.run([Data(1), AckedBytes(333), AckedBytes(666), AckedBytes(1000), Nothing]);
    script.run([Data(2), AckedBytes(1333), AckedBytes(1666), AckedBytes(2000), Nothing]);
}

/// Duplicate ACKs are not split. When a hole is filled, the three ACKs divide the whole advance of the ACK number, or
/// only its last segment (`covers = "last_segment"`).
#[test]
fn what_a_split_covers() {
    let mut script = splitter(&[]);
    script.run([Data(2), AckedBytes(0), Nothing, Data(3), AckedBytes(0), Nothing]);
    script.run([Data(1), AckedBytes(1000), AckedBytes(2000), AckedBytes(3000), Nothing]);
    let mut script = splitter(&[("covers", Value::Word("last_segment"))]);
    script.run([Data(2), AckedBytes(0), Data(3), AckedBytes(0)]);
    script.run([Data(1), AckedBytes(2333), AckedBytes(2666), AckedBytes(3000), Nothing]);
}

/// hasegawa §3.4: a packet gets at most one ACK per byte, so a packet of two bytes gets two ACKs.
#[test]
fn a_short_packet_has_few_slices() {
    let mut script = splitter(&[]);
    script.run([DataBytes(0, 2), AckedBytes(1), AckedBytes(2), Nothing]);
    script.run([DataBytes(2, 3), AckedBytes(3), Nothing]);
}
