//! Worked examples of koga's dissertation, chapter 2, Figs. 2.3 to 2.7. Each step of a figure is one line of a test.

mod script;

use lasthop_base::Value;
use lasthop_tcp::Config;
use lasthop_tcp::sender::congestion;
use script::Step::*;
use script::{Script, choose, config, halving_the_window};

/// Fig. 2.3: every ACK adds a packet to cwnd, which is 1, 2 and 4 in successive round trips.
#[test]
fn figure_2_3_slow_start() {
    let mut script = Script::sender(config("reno"));
    script.run([Cwnd(1), New(1), Nothing, Tick(100)]);
    script.run([Ack(2), Cwnd(2), New(2), New(3), Nothing, Tick(100)]);
    script.run([Ack(3), New(4), New(5), Nothing, Ack(4), New(6), New(7), Nothing, Cwnd(4)]);
}

/// Fig. 2.4: after a timeout ssthresh is 4. In successive round trips cwnd is 1, 2, 4, 5 and 6: slow start applies "if
/// cwnd is less than or equal to ssthresh" (§2.1.3 step 4). A loss then sets ssthresh to half of cwnd, and cwnd to 1.
#[test]
fn figure_2_4_slow_start_and_congestion_avoidance() {
    let congestion = choose(
        congestion::ALL,
        "reno",
        &[("halve", Value::Word("window")), ("slow_start_at_ssthresh", Value::Flag(true))],
    );
    let mut script = Script::with_window(Config { congestion, ..config("tahoe") }, 8);
    // Time 0RTT of the figure: "a timeout finally occurs in Fig. 2.3, and then ssthresh is set to four packets".
    script.run([Timeout, Cwnd(1), Ssthresh(4), Again(1), Nothing, Tick(100)]);
    // Packets 2 to 8 had arrived, so the ACK of the retransmitted packet 1 covers all eight.
    script.run([Ack(9), Cwnd(2), New(9), New(10), Nothing, Tick(100)]);
    // Time 2RTT: cwnd has reached ssthresh.
    script.run([Ack(10), Ack(11), Cwnd(4), News(11, 14), Nothing, Tick(100)]);
    // Time 3RTT: from here on, cwnd grows by about one packet per round trip.
    script.run([Ack(12), Ack(13), Ack(14), Ack(15), Cwnd(5), News(15, 19), Nothing, Tick(100)]);
    // Time 4RTT: cwnd grows by one packet again.
    script.run([Ack(16), Ack(17), Ack(18), Ack(19), Ack(20), Cwnd(6), News(20, 25), Nothing]);
    // Time 5RTT, after a loss: "cwnd is initialized to one packet and ssthresh is set to a half of the current window
    // size".
    script.run([Tick(100), Acks(20, 3), Cwnd(1), Ssthresh(3), Again(20), Nothing]);
}

/// Fig. 2.5: Reno's fast recovery after the loss of packet 1 of 8. `Inflated` compares cwnd as the figure shows it,
/// including the inflation by duplicate ACKs.
#[test]
fn figure_2_5_fast_recovery() {
    let mut script = Script::with_window(halving_the_window(config("reno")), 8);
    // a) Packets 2 and 3 cause two duplicate ACKs of packet 1, and nothing is sent.
    script.run([Tick(100), Acks(1, 2), Inflated(8), Nothing]);
    // b) Packet 4 causes the third duplicate ACK: packet 1 is retransmitted, ssthresh is 4, and cwnd is 7 (4 + 3).
    script.run([Ack(1), Again(1), Ssthresh(4), Inflated(7), Nothing]);
    // c) The duplicate ACK that packet 5 causes makes cwnd 8. Eight packets are outstanding, so nothing may be sent.
    script.run([Ack(1), Inflated(8), Nothing]);
    // d) to f) The duplicate ACKs that packets 6, 7 and 8 cause make cwnd 9, 10 and 11. Each of these ACKs permits a
    // new packet.
    script.run([Ack(1), Inflated(9), New(9), Nothing]);
    script.run([Ack(1), Inflated(10), New(10), Nothing]);
    script.run([Ack(1), Inflated(11), New(11), Nothing]);
    // g) The ACK of the retransmitted packet 1 requests packet 9: cwnd is 4, and packet 12 is sent.
    script.run([Tick(100), Ack(9), Inflated(4), Cwnd(4), New(12), Nothing]);
}

