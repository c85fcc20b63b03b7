//! Actions: multiplicative changes of the pacing rate.

use std::fmt;

/// Meaning of an action.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A number `a` from -1 to 1. A positive `a` multiplies the rate by `1 + alpha a`, and a negative `a` divides the rate
    /// by `1 - alpha a` (Jay et al., ICML 2019, §3.1). Numbers beyond -1 and 1 act like -1 and 1.
    Continuous {
        /// Largest relative change of a step, above 0.
        alpha: f64,
    },
    /// Index of the factor that multiplies the rate.
    Factors(Vec<f64>),
}

/// Reason why an action is refused.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ActionRefused {
    /// The action is NaN.
    NotANumber,
    /// The action is no index of a factor. The second value is the number of factors.
    NoIndex(f64, usize),
}

impl fmt::Display for ActionRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ActionRefused::NotANumber => f.write_str("the action is NaN"),
            ActionRefused::NoIndex(action, count) => {
                write!(f, "the action is {action}: expected a whole number from 0 to {}", count - 1)
            }
        }
    }
}

impl Action {
    /// Checks an action.
    ///
    /// # Errors
    /// Refuses NaN, and numbers that are no index of a factor.
    pub fn check(&self, action: f64) -> Result<(), ActionRefused> {
        match self {
            _ if action.is_nan() => Err(ActionRefused::NotANumber),
            Action::Factors(factors) if !is_index(action, factors.len()) => {
                Err(ActionRefused::NoIndex(action, factors.len()))
            }
            _ => Ok(()),
        }
    }

    /// Returns the rate after an action that [`Action::check`] accepts.
    pub(super) fn apply(&self, rate: f64, action: f64) -> f64 {
        match self {
            Action::Continuous { alpha } => {
                let change = alpha * action.clamp(-1.0, 1.0);
                if change >= 0.0 { rate * (1.0 + change) } else { rate / (1.0 - change) }
            }
            Action::Factors(factors) => rate * factors[action as usize],
        }
    }
}

fn is_index(action: f64, count: usize) -> bool {
    action >= 0.0 && action < count as f64 && action == action.trunc()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formula of the paper. An action and its negative cancel.
    #[test]
    fn continuous_actions_multiply_and_divide() {
        let action = Action::Continuous { alpha: 0.25 };
        assert_eq!(action.apply(8e6, 1.0), 10e6);
        assert_eq!(action.apply(10e6, -1.0), 8e6);
        assert_eq!(action.apply(8e6, 0.0), 8e6);
        assert_eq!(action.apply(8e6, 7.0), 10e6);
    }

    #[test]
    fn discrete_actions_are_indices() {
        let action = Action::Factors(vec![0.5, 1.0, 2.0]);
        assert_eq!(action.apply(8e6, 2.0), 16e6);
        assert_eq!(action.check(2.0), Ok(()));
        for wrong in [-1.0, 0.5, 3.0, f64::INFINITY] {
            assert_eq!(action.check(wrong), Err(ActionRefused::NoIndex(wrong, 3)));
        }
        assert_eq!(action.check(f64::NAN), Err(ActionRefused::NotANumber));
    }
}
