//! A record of lost and delivered packets, stored as lengths of runs. A run consists of consecutive packets that were
//! all lost or all delivered.

/// A sequence of packets, each lost or delivered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LossRecord {
    /// Lengths of runs, alternately of arrived and of lost packets. The first length may be 0.
    runs: Vec<u32>,
    packets: u64,
    lost: u64,
}

impl LossRecord {
    /// Adds one packet.
    pub fn push(&mut self, is_lost: bool) {
        self.push_many(is_lost, 1);
    }

    /// Adds several packets, all lost or all delivered.
    pub fn push_many(&mut self, is_lost: bool, count: u64) {
        if count == 0 {
            return;
        }
        if self.runs.is_empty() {
            self.runs.push(0);
        }
        // The runs of arrived packets have even indices.
        if (self.runs.len() - 1).is_multiple_of(2) == is_lost {
            self.runs.push(0);
        }
        self.packets += count;
        self.lost += if is_lost { count } else { 0 };
        let mut left = count;
        while let Some(last) = self.runs.last_mut() {
            let room = u64::from(u32::MAX - *last);
            *last += left.min(room) as u32;
            left -= left.min(room);
            if left == 0 {
                return;
            }
            // A length has 32 bits. A longer run is stored in several parts, with an empty run of the opposite kind
            // between two parts.
            self.runs.extend([0, 0]);
        }
    }

    /// Changes the last lost packet into an arrival.
    pub(crate) fn mark_last_loss_arrived(&mut self) {
        let Some(at) = (1..self.runs.len()).step_by(2).rev().find(|at| self.runs[*at] > 0) else { return };
        self.lost -= 1;
        self.runs[at] -= 1;
        match self.runs.get_mut(at + 1) {
            Some(behind) => *behind = behind.saturating_add(1),
            None => self.runs.push(1),
        }
    }

    /// Number of packets.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Number of lost packets.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Returns the runs in order. Each item is a pair: whether the run's packets were lost, and the number of packets.
    pub fn runs(&self) -> impl Iterator<Item = (bool, u32)> + '_ {
        let mut runs = self.runs.iter().enumerate().filter(|(_, length)| **length > 0).peekable();
        std::iter::from_fn(move || {
            let (at, length) = runs.next()?;
            let (is_lost, mut all) = (at % 2 == 1, *length);
            while let Some((_, more)) = runs.next_if(|(next, _)| (next % 2 == 1) == is_lost) {
                all = all.saturating_add(*more);
            }
            Some((is_lost, all))
        })
    }

    /// Number of stored lengths, which determines the memory in use.
    pub(crate) fn stored(&self) -> usize {
        self.runs.len()
    }
}

impl FromIterator<bool> for LossRecord {
    fn from_iter<I: IntoIterator<Item = bool>>(packets: I) -> LossRecord {
        let mut record = LossRecord::default();
        packets.into_iter().for_each(|is_lost| record.push(is_lost));
        record
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_what_was_pushed() {
        let record: LossRecord = [true, true, false, true, false, false].into_iter().collect();
        assert_eq!(record.runs().collect::<Vec<_>>(), [(true, 2), (false, 1), (true, 1), (false, 2)]);
        assert_eq!((record.packets(), record.lost()), (6, 3));
        let mut record: LossRecord = [false, true, false].into_iter().collect();
        record.mark_last_loss_arrived();
        assert_eq!(record.runs().collect::<Vec<_>>(), [(false, 3)]);
        record.mark_last_loss_arrived();
        assert_eq!((record.packets(), record.lost()), (3, 0));
    }
}
