//! A sender, the scenario that simulates it, and the trial that emulates it.

use crate::failure::Failure;
use crate::path;
use crate::values::Assignment;
use lasthop_emu::Trial;
use lasthop_emu::emulation::End;
use lasthop_emu::trial::{Settings, Stream, Tcp};
use lasthop_scenario::{Draft, Scenario, Traffic, Transfer};
use lasthop_sim::assemble::replaced_with;
use lasthop_sim::{FlowOutcome, Samples};
use lasthop_tcp::Config;
use lasthop_tcp::sender::congestion;
use std::fmt;
use std::str::FromStr;

/// Whose TCP carries the streams.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Sender {
    /// Our endpoints.
    Own,
    /// Our endpoint, to the kernel.
    OwnToKernel,
    /// The kernel, with this congestion control.
    Kernel(String),
}

impl FromStr for Sender {
    type Err = String;

    fn from_str(text: &str) -> Result<Sender, String> {
        match text.trim() {
            "lasthop" => Ok(Sender::Own),
            "lasthop-to-kernel" => Ok(Sender::OwnToKernel),
            name if !name.is_empty() && name.len() < 16 && name.bytes().all(is_of_name) => {
                Ok(Sender::Kernel(name.to_owned()))
            }
            _ => {
                let known =
                    "`lasthop`, `lasthop-to-kernel`, or the name of a congestion control: reno, cubic";
                Err(format!("expected {known}"))
            }
        }
    }
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-')
}

impl fmt::Display for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sender::Own => f.write_str("lasthop"),
            Sender::OwnToKernel => f.write_str("lasthop to kernel"),
            Sender::Kernel(name) => write!(f, "kernel, {name}"),
        }
    }
}

/// What is simulated and emulated.
pub(super) struct Case {
    pub(super) sender: Sender,
    /// The scenario, with the sender's congestion control where the simulator has it.
    pub(super) scenario: Scenario,
    /// Whether it has.
    pub(super) is_simulated: bool,
    /// The flow whose way the real traffic takes.
    pub(super) replaced: usize,
    /// The flows that are carried, by their places in the scenario.
    pub(super) flows: Vec<usize>,
    pub(super) trial: Trial,
    /// What the kernel could not be told.
    pub(super) untold: Vec<String>,
}

/// What a simulation says of a flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Simulated {
    pub(super) received: u64,
    /// From its start to its end, or the run's.
    pub(super) active_s: f64,
    pub(super) goodput_kbps: f64,
    pub(super) retransmissions: f64,
    /// Mean over time of the smoothed RTT.
    pub(super) srtt_ms: Option<f64>,
}

/// IP and TCP headers, without options; and the option that every segment carries if there are timestamps.
const HEADERS: u32 = 40;
const TIMESTAMPS: u32 = 12;

impl Case {
    pub(super) fn new(draft: &Draft, sender: &Sender, kernel: &[Assignment]) -> Result<Case, Failure> {
        let mut draft = draft.clone();
        let is_simulated = match sender {
            Sender::Own | Sender::OwnToKernel => true,
            Sender::Kernel(name) => {
                let is_ours = congestion::ALL.iter().any(|ours| ours.info.name == name);
                if is_ours {
                    draft.set("congestion", name)?;
                }
                is_ours
            }
        };
        let scenario = draft.check()?;
        let replaced = path::replaced(&scenario)?;
        let flows = replaced_with(&scenario, replaced);
        let server = scenario.flows[replaced].from;
        let (mut streams, mut configs) = (Vec::new(), Vec::new());
        for flow in flows.iter().map(|flow| &scenario.flows[*flow]) {
            let Traffic::Tcp { transfer, source, destination } = &flow.traffic else { continue };
            streams.push(Stream {
                sender: if flow.from == server { End::Server } else { End::Client },
                start: flow.start,
                bytes: match transfer {
                    Transfer::Bulk => None,
                    Transfer::Bytes(bytes) => Some(*bytes),
                },
            });
            configs.push([source.clone(), destination.clone()]);
        }
        let mtu = mtu(&configs)?;
        let [source, destination] = &configs[0];
        let (mut settings, untold) = Settings::like(source, destination);
        settings.sysctls.extend(kernel.iter().map(|told| (told.path.clone(), told.value.clone())));
        let (tcp, untold) = match sender {
            Sender::Own => (Tcp::Own(configs), Vec::new()),
            Sender::OwnToKernel => (Tcp::OwnToKernel { configs, settings }, untold.of_receiver),
            Sender::Kernel(name) => {
                let all = [untold.of_sender, untold.of_receiver].concat();
                (Tcp::Kernel { congestion: name.clone(), settings }, all)
            }
        };
        let trial = Trial { tcp, streams, duration: scenario.duration, mtu };
        Ok(Case { sender: sender.clone(), scenario, is_simulated, replaced, flows, trial, untold })
    }

    /// What the simulator says of the carried flows; nothing if it does not know this sender.
    pub(super) fn simulate(&self, seed: u64) -> Option<Vec<Simulated>> {
        if !self.is_simulated {
            return None;
        }
        let (outcome, samples) = lasthop_sim::run_probed(&self.scenario, seed);
        Some(self.flows.iter().map(|flow| simulated(&outcome.flows[*flow], *flow, &samples)).collect())
    }

    /// The carried flows' names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.flows.iter().map(|flow| self.scenario.flows[*flow].name.as_str())
    }
}

fn simulated(outcome: &FlowOutcome, flow: usize, samples: &Samples) -> Simulated {
    let srtts = samples.flows.iter().filter(|sample| sample.flow == flow).filter_map(|it| it.srtt_ms);
    let (count, sum) = srtts.fold((0_u32, 0.0), |(count, sum), srtt| (count + 1, sum + srtt));
    Simulated {
        received: outcome.delivered_bytes,
        active_s: outcome.active_s,
        goodput_kbps: outcome.goodput_kbps(),
        retransmissions: outcome.source.retransmitted as f64,
        srtt_ms: (count > 0).then(|| sum / f64::from(count)),
    }
}

/// The MTU at which the kernel's segments carry as much as the scenario's.
fn mtu(configs: &[[Config; 2]]) -> Result<u16, Failure> {
    let packet = |[source, destination]: &[Config; 2]| {
        let stamps = if source.timestamps && destination.timestamps { TIMESTAMPS } else { 0 };
        source.segment + HEADERS + stamps
    };
    let packets: Vec<u32> = configs.iter().map(packet).collect();
    match packets.first().and_then(|first| u16::try_from(*first).ok()) {
        Some(mtu) if mtu >= 128 && packets.iter().all(|other| *other == packets[0]) => Ok(mtu),
        _ => Err(Failure::bad_input(
            format!("real traffic cannot have packets of these sizes: {packets:?} bytes"),
            "give all flows the same segment, of 88 to 65000 bytes: --set segment=1448",
        )),
    }
}
