//! Runs that other processes do: what comes back, as a text in which numbers are their bits.

use crate::grid::{self, ENGINE};
use crate::row::{self, Part, Row, Subject};
use lasthop_scenario::{Draft, Scenario};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// A run to be done: its point's digest and scenario's text, and its seed.
pub type Order = (String, String, u64);

/// Does runs that another process wants.
///
/// # Errors
/// If this process has another engine, or another recording under the same name: the numbers would be others.
pub fn run(orders: &[Order]) -> Result<Vec<Row>, String> {
    // Many are of the same point.
    let mut known: BTreeMap<&str, Scenario> = BTreeMap::new();
    let mut rows = Vec::new();
    for (digest, text, seed) in orders {
        let scenario = match known.entry(digest) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(scenario(digest, text)?),
        };
        rows.push(row::run(scenario, digest, *seed));
    }
    Ok(rows)
}

fn scenario(digest: &str, text: &str) -> Result<Scenario, String> {
    let checked = Draft::parse(text, "sweep").and_then(|draft| draft.check());
    let scenario = checked.map_err(|problem| problem.message().to_owned())?;
    match grid::digest(&scenario) == digest {
        true => Ok(scenario),
        false => Err(format!("its engine is {ENGINE}, and its scenario not the sweep's")),
    }
}

/// Rows as a text.
pub fn pack(rows: &[Row]) -> String {
    let part = |part: &Part| {
        let (kind, name) = match &part.subject {
            Subject::Flow(name) => ("flow", name.as_str()),
            Subject::All => ("all", ""),
            Subject::Link(name) => ("link", name.as_str()),
        };
        let numbers: Vec<Value> =
            part.numbers.iter().map(|(name, value)| json!([name, value.to_bits()])).collect();
        json!([kind, name, numbers])
    };
    let packed = rows.iter().map(|row| {
        let (parts, error) = match &row.outcome {
            Ok(parts) => (Some(parts.iter().map(part).collect::<Vec<Value>>()), None),
            Err(why) => (None, Some(why)),
        };
        json!([row.digest, row.seed, row.wall_s.to_bits(), parts, error])
    });
    Value::Array(packed.collect()).to_string()
}

/// Rows out of a text; `None` if it is none of [`pack`].
pub fn unpack(text: &str) -> Option<Vec<Row>> {
    let packed: Vec<Value> = serde_json::from_str(text).ok()?;
    packed.iter().map(row_of).collect()
}

fn row_of(packed: &Value) -> Option<Row> {
    let parts = packed.get(3)?;
    let outcome = match parts.as_array() {
        Some(parts) => Ok(parts.iter().map(part_of).collect::<Option<Vec<Part>>>()?),
        None => Err(packed.get(4)?.as_str()?.to_owned()),
    };
    let wall_s = f64::from_bits(packed.get(2)?.as_u64()?);
    Some(Row { digest: packed.get(0)?.as_str()?.to_owned(), seed: packed.get(1)?.as_u64()?, wall_s, outcome })
}

fn part_of(packed: &Value) -> Option<Part> {
    let name = packed.get(1)?.as_str()?.to_owned();
    let subject = match packed.get(0)?.as_str()? {
        "flow" => Subject::Flow(name),
        "link" => Subject::Link(name),
        _ => Subject::All,
    };
    let number = |pair: &Value| {
        Some((Cow::Owned(pair.get(0)?.as_str()?.to_owned()), f64::from_bits(pair.get(1)?.as_u64()?)))
    };
    Some(Part { subject, numbers: packed.get(2)?.as_array()?.iter().map(number).collect::<Option<_>>()? })
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
            let there = run(&orders).unwrap();
            let mut here = orders.map(|(digest, _, seed)| row::run(&point.scenario, &digest, seed));
            here.iter_mut().zip(&there).for_each(|(here, there)| here.wall_s = there.wall_s);
            assert_eq!(unpack(&pack(&there)).unwrap(), here);
        }
    }

    #[test]
    fn what_would_give_other_numbers_is_refused() {
        let grid = Grid::of(&Draft::load("rate=2Mbit/s,rtt=40ms,duration=1s").unwrap(), &[]).unwrap();
        let point = &grid.points[0];
        let why = run(&[("another".into(), point.text.clone(), 1)]).unwrap_err();
        assert!(why.contains(ENGINE), "{why}");
        assert!(run(&[(point.digest.clone(), "rate = ".into(), 1)]).is_err());
    }

    #[test]
    fn a_failure_travels_too_and_nonsense_does_not() {
        let row = Row { digest: "d".into(), seed: u64::MAX, wall_s: 0.1, outcome: Err("it broke".into()) };
        assert_eq!(unpack(&pack(std::slice::from_ref(&row))).unwrap(), [row]);
        for nonsense in ["", "{}", "[[]]", "[1]", "[[\"d\",1]]"] {
            assert_eq!(unpack(nonsense), None, "{nonsense}");
        }
    }
}
