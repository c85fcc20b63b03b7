//! Errors of socket calls.

use std::fmt;

/// An error of a socket call. Each error has the meaning of its POSIX name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error {
    /// `EAGAIN`: the call would block; [`crate::Host::readiness`] reports which calls would not block.
    WouldBlock,
    /// `EBADF`: the handle is closed or invalid.
    BadHandle,
    /// `EINVAL`: this kind of socket does not support the call, or an option is out of range.
    Invalid,
    /// `ENOTCONN`: the connection is not open yet, or has ended.
    NotConnected,
    /// `EPIPE`: this side has shut down sending, or the connection has ended.
    BrokenPipe,
    /// `ECONNREFUSED`: the peer reset the connection attempt, or an ICMP error reported that the port or TCP is
    /// unreachable.
    ConnectionRefused,
    /// `ECONNRESET`: the peer reset the connection.
    ConnectionReset,
    /// `ECONNABORTED`: this side aborted the connection.
    ConnectionAborted,
    /// `ETIMEDOUT`: the peer did not answer in time.
    TimedOut,
    /// `EADDRINUSE`: another socket uses this address and port, or no port is free.
    AddressInUse,
    /// `EADDRNOTAVAIL`: the address does not belong to this host.
    AddressNotAvailable,
    /// `ENETUNREACH`: this host has no address of the destination's family, or a router reports the network as
    /// unreachable or prohibited.
    NetworkUnreachable,
    /// `EHOSTUNREACH`: a router reports the host as unreachable or prohibited.
    HostUnreachable,
    /// `EPROTO`: a router or the peer reports by ICMP that the header of a packet has an error.
    Protocol,
}

impl Error {
    /// Returns the POSIX name of the error, as in `errno.h`.
    pub const fn posix(self) -> &'static str {
        match self {
            Error::WouldBlock => "EAGAIN",
            Error::BadHandle => "EBADF",
            Error::Invalid => "EINVAL",
            Error::NotConnected => "ENOTCONN",
            Error::BrokenPipe => "EPIPE",
            Error::ConnectionRefused => "ECONNREFUSED",
            Error::ConnectionReset => "ECONNRESET",
            Error::ConnectionAborted => "ECONNABORTED",
            Error::TimedOut => "ETIMEDOUT",
            Error::AddressInUse => "EADDRINUSE",
            Error::AddressNotAvailable => "EADDRNOTAVAIL",
            Error::NetworkUnreachable => "ENETUNREACH",
            Error::HostUnreachable => "EHOSTUNREACH",
            Error::Protocol => "EPROTO",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::WouldBlock => "operation would block",
            Error::BadHandle => "no such socket",
            Error::Invalid => "not possible with this socket",
            Error::NotConnected => "not connected",
            Error::BrokenPipe => "sending is shut down",
            Error::ConnectionRefused => "connection refused",
            Error::ConnectionReset => "connection reset by the peer",
            Error::ConnectionAborted => "connection aborted",
            Error::TimedOut => "the peer did not answer in time",
            Error::AddressInUse => "address and port are in use",
            Error::AddressNotAvailable => "not an address of this host",
            Error::NetworkUnreachable => "network unreachable",
            Error::HostUnreachable => "host unreachable",
            Error::Protocol => "a router or the peer reported a wrong packet header",
        })?;
        write!(f, " ({})", self.posix())
    }
}

impl std::error::Error for Error {}
