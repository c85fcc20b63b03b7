//! Link directions that decide whether and when a packet arrives only after the packet has entered. Examples are queues
//! that remove packets from their middle, class scheduling, and link layers that retransmit and reorder.
//!
//! An element handles packets and timeouts in time order. Each call outputs the arrivals and losses that were decided
//! since the previous call.
//!
//! [`Element`] has no default methods, so an element that wraps another element must implement or forward each method.
//! The macro `lacks!` implements methods that an element does not support. The macro `forwards!` forwards methods to
//! the inner element.

use crate::change::{ChangeRefused, LinkChange, LinkSettings};
use crate::counters::RlcCounters;
use crate::discipline::Discipline;
use crate::failures::TransmissionFailures;
use crate::peer_message::PeerMessage;
use lasthop_base::{Duration, Time};
use lasthop_wire::{Backlog, LinkReport, LossReason, Packet};

/// A decision about a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Output {
    /// The packet arrives at the other end of the link, now or later.
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
        /// Time at which the receiver's link layer gives the packet up. If the sender drops the packet, time of the
        /// drop. [`Time::NEVER`] means that the receiver does not notice the loss.
        at: Time,
        /// Reason for the loss.
        reason: LossReason,
        /// Whether the packet's header arrived intact.
        readable: bool,
    },
    /// The receiver's link layer notices a loss that was output earlier.
    LossNoticed {
        /// The packet, output as [`Output::Lost`] earlier.
        packet: Packet,
        /// Time at which the receiver's link layer notices the loss.
        at: Time,
    },
    /// Failed link-layer transmissions of a packet. The transmissions may end after the time of the call. Output only
    /// after a call of [`Element::report_failures`].
    TransmissionFailed {
        /// The packet, possibly without the ECN mark that this link's queue sets.
        packet: Packet,
        /// The failed transmissions.
        failures: TransmissionFailures,
    },
    /// A packet is duplicated. The engine gives the copy a number, and calls [`Element::handle_copy`] at once.
    Duplicate {
        /// The packet, as it entered the link.
        packet: Packet,
    },
    /// A message to the opposite direction of the link, or to the shared medium.
    ToPeer(PeerMessage),
    /// A report of the link layer to the hosts at the receiving end of this direction.
    Report(LinkReport),
}

impl Output {
    /// Returns the output for a lost packet whose header does not arrive intact.
    pub(crate) fn lost(packet: Packet, at: Time, reason: LossReason) -> Output {
        Output::Lost { packet, at, reason, readable: false }
    }
}

/// One direction of a link as a state machine. Methods append decisions to `out` in order.
pub trait Element: Send {
    /// Handles a packet that enters this direction.
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>);

    /// Handles a copy requested by [`Output::Duplicate`].
    fn handle_copy(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>);

    /// Handles a packet that bypasses queue and service ([`crate::service::Light`]). An element without bypass handles
    /// the packet as any other packet.
    fn handle_bypass(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>);

    /// Handles the expiry of the deadline that [`Element::poll_timeout`] returned.
    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>);

    /// Returns the time at which `handle_timeout` is due, or [`Time::NEVER`].
    fn poll_timeout(&self) -> Time;

    /// Handles a message from the opposite direction of the link, or from the medium.
    fn handle_peer_message(&mut self, now: Time, message: PeerMessage);

    /// Returns the backlog: the packets and bytes that wait at `now`.
    fn backlog(&mut self, now: Time) -> Backlog;

    /// Whether the element draws random numbers, so that repetitions may differ.
    fn draws(&self) -> bool;

    /// Counters of a link layer with PDUs (RLC), else `None`.
    fn rlc(&self) -> Option<&RlcCounters>;

    /// Average queue length in packets, as RED computes it; `None` if the element computes no average.
    fn average(&self) -> Option<f64>;

    /// Requests reports of failed transmissions ([`Output::TransmissionFailed`]). Returns false if the link layer
    /// cannot report failures.
    fn report_failures(&mut self) -> bool;

    /// Current rate, delay and losses; `None` if the element is no link direction.
    fn settings(&self) -> Option<LinkSettings>;

    /// Returns the reason why a change is impossible, or `None` if the change is possible.
    fn refusal(&self, change: &LinkChange) -> Option<ChangeRefused>;

    /// Applies a change that [`Element::refusal`] allows.
    fn change(&mut self, now: Time, change: &LinkChange, out: &mut Vec<Output>);

    /// Returns the reason why the queue cannot be replaced, or `None` if the queue can be replaced.
    fn queue_refusal(&self) -> Option<ChangeRefused>;

    /// Replaces the queue, if [`Element::queue_refusal`] allows the change. The packets that wait enter the new queue at
    /// `now`, in the order in which the old queue would have sent them. Packets that the new queue drops are lost.
    fn set_queue(&mut self, now: Time, queue: Discipline, out: &mut Vec<Output>);

    /// Time from `now` until the first bit of a packet that enters at `now` would be sent, at the current settings.
    /// `None` if this time is unknown.
    fn queueing_delay(&mut self, now: Time) -> Option<Duration>;
}

