//! Detection of deterministic scenarios, whose repetitions are all equal.

use lasthop_scenario::Scenario;
use lasthop_sim::is_deterministic;

/// Result of a check whether several scenarios are all deterministic. If so, one run of each scenario suffices.
pub struct Determinism {
    is_deterministic: bool,
    has_several_flows: bool,
}

impl Determinism {
    /// Checks scenarios that are run with the same seeds.
    pub fn of<'a>(mut scenarios: impl Iterator<Item = &'a Scenario> + Clone) -> Determinism {
        Determinism {
            has_several_flows: scenarios.clone().any(|scenario| scenario.flows.len() > 1),
            is_deterministic: scenarios.all(is_deterministic),
        }
    }

    /// Returns the number of repetitions to run: one if all repetitions would be equal, otherwise `runs`.
    pub fn worth_running(&self, runs: u32) -> u32 {
        if self.is_deterministic { 1 } else { runs }
    }

    /// Returns the outcomes of independent repetitions. If all repetitions are equal, only the first outcome is
    /// returned, because an interval over equal outcomes has no meaning.
    pub fn independent<'o, T>(&self, outcomes: &'o [T]) -> &'o [T] {
        if self.is_deterministic { &outcomes[..outcomes.len().min(1)] } else { outcomes }
    }

    /// Returns the reason for missing intervals. Returns `None` if a scenario is random.
    pub fn note(&self) -> Option<&'static str> {
        match (self.is_deterministic, self.has_several_flows) {
            (false, _) => None,
            (true, true) => Some("deterministic: repetitions are equal; add `start_spread` to the flows"),
            (true, false) => Some("deterministic: repetitions are equal"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_scenario::Draft;

    fn of(texts: &[&str]) -> Determinism {
        let scenarios: Vec<Scenario> =
            texts.iter().map(|text| Draft::load(text).unwrap().check().unwrap()).collect();
        Determinism::of(scenarios.iter())
    }

    #[test]
    fn one_run_where_nothing_is_random() {
        let fixed = "profile=plain,rate=10Mbit/s,rtt=20ms,queue=20packets";
        assert_eq!(of(&[fixed]).worth_running(10), 1);
        assert_eq!(of(&[fixed]).note(), Some("deterministic: repetitions are equal"));
        // If one scenario is random, all scenarios are run several times. The reason is that a comparison pairs the
        // repetitions of all scenarios.
        let lossy = "profile=plain,rate=10Mbit/s,rtt=20ms,queue=20packets,loss=1%";
        assert_eq!(of(&[fixed, lossy]).worth_running(10), 10);
        assert_eq!(of(&[lossy]).note(), None);
    }

    #[test]
    fn a_sender_that_draws_is_repeated() {
        assert_eq!(
            of(&["profile=plain,rate=10Mbit/s,rtt=20ms,queue=20packets,congestion=bbr"]).worth_running(10),
            10
        );
        assert_eq!(
            of(&["profile=plain,rate=10Mbit/s,rtt=20ms,queue=20packets,congestion=veno"]).worth_running(10),
            1
        );
    }

    #[test]
    fn several_flows_are_told_what_helps() {
        let mut draft = Draft::load("profile=plain,rate=10Mbit/s,rtt=20ms,queue=20packets").unwrap();
        draft.set("flow.bulk.count", "2").unwrap();
        let fixed = Determinism::of([draft.check().unwrap()].iter());
        assert!(fixed.note().is_some_and(|note| note.contains("add `start_spread`")));
        draft.set("start_spread", "100 ms").unwrap();
        assert_eq!(Determinism::of([draft.check().unwrap()].iter()).note(), None);
    }
}
