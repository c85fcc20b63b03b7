//! Run that is executed in slices.

use crate::answer::Columns;
use crate::hops::Hops;
use crate::request::Begin;
use crate::samples;
use lasthop_charts::segments::{self, SegmentRecorder, Segments, observed_flow};
use lasthop_scenario::Scenario;
use lasthop_sim::{FLOW_METRICS, Observation, Outcome, Samples, SteppedRun};
use serde_json::{Map, Value, json};
use std::any::Any;

pub(crate) struct SlicedRun {
    running: SteppedRun<'static>,
    scenario: Scenario,
    variant: Option<usize>,
}

impl SlicedRun {
    pub(crate) fn new(scenario: Scenario, seed: u64, begin: &Begin) -> SlicedRun {
        let mut observation = Observation { probes: begin.samples, ..Observation::default() };
        if let Some(window) = begin.segments {
            let window =
                segments::RecordingWindow { from_s: window.from_s, to_s: window.to_s, most: window.most };
            observation.observers.push(Box::new(SegmentRecorder::new(
                &scenario,
                observed_flow(&scenario),
                window,
            )));
        }
        if let Some(window) = begin.hops {
            observation.observers.push(Box::new(Hops::new(window)));
        }
        let running = SteppedRun::owning(scenario.clone(), seed, observation);
        SlicedRun { running, scenario, variant: begin.variant }
    }

    /// Processes at most `events` events. Returns whether the run continues.
    pub(crate) fn advance(&mut self, events: usize) -> bool {
        self.running.advance(events)
    }

    pub(crate) fn now_s(&self) -> f64 {
        self.running.now().as_secs()
    }

    pub(crate) fn variant(&self) -> Option<usize> {
        self.variant
    }

    /// Ends the run. Returns the outcome, the header of the answer, and the samples together with their scenario.
    pub(crate) fn finish(self, columns: &mut Columns) -> (Outcome, Value, Option<(Scenario, Samples)>) {
        let (outcome, samples, observers) = self.running.finish();
        let is_sampled = !samples.flows.is_empty() || !samples.queues.is_empty();
        if is_sampled {
            samples::push(&self.scenario, &samples, columns);
        }
        let mut header = json!({ "seed": outcome.seed.to_string(), "flows": flows(&outcome) });
        for observer in observers {
            let observer = match (observer as Box<dyn Any>).downcast::<SegmentRecorder>() {
                Ok(taker) => {
                    let seen = taker.finish();
                    push_segments(&seen, columns);
                    header["segments_to_s"] = json!(seen.to_s);
                    continue;
                }
                Err(other) => other,
            };
            if let Ok(hops) = observer.downcast::<Hops>() {
                hops.finish(columns);
            }
        }
        (outcome, header, is_sampled.then_some((self.scenario, samples)))
    }
}

fn push_segments(seen: &Segments, columns: &mut Columns) {
    columns.push_all("data", &Segments::DATA, &seen.data);
    columns.push_all("ack", &Segments::ACKS, &seen.acks);
    columns.push_all("event", &Segments::EVENTS, &seen.events);
}

fn flows(outcome: &Outcome) -> Vec<Value> {
    let of = |flow| {
        let numbers = FLOW_METRICS.iter().map(|metric| (metric.name.to_owned(), json!((metric.of)(flow))));
        numbers.collect::<Map<String, Value>>()
    };
    let named = outcome.flows.iter().map(|flow| {
        let mut object = Map::from_iter([("flow".to_owned(), json!(flow.name))]);
        object.extend(of(flow));
        Value::Object(object)
    });
    named.collect()
}
