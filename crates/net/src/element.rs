//! Path elements whose decisions depend on later events: removal from the middle of a queue, class scheduling, link
//! layers that retransmit and reorder.
//!
//! An element receives packets and timeouts in time order, and outputs the fates decided so far.
//!
//! [`Element`] has no default methods: an element that wraps another must forward each ability, or it does not compile.
//! `lacks!` implements missing abilities; `forwards!` forwards abilities of the inner element.

use crate::across::Across;
use crate::change::{Change, Fixed, Setting};
use crate::counters::Counters;
use crate::trouble::Trouble;
use lasthop_base::{Duration, Time};
use lasthop_wire::{Backlog, LinkReport, LossReason, Packet};

/// A decision about a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Output {
    /// The packet arrives at the other end, now or later.
    Arrives {
        /// The packet.
        packet: Packet,
        /// Time of arrival.
        at: Time,
    },
    /// The packet is lost.
    Lost {
        /// The packet.
        packet: Packet,
        /// When the receiver's link layer gives the packet up, else now; [`Time::NEVER`]: the receiver does not notice.
        at: Time,
        /// Reason of the loss.
        reason: LossReason,
        /// Whether the packet's header arrived intact.
        readable: bool,
    },
    /// The receiver's link layer notices a loss later than the loss itself.
    GivenUp {
        /// The packet, output as [`Output::Lost`] earlier.
        packet: Packet,
        /// Time of notice.
        at: Time,
    },
    /// Failed transmissions of a packet, past or future; only after [`Element::tell_trouble`].
    Troubled {
        /// The packet, with or without the queue's mark.
        packet: Packet,
        /// The failed transmissions.
        trouble: Trouble,
    },
    /// A packet is duplicated. The engine numbers the copy, which joins at once ([`Element::handle_copy`]).
    Copied {
        /// The packet as it joined.
        packet: Packet,
    },
    /// A message to the other direction of the link, or to the medium.
    Across(Across),
    /// A report to the hosts behind this end of the link.
    Report(LinkReport),
}

impl Output {
    /// A loss of which nothing arrives.
    pub(crate) fn gone(packet: Packet, at: Time, reason: LossReason) -> Output {
        Output::Lost { packet, at, reason, readable: false }
    }
}

/// One direction of a link as a state machine. Decisions go to `out` in order.
pub trait Element: Send {
    /// Handles a packet that joins.
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>);

    /// Handles a copy requested by [`Output::Copied`].
    fn handle_copy(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>);

    /// Handles a packet that bypasses queue and service ([`crate::service::Light`]), or an ordinary packet if the
    /// element has no bypass.
    fn handle_passing(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>);

    /// Handles the expired deadline.
    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>);

    /// Returns the deadline of `handle_timeout`, or [`Time::NEVER`].
    fn poll_timeout(&self) -> Time;

    /// Handles a message of the link's other direction, or of the medium.
    fn handle_across(&mut self, now: Time, across: Across);

    /// Returns the packets and bytes that wait at `now`.
    fn backlog(&mut self, now: Time) -> Backlog;

    /// Whether the element draws random numbers, so that repetitions may differ.
    fn draws(&self) -> bool;

    /// Counters of a link layer with PDUs (RLC), else `None`.
    fn rlc(&self) -> Option<&Counters>;

    /// Average queue of the admission (RED), packets; `None` without average.
    fn average(&self) -> Option<f64>;

    /// Requests reports of failed transmissions ([`Output::Troubled`]); false if the link layer reports none.
    fn tell_trouble(&mut self) -> bool;

    /// Current rate, delay and losses; `None` if the link layer schedules transmissions itself.
    fn setting(&self) -> Option<Setting>;

    /// Why a change is impossible, else `None`.
    fn refuses(&self, change: &Change) -> Option<Fixed>;

    /// Applies a change that [`Element::refuses`] allows.
    fn change(&mut self, now: Time, change: &Change, out: &mut Vec<Output>);

    /// Time from joining at `now` to the first bit sent, if nothing changes; `None` if unknown.
    fn wait(&mut self, now: Time) -> Option<Duration>;
}

/// Implements methods of [`Element`] for abilities that the element lacks.
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
            Some($crate::Fixed("its link layer schedules transmissions itself"))
        }

        fn wait(&mut self, _: lasthop_base::Time) -> Option<lasthop_base::Duration> {
            None
        }
    };
    (@ changes) => {
        fn change(&mut self, _: lasthop_base::Time, _: &$crate::Change, _: &mut Vec<$crate::Output>) {}
    };
}

/// Forwards methods of [`Element`] to the field `inner`.
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
