//! The operating system, as `emu` and `agent` need it: everything here changes or reads the machine.
//!
//! * [`clock`]: the monotonic clock, as the pure crates count time.
//! * [`error`]: what the system refuses, and how to mend that.
//! * [`namespace`]: network namespaces of our own; [`program`]: what runs in them; [`user`]: as whom; [`group`]: how long they
//!   waited for a processor.
//! * [`tun`]: a TUN device: IP packets from and to the kernel; [`port`]: one at an end of a path, which takes several packets at
//!   once (`offload`); [`entries`]: when the kernel handed them over, [`arrival`] by which clock; [`ends`]: two of them.
//! * [`datagrams`]: UDP with the kernel's time of arrival.
//! * [`resolver`]: how names are resolved behind a path.
//! * [`nat`]: network address translation: this host's network as the far end of a path.
//! * [`apart`]: all of that without root's rights, in a user namespace; its way to the outside:
//!   [`splice`] for TCP, [`uplink`] for the rest.
//! * [`priority`]: real-time priority, so that the kernel wakes us in time.
//!
//! What is absent: no packet is looked into here, nothing prints or exits. Apart from clock and error it is Linux only.

pub mod clock;
pub mod error;

#[cfg(target_os = "linux")]
pub mod apart;
#[cfg(target_os = "linux")]
pub mod arrival;
#[cfg(target_os = "linux")]
pub mod datagrams;
#[cfg(target_os = "linux")]
pub mod ends;
#[cfg(target_os = "linux")]
pub mod entries;
#[cfg(target_os = "linux")]
pub mod group;
#[cfg(target_os = "linux")]
pub mod namespace;
#[cfg(target_os = "linux")]
pub mod nat;
#[cfg(target_os = "linux")]
mod offload;
#[cfg(target_os = "linux")]
mod owner;
#[cfg(target_os = "linux")]
pub mod port;
#[cfg(target_os = "linux")]
pub mod priority;
#[cfg(target_os = "linux")]
pub mod program;
#[cfg(target_os = "linux")]
pub mod resolver;
#[cfg(target_os = "linux")]
pub mod splice;
#[cfg(target_os = "linux")]
pub mod tun;
#[cfg(target_os = "linux")]
pub mod uplink;
#[cfg(target_os = "linux")]
pub mod user;

pub use clock::Clock;
pub use error::SystemError;

#[cfg(target_os = "linux")]
pub use namespace::Namespace;
#[cfg(target_os = "linux")]
pub use port::Port;
#[cfg(target_os = "linux")]
pub use program::Program;
#[cfg(target_os = "linux")]
pub use tun::{Interface, Tun};
