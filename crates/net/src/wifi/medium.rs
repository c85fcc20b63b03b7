//! The arbiter of a cell, which simulates the contention of the stations for the medium.
//!
//! The arbiter is a queueing element without packets, and exchanges [`MediumMessage`]s with link directions. Directions
//! with the same sending node, such as an access point, share one back-off and take turns.

use super::backoff::Backoff;
use super::load::Load;
use crate::arq::Member;
use crate::element::{Element, Output, lacks};
use crate::peer_message::{MediumMessage, PeerMessage};
use lasthop_base::{Stream, Time};
use lasthop_wire::{Backlog, Packet};

pub(super) struct Arbiter {
    stations: Vec<Station>,
    /// For each member, the index of its station, and whether the member has data.
    members: Vec<(usize, bool)>,
    load: Load,
    /// Index of the first load station.
    first_load: usize,
    free_at: Time,
    next: Time,
    /// Stations that started to transmit at the same time. These stations form a round. If a round has two or more
    /// stations, their transmissions collide.
    round: Vec<usize>,
    /// Time at which the stations of the round started.
    round_at: Time,
    /// Time at which the round's result (collision or success) is decided.
    settles_at: Time,
}

struct Station {
    backoff: Backoff,
    kind: StationKind,
    is_on_air: bool,
}

enum StationKind {
    /// A station with directions. `members` has the member indices of the directions. The direction at the index
    /// `next_member` of this list has the next turn. `with_data` is the number of directions that have data.
    Sends { members: Vec<u32>, next_member: usize, with_data: u32 },
    /// A load station. `pending` is the number of frames left, and `sent` is the number of transmissions of the first
    /// frame.
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
                    kind: StationKind::Sends { members: Vec::new(), next_member: 0, with_data: 0 },
                    is_on_air: false,
                });
                stations.len() - 1
            });
            if let StationKind::Sends { members, .. } = &mut stations[station].kind {
                members.push(number as u32);
            }
            members.push((station, false));
        }
        let first_load = stations.len();
        // All members that set load stations have the same parameters for these stations, so the first such member is
        // used.
        let load_member = all.iter().find(|member| member.values.count("stations") > 0);
        let values = load_member.unwrap_or(&all[0]).values;
        let own = Stream::named(random.draw(), "arrivals");
        let load = Load::new(values, own);
        for _ in 0..load.stations() {
            let backoff = Backoff::new(values, Stream::named(random.draw(), "backoff"));
            let kind = StationKind::Load { pending: load.pending(), sent: 0 };
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
        arbiter.schedule_next(Time::ZERO);
        arbiter
    }

    /// Returns the start of the station's next transmission, if the medium stays free until then.
    fn begins_at(&self, station: &Station) -> Time {
        let has_data = match &station.kind {
            StationKind::Sends { with_data, .. } => *with_data > 0,
            StationKind::Load { pending, .. } => *pending > 0,
        };
        if has_data && !station.is_on_air { station.backoff.ends_at(self.free_at) } else { Time::NEVER }
    }

    /// Plans the start of the next transmission. Call this function only while no transmission is in progress.
    fn schedule_next(&mut self, now: Time) {
        let all = self.stations.iter().map(|station| self.begins_at(station));
        self.next = all.min().map_or(Time::NEVER, |first| first.max(now));
    }

    fn set_has_data(&mut self, member: u32, has_data: bool) {
        let (station, had) = &mut self.members[member as usize];
        if let StationKind::Sends { with_data, .. } = &mut self.stations[*station].kind {
            *with_data = *with_data + u32::from(has_data) - u32::from(*had);
        }
        *had = has_data;
    }

    fn request_access(&mut self, now: Time, station: usize) {
        self.stations[station].backoff.on_new_data(now, self.free_at);
        self.next = self.next.min(self.begins_at(&self.stations[station]).max(now));
    }

    /// Starts the transmissions of all stations whose back-off has ended.
    fn start_transmissions(&mut self, now: Time, out: &mut Vec<Output>) {
        let mut is_member_started = false;
        let mut loads = 0;
        for number in 0..self.stations.len() {
            if self.begins_at(&self.stations[number]) > now {
                continue;
            }
            let station = &mut self.stations[number];
            station.is_on_air = true;
            match &mut station.kind {
                StationKind::Sends { members, next_member, .. } => {
                    while !self.members[members[*next_member] as usize].1 {
                        *next_member = (*next_member + 1) % members.len();
                    }
                    is_member_started = true;
                    out.push(to_member(members[*next_member], MediumMessage::Transmit));
                }
                StationKind::Load { .. } => {
                    loads += 1;
                    // The medium becomes busy only after the loop, because other stations may start at the same time.
                    self.join_round(now, number);
                }
            }
        }
        self.next = Time::NEVER;
        if loads > 0 {
            self.occupy(now, now + self.load.access);
            self.settles_at = now;
        }
        if !is_member_started {
            self.settle_round(out);
            self.schedule_next(now);
        }
    }

    fn join_round(&mut self, now: Time, station: usize) {
        if self.round_at != now {
            self.round_at = now;
            self.round.clear();
        }
        self.round.push(station);
    }

    fn occupy(&mut self, now: Time, until: Time) {
        for station in self.stations.iter_mut().filter(|station| !station.is_on_air) {
            station.backoff.freeze(now, self.free_at);
        }
        self.free_at = self.free_at.max(until);
    }

    /// Decides whether the stations of the round collide. Call this function after all stations of the round have
    /// started.
    fn settle_round(&mut self, out: &mut Vec<Output>) {
        let collides = self.round.len() > 1;
        for number in self.round.drain(..) {
            let station = &mut self.stations[number];
            match &mut station.kind {
                StationKind::Sends { members, next_member, .. } if collides => {
                    out.push(to_member(members[*next_member], MediumMessage::Collision))
                }
                StationKind::Sends { .. } => {}
                StationKind::Load { pending, sent } => {
                    *sent += 1;
                    let is_settled = !collides || *sent >= self.load.transmissions;
                    if is_settled {
                        *sent = 0;
                        *pending -= u64::from(*pending < u64::MAX);
                    }
                    station.backoff.on_transmission_end(is_settled);
                    station.is_on_air = false;
                }
            }
        }
        self.settles_at = Time::NEVER;
    }
}

