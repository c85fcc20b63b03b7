//! Interface to the operating system for `emu` and `agent`: all code that changes or inspects the machine.
//!
//! * [`clock`]: monotonic clock in the time type of `lasthop-base`. [`error`]: errors with help.
//! * [`namespace`]: network namespaces; [`program`]: programs in namespaces; [`user`]: the programs' user;
//!   [`control_group`]: time that programs waited for a processor.
//! * [`tun`]: TUN devices; [`port`]: an end of a path, which reads several segments at once; `offload` splits these
//!   segments. [`handovers`]: times at which the kernel handed packets to a TUN device; [`arrival`]: converts the
//!   kernel's time stamps to the times of `clock`.
//!   [`ends`]: both ends of a path.
//! * [`datagrams`]: UDP with the kernel's arrival times. [`pacing`]: pacing by the kernel's TCP.
//! * [`resolver`]: name resolution behind a path.
//! * [`nat`]: network address translation, for this host's network as the remote end.
//! * [`unprivileged`]: namespaces without root, in a user namespace; [`splice`] (for TCP) and [`uplink`] (for other
//!   traffic) connect this namespace to the outside.
//! * [`priority`]: real-time priority, for timely wake-ups.
//!
//! The crate does not inspect packets, print or exit. All modules except `clock` and `error` exist on Linux only.

pub mod clock;
pub mod error;

#[cfg(target_os = "linux")]
pub mod arrival;
#[cfg(target_os = "linux")]
pub mod control_group;
#[cfg(target_os = "linux")]
pub mod datagrams;
#[cfg(target_os = "linux")]
pub mod ends;
#[cfg(target_os = "linux")]
pub mod handovers;
#[cfg(target_os = "linux")]
pub mod namespace;
#[cfg(target_os = "linux")]
pub mod nat;
#[cfg(target_os = "linux")]
mod offload;
#[cfg(target_os = "linux")]
mod owner;
#[cfg(target_os = "linux")]
pub mod pacing;
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
pub mod unprivileged;
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
