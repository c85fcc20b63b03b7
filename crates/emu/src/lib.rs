//! Real time: the same engine and the same endpoints on the wall clock, with real packets.
//!
//! * [`station`]: a [`lasthop_host::Host`] on a TUN device, so that our TCP speaks to the kernel's.
//! * [`exchange`]: an application on such a host: a stream from a file, a stream to a file.
//! * [`emulation`]: real packets between two TUN devices, over the links of a simulation.
//! * [`trial`]: streams over an emulation for a given time, carried by the kernel's TCP or by ours.
//! * [`kernel`]: what the kernel knows of its TCP connections.
//! * [`census`]: which congestion control each of them has used.
//! * [`impairment`]: loss, bursts, duplicates, reordering and corruption on the way, from a seed.
//!
//! Namespaces, devices, programs and the clock itself are in `lasthop-os`.
//!
//! What is absent: nothing here prints or exits; no offloads (each packet is one the wire could carry).

pub mod exchange;
pub mod impairment;

#[cfg(target_os = "linux")]
pub mod census;
#[cfg(target_os = "linux")]
pub mod emulation;
#[cfg(target_os = "linux")]
pub mod kernel;
#[cfg(target_os = "linux")]
pub mod station;
#[cfg(target_os = "linux")]
pub mod trial;

pub use exchange::Exchange;
pub use impairment::Impairment;

#[cfg(target_os = "linux")]
pub use emulation::Emulation;
#[cfg(target_os = "linux")]
pub use station::Station;
#[cfg(target_os = "linux")]
pub use trial::Trial;
