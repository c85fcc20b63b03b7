//! Arguments that give a command its scenario.

use crate::failure::Failure;
use crate::output;
use crate::values::Assignment;
use clap::Args;
use lasthop_scenario::{Draft, Scenario};

/// PATH and `--set`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ScenarioArgs {
    /// Scenario file, name of a ready path, or one line: rate=10Mbit/s,rtt=20ms,loss=1% or lte,loss=1%
    pub(crate) path: String,
    /// Set a value of the scenario: recovery=reno, link.wireless.down.rate=4Mbit/s; PATH= removes the value
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) set: Vec<Assignment>,
}

impl ScenarioArgs {
    /// Loads the scenario, applies `--set`, checks the scenario, and prints notes for the user.
    pub(crate) fn scenario(&self) -> Result<Scenario, Failure> {
        checked(&self.draft()?)
    }

    /// Loads the scenario and applies `--set`, without checking the scenario.
    pub(crate) fn draft(&self) -> Result<Draft, Failure> {
        let mut draft = Draft::load(&self.path)?;
        for Assignment { path, value } in &self.set {
            draft.set(path, value)?;
        }
        Ok(draft)
    }
}

/// Checks a draft of a scenario, and prints notes for the user.
pub(crate) fn checked(draft: &Draft) -> Result<Scenario, Failure> {
    let scenario = draft.check()?;
    print_notes(&scenario.notes());
    Ok(scenario)
}

pub(crate) fn print_notes(notes: &[String]) {
    notes.iter().for_each(|note| output::note(&format!("note: {note}")));
}
