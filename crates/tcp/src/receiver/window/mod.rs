//! How much may come?

mod buffer;

use lasthop_base::{Mechanism, Values};

/// What an advertised window can depend on.
#[derive(Clone, Copy, Debug)]
pub struct WindowInput {
    /// Bytes in order that the application has not read.
    pub unread: u64,
    /// A full segment's payload, bytes.
    pub segment: u64,
}

/// The window that the receiver advertises.
pub trait AdvertisedWindow: Send {
    /// Bytes that may come after the next byte expected. The endpoint never moves the right edge left.
    fn bytes(&mut self, input: &WindowInput) -> u64;

    /// The largest window it will ever ask for, bytes: the window scale is chosen for it.
    fn largest(&self) -> u64;
}

/// How a window is built.
pub type Build = fn(&Values) -> Box<dyn AdvertisedWindow>;

/// All windows.
pub const ALL: &[Mechanism<Build>] = &[buffer::MECHANISM];
