//! The event queue: a tournament tree of the pipes' next events, and lazy timers in a second tree.

mod pairs;

use lasthop_base::Time;
use pairs::{Tens, Thousands, Wide};

/// The next due time of each of a fixed number of sources, and the earliest of all. Among equal times the lowest
/// source number wins.
///
/// Up to eight sources are kept sorted; more compete in pairs (`pairs`).
#[derive(Debug)]
pub struct Tournament {
    /// Place 0 holds the earliest source. With at most eight sources: all in order, then unused numbers.
    order: [(Time, u32); FEW],
    form: Form,
    count: usize,
}

const FEW: usize = 8;

#[derive(Debug)]
enum Form {
    InOrder,
    Tens(Box<Tens>),
    Thousands(Box<Thousands>),
    /// More sources, or times that other keys cannot hold.
    Wide(Box<Wide>),
}

impl Tournament {
    /// A tournament of `count` sources, none of them due.
    pub fn new(count: usize) -> Tournament {
        Tournament::with(count, &[])
    }

    /// The same; the sources of `often` change most often.
    pub fn with(count: usize, often: &[u32]) -> Tournament {
        let form = if count <= FEW {
            Form::InOrder
        } else if count <= Tens::MOST {
            Form::Tens(Box::new(Tens::new(often)))
        } else if count <= Thousands::MOST {
            Form::Thousands(Box::new(Thousands::new()))
        } else {
            Form::Wide(Box::new(Wide::new(count)))
        };
        let mut order = [(Time::NEVER, 0); FEW];
        (0..).zip(&mut order).for_each(|(number, place)| place.1 = number);
        Tournament { order, form, count }
    }

    /// The earliest time and its source.
    pub fn first(&self) -> (Time, u32) {
        self.order[0]
    }

    /// Due time of source `number`.
    pub fn time_of(&self, number: u32) -> Time {
        match &self.form {
            Form::InOrder => self.time_in_order(number),
            Form::Tens(pairs) => pairs.time_of(number),
            Form::Thousands(pairs) => pairs.time_of(number),
            Form::Wide(pairs) => pairs.time_of(number),
        }
    }

    #[inline(always)]
    fn time_in_order(&self, number: u32) -> Time {
        self.order.iter().find(|source| source.1 == number).map_or(Time::NEVER, |source| source.0)
    }

    /// Sets the due time of source `number`.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub fn set(&mut self, number: u32, time: Time) {
        if !matches!(self.form, Form::InOrder) {
            return self.set_among_many(number, time);
        }
        let order = &mut self.order;
        if order[0].1 != number {
            return sort_in(order, (time, number));
        }
        let mut place = 0;
        while let Some(&behind) = order.get(place + 1)
            && precedes(behind, (time, number))
        {
            order[place] = behind;
            place += 1;
        }
        order[place] = (time, number);
    }

    /// Sets the due time of a source that was not due.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub fn begin(&mut self, number: u32, time: Time) {
        match self.form {
            Form::InOrder => self.set(number, time),
            _ => self.bring_forward(number, time),
        }
    }

    /// Sets the due time of source `number` unless an earlier one is set.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub fn at_latest(&mut self, number: u32, time: Time) {
        match self.form {
            Form::InOrder if time >= self.time_in_order(number) => {}
            Form::InOrder => self.set(number, time),
            Form::Thousands(ref pairs) if time >= pairs.time_of(number) => {}
            _ => self.bring_forward(number, time),
        }
    }

    #[inline(never)]
    fn set_among_many(&mut self, number: u32, time: Time) {
        self.order[0] = match &mut self.form {
            Form::Tens(pairs) if Tens::can_tell(time) => pairs.set(number, time),
            Form::Thousands(pairs) if Thousands::can_tell(time) => pairs.set(number, time),
            _ => return self.set_wide(number, time),
        };
    }

    /// [`Tournament::set`] for more than 4096 sources or for times beyond narrow keys. All keys are wide afterwards.
    #[inline(never)]
    fn set_wide(&mut self, number: u32, time: Time) {
        if let Form::Wide(pairs) = &mut self.form {
            self.order[0] = pairs.set(number, time);
            return;
        }
        let mut pairs = Box::new(Wide::new(self.count));
        (0..self.count as u32).for_each(|number| self.order[0] = pairs.set(number, self.time_of(number)));
        self.order[0] = pairs.set(number, time);
        self.form = Form::Wide(pairs);
    }

    /// [`Tournament::at_latest`] for more than eight sources: updates only the rounds that change.
    #[inline(never)]
    fn bring_forward(&mut self, number: u32, time: Time) {
        match &mut self.form {
            Form::Tens(pairs) if Tens::can_tell(time) => pairs.bring_forward(number, time),
            Form::Thousands(pairs) if Thousands::can_tell(time) => pairs.bring_forward(number, time),
            _ => {
                if time < self.time_of(number) {
                    self.set_wide(number, time);
                }
                return;
            }
        }
        if precedes((time, number), self.order[0]) {
            self.order[0] = (time, number);
        }
    }
}

