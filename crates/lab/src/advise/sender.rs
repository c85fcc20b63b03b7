//! Other senders for the path's flows.

use super::scenarios::tcp_flows;
use lasthop_scenario::{Draft, Problem};

/// Sender names and their congestion controls; each is Linux's sender (`profile = "linux"`) with that control.
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

/// Gives this sender to all TCP flows; the scenario's own `sender` keys are removed. Returns the changed keys in
/// order, as `--set` takes them; fails if the scenario is invalid.
pub fn set_sender(draft: &mut Draft, control: &str) -> Result<Vec<(String, String)>, Problem> {
    let mut done = Vec::new();
    for flow in tcp_flows(draft)? {
        // `set` fails if the flow has no `sender` keys: nothing to remove.
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
