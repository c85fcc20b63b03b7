//! `lasthop tidy`, started by `lasthop emulate`: removes leftovers of a killed emulation.

use super::emulate::{DRAWN, give_back};
use crate::failure::Failure;
use crate::path;
use crate::target::patience;
use clap::Args;
use std::io::{self, Read};

/// Undo the changes of a killed emulation on this machine.
///
/// Waits for the end of standard input; a word on standard input means that nothing is left.
#[derive(Args)]
pub(crate) struct Tidy {}

impl Tidy {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        // The emulation handles interruptions.
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
