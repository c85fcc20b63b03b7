//! TCP implementation that sends the real traffic, as given by the user.

use std::fmt;
use std::str::FromStr;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum RealSender {
    /// Lasthop's endpoints on both sides.
    Own,
    /// Lasthop's endpoint sends; the kernel receives.
    OwnToKernel,
    /// Kernel TCP on both sides, with this congestion control.
    Kernel(String),
}

impl FromStr for RealSender {
    type Err = String;

    fn from_str(text: &str) -> Result<RealSender, String> {
        match text.trim() {
            "lasthop" => Ok(RealSender::Own),
            "lasthop-to-kernel" => Ok(RealSender::OwnToKernel),
            name if !name.is_empty() && name.len() < 16 && name.bytes().all(is_name_byte) => {
                Ok(RealSender::Kernel(name.to_owned()))
            }
            _ => {
                let known =
                    "`lasthop`, `lasthop-to-kernel`, or the name of a congestion control: reno, cubic";
                Err(format!("expected {known}"))
            }
        }
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-')
}

impl fmt::Display for RealSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RealSender::Own => f.write_str("lasthop"),
            RealSender::OwnToKernel => f.write_str("lasthop to kernel"),
            RealSender::Kernel(name) => write!(f, "kernel, {name}"),
        }
    }
}
