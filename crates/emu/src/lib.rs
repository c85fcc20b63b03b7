//! Real time: the only crate with a clock and with devices of the system.
//!
//! * [`clock`]: the time since a start, as the pure crates count it.
//! * [`tun`]: a TUN device: IP packets from and to the kernel.
//! * [`station`]: a [`lasthop_host::Host`] on a TUN device, so that our TCP speaks to the kernel's.
//! * [`exchange`]: an application on such a host: a stream from a file, a stream to a file.
//! * [`emulation`]: real packets between two TUN devices, over the links of a simulation.
//! * [`namespace`], [`program`]: where the programs live whose packets these are; [`ends`]: with what devices.
//! * [`nat`]: the host's network as the far end of a path.
//! * [`trial`]: streams over an emulation for a given time, carried by the kernel's TCP or by ours.
//! * [`kernel`]: what the kernel knows of its TCP connections.
//! * [`urgency`]: that the kernel wakes us in time.
//! * [`impairment`]: loss, bursts, duplicates, reordering and corruption on the way, from a seed.
//! * [`error`]: what the system refuses, and how to mend that.
//!
//! What is absent: nothing here prints or exits; no offloads (each packet is one the wire could carry).

pub mod clock;
pub mod error;
pub mod exchange;
pub mod impairment;

#[cfg(target_os = "linux")]
pub mod emulation;
#[cfg(target_os = "linux")]
pub mod ends;
#[cfg(target_os = "linux")]
pub mod kernel;
#[cfg(target_os = "linux")]
pub mod namespace;
#[cfg(target_os = "linux")]
pub mod nat;
#[cfg(target_os = "linux")]
pub mod program;
#[cfg(target_os = "linux")]
pub mod station;
#[cfg(target_os = "linux")]
pub mod trial;
#[cfg(target_os = "linux")]
pub mod tun;
#[cfg(target_os = "linux")]
pub mod urgency;

pub use clock::Clock;
pub use error::SystemError;
pub use exchange::Exchange;
pub use impairment::Impairment;

#[cfg(target_os = "linux")]
pub use emulation::Emulation;
#[cfg(target_os = "linux")]
pub use namespace::Namespace;
#[cfg(target_os = "linux")]
pub use program::Program;
#[cfg(target_os = "linux")]
pub use station::Station;
#[cfg(target_os = "linux")]
pub use trial::Trial;
#[cfg(target_os = "linux")]
pub use tun::{Interface, Tun};
