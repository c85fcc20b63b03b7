//! Actions of `lasthop emulate`: run a command, change the path of a run, or record a real path.

use super::Emulate;
use super::record::RecordCommand;
use super::set::Set;
use crate::failure::Failure;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

pub(crate) enum Actions {
    Run(Box<Emulate>),
    Set(Set),
    Record(Box<RecordCommand>),
}

impl Actions {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        match self {
            Actions::Run(run) => run.execute(),
            Actions::Set(set) => set.execute(),
            Actions::Record(record) => record.execute(),
        }
    }
}

/// Implemented by hand: clap cannot derive a struct that has subcommands and also arguments required only without a
/// subcommand.
impl FromArgMatches for Actions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Actions, Error> {
        match matches.subcommand() {
            Some(("set", set)) => Set::from_arg_matches(set).map(Actions::Set),
            Some(("record", record)) => {
                RecordCommand::from_arg_matches(record).map(|record| Actions::Record(Box::new(record)))
            }
            _ => Emulate::from_arg_matches(matches).map(|run| Actions::Run(Box::new(run))),
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Actions::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Actions {
    fn augment_args(command: Command) -> Command {
        Emulate::augment_args(command)
            .args_conflicts_with_subcommands(true)
            .subcommand_negates_reqs(true)
            .subcommand(Set::augment_args(Command::new("set")))
            .subcommand(RecordCommand::augment_args(Command::new("record")))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Actions::augment_args(command)
    }
}
