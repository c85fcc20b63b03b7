//! How much may come?

mod buffer;
mod link_rate;

use lasthop_base::{Mechanism, Rate, Values};

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
    /// Bytes that may come after the next byte expected. The endpoint moves the right edge left only if it `shrinks`.
    fn bytes(&mut self, input: &WindowInput) -> u64;

    /// The largest window it will ever ask for, bytes: the window scale is chosen for it.
    fn largest(&self) -> u64;

    /// The link layer of this host tells its rate.
    fn on_link_rate(&mut self, rate: Rate) {
        let _ = rate;
    }

    /// Whether the right edge may move left (RFC 9293 §3.8.6 advises against it).
    fn shrinks(&self) -> bool {
        false
    }
}

/// How a window is built.
pub type Build = fn(&Values) -> Box<dyn AdvertisedWindow>;

/// All windows.
pub const ALL: &[Mechanism<Build>] = &[buffer::MECHANISM, link_rate::MECHANISM];
