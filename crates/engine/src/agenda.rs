//! The event queue: what is next? The pipes' heads in one tournament, the timers, which are lazy, in another.

use lasthop_base::Time;

/// The next due time of each of a fixed number of sources, and the earliest of them. Among equal times the lowest number
/// wins.
///
/// Few sources are all looked at when the earliest moves later. Many compete in a tournament tree: changing one time costs
/// log2(n) comparisons of neighbours.
#[derive(Debug)]
pub struct Tournament {
    first: (Time, u32),
    /// Of each source; [`FEWEST`] or [`FEW`] of them at least.
    times: Vec<Time>,
    /// The tree, if there are more: `nodes[1]` is the winner; leaves start at `nodes.len() / 2`.
    nodes: Vec<(Time, u32)>,
}

/// As many sources as are looked at sooner than a tree is climbed.
const FEW: usize = 8;
/// As many as a path of two links has: fewer to look at.
const FEWEST: usize = 4;

impl Tournament {
    /// A tournament of `count` sources, none of which has anything due.
    pub fn new(count: usize) -> Tournament {
        let mut tournament = Tournament {
            first: (Time::NEVER, 0),
            times: vec![Time::NEVER; count.max(if count <= FEWEST { FEWEST } else { FEW })],
            nodes: Vec::new(),
        };
        if count > FEW {
            tournament.plant();
        }
        tournament
    }

    /// The earliest time and its source.
    #[inline]
    pub fn first(&self) -> (Time, u32) {
        self.first
    }

    /// When source `number` is next due.
    #[inline]
    pub fn time_of(&self, number: u32) -> Time {
        self.times[number as usize]
    }

    /// Source `number` is next due at `time`.
    #[inline]
    pub fn set(&mut self, number: u32, time: Time) {
        self.times[number as usize] = time;
        if !self.nodes.is_empty() {
            self.first = self.climb(number, time);
        } else if number != self.first.1 {
            self.first = if rank((time, number)) < rank(self.first) { (time, number) } else { self.first };
        } else if let Some(few) = self.times.first_chunk::<FEW>() {
            self.first = earliest(few);
        } else if let Some(fewest) = self.times.first_chunk::<FEWEST>() {
            self.first = earliest(fewest);
        }
    }

    /// The winner once source `number` is due at `time`.
    fn climb(&mut self, number: u32, time: Time) -> (Time, u32) {
        let mut at = self.nodes.len() / 2 + number as usize;
        let mut winner = (time, number);
        self.nodes[at] = winner;
        // The winner so far stays at hand: a level waits for its own comparison alone, not for what was stored below.
        while at > 1 {
            let other = self.nodes[at ^ 1];
            winner = if rank(other) < rank(winner) { other } else { winner };
            at /= 2;
            self.nodes[at] = winner;
        }
        winner
    }

    fn plant(&mut self) {
        let leaves = self.times.len().next_power_of_two();
        self.nodes = vec![(Time::NEVER, 0); 2 * leaves];
        for (number, leaf) in self.nodes[leaves..].iter_mut().enumerate() {
            leaf.1 = number as u32;
        }
        for at in (1..leaves).rev() {
            let (left, right) = (self.nodes[2 * at], self.nodes[2 * at + 1]);
            self.nodes[at] = if rank(left) < rank(right) { left } else { right };
        }
    }
}

#[inline]
fn earliest<const N: usize>(times: &[Time; N]) -> (Time, u32) {
    let mut first = (times[0], 0);
    for (number, time) in times.iter().enumerate() {
        first = if *time < first.0 { (*time, number as u32) } else { first };
    }
    first
}

/// By time, then by number: as one number, which is compared without branches.
#[inline]
fn rank((time, number): (Time, u32)) -> u128 {
    u128::from(time.as_nanos()) << 64 | u128::from(number)
}

/// Deadlines that mostly move later: a deadline that has moved keeps its old place, and is put right when it comes up.
#[derive(Debug)]
pub struct Timers(Tournament);

impl Timers {
    /// Timers numbered from 0, none of them set.
    pub fn new(count: usize) -> Timers {
        Timers(Tournament::new(count))
    }

    /// The earliest place: that timer's deadline is then or later. [`Time::NEVER`] if none is set.
    #[inline]
    pub fn first(&self) -> (Time, u32) {
        self.0.first()
    }

    /// The same timers as the first of `count`; the further ones are not set.
    pub fn extended_to(&self, count: usize) -> Timers {
        let mut all = Tournament::new(count);
        (0..).zip(&self.0.times).take(count).for_each(|(number, time)| all.set(number, *time));
        Timers(all)
    }

    /// Timer `number` is to come up at `deadline` at the latest.
    #[inline]
    pub fn at_latest(&mut self, number: u32, deadline: Time) {
        if deadline < self.0.time_of(number) {
            self.0.set(number, deadline);
        }
    }

    /// Timer `number` has come up: its next place is `deadline`.
    #[inline]
    pub fn renew(&mut self, number: u32, deadline: Time) {
        self.0.set(number, deadline);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    #[test]
    fn the_earliest_wins_and_the_lowest_number_among_equals() {
        [5, 8, 9, 33].into_iter().for_each(earliest_wins_of);
    }

    fn earliest_wins_of(count: usize) {
        let mut heads = Tournament::new(count);
        assert_eq!(heads.first().0, Time::NEVER);
        heads.set(4, at(7));
        heads.set(2, at(9));
        assert_eq!(heads.first(), (at(7), 4));
        heads.set(1, at(7));
        assert_eq!(heads.first(), (at(7), 1));
        heads.set(1, Time::NEVER);
        heads.set(4, at(10));
        assert_eq!(heads.first(), (at(9), 2));
    }

    #[test]
    fn a_timer_that_moves_later_keeps_its_place_until_it_comes_up() {
        let mut timers = Timers::new(2);
        timers.at_latest(0, at(10));
        timers.at_latest(0, at(20));
        timers.at_latest(1, at(15));
        assert_eq!(timers.first(), (at(10), 0));
        timers.renew(0, at(20));
        assert_eq!(timers.first(), (at(15), 1));
        timers.at_latest(0, at(5));
        assert_eq!(timers.first(), (at(5), 0));
        timers.renew(0, Time::NEVER);
        timers.renew(1, Time::NEVER);
        assert_eq!(timers.first().0, Time::NEVER);
    }
}
