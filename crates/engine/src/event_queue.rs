//! The event queue. One tournament tree holds the next event of each pipe, another tree holds the timers. If a timer's
//! deadline moves to a later time, the tree keeps the old time until this time is reached.

mod tree;

use lasthop_base::Time;
use tree::{LargeTree, SmallTree, WideTree};

/// A queue that stores the next due time of each source (a pipe or a timer), and returns the earliest source. The
/// number of sources is fixed. Among sources with equal times, the lowest source number wins.
///
/// Up to eight sources are kept sorted. More than eight sources compete in a tournament tree (`tree`).
#[derive(Debug)]
pub struct EventQueue {
    /// Element 0 is the earliest source. With at most eight sources, the array holds all sources in order of time.
    /// Unused elements come last.
    order: [(Time, u32); SORTED_CAPACITY],
    storage: Storage,
    count: usize,
}

const SORTED_CAPACITY: usize = 8;

#[derive(Debug)]
enum Storage {
    Sorted,
    Small(Box<SmallTree>),
    Large(Box<LargeTree>),
    /// Tree for more than 4096 sources, or for times that do not fit in the keys of the smaller trees.
    Wide(Box<WideTree>),
}

impl EventQueue {
    /// Creates an event queue of `count` sources. No source is due.
    pub fn new(count: usize) -> EventQueue {
        EventQueue::with_busiest(count, &[])
    }

    /// Creates an event queue like [`EventQueue::new`]. `busiest` is a hint for speed: it lists the sources whose due
    /// times change most often.
    pub fn with_busiest(count: usize, busiest: &[u32]) -> EventQueue {
        let storage = if count <= SORTED_CAPACITY {
            Storage::Sorted
        } else if count <= SmallTree::CAPACITY {
            Storage::Small(Box::new(SmallTree::new(busiest)))
        } else if count <= LargeTree::CAPACITY {
            Storage::Large(Box::new(LargeTree::new()))
        } else {
            Storage::Wide(Box::new(WideTree::new(count)))
        };
        let mut order = [(Time::NEVER, 0); SORTED_CAPACITY];
        (0..).zip(&mut order).for_each(|(number, place)| place.1 = number);
        EventQueue { order, storage, count }
    }

    /// Returns the earliest due time and the source with this time.
    pub fn first(&self) -> (Time, u32) {
        self.order[0]
    }

    /// Due time of source `number`.
    pub fn time_of(&self, number: u32) -> Time {
        match &self.storage {
            Storage::Sorted => self.time_sorted(number),
            Storage::Small(tree) => tree.time_of(number),
            Storage::Large(tree) => tree.time_of(number),
            Storage::Wide(tree) => tree.time_of(number),
        }
    }

    #[inline(always)]
    fn time_sorted(&self, number: u32) -> Time {
        self.order.iter().find(|source| source.1 == number).map_or(Time::NEVER, |source| source.0)
    }

    /// Sets the due time of source `number`.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub fn set(&mut self, number: u32, time: Time) {
        if !matches!(self.storage, Storage::Sorted) {
            return self.set_in_tree(number, time);
        }
        let order = &mut self.order;
        if order[0].1 != number {
            return sort_in(order, (time, number));
        }
        let mut place = 0;
        while let Some(&behind) = order.get(place + 1)
            && is_before(behind, (time, number))
        {
            order[place] = behind;
            place += 1;
        }
        order[place] = (time, number);
    }

    /// Sets the due time of a source whose due time is `Time::NEVER`.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub fn insert(&mut self, number: u32, time: Time) {
        match self.storage {
            Storage::Sorted => self.set(number, time),
            _ => self.bring_forward(number, time),
        }
    }

    /// Sets the due time of source `number`, unless an earlier time is set.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub fn at_latest(&mut self, number: u32, time: Time) {
        match self.storage {
            Storage::Sorted if time >= self.time_sorted(number) => {}
            Storage::Sorted => self.set(number, time),
            Storage::Large(ref tree) if time >= tree.time_of(number) => {}
            _ => self.bring_forward(number, time),
        }
    }

    #[inline(never)]
    fn set_in_tree(&mut self, number: u32, time: Time) {
        self.order[0] = match &mut self.storage {
            Storage::Small(tree) if SmallTree::fits(time) => tree.set(number, time),
            Storage::Large(tree) if LargeTree::fits(time) => tree.set(number, time),
            _ => return self.set_wide(number, time),
        };
    }

    /// Does the work of [`EventQueue::set`] for more than 4096 sources, or for a time that does not fit in narrow keys.
    /// After this call, the queue uses wide keys.
    #[inline(never)]
    fn set_wide(&mut self, number: u32, time: Time) {
        if let Storage::Wide(tree) = &mut self.storage {
            self.order[0] = tree.set(number, time);
            return;
        }
        let mut tree = Box::new(WideTree::new(self.count));
        (0..self.count as u32).for_each(|number| self.order[0] = tree.set(number, self.time_of(number)));
        self.order[0] = tree.set(number, time);
        self.storage = Storage::Wide(tree);
    }

    /// Does the work of [`EventQueue::at_latest`] for more than eight sources. Updates only those rounds of the
    /// tournament that the source wins.
    #[inline(never)]
    fn bring_forward(&mut self, number: u32, time: Time) {
        match &mut self.storage {
            Storage::Small(tree) if SmallTree::fits(time) => tree.bring_forward(number, time),
            Storage::Large(tree) if LargeTree::fits(time) => tree.bring_forward(number, time),
            _ => {
                if time < self.time_of(number) {
                    self.set_wide(number, time);
                }
                return;
            }
        }
        if is_before((time, number), self.order[0]) {
            self.order[0] = (time, number);
        }
    }
}

