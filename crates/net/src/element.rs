//! Path elements whose decisions depend on what comes later: removal from the middle of a queue, scheduling between
//! classes, link layers that repeat and reorder by themselves.
//!
//! A [`crate::Link`] knows a packet's passage when it joins; an element learns it while time passes. It is told of
//! packets and deadlines, in the order of time, and answers with what is decided by then.
//!
//! No method of [`Element`] has a default, so that an element around another one forwards each ability or does not compile.
//! `lacks!` lists the abilities that an element does not have, `forwards!` those that another element has for it.

use crate::across::Across;
use crate::change::{Change, Fixed, Setting};
use crate::counters::Counters;
use crate::trouble::Trouble;
use lasthop_base::{Duration, Time};
use lasthop_wire::{Backlog, LinkReport, LossReason, Packet};

/// Something decided about a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Output {
    /// It reaches the other side at this time, now or later.
    Arrives {
        /// The packet.
        packet: Packet,
        /// When.
        at: Time,
    },
    /// It is lost.
    Lost {
        /// The packet.
        packet: Packet,
        /// When the receiving side's link layer gives it up, if it does (else now); [`Time::NEVER`] if it does not know.
        at: Time,
        /// Why.
        reason: LossReason,
        /// Whether the packet's header arrived sound all the same.
        readable: bool,
    },
    /// The receiving side's link layer notices a loss of which it did not know.
    GivenUp {
        /// The packet, [`Output::Lost`] before.
        packet: Packet,
        /// When.
        at: Time,
    },
    /// Transmissions of a packet have failed, or will: reported only after [`Element::tell_trouble`].
    Troubled {
        /// The packet, before what the queue may have marked on it or not.
        packet: Packet,
        /// Which transmissions, and when.
        trouble: Trouble,
    },
    /// A packet that has joined is there twice. The copy gets a number of its own, and joins at once
    /// ([`Element::handle_copy`]).
    Copied {
        /// The packet as it came.
        packet: Packet,
    },
    /// The other direction of the same link is told something now.
    Across(Across),
    /// The hosts behind this end of the link are told something now.
    Report(LinkReport),
}

impl Output {
    /// A packet is lost of which nothing arrives.
    pub(crate) fn gone(packet: Packet, at: Time, reason: LossReason) -> Output {
        Output::Lost { packet, at, reason, readable: false }
    }
}

/// One direction of a link, as a state machine in time. Decisions go to `out`, in the order of decision.
pub trait Element: Send {
    /// A packet joins.
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>);

    /// A copy joins that the element has asked for ([`Output::Copied`]).
    fn handle_copy(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>);

    /// A packet joins that neither waits nor takes time to be sent ([`crate::service::Light`]), if the element has such
    /// packets; else the packet joins as any other.
    fn handle_passing(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>);

    /// The deadline has come.
    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>);

    /// When `handle_timeout` wants to be called, [`Time::NEVER`] if at no time.
    fn poll_timeout(&self) -> Time;

    /// The other direction of the same link, or the medium, tells something.
    fn handle_across(&mut self, now: Time, across: Across);

    /// Packets and bytes that wait at `now`.
    fn backlog(&mut self, now: Time) -> Backlog;

    /// Whether the element draws random numbers, so that repetitions may differ.
    fn draws(&self) -> bool;

    /// Counts of a link layer that cuts packets into PDUs (RLC); `None` of any other.
    fn rlc(&self) -> Option<&Counters>;

    /// The average queue by which the admission decides (RED), packets; `None` if the admission has no average.
    fn average(&self) -> Option<f64>;

    /// Has the element report failed transmissions from now on ([`Output::Troubled`]); false if its link layer keeps them
    /// to itself.
    fn tell_trouble(&mut self) -> bool;

    /// Rate, delay and losses that hold now; `None` if the link layer decides by itself what is sent when.
    fn setting(&self) -> Option<Setting>;

    /// Why a change is not possible; `None` if it is.
    fn refuses(&self, change: &Change) -> Option<Fixed>;

    /// Changes what the element does not [refuse](Element::refuses), from now on.
    fn change(&mut self, now: Time, change: &Change, out: &mut Vec<Output>);

    /// Time that a packet that joins at `now` would wait until its first bit is sent, if nothing is changed; `None` if
    /// that cannot be told.
    fn wait(&mut self, now: Time) -> Option<Duration>;
}

