//! External packets: real traffic that enters and leaves the simulation.

use crate::pipe::PipeId;
use lasthop_base::Time;
use lasthop_wire::{Body, Ecn, LossReason, Priority};

/// An external packet that enters the simulation.
#[derive(Clone, Copy, Debug)]
pub struct ExternalPacket {
    /// Size in bytes that links charge for the packet. The size determines the transmission time.
    pub wire_bytes: u32,
    /// Direction: true from source to destination.
    pub forward: bool,
    /// ECN field.
    pub ecn: Ecn,
    /// Priority.
    pub priority: Priority,
    /// Content.
    pub body: Body,
}

/// An external packet that has arrived or was lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Departure {
    /// Number returned by [`crate::Engine::inject`].
    pub number: u64,
    /// Direction: true from source to destination.
    pub forward: bool,
    /// Simulated time of the arrival or loss.
    pub at: Time,
    /// ECN field of the packet when it left the simulation.
    pub ecn: Ecn,
    /// Whether a link has damaged the packet.
    pub damaged: bool,
    /// Pipe and reason for the loss, if the packet was lost.
    pub lost: Option<(PipeId, LossReason)>,
}

/// A link's copy of an external packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExternalCopy {
    /// Number of the copy.
    pub number: u64,
    /// Number of the original packet.
    pub original: u64,
    /// Direction: true from source to destination.
    pub forward: bool,
}