/// Moves `source`, which is not the first element, to the position that its new time requires.
#[cold]
fn sort_in(order: &mut [(Time, u32); SORTED_CAPACITY], source: (Time, u32)) {
    let Some(mut place) = order.iter().position(|other| other.1 == source.1) else { return };
    order[place] = source;
    while place + 1 < SORTED_CAPACITY && is_before(order[place + 1], source) {
        order.swap(place, place + 1);
        place += 1;
    }
    while place > 0 && is_before(source, order[place - 1]) {
        order.swap(place, place - 1);
        place -= 1;
    }
}

fn is_before(one: (Time, u32), other: (Time, u32)) -> bool {
    one.0 < other.0 || (one.0 == other.0 && one.1 < other.1)
}

/// Queue of timers, whose deadlines are mostly moved to later times. A postponed timer keeps its old time in the tree.
/// When the old time is reached, the timer is rescheduled.
#[derive(Debug)]
pub struct Timers(EventQueue);

impl Timers {
    /// Creates `count` timers, numbered from 0. No timer is set.
    pub fn new(count: usize) -> Timers {
        Timers(EventQueue::new(count))
    }

    /// Returns the earliest time in the tree, and the timer with this time. The timer's deadline may be later than this
    /// time. The time is [`Time::NEVER`] if no timer is set.
    pub fn first(&self) -> (Time, u32) {
        self.0.first()
    }

    /// Returns a copy with `count` timers. The additional timers are not set.
    pub fn extended_to(&self, count: usize) -> Timers {
        let mut all = EventQueue::new(count);
        (0..self.0.count as u32).for_each(|number| all.set(number, self.0.time_of(number)));
        Timers(all)
    }

    pub(crate) fn unset(&self) -> Timers {
        Timers::new(self.0.count)
    }

    /// Schedules timer `number` for `deadline` or earlier.
    #[inline(always)]
    pub fn at_latest(&mut self, number: u32, deadline: Time) {
        self.0.at_latest(number, deadline);
    }

    /// Whether timer `number` is scheduled for `deadline` or earlier.
    pub fn is_set_by(&self, number: u32, deadline: Time) -> bool {
        self.0.time_of(number) <= deadline
    }

    /// Sets the next scheduled time of timer `number`. Call only after the timer's previous scheduled time was reached.
    pub fn reschedule(&mut self, number: u32, deadline: Time) {
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
        let mut queue = EventQueue::new(count);
        assert_eq!(queue.first().0, Time::NEVER);
        queue.set(4, at(7));
        queue.set(2, at(9));
        assert_eq!(queue.first(), (at(7), 4));
        queue.set(1, at(7));
        assert_eq!(queue.first(), (at(7), 1));
        queue.set(1, Time::NEVER);
        queue.set(4, at(10));
        assert_eq!(queue.first(), (at(9), 2));
    }

    /// Compares the queue's first source with the result of a linear search over all due times. Many due times are
    /// equal.
    #[test]
    fn the_earliest_is_that_of_all() {
        for count in [1, 4, 5, 8, 9, 33, 40, 64, 65, 100, 512, 513, 4096, 4097] {
            let (mut queue, mut times) = (EventQueue::new(count), vec![Time::NEVER; count]);
            if count % 2 == 0 {
                queue = EventQueue::with_busiest(count, &[count as u32 - 1, 3, 5]);
            }
            let mut random = 1u64;
            for _ in 0..3000 {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let number = (random >> 33) as usize % count;
                let number = if random >> 62 == 0 { queue.first().1 as usize } else { number };
                let time = if random >> 20 & 7 == 0 { Time::NEVER } else { at(random >> 24 & 0xff) };
                if random >> 16 & 3 == 0 {
                    queue.at_latest(number as u32, time);
                    times[number] = time.min(times[number]);
                } else if times[number] == Time::NEVER {
                    queue.insert(number as u32, time);
                    times[number] = time;
                } else {
                    queue.set(number as u32, time);
                    times[number] = time;
                }
                let expected = (0..).zip(&times).map(|(number, time)| (*time, number)).min().unwrap();
                assert_eq!(queue.first().0, expected.0, "of {count}");
                assert!(queue.first().0 == Time::NEVER || queue.first() == expected, "of {count}");
                assert_eq!(queue.time_of(number as u32), times[number]);
            }
        }
    }

    #[test]
    fn times_that_a_pair_cannot_tell_are_in_their_order_too() {
        let year = 31_557_600_000_000_000;
        for (count, later, earlier) in
            [(40, 5, 4), (40, 10, 9), (40, 12, 11), (40, 580, 9), (600, 10, 9), (4096, 580, 1)]
        {
            let mut queue = EventQueue::with_busiest(count, &[7]);
            queue.set(7, at(1));
            queue.set(3, at(later * year));
            queue.insert(9, at(earlier * year));
            assert_eq!(queue.first(), (at(1), 7));
            queue.set(7, Time::NEVER);
            assert_eq!(queue.first(), (at(earlier * year), 9));
            queue.set(9, Time::NEVER);
            assert_eq!(queue.first(), (at(later * year), 3));
        }
    }

    #[test]
    fn a_timer_that_moves_later_keeps_its_place_until_it_comes_up() {
        let mut timers = Timers::new(2);
        timers.at_latest(0, at(10));
        timers.at_latest(0, at(20));
        timers.at_latest(1, at(15));
        assert_eq!(timers.first(), (at(10), 0));
        timers.reschedule(0, at(20));
        assert_eq!(timers.first(), (at(15), 1));
        timers.at_latest(0, at(5));
        assert_eq!(timers.first(), (at(5), 0));
        timers.reschedule(0, Time::NEVER);
        timers.reschedule(1, Time::NEVER);
        assert_eq!(timers.first().0, Time::NEVER);
    }
}
