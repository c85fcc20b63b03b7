//! What of a direction may be changed while it runs, and what holds.
//!
//! A link that knows a packet's passage when it joins is changed for those that join from then on.

use super::{Line, Link};
use crate::change::{Change, Fixed, Setting};
use crate::channel;
use crate::element::Output;
use crate::service::Server;
use lasthop_base::{Duration, Rate, Time};

impl Line {
    /// What holds now; `None` if a link layer decides by itself.
    pub fn setting(&self) -> Option<Setting> {
        match self {
            Line::Link(link) => link.setting(),
            Line::Element(element) => element.setting(),
        }
    }

    /// Why a change is not possible; `None` if it is. Only what was made to [change](Line::changing) can lose more
    /// than nothing.
    pub fn refuses(&self, change: &Change) -> Option<Fixed> {
        match self {
            Line::Link(link) => link.refuses(change),
            Line::Element(element) => element.refuses(change),
        }
    }

    /// Changes what it does not [refuse](Line::refuses), from now on. What is decided by it goes to `out`.
    pub fn change(&mut self, now: Time, change: &Change, out: &mut Vec<Output>) {
        match self {
            Line::Link(link) => link.change(change),
            Line::Element(element) => element.change(now, change, out),
        }
    }

    /// Time that a packet that joins at `now` would wait until its first bit is sent, if nothing is changed and that can be
    /// said.
    pub fn wait(&mut self, now: Time) -> Option<Duration> {
        match self {
            Line::Link(link) => Some(link.frees_at.since(now)),
            Line::Element(element) => element.wait(now),
        }
    }
}

impl Link {
    fn setting(&self) -> Option<Setting> {
        let bps = match &self.server {
            Server::Rate { rate, .. } => Some(rate.bps()),
            Server::Plan(_) | Server::Trace(_) => None,
        };
        let loss = self.air.as_ref().map_or(Some(0.0), |(channel, _)| channel.share());
        Some(Setting { bps, delay: self.delay, loss })
    }

    fn refuses(&self, change: &Change) -> Option<Fixed> {
        let by_rate = match (&self.server, change.bps) {
            (_, None) | (Server::Rate { .. }, Some(1..)) => None,
            (Server::Rate { .. }, Some(0)) => Some(Fixed("it cannot stop")),
            (Server::Plan(_), Some(_)) => Some(Fixed("its rate follows a plan")),
            (Server::Trace(_), Some(_)) => Some(Fixed("its rate is recorded")),
        };
        let by_loss = || match &self.air {
            Some((channel, _)) => channel::refuses(&**channel, change),
            None => change.loss.map(|_| Fixed("it was not made to lose packets")),
        };
        by_rate.or_else(by_loss)
    }

    fn change(&mut self, change: &Change) {
        if let (Server::Rate { rate, bytes, .. }, Some(bps)) = (&mut self.server, change.bps) {
            (*rate, *bytes) = (Rate::from_bps(bps), 0);
        }
        if let Some(delay) = change.delay {
            self.delay = delay;
        }
        if let (Some((channel, _)), Some(share)) = (&mut self.air, change.loss) {
            channel.set_share(share);
        }
    }
}
