//! External packets: real traffic on its way through, which neither end of the run has made.

use crate::pipe::PipeId;
use lasthop_base::Time;
use lasthop_wire::{Body, Ecn, LossReason, Priority};

/// An external packet at the beginning of its way.
#[derive(Clone, Copy, Debug)]
pub struct Entering {
    /// What links charge, bytes.
    pub wire_bytes: u32,
    /// Whether it takes the flow's way there, or back.
    pub forward: bool,
    /// ECN field.
    pub ecn: Ecn,
    /// Priority.
    pub priority: Priority,
    /// What it carries.
    pub body: Body,
}

/// An external packet at the end of its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Left {
    /// What [`crate::Engine::inject`] called it.
    pub number: u64,
    /// Whether it took the flow's way there, or back.
    pub forward: bool,
    /// When it arrived, or was lost: computed, whenever the engine is asked.
    pub at: Time,
    /// Its ECN field now.
    pub ecn: Ecn,
    /// Whether a bit of it is to be wrong.
    pub damaged: bool,
    /// Where and why it was lost, if it was.
    pub lost: Option<(PipeId, LossReason)>,
}

/// A link has made two of an external packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Copied {
    /// What the copy is called when it leaves.
    pub number: u64,
    /// The packet of which it is a copy.
    pub of: u64,
    /// Whether it takes the flow's way there, or back.
    pub forward: bool,
}
