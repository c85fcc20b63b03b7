//! The event queue: what is next? The pipes' heads in one tournament, the timers, which are lazy, in another.

mod pairs;

use lasthop_base::Time;
use pairs::{MOST, MOST_WIDE, Pairs, Wide};

/// The next due time of each of a fixed number of sources, and the earliest of them. Among equal times the lowest number
/// wins.
///
/// Sources compete in groups of eight, whose times fill one line of the cache; the winners of eight groups compete in the
/// next round, until one group is left. A source that neither was its group's winner nor becomes it ends the matter there;
/// else a round looks at eight times at most. From nine to some thousands compete in pairs instead (`pairs`), and up to eight are
/// kept in order: most often only two or three of them have anything due, and the first one goes behind the second.
#[derive(Debug)]
pub struct Tournament {
    /// The earliest; if there is one round, all of them in order, and as many as are missing to eight behind them.
    order: [(Time, u32); GROUP],
    /// The times of all rounds, if there are several, the last round's first: the winner of the group that begins at 8 (i + 1) stands at i.
    times: Vec<Time>,
    /// Whose they are; empty if there is one round.
    sources: Vec<u32>,
    /// What takes the place of rounds, where there are more than eight and not too many.
    pairs: InPairs,
    /// Where the first round begins, in which all sources compete.
    leaves: usize,
    /// How many sources.
    count: usize,
}

/// Who competes in pairs.
#[derive(Debug)]
enum InPairs {
    Nobody,
    /// Some tens.
    Some(Box<Pairs>),
    /// Hundreds and thousands.
    Many(Wide),
}

/// Sources of a group.
const GROUP: usize = 8;

impl Tournament {
    /// A tournament of `count` sources, none of which has anything due.
    pub fn new(count: usize) -> Tournament {
        Tournament::with(count, &[])
    }

    /// The same; the sources of `often` move most.
    pub fn with(count: usize, often: &[u32]) -> Tournament {
        let pairs = if count <= GROUP || count > MOST_WIDE {
            InPairs::Nobody
        } else if count <= MOST {
            InPairs::Some(Box::new(Pairs::new(count, often)))
        } else {
            InPairs::Many(Wide::new(count))
        };
        Tournament { pairs, ..Tournament::in_groups(count) }
    }

    fn in_groups(count: usize) -> Tournament {
        let (mut leaves, mut room) = (0, GROUP);
        while room < count {
            leaves = GROUP * (leaves + 1);
            room *= GROUP;
        }
        let places = leaves + count.next_multiple_of(GROUP);
        let mut sources = vec![0; if leaves == 0 { 0 } else { places }];
        for place in (0..sources.len()).rev() {
            let first_below = sources.get(GROUP * (place + 1)).copied().unwrap_or(0);
            sources[place] = if place >= leaves { (place - leaves) as u32 } else { first_below };
        }
        let mut order = [(Time::NEVER, 0); GROUP];
        (0..).zip(&mut order).for_each(|(number, place)| place.1 = number);
        Tournament { order, times: vec![Time::NEVER; places], sources, pairs: InPairs::Nobody, leaves, count }
    }

    /// The earliest time and its source.
    #[inline]
    pub fn first(&self) -> (Time, u32) {
        self.order[0]
    }

    /// When source `number` is next due.
    #[inline(always)]
    pub fn time_of(&self, number: u32) -> Time {
        match self.leaves {
            0 => self.order.iter().find(|source| source.1 == number).map_or(Time::NEVER, |source| source.0),
            leaves => self.times[leaves + number as usize],
        }
    }

    /// Source `number` is next due at `time`.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub fn set(&mut self, number: u32, time: Time) {
        if self.leaves > 0 {
            return self.set_among_many(number, time);
        }
        let order = &mut self.order;
        if order[0].1 != number {
            return sort_in(order, (time, number));
        }
        // Nearly always it is the first, and goes back a place or two.
        let mut place = 0;
        while let Some(&behind) = order.get(place + 1)
            && precedes(behind, (time, number))
        {
            order[place] = behind;
            place += 1;
        }
        order[place] = (time, number);
    }

    /// The same where there are more than eight.
    #[inline(never)]
    fn set_among_many(&mut self, number: u32, time: Time) {
        let first = match &mut self.pairs {
            InPairs::Some(pairs) if Pairs::can_tell(time) => pairs.set(number, time),
            InPairs::Many(pairs) if pairs.can_tell(time) => pairs.set(number, time),
            InPairs::Nobody => return self.climb(number, time),
            _ => return self.do_without_pairs(number, time),
        };
        self.times[self.leaves + number as usize] = time;
        self.order[0] = (self.time_of(first), first);
    }

    /// The same with a time that pairs cannot tell: from now on without them.
    #[cold]
    fn do_without_pairs(&mut self, number: u32, time: Time) {
        let mut all = Tournament::in_groups(self.count);
        (0..self.count as u32).for_each(|number| all.set(number, self.time_of(number)));
        all.set(number, time);
        *self = all;
    }

    /// Round by round, as far as something changes.
    #[inline(never)]
    fn climb(&mut self, number: u32, time: Time) {
        let (mut winner, mut before) = ((time, number), number);
        let mut place = self.leaves + number as usize;
        loop {
            self.times[place] = winner.0;
            self.sources[place] = winner.1;
            let group = place / GROUP;
            let known = match group {
                0 => self.order[0],
                group => (self.times[group - 1], self.sources[group - 1]),
            };
            if known.1 == before {
                // It was the group's winner; if it is later now, another one may be.
                if winner.0 > known.0
                    && let Some(times) = self.times[GROUP * group..].first_chunk()
                {
                    let (time, place) = earliest::<GROUP>(times);
                    winner = (time, self.sources[GROUP * group + place]);
                }
            } else if !precedes(winner, known) {
                return;
            }
            if group == 0 {
                self.order[0] = winner;
                return;
            }
            before = known.1;
            place = group - 1;
        }
    }
}

