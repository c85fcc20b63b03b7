//! `lasthop help [TOPIC]`.

use crate::CommandLine;
use crate::failure::Failure;
use crate::{output, reference};
use clap::{Args, CommandFactory};
use lasthop_scenario::nearest;

/// Print help: of a command, or `help keys`, `fields`, `units`, `topologies`, or all as a page: `reference`.
#[derive(Args)]
pub(crate) struct Help {
    /// A command or a topic: keys, fields, units, topologies, reference
    #[arg(value_name = "TOPIC")]
    topics: Vec<String>,
}

/// Topics beside the commands.
const TOPICS: &[(&str, fn() -> String)] = &[
    ("keys", || reference::text(&lasthop_scenario::reference())),
    ("fields", || reference::text(&reference::fields())),
    ("units", reference::units),
    ("topologies", reference::topologies),
    ("reference", reference::page),
];

impl Help {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        if let [topic] = &self.topics[..]
            && let Some((_, text)) = TOPICS.iter().find(|(name, _)| name == topic)
        {
            return output::print(&text());
        }
        let mut command = CommandLine::command();
        command.build();
        let mut at = &mut command;
        for topic in &self.topics {
            let known: Vec<String> = at.get_subcommands().map(|one| one.get_name().to_owned()).collect();
            let names = known.iter().map(String::as_str).chain(TOPICS.iter().map(|(name, _)| *name));
            let names: Vec<&str> = names.collect();
            let Some(next) = at.find_subcommand_mut(topic) else {
                let all = format!("there are {}", names.join(", "));
                let help = match nearest(topic, names.iter().copied()) {
                    Some(name) => format!("did you mean `{name}`? {all}"),
                    None => all,
                };
                return Err(Failure::bad_input(format!("there is no command or topic `{topic}`"), help));
            };
            at = next;
        }
        output::print(&at.render_long_help().to_string())
    }
}
