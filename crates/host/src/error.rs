//! What a socket answers when it cannot do what it was asked.

use std::fmt;

/// An error, as POSIX names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error {
    /// `EAGAIN`: not now; [`crate::Host::readiness`] says when.
    WouldBlock,
    /// `EBADF`: the handle was closed, or never was one.
    BadHandle,
    /// `EINVAL`: not what this kind of socket does, or an option out of range.
    Invalid,
    /// `ENOTCONN`: the connection is not open yet.
    NotConnected,
    /// `EPIPE`: this side has shut down its sending half, or the connection has ended.
    BrokenPipe,
    /// `ECONNREFUSED`: the peer answered the SYN with a reset, or said that it has no such port, or no TCP.
    ConnectionRefused,
    /// `ECONNRESET`: the peer reset the connection.
    ConnectionReset,
    /// `ECONNABORTED`: this side gave the connection up.
    ConnectionAborted,
    /// `ETIMEDOUT`: the peer did not answer for too long.
    TimedOut,
    /// `EADDRINUSE`: another socket has this address and port, or there is no free port.
    AddressInUse,
    /// `EADDRNOTAVAIL`: not an address of this host.
    AddressNotAvailable,
    /// `ENETUNREACH`: this host has no address of the destination's family, or a router says that it knows no way to
    /// the network, or lets nothing through to it.
    NetworkUnreachable,
    /// `EHOSTUNREACH`: a router says that the host cannot be reached, or lets nothing through to it.
    HostUnreachable,
    /// `EPROTO`: a router, or the peer, says that something is wrong with a packet's header.
    Protocol,
}

impl Error {
    /// The name in POSIX's `errno.h`.
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
            Error::WouldBlock => "it would have to wait",
            Error::BadHandle => "no such socket",
            Error::Invalid => "not possible with this socket",
            Error::NotConnected => "not connected",
            Error::BrokenPipe => "nothing more can be sent",
            Error::ConnectionRefused => "connection refused",
            Error::ConnectionReset => "connection reset by the peer",
            Error::ConnectionAborted => "connection aborted",
            Error::TimedOut => "the peer did not answer in time",
            Error::AddressInUse => "address and port are in use",
            Error::AddressNotAvailable => "not an address of this host",
            Error::NetworkUnreachable => "no way to this network",
            Error::HostUnreachable => "no way to this host",
            Error::Protocol => "a packet's header was found wrong on the way",
        })?;
        write!(f, " ({})", self.posix())
    }
}

impl std::error::Error for Error {}
