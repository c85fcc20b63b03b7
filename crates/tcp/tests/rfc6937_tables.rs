//! RFC 6937 §3.1 has two tables of a recovery by RFC 6675, with cwnd = FlightSize = 20 segments and limited transmit.
//! The tests reproduce both tables. As in the tables, FlightSize includes the segments sent by limited transmit. The
//! RFC numbers segments from 0, the script from 1.

mod script;

use lasthop_base::Value;
use lasthop_tcp::Config;
use lasthop_tcp::sender::recovery;
use script::Step::*;
use script::{SEGMENT, Script, choose, config};

#[derive(Debug, PartialEq)]
struct Row {
    cwnd: u64,
    pipe: u64,
    sent: String,
}

/// Returns a row for each ACK: cwnd and pipe after the ACK, in segments, and one letter for each segment that the
/// sender then sends (N: new data, R: retransmission). Segments 1 to `lost` are lost; the ACKs of the others arrive.
fn table(lost: u64) -> Vec<Row> {
    let on = Value::Flag(true);
    let values = [("limited_transmit", on.clone()), ("limited_transmit_counts", on)];
    let recovery = choose(recovery::ALL, "sack", &values);
    let mut script = Script::sender(Config { recovery, initial_window: 20, ..config("sack") });
    script.run([News(1, 20), Nothing, Tick(100)]);
    let mut highest = 20;
    let mut row = |arrived: u64| {
        script.sack(1, &[(lost + 1, arrived + 1)]);
        let sender = script.endpoint.sender();
        let (cwnd, pipe) = (sender.window() / SEGMENT, sender.in_flight() / SEGMENT);
        let mut sent = String::new();
        while let Some(sending) = script.endpoint.poll_segment(script.now) {
            assert_eq!(u64::from(sending.segment.len), SEGMENT);
            sent.push(if sending.is_retransmission { 'R' } else { 'N' });
            highest += u64::from(!sending.is_retransmission);
        }
        Row { cwnd, pipe, sent }
    };
    (lost + 1..=20).map(&mut row).collect()
}

fn rows(cwnd: &[u64], pipe: &[u64], sent: &[&str]) -> Vec<Row> {
    let row = |((cwnd, pipe), sent): ((&u64, &u64), &&str)| Row {
        cwnd: *cwnd,
        pipe: *pipe,
        sent: sent.to_string(),
    };
    cwnd.iter().zip(pipe).zip(sent).map(row).collect()
}

/// First table of RFC 6937 §3.1: segment 0 is lost. As in the RFC, `pipe` is the value after the row's ACK and before
/// the row's segment is sent.
#[test]
fn a_single_loss() {
    let cwnd = [20, 20, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11];
    let pipe = [19, 19, 18, 18, 17, 16, 15, 14, 13, 12, 11, 10, 10, 10, 10, 10, 10, 10, 10];
    let sent = ["N", "N", "R", "", "", "", "", "", "", "", "", "N", "N", "N", "N", "N", "N", "N", "N"];
    assert_eq!(table(1), rows(&cwnd, &pipe, &sent));
}

/// Second table of RFC 6937 §3.1: segments 0 to 14 are lost.
#[test]
fn a_burst_of_fifteen() {
    let cwnd = [20, 20, 11, 11, 11];
    let pipe = [19, 19, 4, 10, 10];
    let sent = ["N", "N", "RRRRRRR", "R", "R"];
    assert_eq!(table(15), rows(&cwnd, &pipe, &sent));
}
