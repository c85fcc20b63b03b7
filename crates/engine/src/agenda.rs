//! What is next: the pipes' heads in a tournament, the timers in a lazy heap.

use lasthop_base::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The next due time of each of a fixed number of sources, and the earliest of them.
///
/// A tournament tree: reading the winner is free, changing one time costs log2(n)
/// comparisons of neighbours. Among equal times the lowest number wins.
#[derive(Debug)]
pub struct Tournament {
    /// `nodes[1]` is the winner; leaves start at `nodes.len() / 2`.
    nodes: Vec<(Time, u32)>,
}

impl Tournament {
    /// A tournament of `count` sources, none of which has anything due.
    pub fn new(count: usize) -> Tournament {
        let leaves = count.next_power_of_two().max(1);
        let mut nodes = vec![(Time::NEVER, 0); 2 * leaves];
        for (number, leaf) in nodes[leaves..].iter_mut().enumerate() {
            leaf.1 = number as u32;
        }
        let mut tournament = Tournament { nodes };
        for at in (1..leaves).rev() {
            tournament.nodes[at] = tournament.play(at);
        }
        tournament
    }

    /// The earliest time and its source.
    #[inline]
    pub fn first(&self) -> (Time, u32) {
        self.nodes[1]
    }

    /// Source `number` is next due at `time`.
    #[inline]
    pub fn set(&mut self, number: u32, time: Time) {
        let mut at = self.nodes.len() / 2 + number as usize;
        self.nodes[at].0 = time;
        while at > 1 {
            at /= 2;
            let winner = self.play(at);
            self.nodes[at] = winner;
        }
    }

    #[inline]
    fn play(&self, at: usize) -> (Time, u32) {
        let (left, right) = (self.nodes[2 * at], self.nodes[2 * at + 1]);
        if left.0 <= right.0 { left } else { right }
    }
}

/// Deadlines that mostly move later: a moved deadline stays in the heap at its old
/// place and is put right when it comes up.
#[derive(Debug)]
pub struct Timers {
    heap: BinaryHeap<Reverse<(Time, u32)>>,
    /// For each timer the time of its earliest entry in the heap.
    armed: Vec<Time>,
}

impl Timers {
    /// Timers numbered from 0, none of them set.
    pub fn new(count: usize) -> Timers {
        Timers { heap: BinaryHeap::with_capacity(count), armed: vec![Time::NEVER; count] }
    }

    /// The earliest entry: the timer's deadline is then or later.
    #[inline]
    pub fn first(&self) -> Option<(Time, u32)> {
        self.heap.peek().map(|Reverse(entry)| *entry)
    }

    /// Removes the earliest entry.
    pub fn pop(&mut self) {
        if let Some(Reverse((time, number))) = self.heap.pop()
            && self.armed[number as usize] == time
        {
            self.armed[number as usize] = Time::NEVER;
        }
    }

    /// Timer `number` is to come up at `deadline` at the latest.
    #[inline]
    pub fn set(&mut self, number: u32, deadline: Time) {
        if deadline < self.armed[number as usize] {
            self.armed[number as usize] = deadline;
            self.heap.push(Reverse((deadline, number)));
        }
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
        let mut heads = Tournament::new(5);
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
    fn a_timer_has_one_entry_while_it_moves_later() {
        let mut timers = Timers::new(2);
        timers.set(0, at(10));
        timers.set(0, at(20));
        timers.set(1, at(15));
        assert_eq!(timers.first(), Some((at(10), 0)));
        timers.pop();
        timers.set(0, at(20));
        assert_eq!(timers.first(), Some((at(15), 1)));
        timers.set(0, at(5));
        assert_eq!(timers.first(), Some((at(5), 0)));
    }
}
