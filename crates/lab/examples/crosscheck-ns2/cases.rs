//! Baselines: the network path of each paper without the paper's mechanism. A baseline is a Lasthop scenario and
//! parameters of an ns-2 script.

use lasthop_base::{Duration, Stream, Time};
use lasthop_scenario::{Draft, Problem, Scenario, Traffic};

pub(crate) struct Baseline {
    pub(crate) paper: &'static str,
    pub(crate) label: String,
    pub(crate) draft: Draft,
    /// Whether the TCP flows start at random times within the first 100 ms.
    pub(crate) staggers: bool,
    pub(crate) parameters: Vec<(String, String)>,
    pub(crate) runs: u32,
}

impl Baseline {
    fn new(paper: &'static str, label: impl Into<String>, runs: u32, draft: Draft) -> Baseline {
        Baseline { paper, label: label.into(), draft, staggers: false, parameters: Vec::new(), runs }
    }

    fn set(mut self, path: &str, value: &str) -> Result<Baseline, Problem> {
        self.draft.set(path, value)?;
        Ok(self)
    }

    fn with(mut self, key: &str, value: impl ToString) -> Baseline {
        self.parameters.push((key.to_owned(), value.to_string()));
        self
    }

    pub(crate) fn scenario(&self, seed: u64) -> Result<Scenario, Problem> {
        let mut scenario = self.draft.check()?;
        if self.staggers {
            let mut starts = Stream::named(seed, "crosscheck.starts");
            for flow in &mut scenario.flows {
                if matches!(flow.traffic, Traffic::Tcp { .. }) {
                    flow.start = Time::ZERO + Duration::from_secs_f64(0.1 * starts.uniform());
                }
            }
        }
        Ok(scenario)
    }
}

pub(crate) fn all() -> Result<Vec<Baseline>, Problem> {
    let mut cases = hasegawa()?;
    cases.extend(huang()?);
    cases.extend(koga3()?);
    cases.extend(miyoshi()?);
    cases.extend(saad()?);
    Ok(cases)
}

/// Returns baselines with SACK and without link ARQ. The random loss equals the residual loss after four transmissions
/// of a packet of 1040 bytes.
fn hasegawa() -> Result<Vec<Baseline>, Problem> {
    let text = include_str!("../../../../papers/hasegawa/sack.toml");
    let at = |ber: f64| {
        let loss = (1.0 - (1.0 - ber).powi(8 * 1040)).powi(4);
        let label = format!("SACK, BER {ber:.0e} (loss {:.3} %)", 100.0 * loss);
        Baseline::new("hasegawa", label, 20, Draft::parse(text, "papers/hasegawa/sack.toml")?)
            .set("link.wireless.down.channel", &format!("{{ kind = \"iid\", loss = {loss} }}"))?
            .set("link.wireless.down.arq", "none")?
            .set("flow.bulk.timestamps", "false")
            .map(|case| case.with("loss", loss))
    };
    [2e-5, 3e-5, 5e-5, 7e-5, 1e-4].into_iter().map(at).collect()
}

/// Returns baselines with SACK over the two-state channel. The clock of the channel advances either all the time, or
/// only during transmissions.
fn huang() -> Result<Vec<Baseline>, Problem> {
    let text = include_str!("../../../../papers/huang/wireless.toml");
    let mut cases = Vec::new();
    for (clock, meets, words) in
        [("time", "end", "state at a packet's end"), ("sent", "sent", "only while sending")]
    {
        for (link, delay, seconds) in [("low", "0.01 ms", 0.00001), ("long", "250 ms", 0.25)] {
            for bad in [1, 5, 10] {
                let label = format!("SACK, {words}, {link} delay, bad {bad} ms");
                // If the channel's clock advances only during transmissions, a bad state can last for minutes of
                // virtual time. The results then vary more, and more runs are needed.
                let runs = if (clock, bad) == ("sent", 10) { 1000 } else { 400 };
                let case =
                    Baseline::new("huang", label, runs, Draft::parse(text, "papers/huang/wireless.toml")?)
                        .set("link.wireless.one_way_delay", delay)?
                        .set("link.wireless.down.channel.bad", &format!("{bad} ms"))?
                        .set("link.wireless.down.channel.meets", meets)?;
                cases
                    .push(case.with("clock", clock).with("delay", seconds).with("bad", f64::from(bad) / 1e3));
            }
        }
    }
    Ok(cases)
}

