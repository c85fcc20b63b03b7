//! A run in slices.

use crate::answer::Columns;
use crate::graph::Graph;
use crate::hops::Hops;
use crate::path::watched;
use crate::request::Begin;
use crate::samples;
use lasthop_scenario::Scenario;
use lasthop_sim::{METRICS, Outcome, Running, Watch};
use serde_json::{Map, Value, json};
use std::any::Any;

/// A run under way, and what it was asked for.
pub(crate) struct Run {
    running: Running<'static>,
    scenario: Scenario,
    variant: Option<usize>,
}

impl Run {
    /// A run at time zero.
    pub(crate) fn new(scenario: Scenario, seed: u64, begin: &Begin) -> Run {
        let mut watch = Watch { probes: begin.samples, ..Watch::default() };
        if let Some(window) = begin.segments {
            watch.observers.push(Box::new(Graph::new(&scenario, watched(&scenario), window)));
        }
        if let Some(window) = begin.hops {
            watch.observers.push(Box::new(Hops::new(window)));
        }
        let running = Running::owning(scenario.clone(), seed, watch);
        Run { running, scenario, variant: begin.variant }
    }

    /// Carries it; true if it is not at its end then.
    pub(crate) fn advance(&mut self, events: usize) -> bool {
        self.running.advance(events)
    }

    /// How far it is, s.
    pub(crate) fn now_s(&self) -> f64 {
        self.running.now().as_secs()
    }

    /// Which variant its outcome is to be kept for.
    pub(crate) fn variant(&self) -> Option<usize> {
        self.variant
    }

    /// What came out.
    pub(crate) fn finish(self, columns: &mut Columns) -> (Outcome, Value) {
        let (outcome, samples, observers) = self.running.finish();
        if !samples.flows.is_empty() || !samples.queues.is_empty() {
            samples::push(&self.scenario, &samples, columns);
        }
        let mut header = json!({ "seed": outcome.seed.to_string(), "flows": flows(&outcome) });
        for observer in observers {
            let observer = match (observer as Box<dyn Any>).downcast::<Graph>() {
                Ok(graph) => {
                    header["segments_to_s"] = json!(graph.finish(columns));
                    continue;
                }
                Err(other) => other,
            };
            if let Ok(hops) = observer.downcast::<Hops>() {
                hops.finish(columns);
            }
        }
        (outcome, header)
    }
}

/// Each flow's numbers.
fn flows(outcome: &Outcome) -> Vec<Value> {
    let of = |flow| {
        let numbers = METRICS.iter().map(|metric| (metric.name.to_owned(), json!((metric.of)(flow))));
        numbers.collect::<Map<String, Value>>()
    };
    let named = outcome.flows.iter().map(|flow| {
        let mut object = Map::from_iter([("flow".to_owned(), json!(flow.name))]);
        object.extend(of(flow));
        Value::Object(object)
    });
    named.collect()
}
