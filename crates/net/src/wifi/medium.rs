//! The arbiter of a cell: contention of the stations for the medium.
//!
//! An element without packets. Directions of links exchange [`Word`]s with the arbiter. Directions of one sender, such
//! as an access point's, share one back-off and take turns.

use super::backoff::Backoff;
use super::load::Load;
use crate::across::{Across, Word};
use crate::arq::Member;
use crate::element::{Element, Output, lacks};
use lasthop_base::{Stream, Time};
use lasthop_wire::{Backlog, Packet};

pub(super) struct Arbiter {
    stations: Vec<Station>,
    /// Station of each member, and whether the member has data.
    members: Vec<(usize, bool)>,
    load: Load,
    /// Index of the first load station.
    first_load: usize,
    free_at: Time,
    next: Time,
    /// Stations that began at `round_at`; `settles_at`: time to settle the round.
    round: Vec<usize>,
    round_at: Time,
    settles_at: Time,
}

struct Station {
    backoff: Backoff,
    kind: Kind,
    is_on_air: bool,
}

enum Kind {
    /// Directions, the one in turn, and the number with data.
    Sends { members: Vec<u32>, turn: usize, wanting: u32 },
    /// Frames left, and transmissions of the first.
    Load { pending: u64, sent: u64 },
}

impl Arbiter {
    pub(super) fn new(all: &[Member<'_>], mut random: Stream) -> Arbiter {
        let mut stations: Vec<Station> = Vec::new();
        let mut senders: Vec<usize> = Vec::new();
        let mut members = Vec::new();
        for (number, member) in all.iter().enumerate() {
            let known = senders.iter().position(|sender| *sender == member.sender);
            let station = known.unwrap_or_else(|| {
                senders.push(member.sender);
                stations.push(Station {
                    backoff: Backoff::new(member.values, member.random.clone()),
                    kind: Kind::Sends { members: Vec::new(), turn: 0, wanting: 0 },
                    is_on_air: false,
                });
                stations.len() - 1
            });
            if let Kind::Sends { members, .. } = &mut stations[station].kind {
                members.push(number as u32);
            }
            members.push((station, false));
        }
        let first_load = stations.len();
        // Members that set load stations set the same.
        let speaks = all.iter().find(|member| member.values.count("stations") > 0);
        let values = speaks.unwrap_or(&all[0]).values;
        let own = Stream::named(random.draw(), "arrivals");
        let load = Load::new(values, own);
        for _ in 0..load.stations() {
            let backoff = Backoff::new(values, Stream::named(random.draw(), "backoff"));
            let kind = Kind::Load { pending: load.pending(), sent: 0 };
            stations.push(Station { backoff, kind, is_on_air: false });
        }
        let mut arbiter = Arbiter {
            round: Vec::with_capacity(stations.len()),
            stations,
            members,
            load,
            first_load,
            free_at: Time::ZERO,
            next: Time::NEVER,
            round_at: Time::NEVER,
            settles_at: Time::NEVER,
        };
        arbiter.plan(Time::ZERO);
        arbiter
    }

    /// Start of the station's next transmission, as far as known.
    fn begins_at(&self, station: &Station) -> Time {
        let wants = match &station.kind {
            Kind::Sends { wanting, .. } => *wanting > 0,
            Kind::Load { pending, .. } => *pending > 0,
        };
        if wants && !station.is_on_air { station.backoff.ends_at(self.free_at) } else { Time::NEVER }
    }

    /// Plans the next start. Call when no transmission is in progress.
    fn plan(&mut self, now: Time) {
        let all = self.stations.iter().map(|station| self.begins_at(station));
        self.next = all.min().map_or(Time::NEVER, |first| first.max(now));
    }

    fn note(&mut self, member: u32, wants: bool) {
        let (station, had) = &mut self.members[member as usize];
        if let Kind::Sends { wanting, .. } = &mut self.stations[*station].kind {
            *wanting = *wanting + u32::from(wants) - u32::from(*had);
        }
        *had = wants;
    }

    fn ask(&mut self, now: Time, station: usize) {
        self.stations[station].backoff.ask(now, self.free_at);
        self.next = self.next.min(self.begins_at(&self.stations[station]).max(now));
    }

    /// Starts all stations whose back-off is over.
    fn begin(&mut self, now: Time, out: &mut Vec<Output>) {
        let mut is_told = false;
        let mut loads = 0;
        for number in 0..self.stations.len() {
            if self.begins_at(&self.stations[number]) > now {
                continue;
            }
            let station = &mut self.stations[number];
            station.is_on_air = true;
            match &mut station.kind {
                Kind::Sends { members, turn, .. } => {
                    while !self.members[members[*turn] as usize].1 {
                        *turn = (*turn + 1) % members.len();
                    }
                    is_told = true;
                    out.push(say(members[*turn], Word::Begin));
                }
                Kind::Load { .. } => {
                    loads += 1;
                    // Stations later in the list may start now, too: the medium is taken afterwards.
                    self.join(now, number);
                }
            }
        }
        self.next = Time::NEVER;
        if loads > 0 {
            self.take(now, now + self.load.access);
            self.settles_at = now;
        }
        if !is_told {
            self.settle(out);
            self.plan(now);
        }
    }

    fn join(&mut self, now: Time, station: usize) {
        if self.round_at != now {
            self.round_at = now;
            self.round.clear();
        }
        self.round.push(station);
    }

    fn take(&mut self, now: Time, until: Time) {
        for station in self.stations.iter_mut().filter(|station| !station.is_on_air) {
            station.backoff.freeze(now, self.free_at);
        }
        self.free_at = self.free_at.max(until);
    }

    /// Settles the round: all stations that start now have started.
    fn settle(&mut self, out: &mut Vec<Output>) {
        let collides = self.round.len() > 1;
        for number in self.round.drain(..) {
            let station = &mut self.stations[number];
            match &mut station.kind {
                Kind::Sends { members, turn, .. } if collides => {
                    out.push(say(members[*turn], Word::Collides))
                }
                Kind::Sends { .. } => {}
                Kind::Load { pending, sent } => {
                    *sent += 1;
                    let is_settled = !collides || *sent >= self.load.transmissions;
                    if is_settled {
                        *sent = 0;
                        *pending -= u64::from(*pending < u64::MAX);
                    }
                    station.backoff.again(is_settled);
                    station.is_on_air = false;
                }
            }
        }
        self.settles_at = Time::NEVER;
    }
}

fn say(member: u32, word: Word) -> Output {
    Output::Across(Across::Air { member, word })
}

impl Element for Arbiter {
    fn handle_packet(&mut self, _: Time, _: Packet, _: &mut Vec<Output>) {}

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        if self.settles_at <= now {
            self.settle(out);
            self.plan(now);
        } else if self.next <= now {
            self.begin(now, out);
        } else if self.load.next() <= now {
            let station = self.first_load + self.load.take(now);
            let Kind::Load { pending, .. } = &mut self.stations[station].kind else { return };
            *pending += 1;
            if *pending == 1 {
                self.ask(now, station);
            }
        }
    }

