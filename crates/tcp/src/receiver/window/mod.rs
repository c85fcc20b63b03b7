//! The advertised window (rwnd): how much may come?

mod autotuned;
mod buffer;
mod dynamic;
mod link_rate;

use lasthop_base::{Duration, Mechanism, Rate, Time, Values};

/// What an advertised window can depend on.
#[derive(Clone, Copy, Debug)]
pub struct WindowInput {
    /// Bytes in order that the application has not read.
    pub unread: u64,
    /// A full segment's payload, bytes.
    pub segment: u64,
}

/// A sample of the path: a segment has arrived, as a window sees it.
#[derive(Clone, Copy, Debug)]
pub struct PathSample {
    /// When.
    pub now: Time,
    /// Its payload, bytes: also of one that had arrived before, because the path carried it.
    pub bytes: u64,
    /// The round trip that its timestamp's echo, or the handshake, measures.
    pub rtt: Option<Duration>,
    /// Bytes in order that the application has read, from the connection's start.
    pub read: u64,
    /// A full segment's payload, bytes.
    pub segment: u64,
}

/// The window that the receiver advertises.
pub trait AdvertisedWindow: Send {
    /// Bytes that may come after the next byte expected. The endpoint moves the right edge left only if it `shrinks`.
    fn bytes(&mut self, input: &WindowInput) -> u64;

    /// The size of the buffer, bytes, if the window is what is free in one of constant size, so that it need not be asked.
    fn buffer(&self) -> Option<u64> {
        None
    }

    /// The largest window it will ever ask for, bytes: the window scale is chosen for it.
    fn largest(&self) -> u64;

    /// The link layer of this host tells its rate.
    fn on_link_rate(&mut self, rate: Rate) {
        let _ = rate;
    }

    /// A segment arrived; told only to those who [need](AdvertisedWindow::needs_arrivals) it.
    fn on_arrival(&mut self, arrived: &PathSample) {
        let _ = arrived;
    }

    /// Whether it wants to be told each arrival.
    fn needs_arrivals(&self) -> bool {
        false
    }

    /// Whether the arrival told last has let it open further.
    fn is_growing(&self) -> bool {
        false
    }

    /// Whether the right edge may move left (RFC 9293 §3.8.6 advises against it).
    fn shrinks(&self) -> bool {
        false
    }
}

/// How a window is built.
pub type Build = dyn Fn(&Values) -> Box<dyn AdvertisedWindow> + Send + Sync;

/// All windows.
pub const ALL: &[Mechanism<Build>] =
    &[buffer::MECHANISM, link_rate::MECHANISM, dynamic::MECHANISM, autotuned::MECHANISM];

/// What holds if nobody says.
pub const DEFAULT: Mechanism<Build> = buffer::MECHANISM;
