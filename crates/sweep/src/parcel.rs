//! Encoding of runs done by other processes.
//!
//! A parcel has the length of a JSON text in four bytes, the text, and then the numbers in eight bytes each (IEEE 754,
//! little-endian). The text names the numbers; runs with the same numbers share one description.

use crate::digest::{Digests, ENGINE};
use crate::row::{self, Part, Row, Subject};
use lasthop_scenario::{Draft, Scenario};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A run to do: its point's digest, its scenario's text, its seed.
pub type Order = (String, String, u64);

/// Cache of the scenarios that a process has read: workers get many runs of the same points.
#[derive(Default)]
pub struct Known(Mutex<BTreeMap<String, Arc<Scenario>>>);

const MOST_KNOWN: usize = 10_000;

impl Known {
    /// An empty cache.
    pub const fn none() -> Known {
        Known(Mutex::new(BTreeMap::new()))
    }

    fn scenario(&self, digest: &str, text: &str) -> Result<Arc<Scenario>, String> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(scenario) = known().get(digest) {
            return Ok(Arc::clone(scenario));
        }
        let scenario = Arc::new(scenario(digest, text)?);
        let mut known = known();
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(digest.to_owned(), Arc::clone(&scenario));
        Ok(scenario)
    }
}

/// Does the runs that another process ordered.
///
/// # Errors
/// If this process has another engine, or another recording of the same name, so that results would differ.
pub fn run(orders: &[Order], known: &Known) -> Result<Vec<Row>, String> {
    let one = |(digest, text, seed): &Order| -> Result<Row, String> {
        Ok(row::run(known.scenario(digest, text)?.as_ref(), digest, *seed))
    };
    orders.iter().map(one).collect()
}

fn scenario(digest: &str, text: &str) -> Result<Scenario, String> {
    let checked = Draft::parse(text, "sweep").and_then(|draft| draft.check());
    let scenario = checked.map_err(|problem| problem.message().to_owned())?;
    if Digests::default().of(&scenario) == digest {
        Ok(scenario)
    } else {
        Err(format!("its engine is {ENGINE}, and its scenario not the sweep's"))
    }
}

/// Encodes rows.
pub fn pack(rows: &[Row]) -> Vec<u8> {
    let mut shapes: Vec<&[Part]> = Vec::new();
    let mut numbers: Vec<u8> = Vec::new();
    let mut packed: Vec<Value> = Vec::new();
    for Row { digest, seed, wall_s, outcome } in rows {
        numbers.extend(wall_s.to_le_bytes());
        packed.push(match outcome {
            Ok(parts) => {
                let values = parts.iter().flat_map(|part| &part.numbers);
                numbers.extend(values.flat_map(|(_, value)| value.to_le_bytes()));
                let known = shapes.iter().position(|shape| is_alike(shape, parts));
                let shape = known.unwrap_or_else(|| {
                    shapes.push(parts);
                    shapes.len() - 1
                });
                json!([digest, seed, shape])
            }
            Err(why) => json!([digest, seed, why]),
        });
    }
    let shapes: Vec<Vec<Value>> = shapes.iter().map(|shape| shape.iter().map(form).collect()).collect();
    let text = json!([shapes, packed]).to_string();
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    [&length.to_le_bytes()[..], text.as_bytes(), &numbers].concat()
}

/// Whether two runs have the same subjects and quantities.
fn is_alike(one: &[Part], other: &[Part]) -> bool {
    let has_same_numbers = |(one, other): (&Part, &Part)| {
        one.subject == other.subject
            && one.numbers.len() == other.numbers.len()
            && one.numbers.iter().zip(&other.numbers).all(|(one, other)| one.0 == other.0)
    };
    one.len() == other.len() && one.iter().zip(other).all(has_same_numbers)
}

fn form(part: &Part) -> Value {
    let (kind, name) = match &part.subject {
        Subject::Flow(name) => ("flow", name.as_str()),
        Subject::All => ("all", ""),
        Subject::Link(name) => ("link", name.as_str()),
    };
    let names: Vec<&str> = part.numbers.iter().map(|(name, _)| name.as_ref()).collect();
    json!([kind, name, names])
}

