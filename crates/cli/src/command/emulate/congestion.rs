//! Which congestion control each connection has used.

use lasthop_emu::census::{Seen, Used};
use lasthop_emu::emulation::End;
use lasthop_emu::kernel::Control;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Connections that are listed one by one.
const MOST: usize = 1000;
/// Congestion controls that set a pacing rate, which a socket keeps when a program chooses another one later.
const PACED: [&str; 2] = ["bbr", "bbr3"];

/// Answers of the kernels.
pub(super) struct Controls {
    seen: Seen,
    /// The namespaces' own.
    usual: Option<String>,
    /// Whether all connections were given one.
    is_given: bool,
}

/// A name as the kernel has them (linux/tcp.h, TCP_CA_NAME_MAX: 16 bytes with the zero behind it).
pub(super) fn name(text: &str) -> Result<String, String> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match !text.is_empty() && text.len() < 16 && text.chars().all(is_of_name) {
        true => Ok(text.to_owned()),
        false => Err("expected a name such as cubic, reno or bbr".to_owned()),
    }
}

/// The kernel that sends to an end.
fn sender(to: End) -> usize {
    match to {
        End::Client => End::Server as usize,
        End::Server => End::Client as usize,
    }
}

impl Controls {
    pub(super) fn new(seen: Seen, usual: Option<String>, is_given: bool) -> Controls {
        Controls { seen, usual, is_given }
    }

    /// Those of what is sent to an end, each with the number of its connections if there are several; a connection that
    /// changed counts with its last one.
    pub(super) fn words(&self, to: End) -> String {
        let mut counts: BTreeMap<Control, usize> = BTreeMap::new();
        for control in self.seen.values().filter_map(|used| used.controls[sender(to)].last()) {
            *counts.entry(*control).or_default() += 1;
        }
        let one = |(control, count): (&Control, &usize)| match counts.len() {
            1 => control.name().to_owned(),
            _ => format!("{} ({count})", control.name()),
        };
        match counts.is_empty() {
            true => "–".to_owned(),
            false => counts.iter().map(one).collect::<Vec<_>>().join(", "),
        }
    }

    /// An object for each connection: its client's end, and for both directions the names in the order in which they were
    /// seen; `null` for a sender that is beyond the path, or over before it was seen.
    pub(super) fn objects(&self) -> Vec<Value> {
        let names = |used: &Used, to: End| {
            let names: Vec<&str> = used.controls[sender(to)].iter().map(Control::name).collect();
            if names.is_empty() { Value::Null } else { json!(names) }
        };
        let one = |(client, used): (&std::net::SocketAddr, &Used)| {
            json!({
                "client": client.to_string(),
                "congestion": { "down": names(used, End::Client), "up": names(used, End::Server) },
            })
        };
        self.seen.iter().take(MOST).map(one).collect()
    }

    /// The warning that connections may have kept the pacing of the namespaces' own congestion control.
    pub(super) fn note(&self) -> Option<String> {
        let usual = self.usual.as_deref().filter(|name| PACED.contains(name) && !self.is_given)?;
        let all = self.seen.values().flat_map(|used| used.controls.iter().flatten());
        let other = all.map(Control::name).find(|name| *name != usual)?;
        Some(format!(
            "note: `{other}` was chosen by a program, and connections begin here with `{usual}`: one that was accepted with \
             `{usual}` and changed later keeps its pacing; give it from the first packet on: --congestion {other}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_kernels() {
        assert_eq!(name("westwood"), Ok("westwood".to_owned()));
        for wrong in ["", "cubic reno", "a-name-that-is-too-long", "x/y"] {
            assert!(name(wrong).is_err(), "{wrong}");
        }
    }
}