fn to_member(member: u32, message: MediumMessage) -> Output {
    Output::ToPeer(PeerMessage::Medium { member, message })
}

impl Element for Arbiter {
    fn handle_packet(&mut self, _: Time, _: Packet, _: &mut Vec<Output>) {}

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        if self.settles_at <= now {
            self.settle_round(out);
            self.schedule_next(now);
        } else if self.next <= now {
            self.start_transmissions(now, out);
        } else if self.load.next() <= now {
            let station = self.first_load + self.load.next_station(now);
            let StationKind::Load { pending, .. } = &mut self.stations[station].kind else { return };
            *pending += 1;
            if *pending == 1 {
                self.request_access(now, station);
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

    fn handle_peer_message(&mut self, now: Time, message: PeerMessage) {
        let PeerMessage::Medium { member, message } = message else { return };
        let number = self.members[member as usize].0;
        match message {
            MediumMessage::HasData => {
                self.set_has_data(member, true);
                if !self.stations[number].is_on_air {
                    self.request_access(now, number);
                }
            }
            MediumMessage::Occupies(until) => {
                self.join_round(now, number);
                if self.round.len() > 1 {
                    self.settles_at = now;
                }
                self.occupy(now, until);
                self.next = Time::NEVER;
            }
            MediumMessage::NoData => {
                self.set_has_data(member, false);
                self.stations[number].is_on_air = false;
                self.schedule_next(now);
            }
            MediumMessage::Done { is_settled, has_data } => {
                self.set_has_data(member, has_data);
                let station = &mut self.stations[number];
                station.is_on_air = false;
                station.backoff.on_transmission_end(is_settled);
                if let StationKind::Sends { members, next_member, .. } = &mut station.kind
                    && is_settled
                {
                    *next_member = (*next_member + 1) % members.len();
                }
                self.schedule_next(now);
            }
            MediumMessage::Joined | MediumMessage::Transmit | MediumMessage::Collision => {}
        }
    }

    lacks!(copies, bypass, pdus, average, failures, settings, changes);
}
