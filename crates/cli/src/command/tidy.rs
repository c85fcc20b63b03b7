//! Command `lasthop tidy`, started by `lasthop emulate`: removes leftovers of a killed emulation.

use super::emulate::{DRAWN_MESSAGE, restore_terminal};
use crate::failure::Failure;
use crate::path;
use crate::target::interrupts;
use clap::Args;
use std::io::{self, Read};

/// Undo the changes that a killed emulation made to this machine.
///
/// Reads standard input, a pipe from the emulation, until the emulation closes the pipe. Does nothing if the emulation
/// has reported on the pipe that the changes are already undone.
#[derive(Args)]
pub(crate) struct Tidy {}

impl Tidy {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        // Ctrl-C must not end this process, because this process cleans up after the emulation.
        interrupts::handle_during(|| {
            let mut word = String::new();
            let _ = io::stdin().read_to_string(&mut word);
            if word == DRAWN_MESSAGE {
                restore_terminal();
            }
            if word.is_empty() || word == DRAWN_MESSAGE {
                path::remove_leftovers();
            }
            Ok(())
        })
    }
}
