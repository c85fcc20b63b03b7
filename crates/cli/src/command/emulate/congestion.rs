//! Congestion controls that the connections of a run use.

use lasthop_emu::census::{ControlsByClient, UsedControls};
use lasthop_emu::emulation::End;
use lasthop_emu::kernel::CongestionName;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const MAX_CONNECTIONS: usize = 1000;
/// Congestion controls that set a pacing rate. A socket keeps the pacing rate after a change of its congestion control.
const PACING: [&str; 2] = ["bbr", "bbr3"];

pub(super) struct CongestionControls {
    seen: ControlsByClient,
    /// Default congestion control of the namespaces; `None` if unknown.
    default: Option<String>,
    /// Whether the user set the congestion control of all connections with `--congestion`.
    is_given: bool,
}

/// Checks the name of a congestion control (linux/tcp.h, TCP_CA_NAME_MAX: 16 bytes including the final zero byte).
pub(super) fn name(text: &str) -> Result<String, String> {
    let is_name_char = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !text.is_empty() && text.len() < 16 && text.chars().all(is_name_char) {
        Ok(text.to_owned())
    } else {
        Err("expected a name such as cubic, reno or bbr".to_owned())
    }
}

fn sender_index(to: End) -> usize {
    match to {
        End::Client => End::Server as usize,
        End::Server => End::Client as usize,
    }
}

impl CongestionControls {
    pub(super) fn new(seen: ControlsByClient, default: Option<String>, is_given: bool) -> CongestionControls {
        CongestionControls { seen, default, is_given }
    }

    /// Lists the congestion controls of the connections that send data to an end of the path. If several congestion
    /// controls are in use, the number of connections follows each name. A connection that changed its congestion
    /// control counts only for the latest.
    pub(super) fn words(&self, to: End) -> String {
        let mut counts: BTreeMap<CongestionName, usize> = BTreeMap::new();
        for control in self.seen.values().filter_map(|used| used.controls[sender_index(to)].last()) {
            *counts.entry(*control).or_default() += 1;
        }
        let one = |(control, count): (&CongestionName, &usize)| match counts.len() {
            1 => control.name().to_owned(),
            _ => format!("{} ({count})", control.name()),
        };
        if counts.is_empty() {
            "–".to_owned()
        } else {
            counts.iter().map(one).collect::<Vec<_>>().join(", ")
        }
    }

    /// Returns an object per connection: the client's address and port, and the congestion controls of each direction
    /// in the order of observation. A direction is `null` if its sender is outside the run or was never observed.
    pub(super) fn objects(&self) -> Vec<Value> {
        let names = |used: &UsedControls, to: End| {
            let names: Vec<&str> = used.controls[sender_index(to)].iter().map(CongestionName::name).collect();
            if names.is_empty() { Value::Null } else { json!(names) }
        };
        let one = |(client, used): (&std::net::SocketAddr, &UsedControls)| {
            json!({
                "client": client.to_string(),
                "congestion": { "down": names(used, End::Client), "up": names(used, End::Server) },
            })
        };
        self.seen.iter().take(MAX_CONNECTIONS).map(one).collect()
    }

    /// Returns a warning if connections may still be paced by the default congestion control.
    pub(super) fn note(&self) -> Option<String> {
        let default = self.default.as_deref().filter(|name| PACING.contains(name) && !self.is_given)?;
        let all = self.seen.values().flat_map(|used| used.controls.iter().flatten());
        let other = all.map(CongestionName::name).find(|name| *name != default)?;
        Some(format!(
            "note: a program chose `{other}`, but connections begin with `{default}` here. A connection accepted with \
             `{default}` keeps pacing after a change; to avoid this: --congestion {other}"
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
