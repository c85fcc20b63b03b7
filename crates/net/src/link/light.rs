//! Light traces before a direction's queue ([`Light`]): each packet waits for its base delay and its train's opportunity;
//! who comes behind the train's last one then joins the queue, and so does everybody while somebody is there.
//!
//! What passes is not in the queue, and takes no service: the channel, what repeats its losses, jitter and the link's
//! own delay are as for the others. What waits for its train is on its way: no queue counts it.

use super::{Config, Line, Passage};
use crate::change::{Change, Fixed, Setting};
use crate::element::{Element, Output};
use crate::service::{Released, Trains};
use lasthop_base::{Duration, Time};
use lasthop_wire::{Backlog, Packet};
use std::collections::VecDeque;

/// A direction with recorded trains before it.
pub(super) struct Lit {
    inner: Line,
    trains: Trains,
    /// In the order in which they are released.
    waiting: VecDeque<(Released, Packet)>,
    /// Whether trouble is to be told of.
    tells_trouble: bool,
}

impl Lit {
    /// `inner` with a configuration's light trace; the same if it has none.
    pub(super) fn line(config: &Config, mut inner: Line) -> Line {
        let Some(light) = &config.light else { return inner };
        inner.track_backlog();
        Line::Element(Box::new(Lit {
            inner,
            trains: Trains::new(light),
            waiting: VecDeque::new(),
            tells_trouble: false,
        }))
    }

    fn release(&mut self, now: Time, passes: bool, mut packet: Packet, out: &mut Vec<Output>) {
        let queue = self.inner.backlog(now);
        let passes = passes && queue.waiting == 0 && !queue.in_service;
        let link = match (&mut self.inner, passes) {
            (Line::Element(element), true) => return element.handle_passing(now, packet, out),
            (Line::Element(element), false) => return element.handle_packet(now, packet, out),
            (Line::Link(link), _) => link,
        };
        link.take_trouble();
        let passage = if passes { link.pass_by(now, &packet) } else { link.carry_apart(now, &mut packet) };
        if let Some(trouble) = link.take_trouble().filter(|_| self.tells_trouble) {
            out.push(Output::Troubled { packet, trouble });
        }
        out.push(match passage {
            Passage::Arrives { at } => Output::Arrives { packet, at },
            Passage::Lost { at, reason, .. } => Output::Lost { packet, at, reason },
        });
    }
}

impl Element for Lit {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Output>) {
        let released = self.trains.release(now, packet.wire_bytes);
        self.waiting.push_back((released, packet));
        self.handle_timeout(now, out);
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        if let Line::Element(element) = &mut self.inner
            && element.poll_timeout() <= now
        {
            element.handle_timeout(now, out);
        }
        while let Some((released, packet)) = self.waiting.front().copied()
            && released.at <= now
        {
            self.waiting.pop_front();
            self.release(now, released.passes, packet, out);
        }
    }

    fn poll_timeout(&self) -> Time {
        let inner = match &self.inner {
            Line::Link(_) => Time::NEVER,
            Line::Element(element) => element.poll_timeout(),
        };
        self.waiting.front().map_or(inner, |(released, _)| released.at.min(inner))
    }

    fn tell_trouble(&mut self) {
        self.tells_trouble = true;
        self.inner.tell_trouble();
    }

    fn backlog(&mut self, now: Time) -> Backlog {
        self.inner.backlog(now)
    }

    fn average(&self) -> Option<f64> {
        self.inner.average()
    }

    fn draws(&self) -> bool {
        self.inner.draws()
    }

    fn setting(&self) -> Option<Setting> {
        self.inner.setting()
    }

    fn refuses(&self, change: &Change) -> Option<Fixed> {
        self.inner.refuses(change)
    }

    fn change(&mut self, now: Time, change: &Change, out: &mut Vec<Output>) {
        self.inner.change(now, change, out);
    }

    fn wait(&mut self, now: Time) -> Option<Duration> {
        self.inner.wait(now)
    }
}
