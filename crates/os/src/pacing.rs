//! Pacing by the kernel's TCP.

use nix::sys::socket::setsockopt;
use nix::{libc, setsockopt_impl, sockopt_impl};
use std::os::fd::AsFd;

sockopt_impl!(
    /// Largest pacing rate of a socket, bytes/s (socket(7), SO_MAX_PACING_RATE).
    MaxPacingRate,
    SetOnly,
    libc::SOL_SOCKET,
    libc::SO_MAX_PACING_RATE,
    u64
);

/// Makes the kernel's TCP pace this socket at the rate that TCP computes, also without the queueing discipline `fq`.
///
/// # Errors
/// Fails if the kernel refuses the socket option.
pub fn pace(socket: &impl AsFd) -> std::io::Result<()> {
    // The limit has no effect on the rate; setting any limit turns pacing on (net/core/sock.c).
    Ok(setsockopt(socket, MaxPacingRate, &(1 << 40))?)
}
