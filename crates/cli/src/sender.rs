//! The TCP sender of real traffic, as named by the user.

use std::fmt;
use std::str::FromStr;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Sender {
    /// Lasthop's endpoints on both sides.
    Own,
    /// Lasthop's endpoint sends, the kernel receives.
    OwnToKernel,
    /// The kernel on both sides, with this congestion control.
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
