//! Byte encoding of the results of runs, which worker processes return.
//!
//! A batch consists of the length of a JSON text (four bytes, little-endian), the JSON text, and numbers of eight bytes
//! each (IEEE 754, little-endian). The JSON text lists the names of the numbers, once for all runs with the same names.

use crate::digest::{Digests, ENGINE};
use crate::row::{self, RunRow, Subject, SubjectMetrics};
use lasthop_scenario::{Catalogue, Scenario};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Request of a run: the digest of the scenario, the scenario as text, and the seed.
pub type RunRequest = (String, String, u64);

/// Cache of parsed scenarios. A worker process executes many runs of the same scenario.
#[derive(Default)]
pub struct ScenarioCache(Mutex<BTreeMap<String, Arc<Scenario>>>);

const MAX_CACHED: usize = 10_000;

impl ScenarioCache {
    /// Returns an empty cache.
    pub const fn empty() -> ScenarioCache {
        ScenarioCache(Mutex::new(BTreeMap::new()))
    }

    /// Returns the scenario that `text` describes. `catalogue` has the mechanisms that the text may name.
    ///
    /// # Errors
    /// Fails if `text` is invalid, or if this engine (simulator version) computes a digest other than `digest`.
    pub fn scenario(&self, digest: &str, text: &str, catalogue: &Catalogue) -> Result<Arc<Scenario>, String> {
        let cache = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(scenario) = cache().get(digest) {
            return Ok(Arc::clone(scenario));
        }
        let scenario = Arc::new(scenario(digest, text, catalogue)?);
        let mut cache = cache();
        if cache.len() >= MAX_CACHED {
            cache.clear();
        }
        cache.insert(digest.to_owned(), Arc::clone(&scenario));
        Ok(scenario)
    }
}

/// Executes the runs that a different process requests.
///
/// # Errors
/// Fails if the results could differ from the results of the requesting process. The cause may be a different engine
/// (simulator version), or a link recording with the same name but different contents.
pub fn run(requests: &[RunRequest], cache: &ScenarioCache) -> Result<Vec<RunRow>, String> {
    let catalogue = Catalogue::default();
    let one = |(digest, text, seed): &RunRequest| -> Result<RunRow, String> {
        Ok(row::run(cache.scenario(digest, text, &catalogue)?.as_ref(), digest, *seed))
    };
    requests.iter().map(one).collect()
}

fn scenario(digest: &str, text: &str, catalogue: &Catalogue) -> Result<Scenario, String> {
    let checked = catalogue.parse(text, "sweep").and_then(|draft| draft.check());
    let scenario = checked.map_err(|problem| problem.message().to_owned())?;
    if Digests::default().of(&scenario) == digest {
        Ok(scenario)
    } else {
        Err(format!(
            "the worker's engine is {}, and the worker's scenario differs from the sweep's scenario",
            *ENGINE
        ))
    }
}

/// Encodes the rows as a batch.
pub fn pack(rows: &[RunRow]) -> Vec<u8> {
    let mut shapes: Vec<&[SubjectMetrics]> = Vec::new();
    let mut numbers: Vec<u8> = Vec::new();
    let mut packed: Vec<Value> = Vec::new();
    for RunRow { digest, seed, wall_s, outcome } in rows {
        numbers.extend(wall_s.to_le_bytes());
        packed.push(match outcome {
            Ok(subject_metrics) => {
                let values = subject_metrics.iter().flat_map(|metrics| &metrics.numbers);
                numbers.extend(values.flat_map(|(_, value)| value.to_le_bytes()));
                let known = shapes.iter().position(|shape| has_same_names(shape, subject_metrics));
                let shape = known.unwrap_or_else(|| {
                    shapes.push(subject_metrics);
                    shapes.len() - 1
                });
                json!([digest, seed, shape])
            }
            Err(why) => json!([digest, seed, why]),
        });
    }
    let shapes: Vec<Vec<Value>> =
        shapes.iter().map(|shape| shape.iter().map(subject_names).collect()).collect();
    let text = json!([shapes, packed]).to_string();
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    [&length.to_le_bytes()[..], text.as_bytes(), &numbers].concat()
}

/// Whether the numbers of two runs have the same names and describe the same flows and links.
fn has_same_names(one: &[SubjectMetrics], other: &[SubjectMetrics]) -> bool {
    let has_same_numbers = |(one, other): (&SubjectMetrics, &SubjectMetrics)| {
        one.subject == other.subject
            && one.numbers.len() == other.numbers.len()
            && one.numbers.iter().zip(&other.numbers).all(|(one, other)| one.0 == other.0)
    };
    one.len() == other.len() && one.iter().zip(other).all(has_same_numbers)
}

