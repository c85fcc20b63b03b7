//! Run-time changes of a direction. On a link that decides fates at joining, changes affect later packets only.

use super::{Line, Link};
use crate::change::{Change, Fixed, Setting};
use crate::channel;
use crate::element::Output;
use crate::service::Server;
use lasthop_base::{Duration, Rate, Time};

impl Line {
    /// Current settings; `None` if the link layer schedules transmissions itself.
    pub fn setting(&self) -> Option<Setting> {
        match self {
            Line::Link(link) => link.setting(),
            Line::Element(element) => element.setting(),
        }
    }

    /// Why a change is impossible, else `None`. Losses need a channel with losses or a direction made to
    /// [change](Line::changing).
    pub fn refuses(&self, change: &Change) -> Option<Fixed> {
        match self {
            Line::Link(link) => link.refuses(change),
            Line::Element(element) => element.refuses(change),
        }
    }

    /// Applies a change that [`Line::refuses`] allows. Decisions go to `out`.
    pub fn change(&mut self, now: Time, change: &Change, out: &mut Vec<Output>) {
        match self {
            Line::Link(link) => link.change(change),
            Line::Element(element) => element.change(now, change, out),
        }
    }

    /// Time from joining at `now` to the first bit sent, if nothing changes; `None` if unknown.
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
            (Server::Rate { .. }, Some(0)) => Some(Fixed("its rate cannot be 0")),
            (Server::Plan(_), Some(_)) => Some(Fixed("its rate follows a plan")),
            (Server::Trace(_), Some(_)) => Some(Fixed("its rate is recorded")),
        };
        let by_loss = || match &self.air {
            Some((channel, _)) => channel::refuses(&**channel, change),
            None => change.loss.map(|_| Fixed("it was created without a lossy channel")),
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
