//! Replaces the sender of a path's TCP flows.

use super::scenarios::tcp_flows;
use lasthop_scenario::{Draft, Problem};

/// Names of senders, each with its congestion control. Each sender is Linux's sender (`profile = "linux"`) with the
/// congestion control of the pair.
pub const SENDERS: [(&str, &str); 8] = [
    ("linux-cubic", "cubic"),
    ("linux-reno", "reno"),
    ("linux-bbr", "bbr"),
    ("linux-bbr3", "bbr3"),
    ("bbr", "bbr"),
    ("bbr3", "bbr3"),
    ("westwood_plus", "westwood_plus"),
    ("prague", "prague"),
];

/// Gives all TCP flows Linux's sender with the congestion control `control`, and removes the scenario's `sender` keys
/// of these flows. Returns the changed keys in order, in the form that `--set` takes. Fails if the scenario is invalid.
pub fn set_sender(draft: &mut Draft, control: &str) -> Result<Vec<(String, String)>, Problem> {
    let mut done = Vec::new();
    for flow in tcp_flows(draft)? {
        // `set` fails if the flow has no `sender` keys. In this case, no key has to be removed.
        let own = format!("flow.{flow}.sender");
        if draft.set(&own, "").is_ok() {
            done.push((own, String::new()));
        }
        for (key, value) in [("profile", "linux"), ("sender.congestion", control)] {
            let key = format!("flow.{flow}.{key}");
            draft.set(&key, value)?;
            done.push((key, value.to_owned()));
        }
    }
    Ok(done)
}
