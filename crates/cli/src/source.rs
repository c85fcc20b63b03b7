//! The scenario that a command is about.

use crate::failure::Failure;
use crate::output;
use crate::values::Assignment;
use clap::Args;
use lasthop_scenario::{Draft, Scenario};

/// PATH and `--set`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Source {
    /// A scenario file, a ready path's name, or one line: rate=10Mbit/s,rtt=20ms,loss=1% or lte,loss=1%
    pub(crate) path: String,
    /// Changes a value of the scenario: recovery=reno, link.wireless.down.rate=4Mbit/s; PATH= takes it away
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) set: Vec<Assignment>,
}

impl Source {
    /// The scenario with its changes; says what its author should know.
    pub(crate) fn scenario(&self) -> Result<Scenario, Failure> {
        checked(&self.draft()?)
    }

    /// The scenario with its changes, not yet checked.
    pub(crate) fn draft(&self) -> Result<Draft, Failure> {
        let mut draft = Draft::load(&self.path)?;
        for Assignment { path, value } in &self.set {
            draft.set(path, value)?;
        }
        Ok(draft)
    }
}

/// The scenario that a draft is; says what its author should know.
pub(crate) fn checked(draft: &Draft) -> Result<Scenario, Failure> {
    let scenario = draft.check()?;
    tell(&scenario.notes());
    Ok(scenario)
}

/// Prints what a scenario's author should know.
pub(crate) fn tell(notes: &[String]) {
    notes.iter().for_each(|note| output::note(&format!("note: {note}")));
}
