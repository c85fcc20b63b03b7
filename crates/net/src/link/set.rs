//! Run-time changes of a direction's settings. A [`Link`] determines a packet's arrival or loss when the packet enters,
//! so a change affects only packets that enter later.

use super::{Link, LinkDirection};
use crate::change::{ChangeRefused, LinkChange, LinkSettings};
use crate::channel;
use crate::discipline::Discipline;
use crate::element::Output;
use crate::service::Server;
use lasthop_base::{Duration, Rate, Time};

impl LinkDirection {
    /// Current settings; `None` if the element is no link direction.
    pub fn settings(&self) -> Option<LinkSettings> {
        match self {
            LinkDirection::Link(link) => link.settings(),
            LinkDirection::Element(element) => element.settings(),
        }
    }

    /// Returns the reason why a change is impossible, or `None` if the change is possible. A direction that was built
    /// with [`LinkDirection::adjustable`] accepts each change with valid values. A plain link accepts a change of a
    /// constant rate, of the delay, and of a constant loss probability.
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

    /// Returns the reason why the queue cannot be replaced, or `None` if the queue can be replaced. The queue of a
    /// direction that was built with [`LinkDirection::adjustable`] can be replaced.
    pub fn queue_refusal(&self) -> Option<ChangeRefused> {
        match self {
            LinkDirection::Link(_) => {
                Some(ChangeRefused("it was not built for changes, and keeps its queue"))
            }
            LinkDirection::Element(element) => element.queue_refusal(),
        }
    }

    /// Replaces the queue discipline or its limit at `now`, if [`LinkDirection::queue_refusal`] allows the change.
    /// [`super::Config::queue_with`] builds a discipline.
    ///
    /// The packets that wait enter the new queue at once, in the order in which the old queue would have sent them. The
    /// packet in transmission is not affected. Packets that the new queue drops are lost for the reason that this queue
    /// gives, for example a full queue. Appends these losses to `out`.
    pub fn set_queue(&mut self, now: Time, queue: Discipline, out: &mut Vec<Output>) {
        if let LinkDirection::Element(element) = self {
            element.set_queue(now, queue, out);
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
            (Server::Rate { .. }, Some(0)) => {
                Some(ChangeRefused("it was not built for changes, and its rate cannot become 0"))
            }
            (Server::Plan(_), Some(_)) => {
                Some(ChangeRefused("it was not built for changes, and its rate follows a plan"))
            }
            (Server::Trace(_), Some(_)) => {
                Some(ChangeRefused("it was not built for changes, and its rate is recorded"))
            }
        };
        let by_loss = || match &self.lossy_path {
            Some((channel, _)) => channel::refusal(&**channel, change),
            None => change
                .loss
                .map(|_| ChangeRefused("it was not built for changes, and its channel is lossless")),
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
