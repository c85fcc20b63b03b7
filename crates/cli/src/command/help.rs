//! Command `lasthop help [TOPIC]`: prints help on a command or a topic.

use crate::CommandLine;
use crate::failure::Failure;
use crate::{output, reference};
use clap::{Args, CommandFactory};
use lasthop_scenario::hint;

/// Print help on a command or a topic: keys, fields, units, topologies, reference (all on one page)
#[derive(Args)]
pub(crate) struct Help {
    /// A command or a topic: keys, fields, units, topologies, reference
    #[arg(value_name = "TOPIC")]
    topics: Vec<String>,
}

struct Topic {
    name: &'static str,
    text: fn() -> String,
}

const TOPICS: [Topic; 5] = [
    Topic { name: "keys", text: || reference::text(&lasthop_scenario::Catalogue::default().reference()) },
    Topic { name: "fields", text: || reference::text(&reference::fields()) },
    Topic { name: "units", text: reference::units },
    Topic { name: "topologies", text: reference::topologies },
    Topic { name: "reference", text: reference::page },
];

impl Help {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        if let [name] = &self.topics[..]
            && let Some(topic) = TOPICS.iter().find(|topic| topic.name == name)
        {
            let text = (topic.text)();
            // The topic `reference` is Markdown for a file, so its lines are not wrapped to the terminal.
            return output::print(&if topic.name == "reference" { text } else { output::prose(&text) });
        }
        let mut command = CommandLine::command();
        command.build();
        let mut at = &mut command;
        for topic in &self.topics {
            let shown = at.get_subcommands().filter(|one| !one.is_hide_set());
            let known: Vec<String> = shown.map(|one| one.get_name().to_owned()).collect();
            let names = known.iter().map(String::as_str).chain(TOPICS.iter().map(|topic| topic.name));
            let names: Vec<&str> = names.collect();
            let Some(next) = at.find_subcommand_mut(topic) else {
                let all = format!("commands and topics: {}", names.join(", "));
                let help = match hint(topic, names.iter().copied()) {
                    Some(hint) => format!("{hint} {all}"),
                    None => all,
                };
                return Err(Failure::bad_input(format!("unknown command or topic `{topic}`"), help));
            };
            at = next;
        }
        output::print(&at.render_long_help().to_string())
    }
}
