//! Command `lasthop schema`: prints the JSON Schema of scenario files.

use crate::failure::Failure;
use crate::output;
use clap::Args;

/// Print the JSON Schema of scenario files, for editors
#[derive(Args)]
pub(crate) struct Schema {}

impl Schema {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        output::print_line(&format!("{:#}", lasthop_scenario::Catalogue::default().schema()))
    }
}