fn koga3() -> Result<Vec<Baseline>, Problem> {
    let alone = include_str!("../../../../papers/koga3/tcp-only.toml");
    let large = include_str!("../../../../papers/koga3/large-cbr.toml");
    let multiple = include_str!("../../../../papers/koga3/multiple-cbr.toml");
    let loads =
        [("tcp", "tcp-only", alone), ("large", "large-cbr", large), ("multiple", "multiple-cbr", multiple)];
    let mut cases = Vec::new();
    for (kind, recovery) in
        [("Reno", "{ kind = \"reno\", reenter = true }"), ("Newreno", "new_reno"), ("Sack1", "sack")]
    {
        for (load, name, text) in loads {
            let draft = Draft::parse(text, &format!("papers/koga3/{name}.toml"))?;
            let case = Baseline::new("koga3", format!("{}, {name}", kind.trim_end_matches('1')), 20, draft)
                .set("recovery", recovery)?
                .set("sack", if kind == "Sack1" { "true" } else { "false" })?;
            cases.push(Baseline { staggers: true, ..case }.with("kind", kind).with("load", load));
        }
    }
    Ok(cases)
}

fn miyoshi() -> Result<Vec<Baseline>, Problem> {
    let one = (1, include_str!("../../../../papers/miyoshi/one-node.toml"), "papers/miyoshi/one-node.toml");
    let five =
        (5, include_str!("../../../../papers/miyoshi/five-nodes.toml"), "papers/miyoshi/five-nodes.toml");
    let mut cases = Vec::new();
    for ((nodes, text, name), acks) in [(one, 1), (one, 2), (five, 1), (five, 2)] {
        for (loss, seconds) in [
            (0.0, 200),
            (0.01, 400),
            (0.05, 1000),
            (0.1, 2000),
            (0.2, 5000),
            (0.3, 40_000),
            (0.4, 40_000),
            (0.5, 100_000),
        ] {
            let plural = |count| if count == 1 { "" } else { "s" };
            let label = format!("{nodes} node{}, {acks} ACK{}, p_err {loss}", plural(nodes), plural(acks));
            let shape = if acks == 1 { "once" } else { "copies" };
            let mut case = Baseline::new("miyoshi", label, 40, Draft::parse(text, name)?)
                .set("duration", &format!("{seconds} s"))?
                .set("ack_splitting", shape)?;
            for node in 1..=nodes {
                case = case.set(&format!("link.radio{node}.channel.loss"), &loss.to_string())?;
            }
            cases.push(
                case.with("nodes", nodes).with("acks", acks).with("loss", loss).with("duration", seconds),
            );
        }
    }
    Ok(cases)
}

/// Parameters of 802.11 DSSS. Data packets are sent at 2 Mbit/s, MAC ACKs at 1 Mbit/s.
const DSSS: [(&str, &str); 8] = [
    ("frames", "1"),
    ("slot", "20 us"),
    ("sifs", "10 us"),
    ("difs", "50 us"),
    ("preamble", "192 us"),
    ("ack", "304 us"),
    ("overhead", "28 bytes"),
    ("cw_min", "31"),
];

/// Returns baselines with six Reno flows over the path of Fig. 8 of the paper `saad`. The last hop is modelled as
/// 802.11 in ns-2.
fn saad() -> Result<Vec<Baseline>, Problem> {
    let text = include_str!("../../../../papers/saad/long.toml");
    let mut cases = Vec::new();
    for (words, window) in [("", None), (", window of 20 packets", Some(20))] {
        let draft = Draft::parse(text, "papers/saad/long.toml")?;
        let label = format!("Reno, six flows, 802.11 at 2 Mbit/s{words}");
        let mut case = Baseline::new("saad", label, 40, draft)
            .set("flow.bulk.count", "6")?
            .set("flow.bulk.start_spread", "500 ms")?
            .set("link.wireless.down.queue", "50 packets")?
            .set("link.wireless.arq", "wifi")?;
        for (key, value) in DSSS {
            case = case.set(&format!("link.wireless.arq.{key}"), value)?;
        }
        if let Some(packets) = window {
            case = case
                .set("flow.bulk.receiver.window.size", &format!("{packets}000 bytes"))?
                .with("Agent/TCP.window_", packets);
        }
        cases.push(case);
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_run() {
        let cases = all().unwrap();
        assert_eq!(cases.len(), 5 + 12 + 9 + 32 + 2);
        for case in &cases {
            let scenario = case.scenario(1).unwrap();
            assert!(
                scenario.flows.iter().any(|flow| matches!(flow.traffic, Traffic::Tcp { .. })),
                "{}",
                case.label
            );
        }
    }

    #[test]
    fn what_four_transmissions_leave() {
        // In the paper `hasegawa`, 1040 bytes arrive intact with probability exp(-0.83204) = 0.4352 at a BER of 1e-4.
        // All four transmissions fail with probability 0.5648^4 = 0.1018.
        let cases = hasegawa().unwrap();
        let loss: f64 = cases.last().unwrap().parameters[0].1.parse().unwrap();
        assert!((loss - 0.1018).abs() < 1e-4, "{loss}");
    }
}
