//! Run-time changes of a direction's settings. A [`Link`] determines a packet's arrival or loss when the packet enters,
//! so a change affects only packets that enter later.

use super::{Link, LinkDirection};
use crate::change::{ChangeRefused, LinkChange, LinkSettings};
use crate::channel;
use crate::element::Output;
use crate::service::Server;
use lasthop_base::{Duration, Rate, Time};

impl LinkDirection {
    /// Current settings; `None` if the link layer schedules transmissions itself.
    pub fn settings(&self) -> Option<LinkSettings> {
        match self {
            LinkDirection::Link(link) => link.settings(),
            LinkDirection::Element(element) => element.settings(),
        }
    }

    /// Returns the reason why a change is impossible, or `None` if the change is possible. The loss probability can
    /// change if the channel has a constant loss probability, or if the direction was built with
    /// [`LinkDirection::adjustable`].
    pub fn refusal(&self, change: &LinkChange) -> Option<ChangeRefused> {
        match self {
            LinkDirection::Link(link) => link.refusal(change),
            LinkDirection::Element(element) => element.refusal(change),
        }
    }

    /// Applies a change that [`LinkDirection::refusal`] allows. Appends the resulting arrivals and losses to `out`.
    pub fn change(&mut self, now: Time, change: &LinkChange, out: &mut Vec<Output>) {
        match self {
            LinkDirection::Link(link) => link.change(change),
            LinkDirection::Element(element) => element.change(now, change, out),
        }
    }

    /// Time from `now` until the first bit of a packet that enters at `now` would be sent, at the current settings.
    /// `None` if this time is unknown.
    pub fn queueing_delay(&mut self, now: Time) -> Option<Duration> {
        match self {
            LinkDirection::Link(link) => Some(link.frees_at.since(now)),
            LinkDirection::Element(element) => element.queueing_delay(now),
        }
    }
}

impl Link {
    fn settings(&self) -> Option<LinkSettings> {
        let bps = match &self.server {
            Server::Rate { rate, .. } => Some(rate.bps()),
            Server::Plan(_) | Server::Trace(_) => None,
        };
        let loss = self.lossy_path.as_ref().map_or(Some(0.0), |(channel, _)| channel.loss_probability());
        Some(LinkSettings { bps, delay: self.delay, loss })
    }

    fn refusal(&self, change: &LinkChange) -> Option<ChangeRefused> {
        let by_rate = match (&self.server, change.bps) {
            (_, None) | (Server::Rate { .. }, Some(1..)) => None,
            (Server::Rate { .. }, Some(0)) => Some(ChangeRefused("its rate cannot be 0")),
            (Server::Plan(_), Some(_)) => Some(ChangeRefused("its rate follows a plan")),
            (Server::Trace(_), Some(_)) => Some(ChangeRefused("its rate is recorded")),
        };
        let by_loss = || match &self.lossy_path {
            Some((channel, _)) => channel::refusal(&**channel, change),
            None => change.loss.map(|_| ChangeRefused("it was created without a lossy channel")),
        };
        by_rate.or_else(by_loss)
    }

    fn change(&mut self, change: &LinkChange) {
        if let (Server::Rate { rate, bytes, .. }, Some(bps)) = (&mut self.server, change.bps) {
            (*rate, *bytes) = (Rate::from_bps(bps), 0);
        }
        if let Some(delay) = change.delay {
            self.delay = delay;
        }
        if let (Some((channel, _)), Some(share)) = (&mut self.lossy_path, change.loss) {
            channel.set_loss_probability(share);
        }
    }
}
