//! Congestion control used by each connection.

use lasthop_emu::census::{ControlsByClient, UsedControls};
use lasthop_emu::emulation::End;
use lasthop_emu::kernel::CongestionName;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const MOST: usize = 1000;
/// Congestion controls that set a pacing rate. A socket keeps the rate if a program changes the congestion control.
const PACED: [&str; 2] = ["bbr", "bbr3"];

pub(super) struct Controls {
    seen: ControlsByClient,
    /// Default of the namespaces.
    usual: Option<String>,
    /// Whether `--congestion` set all connections.
    is_given: bool,
}

/// Name of a congestion control (linux/tcp.h, TCP_CA_NAME_MAX: 16 bytes including the zero).
pub(super) fn name(text: &str) -> Result<String, String> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match !text.is_empty() && text.len() < 16 && text.chars().all(is_of_name) {
        true => Ok(text.to_owned()),
        false => Err("expected a name such as cubic, reno or bbr".to_owned()),
    }
}

fn sender(to: End) -> usize {
    match to {
        End::Client => End::Server as usize,
        End::Server => End::Client as usize,
    }
}

impl Controls {
    pub(super) fn new(seen: ControlsByClient, usual: Option<String>, is_given: bool) -> Controls {
        Controls { seen, usual, is_given }
    }

    /// Congestion controls of the traffic to an end, each with its number of connections if there are several. A
    /// connection counts with its last congestion control.
    pub(super) fn words(&self, to: End) -> String {
        let mut counts: BTreeMap<CongestionName, usize> = BTreeMap::new();
        for control in self.seen.values().filter_map(|used| used.controls[sender(to)].last()) {
            *counts.entry(*control).or_default() += 1;
        }
        let one = |(control, count): (&CongestionName, &usize)| match counts.len() {
            1 => control.name().to_owned(),
            _ => format!("{} ({count})", control.name()),
        };
        match counts.is_empty() {
            true => "–".to_owned(),
            false => counts.iter().map(one).collect::<Vec<_>>().join(", "),
        }
    }

    /// One object per connection: the client's end, and the congestion controls of each direction in order of
    /// observation; `null` for a sender beyond the path, or never observed.
    pub(super) fn objects(&self) -> Vec<Value> {
        let names = |used: &UsedControls, to: End| {
            let names: Vec<&str> = used.controls[sender(to)].iter().map(CongestionName::name).collect();
            if names.is_empty() { Value::Null } else { json!(names) }
        };
        let one = |(client, used): (&std::net::SocketAddr, &UsedControls)| {
            json!({
                "client": client.to_string(),
                "congestion": { "down": names(used, End::Client), "up": names(used, End::Server) },
            })
        };
        self.seen.iter().take(MOST).map(one).collect()
    }

    /// Warning that connections may have kept the pacing of the default congestion control.
    pub(super) fn note(&self) -> Option<String> {
        let usual = self.usual.as_deref().filter(|name| PACED.contains(name) && !self.is_given)?;
        let all = self.seen.values().flat_map(|used| used.controls.iter().flatten());
        let other = all.map(CongestionName::name).find(|name| *name != usual)?;
        Some(format!(
            "note: a program chose `{other}`, but connections begin with `{usual}` here. A connection accepted with \
             `{usual}` keeps its pacing after a change; to avoid this: --congestion {other}"
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
