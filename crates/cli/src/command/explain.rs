//! Command `lasthop explain PATH…`: explains scenario keys, mechanisms, columns and fields.

use crate::failure::Failure;
use crate::{output, reference};
use clap::Args;

/// Explain a key, mechanism, column or field: explain link.down.queue, explain sack.
///
/// You may omit the names of links and flows.
#[derive(Args)]
pub(crate) struct Explain {
    /// Path as in --set, or a name
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,
}

impl Explain {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        let mut text = String::new();
        for path in &self.paths {
            let found = reference::explain(path);
            if found.is_empty() {
                let all = "`lasthop help keys` lists every key, `lasthop help fields` every output field";
                let help = match reference::hint(path) {
                    Some(hint) => format!("{hint} {all}"),
                    None => all.to_owned(),
                };
                return Err(Failure::bad_input(format!("unknown name `{path}`"), help));
            }
            text.push_str(&reference::text(&found));
        }
        output::print(&output::prose(&text))
    }
}