    fn poll_timeout(&self) -> Time {
        self.settles_at.min(self.next).min(self.load.next())
    }

    fn backlog(&mut self, _: Time) -> Backlog {
        Backlog::default()
    }

    fn draws(&self) -> bool {
        true
    }

    fn handle_across(&mut self, now: Time, across: Across) {
        let Across::Air { member, word } = across else { return };
        let number = self.members[member as usize].0;
        match word {
            Word::Wants => {
                self.note(member, true);
                if !self.stations[number].is_on_air {
                    self.ask(now, number);
                }
            }
            Word::Takes(until) => {
                self.join(now, number);
                if self.round.len() > 1 {
                    self.settles_at = now;
                }
                self.take(now, until);
                self.next = Time::NEVER;
            }
            Word::Nothing => {
                self.note(member, false);
                self.stations[number].is_on_air = false;
                self.plan(now);
            }
            Word::Done { is_settled, wants } => {
                self.note(member, wants);
                let station = &mut self.stations[number];
                station.is_on_air = false;
                station.backoff.again(is_settled);
                if let Kind::Sends { members, turn, .. } = &mut station.kind
                    && is_settled
                {
                    *turn = (*turn + 1) % members.len();
                }
                self.plan(now);
            }
            Word::Joined | Word::Begin | Word::Collides => {}
        }
    }

    lacks!(copies, passing, pdus, average, trouble, settings, changes);
}
