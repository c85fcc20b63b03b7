//! Engine of a page: answers the page's requests.

use crate::answer::{Columns, encode};
use crate::files::PageFiles;
use crate::request::{Begin, Request};
use crate::request_error::RequestError;
use crate::run::SlicedRun;
use crate::{catalogue, charts, intervals, path, story};
use lasthop_scenario::{Catalogue, Draft, Scenario};
use lasthop_sim::{Outcome, Samples};
use serde_json::{Value, json};
use std::sync::Arc;

const MAX_VARIANTS: usize = 8;

/// Engine of a page, which answers one request at a time.
#[derive(Default)]
pub struct Lab {
    catalogue: Catalogue,
    files: PageFiles,
    running: Option<SlicedRun>,
    /// Outcomes of each variant, in the order of the repetitions.
    stored: Vec<Vec<Outcome>>,
    sampled: Vec<Option<(Scenario, Samples)>>,
}

impl Lab {
    /// Returns an engine without files, run and outcomes.
    pub fn new() -> Lab {
        let files = PageFiles::default();
        let catalogue = Catalogue { files: Arc::new(files.clone()), ..Catalogue::default() };
        Lab { catalogue, files, ..Lab::default() }
    }

    /// Answers a request, which is a [`Request`] as JSON. The answer has the format of [`crate::answer`]. If the
    /// request fails, the answer contains the error.
    pub fn answer(&mut self, request: &str) -> Vec<u8> {
        let mut columns = Columns::default();
        let header = self.handle(request, &mut columns);
        encode(header.unwrap_or_else(|refusal| json!({ "error": refusal.to_json() })), columns)
    }

    fn handle(&mut self, request: &str, columns: &mut Columns) -> Result<Value, RequestError> {
        let request: Request =
            serde_json::from_str(request).map_err(|error| RequestError::plain(error.to_string()))?;
        match request {
            Request::Catalogue {} => Ok(catalogue::to_json(&self.catalogue)),
            Request::File { name, text } => {
                self.files.put(name, text);
                self.catalogue.files = Arc::new(self.files.clone());
                Ok(json!({}))
            }
            Request::Check { line } => {
                let scenario = self.draft(&line)?.check()?;
                Ok(path::to_json(&scenario))
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
                self.stored.clear();
                self.sampled.clear();
                Ok(json!({}))
            }
            Request::Charts { between_s } => Ok(charts::to_json(&self.sampled, between_s)),
            Request::Intervals {} => Ok(intervals::of(&self.stored)),
            Request::Story { line, seed, offset } => {
                story::history(&self.draft(&line)?.check()?, seed_of(&seed)?, offset)
            }
        }
    }

    fn begin(&mut self, begin: Begin) -> Result<Value, RequestError> {
        if begin.variant.is_some_and(|variant| variant >= MAX_VARIANTS) {
            return Err(RequestError::plain(format!(
                "variant: expected a whole number from 0 to {}",
                MAX_VARIANTS - 1
            )));
        }
        let scenario = self.draft(&begin.line)?.check()?;
        let seed = seed_of(&begin.seed)?;
        let header = json!({ "notes": scenario.notes(), "path": path::to_json(&scenario) });
        self.running = Some(SlicedRun::new(scenario, seed, &begin));
        Ok(header)
    }

    fn advance(&mut self, events: usize, columns: &mut Columns) -> Result<Value, RequestError> {
        let Some(run) = &mut self.running else {
            return Err(RequestError::plain("no run is in progress".to_owned()));
        };
        if run.advance(events.max(1)) {
            return Ok(json!({ "done": false, "now_s": run.now_s() }));
        }
        let Some(run) = self.running.take() else { return Ok(Value::Null) };
        let variant = run.variant();
        let (outcome, mut header, samples) = run.finish(columns);
        if let Some(stuck) = &outcome.stuck {
            return Err(RequestError::plain(format!("{}; {}", stuck.message, stuck.help)));
        }
        header["done"] = json!(true);
        if let Some(variant) = variant {
            if self.stored.len() <= variant {
                self.stored.resize_with(variant + 1, Vec::new);
            }
            self.stored[variant].push(outcome);
            if samples.is_some() {
                self.sampled.resize_with(self.sampled.len().max(variant + 1), || None);
                self.sampled[variant] = samples;
            }
        }
        Ok(header)
    }

    fn draft(&self, line: &str) -> Result<Draft, RequestError> {
        Ok(self.catalogue.load(line)?)
    }
}

fn seed_of(text: &str) -> Result<u64, RequestError> {
    let refuse =
        |_| RequestError::plain(format!("seed: `{text}` is not a whole number from 0 to {}", u64::MAX));
    text.trim().parse().map_err(refuse)
}
