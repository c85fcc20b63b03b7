//! Command `lasthop show PATH`: prints the resolved scenario as commented TOML.

use crate::failure::Failure;
use crate::output;
use crate::scenario_args::ScenarioArgs;
use clap::Args;

/// Print the resolved scenario as commented TOML, for example as a template
#[derive(Args)]
pub(crate) struct Show {
    #[command(flatten)]
    source: ScenarioArgs,
}

impl Show {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        output::print(&self.source.draft()?.show()?)
    }
}
