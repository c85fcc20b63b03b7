//! The scenario that a command is about.

use crate::failure::Failure;
use crate::values::Assignment;
use clap::Args;
use lasthop_scenario::Draft;

/// PATH and `--set`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Source {
    /// A scenario file, a ready path's name, or one line: rate=10Mbit/s,rtt=20ms,loss=1%
    pub(crate) path: String,
    /// Changes a value of the scenario: recovery=reno, link.wireless.down.rate=4Mbit/s
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) set: Vec<Assignment>,
}

impl Source {
    /// The scenario with its changes, not yet checked.
    pub(crate) fn draft(&self) -> Result<Draft, Failure> {
        let mut draft = Draft::load(&self.path)?;
        for Assignment { path, value } in &self.set {
            draft.set(path, value)?;
        }
        Ok(draft)
    }
}