/// Moves a source other than the first to its new place.
#[cold]
fn sort_in(order: &mut [(Time, u32); FEW], source: (Time, u32)) {
    let Some(mut place) = order.iter().position(|other| other.1 == source.1) else { return };
    order[place] = source;
    while place + 1 < FEW && precedes(order[place + 1], source) {
        order.swap(place, place + 1);
        place += 1;
    }
    while place > 0 && precedes(source, order[place - 1]) {
        order.swap(place, place - 1);
        place -= 1;
    }
}

fn precedes(one: (Time, u32), other: (Time, u32)) -> bool {
    one.0 < other.0 || (one.0 == other.0 && one.1 < other.1)
}

/// Deadlines that mostly move later. A postponed timer keeps its place in the tree until that place comes up.
#[derive(Debug)]
pub struct Timers(Tournament);

impl Timers {
    /// Timers numbered from 0, none of them set.
    pub fn new(count: usize) -> Timers {
        Timers(Tournament::new(count))
    }

    /// The earliest place in the tree, a lower bound of that timer's deadline; [`Time::NEVER`] if no timer is set.
    pub fn first(&self) -> (Time, u32) {
        self.0.first()
    }

    /// A copy with `count` timers; the additional timers are not set.
    pub fn extended_to(&self, count: usize) -> Timers {
        let mut all = Tournament::new(count);
        (0..self.0.count as u32).for_each(|number| all.set(number, self.0.time_of(number)));
        Timers(all)
    }

    pub(crate) fn unset(&self) -> Timers {
        Timers::new(self.0.count)
    }

    /// Has timer `number` come up by `deadline`.
    #[inline(always)]
    pub fn at_latest(&mut self, number: u32, deadline: Time) {
        self.0.at_latest(number, deadline);
    }

    /// Whether timer `number` comes up by `deadline`.
    pub fn is_set_by(&self, number: u32, deadline: Time) -> bool {
        self.0.time_of(number) <= deadline
    }

    /// Sets the next place of timer `number`, which has come up.
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

    /// Compares with a linear search, with many equal times.
    #[test]
    fn the_earliest_is_that_of_all() {
        for count in [1, 4, 5, 8, 9, 33, 40, 64, 65, 100, 512, 513, 4096, 4097] {
            let (mut heads, mut times) = (Tournament::new(count), vec![Time::NEVER; count]);
            if count % 2 == 0 {
                heads = Tournament::with(count, &[count as u32 - 1, 3, 5]);
            }
            let mut random = 1u64;
            for _ in 0..3000 {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let number = (random >> 33) as usize % count;
                let number = if random >> 62 == 0 { heads.first().1 as usize } else { number };
                let time = if random >> 20 & 7 == 0 { Time::NEVER } else { at(random >> 24 & 0xff) };
                if random >> 16 & 3 == 0 {
                    heads.at_latest(number as u32, time);
                    times[number] = time.min(times[number]);
                } else if times[number] == Time::NEVER {
                    heads.begin(number as u32, time);
                    times[number] = time;
                } else {
                    heads.set(number as u32, time);
                    times[number] = time;
                }
                let expected = (0..).zip(&times).map(|(number, time)| (*time, number)).min().unwrap();
                assert_eq!(heads.first().0, expected.0, "of {count}");
                assert!(heads.first().0 == Time::NEVER || heads.first() == expected, "of {count}");
                assert_eq!(heads.time_of(number as u32), times[number]);
            }
        }
    }

    #[test]
    fn times_that_a_pair_cannot_tell_are_in_their_order_too() {
        let year = 31_557_600_000_000_000;
        for (count, later, earlier) in
            [(40, 5, 4), (40, 10, 9), (40, 12, 11), (40, 580, 9), (600, 10, 9), (4096, 580, 1)]
        {
            let mut heads = Tournament::with(count, &[7]);
            heads.set(7, at(1));
            heads.set(3, at(later * year));
            heads.begin(9, at(earlier * year));
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