fn subject_names(metrics: &SubjectMetrics) -> Value {
    let (kind, name) = match &metrics.subject {
        Subject::Flow(name) => ("flow", name.as_str()),
        Subject::All => ("all", ""),
        Subject::Link(name) => ("link", name.as_str()),
    };
    let names: Vec<&str> = metrics.numbers.iter().map(|(name, _)| name.as_ref()).collect();
    json!([kind, name, names])
}

/// Decodes the rows of a batch. Returns `None` if [`pack`] did not encode the bytes.
pub fn unpack(batch: &[u8]) -> Option<Vec<RunRow>> {
    let (length, rest) = batch.split_first_chunk::<4>()?;
    let (text, numbers) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    let (shapes, rows): (Vec<Vec<SubjectNames>>, Vec<Value>) = serde_json::from_slice(text).ok()?;
    let (numbers, []) = numbers.as_chunks::<8>() else { return None };
    let mut numbers = numbers.iter().map(|bytes| f64::from_le_bytes(*bytes));
    let rows =
        rows.iter().map(|row| decode_row(row, &shapes, &mut numbers)).collect::<Option<Vec<RunRow>>>()?;
    numbers.next().is_none().then_some(rows)
}

/// Kind of a subject, name of the subject, and names of its numbers. A subject is a flow, a link direction or all
/// flows.
type SubjectNames = (String, String, Vec<String>);

fn decode_row(
    packed: &Value,
    shapes: &[Vec<SubjectNames>],
    numbers: &mut impl Iterator<Item = f64>,
) -> Option<RunRow> {
    let wall_s = numbers.next()?;
    let outcome = match packed.get(2)? {
        Value::String(why) => Err(why.clone()),
        shape => {
            let shape = shapes.get(usize::try_from(shape.as_u64()?).ok()?)?;
            Ok(shape
                .iter()
                .map(|subject_names| decode_metrics(subject_names, numbers))
                .collect::<Option<Vec<SubjectMetrics>>>()?)
        }
    };
    Some(RunRow {
        digest: packed.get(0)?.as_str()?.to_owned(),
        seed: packed.get(1)?.as_u64()?,
        wall_s,
        outcome,
    })
}

fn decode_metrics(
    (kind, name, names): &SubjectNames,
    numbers: &mut impl Iterator<Item = f64>,
) -> Option<SubjectMetrics> {
    let subject = match kind.as_str() {
        "flow" => Subject::Flow(name.clone()),
        "link" => Subject::Link(name.clone()),
        _ => Subject::All,
    };
    let number = |name: &String| Some((Cow::Owned(name.clone()), numbers.next()?));
    Some(SubjectMetrics { subject, numbers: names.iter().map(number).collect::<Option<_>>()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;
    use lasthop_scenario::Draft;

    #[test]
    fn a_run_elsewhere_is_the_same_to_the_bit() {
        for path in ["rate=2Mbit/s,rtt=40ms,loss=1%,duration=2s,count=2", "umts,duration=2s"] {
            let grid = Grid::of(&Draft::load(path).unwrap(), &[]).unwrap();
            let point = &grid.points[0];
            let requests = [7, 8].map(|seed| (point.digest.clone(), point.text.clone(), seed));
            let there = run(&requests, &ScenarioCache::empty()).unwrap();
            let mut here = requests.map(|(digest, _, seed)| row::run(&point.scenario, &digest, seed));
            here.iter_mut().zip(&there).for_each(|(here, there)| here.wall_s = there.wall_s);
            assert_eq!(unpack(&pack(&there)).unwrap(), here);
        }
    }

    #[test]
    fn what_would_give_other_numbers_is_refused() {
        let grid = Grid::of(&Draft::load("rate=2Mbit/s,rtt=40ms,duration=1s").unwrap(), &[]).unwrap();
        let point = &grid.points[0];
        let why = run(&[("another".into(), point.text.clone(), 1)], &ScenarioCache::empty()).unwrap_err();
        assert!(why.contains(&*ENGINE), "{why}");
        assert!(run(&[(point.digest.clone(), "rate = ".into(), 1)], &ScenarioCache::empty()).is_err());
    }

    #[test]
    fn a_failure_travels_too_and_nonsense_does_not() {
        let row = RunRow { digest: "d".into(), seed: u64::MAX, wall_s: 0.1, outcome: Err("it broke".into()) };
        let batch = pack(std::slice::from_ref(&row));
        assert_eq!(unpack(&batch).unwrap(), [row]);
        let longer = [&batch[..], &[0; 8]].concat();
        let empty = [&2u32.to_le_bytes()[..], b"{}"].concat();
        for nonsense in [&b""[..], b"[]", &empty, &batch[..batch.len() - 8], &batch[..9], &longer] {
            assert_eq!(unpack(nonsense), None, "{nonsense:?}");
        }
    }
}