/// Decodes rows; `None` if the bytes are not from [`pack`].
pub fn unpack(parcel: &[u8]) -> Option<Vec<Row>> {
    let (length, rest) = parcel.split_first_chunk::<4>()?;
    let (text, numbers) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    let (shapes, rows): (Vec<Vec<Form>>, Vec<Value>) = serde_json::from_slice(text).ok()?;
    let (numbers, []) = numbers.as_chunks::<8>() else { return None };
    let mut numbers = numbers.iter().map(|bytes| f64::from_le_bytes(*bytes));
    let rows = rows.iter().map(|row| row_of(row, &shapes, &mut numbers)).collect::<Option<Vec<Row>>>()?;
    numbers.next().is_none().then_some(rows)
}

/// Kind and name of a subject, and names of its numbers.
type Form = (String, String, Vec<String>);

fn row_of(packed: &Value, shapes: &[Vec<Form>], numbers: &mut impl Iterator<Item = f64>) -> Option<Row> {
    let wall_s = numbers.next()?;
    let outcome = match packed.get(2)? {
        Value::String(why) => Err(why.clone()),
        shape => {
            let shape = shapes.get(usize::try_from(shape.as_u64()?).ok()?)?;
            Ok(shape.iter().map(|form| part_of(form, numbers)).collect::<Option<Vec<Part>>>()?)
        }
    };
    Some(Row { digest: packed.get(0)?.as_str()?.to_owned(), seed: packed.get(1)?.as_u64()?, wall_s, outcome })
}

fn part_of((kind, name, names): &Form, numbers: &mut impl Iterator<Item = f64>) -> Option<Part> {
    let subject = match kind.as_str() {
        "flow" => Subject::Flow(name.clone()),
        "link" => Subject::Link(name.clone()),
        _ => Subject::All,
    };
    let number = |name: &String| Some((Cow::Owned(name.clone()), numbers.next()?));
    Some(Part { subject, numbers: names.iter().map(number).collect::<Option<_>>()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;

    #[test]
    fn a_run_elsewhere_is_the_same_to_the_bit() {
        for path in ["rate=2Mbit/s,rtt=40ms,loss=1%,duration=2s,count=2", "umts,duration=2s"] {
            let grid = Grid::of(&Draft::load(path).unwrap(), &[]).unwrap();
            let point = &grid.points[0];
            let orders = [7, 8].map(|seed| (point.digest.clone(), point.text.clone(), seed));
            let there = run(&orders, &Known::none()).unwrap();
            let mut here = orders.map(|(digest, _, seed)| row::run(&point.scenario, &digest, seed));
            here.iter_mut().zip(&there).for_each(|(here, there)| here.wall_s = there.wall_s);
            assert_eq!(unpack(&pack(&there)).unwrap(), here);
        }
    }

    #[test]
    fn what_would_give_other_numbers_is_refused() {
        let grid = Grid::of(&Draft::load("rate=2Mbit/s,rtt=40ms,duration=1s").unwrap(), &[]).unwrap();
        let point = &grid.points[0];
        let why = run(&[("another".into(), point.text.clone(), 1)], &Known::none()).unwrap_err();
        assert!(why.contains(ENGINE), "{why}");
        assert!(run(&[(point.digest.clone(), "rate = ".into(), 1)], &Known::none()).is_err());
    }

    #[test]
    fn a_failure_travels_too_and_nonsense_does_not() {
        let row = Row { digest: "d".into(), seed: u64::MAX, wall_s: 0.1, outcome: Err("it broke".into()) };
        let parcel = pack(std::slice::from_ref(&row));
        assert_eq!(unpack(&parcel).unwrap(), [row]);
        let longer = [&parcel[..], &[0; 8]].concat();
        let empty = [&2u32.to_le_bytes()[..], b"{}"].concat();
        for nonsense in [&b""[..], b"[]", &empty, &parcel[..parcel.len() - 8], &parcel[..9], &longer] {
            assert_eq!(unpack(nonsense), None, "{nonsense:?}");
        }
    }
}
