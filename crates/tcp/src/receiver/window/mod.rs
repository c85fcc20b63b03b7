//! The advertised window (rwnd): how much may come?

mod autotuned;
mod buffer;
mod dynamic;
mod freeze;
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

/// What the link of this host is going to do, by plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Foreseen {
    /// When it is told.
    pub now: Time,
    /// Its rate from now on.
    pub rate: Rate,
    /// Until then.
    pub until: Time,
    /// What it is from then on.
    pub next: Rate,
}

/// What a window that foresees decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    /// Whether zero is advertised, whatever room there is. What comes is taken all the same.
    pub closed: bool,
    /// ACKs that tell of it at once.
    pub acks: u32,
    /// When it wants to be asked again, [`Time::NEVER`] if at no time.
    pub again: Time,
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

    /// Whether it wants to be told the plan of this host's link, if there is one.
    fn foresees(&self) -> bool {
        false
    }

    /// The rate of this host's link has changed by plan (or the run begins): what comes next is known.
    fn on_plan(&mut self, plan: &Foreseen) -> Turn {
        let _ = plan;
        Turn { closed: false, acks: 0, again: Time::NEVER }
    }

    /// The time has come that it asked for.
    fn on_turn(&mut self, now: Time) -> Turn {
        let _ = now;
        Turn { closed: false, acks: 0, again: Time::NEVER }
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
    &[buffer::MECHANISM, link_rate::MECHANISM, dynamic::MECHANISM, autotuned::MECHANISM, freeze::MECHANISM];

/// What holds if nobody says.
pub const DEFAULT: Mechanism<Build> = buffer::MECHANISM;
