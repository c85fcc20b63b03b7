//! `lasthop tidy`, which `lasthop emulate` starts: what a killed run has left.

use super::emulate::{DRAWN, give_back};
use crate::failure::Failure;
use crate::path;
use crate::target::patience;
use clap::Args;
use std::io::{self, Read};

/// Take back what a killed emulation has left on this machine.
///
/// Waits for the end of standard input; with a word in it there is nothing to do.
#[derive(Args)]
pub(crate) struct Tidy {}

impl Tidy {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        // Interruptions are the emulation's business.
        patience::during(|| {
            let mut word = String::new();
            let _ = io::stdin().read_to_string(&mut word);
            if word == DRAWN {
                give_back();
            }
            if word.is_empty() || word == DRAWN {
                path::tidy();
            }
            Ok(())
        })
    }
}