/// A source that is not the first has another time now.
#[cold]
fn sort_in(order: &mut [(Time, u32); GROUP], source: (Time, u32)) {
    let Some(mut place) = order.iter().position(|other| other.1 == source.1) else { return };
    order[place] = source;
    while place + 1 < GROUP && precedes(order[place + 1], source) {
        order.swap(place, place + 1);
        place += 1;
    }
    while place > 0 && precedes(source, order[place - 1]) {
        order.swap(place, place - 1);
        place -= 1;
    }
}

/// The earliest of a group, and its place: among equals the first.
#[inline]
fn earliest<const N: usize>(times: &[Time; N]) -> (Time, usize) {
    let mut first = (times[0], 0);
    for (place, time) in times.iter().enumerate() {
        first = if *time < first.0 { (*time, place) } else { first };
    }
    first
}

/// By time, then by number.
#[inline]
fn precedes(one: (Time, u32), other: (Time, u32)) -> bool {
    one.0 < other.0 || (one.0 == other.0 && one.1 < other.1)
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
        (0..self.0.count as u32).for_each(|number| all.set(number, self.0.time_of(number)));
        Timers(all)
    }

    /// Timer `number` is to come up at `deadline` at the latest.
    #[inline(always)]
    pub fn at_latest(&mut self, number: u32, deadline: Time) {
        if deadline < self.0.time_of(number) {
            self.0.set(number, deadline);
        }
    }

    /// Whether timer `number` comes up at `deadline` at the latest.
    pub fn is_set_by(&self, number: u32, deadline: Time) -> bool {
        self.0.time_of(number) <= deadline
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
        [5, 8, 9, 33, 64, 65].into_iter().for_each(earliest_wins_of);
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

    /// Against a look at all of them each time, with many equal times.
    #[test]
    fn the_earliest_is_that_of_all() {
        for count in [1, 4, 5, 8, 9, 33, 40, 64, 65, 100, 512, 513, 600] {
            let (mut heads, mut times) = (Tournament::new(count), vec![Time::NEVER; count]);
            if count % 2 == 0 {
                // Some of them apart.
                heads = Tournament::with(count, &[count as u32 - 1, 3, 5]);
            }
            let mut random = 1u64;
            for _ in 0..3000 {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let number = (random >> 33) as usize % count;
                // Often the earliest moves later, as in a run.
                let number = if random >> 62 == 0 { heads.first().1 as usize } else { number };
                let time = if random >> 20 & 7 == 0 { Time::NEVER } else { at(random >> 24 & 0xff) };
                heads.set(number as u32, time);
                times[number] = time;
                let expected = (0..).zip(&times).map(|(number, time)| (*time, number)).min().unwrap();
                assert_eq!(heads.first().0, expected.0, "of {count}");
                assert!(heads.first().0 == Time::NEVER || heads.first() == expected, "of {count}");
                assert_eq!(heads.time_of(number as u32), time);
            }
        }
    }

    #[test]
    fn times_that_a_pair_cannot_tell_are_in_their_order_too() {
        let year = 31_557_600_000_000_000;
        for (count, later, earlier) in [(40, 10, 9), (40, 12, 11), (40, 580, 9), (600, 10, 9), (4096, 580, 1)]
        {
            let mut heads = Tournament::with(count, &[7]);
            heads.set(7, at(1));
            heads.set(3, at(later * year));
            heads.set(9, at(earlier * year));
            assert_eq!(heads.first(), (at(1), 7));
            heads.set(7, Time::NEVER);
            assert_eq!(heads.first(), (at(earlier * year), 9));
            heads.set(9, Time::NEVER);
            assert_eq!(heads.first(), (at(later * year), 3));
        }
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