/// Implements [`Element`] methods for abilities that the element lacks. Each word, such as `peer`, selects one or more
/// methods.
macro_rules! lacks {
    ($($ability:ident),*) => { $($crate::element::lacks!(@ $ability);)* };
    (@ copies) => {
        fn handle_copy(&mut self, now: lasthop_base::Time, packet: lasthop_wire::Packet, out: &mut Vec<$crate::Output>) {
            self.handle_packet(now, packet, out);
        }
    };
    (@ bypass) => {
        fn handle_bypass(&mut self, now: lasthop_base::Time, packet: lasthop_wire::Packet, out: &mut Vec<$crate::Output>) {
            self.handle_packet(now, packet, out);
        }
    };
    (@ peer) => {
        fn handle_peer_message(&mut self, _: lasthop_base::Time, _: $crate::peer_message::PeerMessage) {}
    };
    (@ pdus) => {
        fn rlc(&self) -> Option<&$crate::counters::RlcCounters> {
            None
        }
    };
    (@ average) => {
        fn average(&self) -> Option<f64> {
            None
        }
    };
    (@ failures) => {
        fn report_failures(&mut self) -> bool {
            false
        }
    };
    (@ settings) => {
        fn settings(&self) -> Option<$crate::LinkSettings> {
            None
        }

        fn refusal(&self, _: &$crate::LinkChange) -> Option<$crate::ChangeRefused> {
            Some($crate::ChangeRefused("it is no link: change the directions of a link"))
        }

        fn queue_refusal(&self) -> Option<$crate::ChangeRefused> {
            Some($crate::ChangeRefused("it is no link: change the queues of a link"))
        }

        fn queueing_delay(&mut self, _: lasthop_base::Time) -> Option<lasthop_base::Duration> {
            None
        }
    };
    (@ changes) => {
        fn change(&mut self, _: lasthop_base::Time, _: &$crate::LinkChange, _: &mut Vec<$crate::Output>) {}

        fn set_queue(
            &mut self,
            _: lasthop_base::Time,
            _: $crate::discipline::Discipline,
            _: &mut Vec<$crate::Output>,
        ) {
        }
    };
}

/// Forwards [`Element`] methods to the field `inner`. Each word, such as `peer`, selects one or more methods.
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
        fn handle_peer_message(&mut self, now: lasthop_base::Time, message: $crate::peer_message::PeerMessage) {
            self.$inner.handle_peer_message(now, message);
        }
    };
    (@ $inner:ident draws) => {
        fn draws(&self) -> bool {
            self.$inner.draws()
        }
    };
    (@ $inner:ident pdus) => {
        fn rlc(&self) -> Option<&$crate::counters::RlcCounters> {
            self.$inner.rlc()
        }
    };
    (@ $inner:ident average) => {
        fn average(&self) -> Option<f64> {
            self.$inner.average()
        }
    };
    (@ $inner:ident failures) => {
        fn report_failures(&mut self) -> bool {
            self.$inner.report_failures()
        }
    };
    (@ $inner:ident settings) => {
        fn settings(&self) -> Option<$crate::LinkSettings> {
            self.$inner.settings()
        }

        fn refusal(&self, change: &$crate::LinkChange) -> Option<$crate::ChangeRefused> {
            self.$inner.refusal(change)
        }

        fn queue_refusal(&self) -> Option<$crate::ChangeRefused> {
            self.$inner.queue_refusal()
        }

        fn queueing_delay(&mut self, now: lasthop_base::Time) -> Option<lasthop_base::Duration> {
            self.$inner.queueing_delay(now)
        }
    };
}

pub(crate) use {forwards, lacks};
