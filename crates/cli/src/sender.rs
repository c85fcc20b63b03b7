//! Whose TCP carries real traffic, as the user names it.

use std::fmt;
use std::str::FromStr;

/// Whose TCP carries the streams.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Sender {
    /// Our endpoints.
    Own,
    /// Our endpoint, to the kernel.
    OwnToKernel,
    /// The kernel, with this congestion control.
    Kernel(String),
}

impl FromStr for Sender {
    type Err = String;

    fn from_str(text: &str) -> Result<Sender, String> {
        match text.trim() {
            "lasthop" => Ok(Sender::Own),
            "lasthop-to-kernel" => Ok(Sender::OwnToKernel),
            name if !name.is_empty() && name.len() < 16 && name.bytes().all(is_of_name) => {
                Ok(Sender::Kernel(name.to_owned()))
            }
            _ => {
                let known =
                    "`lasthop`, `lasthop-to-kernel`, or the name of a congestion control: reno, cubic";
                Err(format!("expected {known}"))
            }
        }
    }
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-')
}

impl fmt::Display for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sender::Own => f.write_str("lasthop"),
            Sender::OwnToKernel => f.write_str("lasthop to kernel"),
            Sender::Kernel(name) => write!(f, "kernel, {name}"),
        }
    }
}
