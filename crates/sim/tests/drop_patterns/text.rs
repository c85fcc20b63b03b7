//! A run as text: one line per event at the source and loss at the bottleneck.

use super::course::{Course, SEGMENT, What};
use lasthop_base::Time;
use lasthop_tcp::Event;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Events from the first transmission of segment `first` until the ACK of segment `until`.
pub fn lines(course: &Course, first: u64, until: u64) -> String {
    let begins =
        |(_, what, _): &&(Time, What, u64)| matches!(what, What::Sent { number, .. } if *number == first);
    let begin = course.events.iter().find(begins).expect("segment `first` was sent").0;
    let end = course.acked_at(until);
    let mut text = String::from("time (s)  event                 cwnd (segments)\n");
    let mut why = BTreeMap::new();
    for (time, what, cwnd) in &course.events {
        if *time < begin || time.as_secs() > end {
            continue;
        }
        let event = match what {
            What::Sent { number, again: false } => format!("send   {number:>3}"),
            What::Sent { number, again: true } => {
                format!("resend {number:>3} {}", why.remove(number).unwrap_or("?"))
            }
            What::Dropped { number, reason } => format!("       {number:>3} is lost: {}", reason.name()),
            What::Told(Event::Retransmitted { range, reason }) => {
                why.insert((range.start - 1) / SEGMENT, reason.name());
                continue;
            }
            What::Told(Event::RecoveryEntered { .. }) => "recovery begins".to_owned(),
            What::Told(Event::RecoveryLeft { .. }) => "recovery ends".to_owned(),
            What::Told(Event::TimedOut { rto }) => format!("timeout after {rto}"),
            _ => continue,
        };
        let cwnd = *cwnd as f64 / SEGMENT as f64;
        writeln!(text, "{:8.4}  {event:<28} {cwnd:6.2}", time.as_secs())
            .expect("writing to a string succeeds");
    }
    text
}
