//! Requests and their answers.

use crate::answer::{Columns, packed};
use crate::problem::Refusal;
use crate::request::{Begin, Request};
use crate::run::Run;
use crate::shelf::Shelf;
use crate::{catalogue, charts, intervals, path, story};
use lasthop_scenario::{Catalogue, Draft, Scenario};
use lasthop_sim::{Outcome, Samples};
use serde_json::{Value, json};
use std::sync::Arc;

const MOST_VARIANTS: usize = 8;

/// Answers requests, one after the other.
#[derive(Default)]
pub struct Lab {
    catalogue: Catalogue,
    shelf: Shelf,
    running: Option<Run>,
    /// By variant, then by repetition.
    kept: Vec<Vec<Outcome>>,
    sampled: Vec<Option<(Scenario, Samples)>>,
}

impl Lab {
    /// A lab without files, runs and outcomes.
    pub fn new() -> Lab {
        let shelf = Shelf::default();
        let catalogue = Catalogue { files: Arc::new(shelf.clone()), ..Catalogue::default() };
        Lab { catalogue, shelf, ..Lab::default() }
    }

    /// Answers a request ([`Request`] as JSON) in the form of [`crate::answer`]. Errors are answers too.
    pub fn answer(&mut self, request: &str) -> Vec<u8> {
        let mut columns = Columns::default();
        let header = self.answered(request, &mut columns);
        packed(header.unwrap_or_else(|refusal| json!({ "error": refusal.told() })), columns)
    }

    fn answered(&mut self, request: &str, columns: &mut Columns) -> Result<Value, Refusal> {
        let request: Request =
            serde_json::from_str(request).map_err(|error| Refusal::plain(error.to_string()))?;
        match request {
            Request::Catalogue {} => Ok(catalogue::described(&self.catalogue)),
            Request::File { name, text } => {
                self.shelf.put(name, text);
                self.catalogue.files = Arc::new(self.shelf.clone());
                Ok(json!({}))
            }
            Request::Check { line } => {
                let scenario = self.draft(&line)?.check()?;
                Ok(path::drawn(&scenario))
            }
            Request::Show { line } => Ok(json!({ "toml": self.draft(&line)?.show()? })),
            Request::Begin(begin) => {
                self.running = None;
                self.begin(begin)
            }
            Request::Advance { events } => self.advance(events, columns),
            Request::Cancel {} => {
                self.running = None;
                Ok(json!({}))
            }
            Request::Forget {} => {
                self.kept.clear();
                self.sampled.clear();
                Ok(json!({}))
            }
            Request::Charts { between_s } => Ok(charts::drawn(&self.sampled, between_s)),
            Request::Intervals {} => Ok(intervals::of(&self.kept)),
            Request::Story { line, seed, offset } => {
                story::told(&self.draft(&line)?.check()?, seed_of(&seed)?, offset)
            }
        }
    }

    fn begin(&mut self, begin: Begin) -> Result<Value, Refusal> {
        if begin.variant.is_some_and(|variant| variant >= MOST_VARIANTS) {
            return Err(Refusal::plain(format!("variant: only 0 to {} are possible", MOST_VARIANTS - 1)));
        }
        let scenario = self.draft(&begin.line)?.check()?;
        let seed = seed_of(&begin.seed)?;
        let header = json!({ "notes": scenario.notes(), "path": path::drawn(&scenario) });
        self.running = Some(Run::new(scenario, seed, &begin));
        Ok(header)
    }

    fn advance(&mut self, events: usize, columns: &mut Columns) -> Result<Value, Refusal> {
        let Some(run) = &mut self.running else {
            return Err(Refusal::plain("no run is in progress".to_owned()));
        };
        if run.advance(events.max(1)) {
            return Ok(json!({ "done": false, "now_s": run.now_s() }));
        }
        let Some(run) = self.running.take() else { return Ok(Value::Null) };
        let variant = run.variant();
        let (outcome, mut header, samples) = run.finish(columns);
        if let Some(stuck) = &outcome.stuck {
            return Err(Refusal::plain(format!("{}; {}", stuck.message, stuck.help)));
        }
        header["done"] = json!(true);
        if let Some(variant) = variant {
            if self.kept.len() <= variant {
                self.kept.resize_with(variant + 1, Vec::new);
            }
            self.kept[variant].push(outcome);
            if samples.is_some() {
                self.sampled.resize_with(self.sampled.len().max(variant + 1), || None);
                self.sampled[variant] = samples;
            }
        }
        Ok(header)
    }

    fn draft(&self, line: &str) -> Result<Draft, Refusal> {
        Ok(self.catalogue.load(line)?)
    }
}

fn seed_of(text: &str) -> Result<u64, Refusal> {
    let refuse = |_| Refusal::plain(format!("seed: `{text}` is not a whole number from 0 to {}", u64::MAX));
    text.trim().parse().map_err(refuse)
}
