//! ECN echo (ECE) of congestion marks.

mod latched;
mod per_packet;

use lasthop_base::{Mechanism, Values};

/// ECN echo, used if both ends have agreed on ECN.
pub trait MarkEcho: Send {
    /// Handles a data segment. `marked`: whether the packet carried CE. Returns whether further ACKs carry ECE.
    fn on_data(&mut self, marked: bool) -> bool;

    /// Handles a segment with CWR. Returns whether further ACKs carry ECE.
    fn on_reduced(&mut self) -> bool;
}

/// Builds an echo.
pub type Build = dyn Fn(&Values) -> Box<dyn MarkEcho> + Send + Sync;

/// All mechanisms.
pub const ALL: &[Mechanism<Build>] = &[latched::MECHANISM, per_packet::MECHANISM];

/// Default mechanism.
pub const DEFAULT: Mechanism<Build> = latched::MECHANISM;