/// Implements those methods of [`Element`] whose ability an element does not have.
macro_rules! lacks {
    ($($ability:ident),*) => { $($crate::element::lacks!(@ $ability);)* };
    (@ copies) => {
        fn handle_copy(&mut self, now: lasthop_base::Time, packet: lasthop_wire::Packet, out: &mut Vec<$crate::Output>) {
            self.handle_packet(now, packet, out);
        }
    };
    (@ passing) => {
        fn handle_passing(&mut self, now: lasthop_base::Time, packet: lasthop_wire::Packet, out: &mut Vec<$crate::Output>) {
            self.handle_packet(now, packet, out);
        }
    };
    (@ peer) => {
        fn handle_across(&mut self, _: lasthop_base::Time, _: $crate::across::Across) {}
    };
    (@ pdus) => {
        fn rlc(&self) -> Option<&$crate::counters::Counters> {
            None
        }
    };
    (@ average) => {
        fn average(&self) -> Option<f64> {
            None
        }
    };
    (@ trouble) => {
        fn tell_trouble(&mut self) -> bool {
            false
        }
    };
    (@ settings) => {
        fn setting(&self) -> Option<$crate::Setting> {
            None
        }

        fn refuses(&self, _: &$crate::Change) -> Option<$crate::Fixed> {
            Some($crate::Fixed("its link layer decides by itself what is sent when"))
        }

        fn wait(&mut self, _: lasthop_base::Time) -> Option<lasthop_base::Duration> {
            None
        }
    };
    (@ changes) => {
        fn change(&mut self, _: lasthop_base::Time, _: &$crate::Change, _: &mut Vec<$crate::Output>) {}
    };
}

/// Implements those methods of [`Element`] that a field of this name does for the element around it.
macro_rules! forwards {
    ($inner:ident: $($ability:ident),*) => { $($crate::element::forwards!(@ $inner $ability);)* };
    (@ $inner:ident deadline) => {
        fn poll_timeout(&self) -> lasthop_base::Time {
            self.$inner.poll_timeout()
        }
    };
    (@ $inner:ident backlog) => {
        fn backlog(&mut self, now: lasthop_base::Time) -> lasthop_wire::Backlog {
            self.$inner.backlog(now)
        }
    };
    (@ $inner:ident peer) => {
        fn handle_across(&mut self, now: lasthop_base::Time, across: $crate::across::Across) {
            self.$inner.handle_across(now, across);
        }
    };
    (@ $inner:ident draws) => {
        fn draws(&self) -> bool {
            self.$inner.draws()
        }
    };
    (@ $inner:ident pdus) => {
        fn rlc(&self) -> Option<&$crate::counters::Counters> {
            self.$inner.rlc()
        }
    };
    (@ $inner:ident average) => {
        fn average(&self) -> Option<f64> {
            self.$inner.average()
        }
    };
    (@ $inner:ident trouble) => {
        fn tell_trouble(&mut self) -> bool {
            self.$inner.tell_trouble()
        }
    };
    (@ $inner:ident settings) => {
        fn setting(&self) -> Option<$crate::Setting> {
            self.$inner.setting()
        }

        fn refuses(&self, change: &$crate::Change) -> Option<$crate::Fixed> {
            self.$inner.refuses(change)
        }

        fn wait(&mut self, now: lasthop_base::Time) -> Option<lasthop_base::Duration> {
            self.$inner.wait(now)
        }
    };
    (@ $inner:ident changes) => {
        fn change(&mut self, now: lasthop_base::Time, change: &$crate::Change, out: &mut Vec<$crate::Output>) {
            self.$inner.change(now, change, out);
        }
    };
}

pub(crate) use {forwards, lacks};
