//! Advertised window (rwnd) of a receiver.

mod autotuned;
mod buffer;
mod dynamic;
mod freeze;
mod link_rate;

use lasthop_base::{Duration, Mechanism, Rate, Time, Values};

/// Inputs of an advertised window.
#[derive(Clone, Copy, Debug)]
pub struct WindowInput {
    /// In-order bytes that the application has not read.
    pub unread: u64,
    /// Payload of a full segment, bytes.
    pub segment: u64,
}

/// Information about the path from an arrived segment.
#[derive(Clone, Copy, Debug)]
pub struct PathSample {
    /// Time of arrival.
    pub now: Time,
    /// Payload, bytes. Duplicate data is included, because the path has carried the duplicates, too.
    pub bytes: u64,
    /// Round-trip time measured by the timestamp echo or the handshake.
    pub rtt: Option<Duration>,
    /// In-order bytes that the application has read since the start of the connection.
    pub read: u64,
    /// Payload of a full segment, bytes.
    pub segment: u64,
}

/// Planned rate change of this host's link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkPlan {
    /// Time of the report about the plan.
    pub now: Time,
    /// Current rate.
    pub rate: Rate,
    /// Time of the next rate change.
    pub until: Time,
    /// Rate after the next rate change.
    pub next: Rate,
}

/// Decision of a window mechanism that uses planned rate changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WindowDecision {
    /// Whether to advertise zero regardless of free space. Arriving data is still accepted.
    pub closed: bool,
    /// Number of ACKs to send at once with the new window.
    pub acks: u32,
    /// Time of the next call of [`AdvertisedWindow::on_decision_time`]; [`Time::NEVER`] means no call.
    pub next: Time,
}

/// Mechanism that computes the window that the receiver advertises.
pub trait AdvertisedWindow: Send {
    /// Returns the window, bytes, counted from the next byte expected. The right edge moves left only if
    /// [`AdvertisedWindow::shrinks`] returns true.
    fn bytes(&mut self, input: &WindowInput) -> u64;

    /// Size of the receive buffer, bytes, if the window is the free part of a constant buffer; otherwise `None`.
    fn buffer(&self) -> Option<u64> {
        None
    }

    /// Largest window that the mechanism ever returns, bytes; this value determines the window scale.
    fn largest(&self) -> u64;

    /// Handles a rate reported by this host's link layer.
    fn on_link_rate(&mut self, rate: Rate) {
        let _ = rate;
    }

    /// Handles an arrival. Called only if [`AdvertisedWindow::needs_arrivals`] returns true.
    fn on_arrival(&mut self, arrived: &PathSample) {
        let _ = arrived;
    }

    /// Whether the mechanism needs each arrival.
    fn needs_arrivals(&self) -> bool {
        false
    }

    /// Whether the last arrival has opened the window further.
    fn is_growing(&self) -> bool {
        false
    }

    /// Whether the mechanism uses planned rate changes of this host's link.
    fn uses_link_plan(&self) -> bool {
        false
    }

    /// Handles a planned rate change, or the plan at the start of a run.
    fn on_plan(&mut self, plan: &LinkPlan) -> WindowDecision {
        let _ = plan;
        WindowDecision { closed: false, acks: 0, next: Time::NEVER }
    }

    /// Makes a new decision at the time that [`WindowDecision::next`] requested.
    fn on_decision_time(&mut self, now: Time) -> WindowDecision {
        let _ = now;
        WindowDecision { closed: false, acks: 0, next: Time::NEVER }
    }

    /// Whether the right edge may move left (RFC 9293 §3.8.6 advises against it).
    fn shrinks(&self) -> bool {
        false
    }
}

/// Builds a window.
pub type Build = dyn Fn(&Values) -> Box<dyn AdvertisedWindow> + Send + Sync;

/// All mechanisms.
pub const ALL: &[Mechanism<Build>] =
    &[buffer::MECHANISM, link_rate::MECHANISM, dynamic::MECHANISM, autotuned::MECHANISM, freeze::MECHANISM];

/// Default mechanism.
pub const DEFAULT: Mechanism<Build> = buffer::MECHANISM;
