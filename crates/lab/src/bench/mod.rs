//! Fixed cases for `lasthop bench`, which measures speed and counts instructions.

pub mod growth;

use lasthop_scenario::{Draft, Problem, Scenario};
use lasthop_sim::Outcome;

/// A benchmark case.
pub struct BenchCase {
    /// Name on the command line.
    pub name: &'static str,
    /// Virtual durations of the shorter run and the longer run, s. The cost of the case is the instruction count of the
    /// longer run minus the instruction count of the shorter run. The case is in a steady state after the shorter
    /// duration.
    pub counted_s: [u32; 2],
    text: &'static str,
    change: Option<(&'static str, &'static str)>,
}

/// All cases, in order of execution.
pub const CASES: &[BenchCase] = &[
    BenchCase { name: "hasegawa", counted_s: [100, 400], text: HASEGAWA, change: None },
    BenchCase { name: "koga3-sack", counted_s: [10, 40], text: KOGA3, change: None },
    BenchCase { name: "koga4", counted_s: [80, 400], text: KOGA4, change: None },
    BenchCase { name: "dumbbell-1", counted_s: [10, 30], text: DUMBBELL, change: None },
    BenchCase {
        name: "dumbbell-10",
        counted_s: [10, 30],
        text: DUMBBELL,
        change: Some(("flow.bulk.count", "10")),
    },
    BenchCase {
        name: "dumbbell-100",
        counted_s: [10, 30],
        text: DUMBBELL,
        change: Some(("flow.bulk.count", "100")),
    },
    BenchCase {
        name: "dumbbell-1000",
        counted_s: [10, 30],
        text: DUMBBELL,
        change: Some(("flow.bulk.count", "1000")),
    },
    BenchCase { name: "cubic-linux", counted_s: [10, 30], text: LINUX, change: None },
    BenchCase {
        name: "bbr3",
        counted_s: [10, 30],
        text: LINUX,
        change: Some(("flow.bulk.sender.congestion", "bbr3")),
    },
];

impl BenchCase {
    /// Returns the case's scenario. Fails if the scenario is invalid.
    pub fn scenario(&self) -> Result<Scenario, Problem> {
        self.draft()?.check()
    }

    /// Returns the case's scenario with the duration `duration_s`, in s. Fails if [`BenchCase::scenario`] fails.
    pub fn scenario_of(&self, duration_s: u32) -> Result<Scenario, Problem> {
        let mut draft = self.draft()?;
        draft.set("duration", &format!("{duration_s} s"))?;
        draft.check()
    }

    fn draft(&self) -> Result<Draft, Problem> {
        let mut draft = Draft::parse(self.text, self.name)?;
        if let Some((path, value)) = self.change {
            draft.set(path, value)?;
        }
        Ok(draft)
    }
}

/// Returns the number of data segments sent by all flows, retransmissions included.
pub fn data_packets(outcome: &Outcome) -> u64 {
    outcome.flows.iter().map(|flow| flow.source.data_sent).sum()
}

/// Twenty SACK flows and five CBR streams share a CBQ router for 20 s (paper `koga`, §3.3.3).
const KOGA3: &str = lasthop_papers::KOGA3_MULTIPLE_CBR;

/// One NewReno flow over RLC at 384 kbit/s for 80 s (paper `koga`, §4.3). The frame error rate is 5.9 %. RLC waits at
/// most 300 ms for a missing packet before it delivers later packets.
const KOGA4: &str = lasthop_papers::KOGA4_ORDERED;

/// One SACK flow over a wireless last hop with ARQ (paper `hasegawa`, §4.1).
const HASEGAWA: &str = r#"
duration = "1000 s"
headers = "40 bytes"

[link.wired]
from = "server"
to = "bs"
rate = "10 Mbit/s"
one_way_delay = "45 ms"
queue = "unlimited"

[link.wireless]
from = "bs"
to = "client"
one_way_delay = "1 ms"

[link.wireless.down]
rate = "2 Mbit/s"
queue = "50 packets"
channel = { kind = "bit_error", rate = 2e-5 }
arq = { kind = "repeat", transmissions = 4, delay = "6.16 ms", mode = "once" }

[link.wireless.up]
rate = "384 kbit/s"
queue = "unlimited"

[flow.bulk]
from = "server"
to = "client"
segment = "1000 bytes"

[flow.bulk.sender]
recovery = "sack"
ack_counting = "per_ack"
initial_window = 2

[flow.bulk.receiver]
ack_policy = "immediate"
"#;

/// One flow between two Linux hosts with RACK-TLP, PRR, CUBIC and Linux's receiver. The link loses 0.1 % of the
/// packets.
const LINUX: &str = r#"
duration = "60 s"

[link.path]
from = "server"
to = "client"
one_way_delay = "12 ms"
down = { rate = "100 Mbit/s", queue = "300 packets", channel = { kind = "iid", loss = 0.001 } }
up = { rate = "100 Mbit/s" }

[flow.bulk]
from = "server"
to = "client"
profile = "linux"
"#;

/// Bulk SACK flows that share an access link on each side of one bottleneck.
const DUMBBELL: &str = r#"
duration = "60 s"
headers = "40 bytes"

[link.left]
from = "senders"
to = "a"
rate = "1 Gbit/s"
one_way_delay = "1 ms"
queue = "unlimited"

[link.bottleneck]
from = "a"
to = "b"
rate = "100 Mbit/s"
one_way_delay = "10 ms"
queue = "300 packets"

[link.right]
from = "b"
to = "receivers"
rate = "1 Gbit/s"
one_way_delay = "1 ms"
queue = "unlimited"

[flow.bulk]
from = "senders"
to = "receivers"
segment = "1000 bytes"
stagger = "1 ms"

[flow.bulk.sender]
recovery = "sack"
ack_counting = "per_ack"

[flow.bulk.receiver]
ack_policy = "immediate"
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_a_scenario_with_as_many_flows_as_its_name_says() {
        for case in CASES {
            let scenario = case.scenario().unwrap_or_else(|problem| panic!("{}: {problem}", case.name));
            let flows = match case.name.strip_prefix("dumbbell-") {
                Some(count) => count.parse().unwrap(),
                None if case.name == "koga3-sack" => 25,
                None => 1,
            };
            assert_eq!(scenario.flows.len(), flows, "{}", case.name);
        }
    }
}
