//! Path elements whose decisions depend on what comes later: removal from the middle of a queue, scheduling between
//! classes, link layers that repeat and reorder by themselves.
//!
//! A [`crate::Link`] knows a packet's passage when it joins; an element learns it while time passes. It is told of
//! packets and deadlines, in the order of time, and answers with what is decided by then.

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
    },
    /// The receiving side's link layer notices a loss of which it did not know.
    GivenUp {
        /// The packet, [`Output::Lost`] before.
        packet: Packet,
        /// When.
        at: Time,
    },
    /// Transmissions of a packet have failed, or will: told only if somebody asks ([`Element::tell_trouble`]).
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

/// One direction of a link, as a state machine in time. What is decided goes to `out`, in the order of decision.
pub trait Element: Send {
    /// A packet joins.
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>);

    /// A copy that it has asked for ([`Output::Copied`]) joins.
    fn handle_copy(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        self.handle_packet(now, packet, out);
    }

    /// A packet joins that need not wait, and takes no time to be sent ([`crate::service::Light`]). Who cannot have that
    /// takes it as any other.
    fn handle_passing(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        self.handle_packet(now, packet, out);
    }

    /// The deadline has come.
    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>);

    /// When `handle_timeout` wants to be called, [`Time::NEVER`] if at no time.
    fn poll_timeout(&self) -> Time;

    /// What waits at `now`.
    fn backlog(&mut self, now: Time) -> Backlog;

    /// The other direction of the same link tells something.
    fn handle_across(&mut self, _now: Time, _across: Across) {}

    /// What it has counted, if it cuts packets into PDUs (RLC).
    fn rlc(&self) -> Option<&Counters> {
        None
    }

    /// The average queue by which its admission decides, if it does, packets.
    fn average(&self) -> Option<f64> {
        None
    }

    /// The link layer's trouble with the packet that joined last, if it knows ([`crate::Link::take_trouble`]).
    fn take_trouble(&mut self) -> Option<Trouble> {
        None
    }

    /// From now on it tells of trouble that it learns of later ([`Output::Troubled`]). Link layers that decide by themselves
    /// what is sent keep theirs to themselves.
    fn tell_trouble(&mut self) {}

    /// Whether it draws random numbers, so that repetitions may differ. Whoever does not has to say so.
    fn draws(&self) -> bool {
        true
    }

    /// What holds now, if that can be said in a few numbers.
    fn setting(&self) -> Option<Setting> {
        None
    }

    /// Why a change is not possible; `None` if it is.
    fn refuses(&self, change: &Change) -> Option<Fixed> {
        let _ = change;
        Some(Fixed("its link layer decides by itself what is sent when"))
    }

    /// Changes what it does not [refuse](Element::refuses), from now on.
    fn change(&mut self, now: Time, change: &Change, out: &mut Vec<Output>) {
        let _ = (now, change, out);
    }

    /// How long a packet that joins at `now` would wait until its first bit is sent, if nothing is changed and that can be
    /// said.
    fn wait(&mut self, now: Time) -> Option<Duration> {
        let _ = now;
        None
    }
}
