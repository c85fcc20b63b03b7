//! `lasthop explain PATH…`.

use crate::failure::Failure;
use crate::{output, reference};
use clap::Args;

/// Say what a key, a mechanism, a column or a field means: explain link.down.queue, explain sack.
///
/// The names of links and flows may be there or not.
#[derive(Args)]
pub(crate) struct Explain {
    /// A path as for --set, or a name
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,
}

impl Explain {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        let mut text = String::new();
        for path in &self.paths {
            let found = reference::explain(path);
            if found.is_empty() {
                let all = "`lasthop help keys` has every key, `help fields` every column and field";
                let help = match reference::hint(path) {
                    Some(hint) => format!("{hint} {all}"),
                    None => all.to_owned(),
                };
                return Err(Failure::bad_input(format!("nothing is called `{path}`"), help));
            }
            text.push_str(&reference::text(&found));
        }
        output::print(&text)
    }
}
