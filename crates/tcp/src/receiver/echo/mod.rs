//! ECN echo (ECE): how is the sender told of a congestion mark?

mod latched;
mod per_packet;

use lasthop_base::{Mechanism, Values};

/// Decides what ACKs carry, once both sides have agreed on ECN.
pub trait MarkEcho: Send {
    /// Data arrived, with a mark (CE) or without; whether ACKs from here on carry the echo.
    fn on_data(&mut self, marked: bool) -> bool;

    /// The sender says that it has reduced its window (CWR); whether ACKs from here on carry the echo.
    fn on_reduced(&mut self) -> bool;
}

/// How an echo is built.
pub type Build = dyn Fn(&Values) -> Box<dyn MarkEcho> + Send + Sync;

/// All echoes.
pub const ALL: &[Mechanism<Build>] = &[latched::MECHANISM, per_packet::MECHANISM];

/// What holds if nobody says.
pub const DEFAULT: Mechanism<Build> = latched::MECHANISM;
