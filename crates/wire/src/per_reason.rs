//! Values indexed by loss reason.

use crate::report::LossReason;
use std::ops::{Index, IndexMut};

/// A value for each [`LossReason`], indexed by the reason, e.g. the number of packets lost for that reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PerReason<T>([T; LossReason::ALL.len()]);

impl<T> PerReason<T> {
    /// Creates one value for each reason, with a call of `value`.
    pub fn new(value: impl FnMut(LossReason) -> T) -> PerReason<T> {
        PerReason(LossReason::ALL.map(value))
    }

    /// Returns pairs of a reason and its value, in the order of [`LossReason::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (LossReason, &T)> {
        LossReason::ALL.into_iter().zip(&self.0)
    }
}

impl PerReason<u64> {
    /// Returns the differences between `self` and the earlier values `before`, per reason.
    pub fn since(&self, before: &PerReason<u64>) -> PerReason<u64> {
        PerReason::new(|reason| self[reason] - before[reason])
    }

    /// Returns the sum of the values of all reasons.
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

    /// `LossReason::ALL` must list the variants in the order of their declaration, because a reason's index is its
    /// position in the declaration.
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
