//! A run as text: one line for each event at the source and for each loss at the bottleneck.

use super::events::{EventList, RunEvent, SEGMENT};
use lasthop_base::Time;
use lasthop_tcp::Event;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Returns the lines of a run from the first transmission of segment `first` until the ACK of segment `until`.
pub fn lines(run: &EventList, first: u64, until: u64) -> String {
    let begins = |(_, what, _): &&(Time, RunEvent, u64)| matches!(what, RunEvent::Sent { number, .. } if *number == first);
    let begin = run.events.iter().find(begins).expect("segment `first` was sent").0;
    let end = run.acked_at(until);
    let mut text = String::from("time (s)  event                 cwnd (segments)\n");
    let mut why = BTreeMap::new();
    for (time, what, cwnd) in &run.events {
        if *time < begin || time.as_secs() > end {
            continue;
        }
        let event = match what {
            RunEvent::Sent { number, retransmission: false } => format!("send   {number:>3}"),
            RunEvent::Sent { number, retransmission: true } => {
                format!("resend {number:>3} {}", why.remove(number).unwrap_or("?"))
            }
            RunEvent::Dropped { number, reason } => format!("       {number:>3} is lost: {}", reason.name()),
            RunEvent::Reported(Event::Retransmitted { range, reason }) => {
                why.insert((range.start - 1) / SEGMENT, reason.name());
                continue;
            }
            RunEvent::Reported(Event::RecoveryEntered { .. }) => "recovery begins".to_owned(),
            RunEvent::Reported(Event::RecoveryLeft { .. }) => "recovery ends".to_owned(),
            RunEvent::Reported(Event::TimedOut { rto }) => format!("timeout after {rto}"),
            _ => continue,
        };
        let cwnd = *cwnd as f64 / SEGMENT as f64;
        writeln!(text, "{:8.4}  {event:<28} {cwnd:6.2}", time.as_secs())
            .expect("writing to a string succeeds");
    }
    text
}