/// Fig. 2.6: Reno after the loss of packets 1, 3 and 4 of 8. Only a timeout repairs the loss of packet 3.
#[test]
fn figure_2_6_several_losses() {
    let mut script = Script::with_window(halving_the_window(config("reno")), 8);
    // a), b) Packets 2, 5 and 6 cause three duplicate ACKs: packet 1 is retransmitted, ssthresh is 4, and cwnd is 7.
    script.run([Tick(100), Acks(1, 3), Again(1), Ssthresh(4), Inflated(7), Nothing]);
    // c) The duplicate ACK that packet 7 causes makes cwnd 8.
    script.run([Ack(1), Inflated(8), Nothing]);
    // d) The duplicate ACK that packet 8 causes makes cwnd 9, and packet 9 is sent.
    script.run([Ack(1), Inflated(9), New(9), Nothing]);
    // e) The ACK of the retransmitted packet 1 requests packet 3: cwnd is 4, and fast recovery ends. Nothing is sent,
    // since packets 3 to 6 have been sent before.
    script.run([Tick(100), Ack(3), Inflated(4), Cwnd(4), Nothing]);
    // f) Packet 9 causes the first duplicate ACK that requests packet 3. A fast retransmit would need two more
    // duplicate ACKs, which do not arrive.
    script.run([Ack(3), Inflated(4), Nothing]);
    // g) The timer expires: packet 3 is retransmitted, and slow start begins.
    script.run([Timeout, Again(3), Cwnd(1), Nothing]);
}

/// Fig. 2.7: NewReno after the loss of packets 1, 3 and 4 of 8. Each partial ACK causes the next retransmission.
#[test]
fn figure_2_7_new_reno() {
    let mut script = Script::with_window(config("new_reno"), 8);
    // a), b) Packets 2, 5 and 6 cause three duplicate ACKs: packet 1 is retransmitted, ssthresh is 4, and cwnd is 7.
    script.run([Tick(100), Acks(1, 3), Again(1), Ssthresh(4), Inflated(7), Nothing]);
    // c), d) The duplicate ACKs that packets 7 and 8 cause make cwnd 8 and 9.
    script.run([Ack(1), Inflated(8), Nothing]);
    script.run([Ack(1), Inflated(9), New(9), Nothing]);
    // e) The ACK of the retransmitted packet 1 requests packet 3, which is below `recover`. Packet 3 is retransmitted,
    // cwnd is 8 (9 - 2 + 1), and packet 10 is sent.
    script.run([Tick(100), Ack(3), Inflated(8), Again(3), New(10), Nothing]);
    // f) The duplicate ACK that packet 9 causes makes cwnd 9, and packet 11 is sent.
    script.run([Ack(3), Inflated(9), New(11), Nothing]);
    // g) The ACK of the retransmitted packet 3 requests packet 4. Packet 4 is retransmitted, cwnd is 9 (9 - 1 + 1), and
    // packet 12 is sent.
    script.run([Tick(100), Ack(4), Inflated(9), Again(4), New(12), Nothing]);
    // h), i) The duplicate ACKs that packets 10 and 11 cause make cwnd 10 and 11.
    script.run([Ack(4), Inflated(10), New(13), Nothing]);
    script.run([Ack(4), Inflated(11), New(14), Nothing]);
    // j) The ACK of the retransmitted packet 4 requests packet 12, above `recover`: cwnd is 4, and packet 15 is sent.
    script.run([Tick(100), Ack(12), Inflated(4), Cwnd(4), New(15), Nothing]);
}

/// koga §2.1.5 and Fig. 2.4: at the third duplicate ACK, Tahoe restarts with a cwnd of one packet. Packets 2 to 8 are
/// not retransmitted, because the next ACK covers them.
#[test]
fn tahoe_starts_over() {
    let mut script = Script::with_window(halving_the_window(config("tahoe")), 8);
    script.run([Tick(100), Acks(1, 2), Nothing, Ack(1), Cwnd(1), Ssthresh(4), Again(1), Nothing]);
    // The further duplicate ACKs of this flight have no effect.
    script.run([Acks(1, 4), Nothing, Cwnd(1)]);
    script.run([Tick(100), Ack(9), Cwnd(2), New(9), New(10), Nothing]);
}

/// koga §2.1.4: RTO = A + 4D, where A is the smoothed RTT (gain 1/8) and D its mean deviation (gain 1/4). The RTO
/// doubles with each retransmission, up to 64 seconds. The ACK of a retransmitted packet gives no RTT sample.
#[test]
fn section_2_1_4_timeout() {
    let mut script = Script::sender(config("reno"));
    // The handshake took 100 ms: A = 100, D = 50, so RTO = 300. The minimum RTO of one second applies.
    script.run([Rto(1000), New(1), Tick(900), Ack(2)]);
    // The RTT sample of 900 ms gives A = 100 + 800/8 = 200, D = 50 + (800 - 50)/4 = 237.5, and RTO = 200 + 4 × 237.5 =
    // 1150.
    script.run([Rto(1150), New(2), New(3)]);
    for rto in [2300, 4600, 9200, 18_400, 36_800, 64_000, 64_000] {
        script.run([Timeout, Again(2), Rto(rto)]);
    }
    script.run([Tick(100), Ack(3), Rto(64_000)]);
}
