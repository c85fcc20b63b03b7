//! Runs the simulator's engine and endpoints in real time, with real packets.
//!
//! Namespaces, devices, programs and the clock are in `lasthop-os`. This crate never prints and never exits. Offloads
//! are not modelled: no packet exceeds the MTU.

pub mod exchange;
pub mod impairment;

#[cfg(target_os = "linux")]
pub mod census;
#[cfg(target_os = "linux")]
pub mod emulation;
#[cfg(target_os = "linux")]
pub mod kernel;
#[cfg(target_os = "linux")]
pub mod trial;
#[cfg(target_os = "linux")]
pub mod tun_host;

pub use exchange::Exchange;
pub use impairment::Impairment;

#[cfg(target_os = "linux")]
pub use emulation::Emulation;
#[cfg(target_os = "linux")]
pub use trial::Trial;
#[cfg(target_os = "linux")]
pub use tun_host::TunHost;
