//! A sender under comparison, with its scenario for the simulation and its trial (real-time run) for the emulation.

use crate::failure::Failure;
use crate::path::{self, CarriedFlows};
use crate::real_sender::RealSender;
use crate::values::Assignment;
use lasthop_emu::Trial;
use lasthop_emu::trial::{KernelSettings, Tcp};
use lasthop_lab::trials::StreamOutcome;
use lasthop_lab::trials::crosscheck::CrosscheckResults;
use lasthop_scenario::{Draft, Scenario};
use lasthop_sim::assemble::start_of;
use lasthop_tcp::Config;
use lasthop_tcp::sender::congestion;
use std::fmt;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum SenderChoice {
    One(RealSender),
    /// The kernel sends. Each flow uses the congestion control that the scenario sets for this flow.
    AsScenario,
}

impl fmt::Display for SenderChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SenderChoice::One(sender) => sender.fmt(f),
            SenderChoice::AsScenario => f.write_str("kernel"),
        }
    }
}

pub(super) struct SenderCase {
    pub(super) sender: SenderChoice,
    /// Scenario of the simulation. If the simulator has the sender's congestion control, the flows use this congestion
    /// control.
    pub(super) scenario: Scenario,
    /// Whether the simulator has the sender's congestion control.
    is_simulated: bool,
    /// Index of the flow whose route the real traffic takes.
    pub(super) replaced: usize,
    flows: Vec<usize>,
    trial: Trial,
    /// Settings of the scenario that the kernel does not support.
    unsupported: Vec<String>,
}

impl SenderCase {
    pub(super) fn new(
        draft: &Draft,
        sender: &SenderChoice,
        kernel: &[Assignment],
    ) -> Result<SenderCase, Failure> {
        let mut draft = draft.clone();
        let is_simulated = match sender {
            SenderChoice::AsScenario | SenderChoice::One(RealSender::Own | RealSender::OwnToKernel) => true,
            SenderChoice::One(RealSender::Kernel(name)) => {
                let is_ours = congestion::ALL.iter().any(|ours| ours.info.name == name);
                if is_ours {
                    draft.set("congestion", name)?;
                }
                is_ours
            }
        };
        let scenario = draft.check()?;
        let CarriedFlows { replaced, flows, streams, configs, mtu } = path::carried_flows(&scenario)?;
        let [source, destination] = &configs[0];
        let (mut settings, unsupported) = KernelSettings::like(source, destination);
        settings.sysctls.extend(kernel.iter().map(|setting| (setting.path.clone(), setting.value.clone())));
        let (tcp, unsupported) = match sender {
            SenderChoice::One(RealSender::Own) => (Tcp::Own(configs), Vec::new()),
            SenderChoice::One(RealSender::OwnToKernel) => {
                (Tcp::OwnToKernel { configs, settings }, unsupported.receiver)
            }
            SenderChoice::One(RealSender::Kernel(_)) | SenderChoice::AsScenario => {
                let name = |[source, _]: &[Config; 2]| match sender {
                    SenderChoice::One(RealSender::Kernel(name)) => name.clone(),
                    _ => source.congestion.info.name.to_owned(),
                };
                let congestion = configs.iter().map(name).collect();
                let all = [unsupported.sender, unsupported.receiver].concat();
                (Tcp::Kernel { congestion, settings }, all)
            }
        };
        let trial = Trial { tcp, streams, duration: scenario.duration, mtu };
        Ok(SenderCase { sender: sender.clone(), scenario, is_simulated, replaced, flows, trial, unsupported })
    }

    /// Simulates the scenario. Returns the outcomes of the flows that real traffic carries in the emulation. Returns
    /// `None` if the simulator lacks the sender's congestion control.
    pub(super) fn simulate(&self, seed: u64) -> Option<Vec<StreamOutcome>> {
        if !self.is_simulated {
            return None;
        }
        let (outcome, samples) = lasthop_sim::run_probed(&self.scenario, seed);
        let start = |flow: usize| start_of(&self.scenario.flows[flow], seed);
        let one =
            |flow: &usize| StreamOutcome::simulated(&outcome.flows[*flow], *flow, start(*flow), &samples);
        Some(self.flows.iter().map(one).collect())
    }

    /// Returns the trial for the repetition with this seed. Each flow starts at the same time as in the simulation with
    /// this seed.
    pub(super) fn trial(&self, seed: u64) -> Trial {
        let mut trial = self.trial.clone();
        for (stream, flow) in trial.streams.iter_mut().zip(&self.flows) {
            stream.start = start_of(&self.scenario.flows[*flow], seed);
        }
        trial
    }

    pub(super) fn results(&self, runs: u32, seed: u64) -> CrosscheckResults {
        CrosscheckResults {
            sender: self.sender.to_string(),
            title: self.scenario.title.clone(),
            duration: self.scenario.duration,
            flows: self.flows.iter().map(|flow| self.scenario.flows[*flow].name.clone()).collect(),
            is_simulated: self.is_simulated,
            not_set_in_kernel: self.unsupported.clone(),
            runs,
            seed,
            pairs: Vec::new(),
            late_runs: 0,
            late_concurrent_runs: 0,
        }
    }
}
