//! A value per loss reason.

use crate::report::LossReason;
use std::ops::{Index, IndexMut};

/// A value for each [`LossReason`], indexed by the reason, such as a number of lost packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PerReason<T>([T; LossReason::ALL.len()]);

impl<T> PerReason<T> {
    /// Computes the value of each reason.
    pub fn new(value: impl FnMut(LossReason) -> T) -> PerReason<T> {
        PerReason(LossReason::ALL.map(value))
    }

    /// Reasons and values, in the order of [`LossReason::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (LossReason, &T)> {
        LossReason::ALL.into_iter().zip(&self.0)
    }
}

impl PerReason<u64> {
    /// Differences between these values and those of `before`.
    pub fn since(&self, before: &PerReason<u64>) -> PerReason<u64> {
        PerReason::new(|reason| self[reason] - before[reason])
    }

    /// Sum over all reasons.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

impl<T> Index<LossReason> for PerReason<T> {
    type Output = T;

    fn index(&self, reason: LossReason) -> &T {
        &self.0[reason as usize]
    }
}

impl<T> IndexMut<LossReason> for PerReason<T> {
    fn index_mut(&mut self, reason: LossReason) -> &mut T {
        &mut self.0[reason as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list `ALL` and the variants are maintained by hand, so their order might differ. Each value must be found
    /// under its own reason.
    #[test]
    fn each_reason_has_a_value_of_its_own() {
        let names = PerReason::new(LossReason::name);
        for (reason, name) in names.iter() {
            assert_eq!((names[reason], *name), (reason.name(), reason.name()));
        }
        let mut counts = PerReason::default();
        counts[LossReason::Channel] += 2;
        counts[LossReason::EarlyDrop] += 1;
        assert_eq!((counts.total(), counts[LossReason::QueueFull]), (3, 0));
    }
}
