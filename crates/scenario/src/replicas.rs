//! Values that differ between the replicas of a flow (key `count`): lists, ranges and mixes.
//!
//! * A list has a value for each replica, in order. After its last value, a list begins again. Several lists advance
//!   together.
//! * `"uniform 5 ms to 80 ms"` divides the range into equal parts. Each replica gets the middle of one part, in a
//!   random order.
//! * `{ mix = { cubic = 0.6, bbr = 0.4 } }` gives each value a share of the replicas. The number of replicas with a
//!   value differs by less than one from the value's share of `count`. The order is random and drawn from a stream
//!   named after the key, so that several mixes are independent. The order is the same in every run and in every
//!   variant of a scenario.

use crate::problem::Problem;
use crate::reader::{TableHead, TableReader};
use crate::source::Span;
use crate::tree::{Content, TomlEntry, TomlNode, TomlTable};
use lasthop_base::{Stream, quantity};

const MIX: &str = "mix";
/// First word of a uniform distribution.
const UNIFORM: &str = "uniform ";
/// Seed of the random streams from which the order of a mix is drawn.
const SEED: u64 = 0;

/// A key whose value differs between the replicas.
pub(crate) struct VariedKey {
    /// Key path from the flow's table to the value.
    pub(crate) path: Vec<String>,
    pub(crate) place: Span,
    /// The value as written.
    pub(crate) written: TomlNode,
    values: Vec<TomlNode>,
    /// Shares of the values; `None` for a list.
    shares: Option<Vec<f64>>,
}

/// Returns the keys of a flow's table whose values differ between the replicas. `count` is the number of replicas.
pub(crate) fn varied_keys(
    reader: &TableReader<'_>,
    head: TableHead<'_>,
    table: &TomlTable,
    count: usize,
) -> Result<Vec<VariedKey>, Problem> {
    let mut found = Vec::new();
    collect(reader, head, table, count, &mut Vec::new(), &mut found)?;
    Ok(found)
}

fn collect(
    reader: &TableReader<'_>,
    head: TableHead<'_>,
    table: &TomlTable,
    count: usize,
    path: &mut Vec<String>,
    found: &mut Vec<VariedKey>,
) -> Result<(), Problem> {
    for TomlEntry { key, node, .. } in &table.entries {
        path.push(key.clone());
        let shown = || head.key(&path.join("."));
        let alternatives = match &node.content {
            Content::List(values) if values.is_empty() => {
                return Err(reader
                    .problem(node.place, format!("{}: the list is empty", shown()))
                    .help("write a value for each replica, or one value without brackets"));
            }
            Content::List(values) => Some((values.clone(), None)),
            Content::Table(inner) => match &inner.entries[..] {
                [only] if only.key == MIX => {
                    let (values, shares) = mix(reader, &shown(), only)?;
                    Some((values, Some(shares)))
                }
                _ => {
                    collect(reader, head, inner, count, path, found)?;
                    None
                }
            },
            Content::Text(text) if text.starts_with(UNIFORM) => {
                let values = uniform(reader, &shown(), node, text, count)?;
                let each = vec![1.0; values.len()];
                Some((values, Some(each)))
            }
            _ => None,
        };
        if let Some((values, shares)) = alternatives {
            found.push(VariedKey {
                path: path.clone(),
                place: node.place,
                written: node.clone(),
                values,
                shares,
            });
        }
        path.pop();
    }
    Ok(())
}

/// Returns the values of `uniform 5 ms to 80 ms`: the middles of equal parts of the range, one for each replica.
fn uniform(
    reader: &TableReader<'_>,
    key: &str,
    node: &TomlNode,
    text: &str,
    count: usize,
) -> Result<Vec<TomlNode>, Problem> {
    let ends = text[UNIFORM.len()..].split_once(" to ");
    let ends = ends.and_then(|(low, high)| Some((quantity::split(low).ok()?, quantity::split(high).ok()?)));
    match ends {
        Some(((low, unit), (high, other))) if unit == other && low <= high => {
            let parts = count.max(1);
            let middle = |part: usize| low + (high - low) * (part as f64 + 0.5) / parts as f64;
            Ok((0..parts)
                .map(|part| TomlNode::text(node.place, &format!("{} {unit}", middle(part))))
                .collect())
        }
        _ => Err(reader
            .problem(node.place, format!("{key}: `{text}` is not a range"))
            .help("write both ends with the same unit, the smaller first: \"uniform 5 ms to 80 ms\"")),
    }
}

fn mix(reader: &TableReader<'_>, key: &str, entry: &TomlEntry) -> Result<(Vec<TomlNode>, Vec<f64>), Problem> {
    let wrong = |place: Span, why: &str| {
        Err(reader
            .problem(place, format!("{key}: {why}"))
            .help("write values with their shares: { mix = { cubic = 0.6, bbr = 0.4 } }"))
    };
    let Some(table) = entry.node.table().filter(|table| !table.entries.is_empty()) else {
        return wrong(entry.node.place, "a mix is a table of values with their shares");
    };
    let mut shares = Vec::new();
    for part in &table.entries {
        match part.node.scalar().and_then(|text| text.parse::<f64>().ok()) {
            Some(share) if share > 0.0 && share.is_finite() => shares.push(share),
            _ => return wrong(part.node.place, "a share is a number above 0"),
        }
    }
    let values = table.entries.iter().map(|part| TomlNode::text(part.place, &part.key)).collect();
    Ok((values, shares))
}

impl VariedKey {
    /// Returns the index of the value of each of `count` replicas. `flow` is the flow's name.
    pub(crate) fn assigned(&self, flow: &str, count: usize) -> Vec<usize> {
        let Some(shares) = &self.shares else {
            return (0..count).map(|replica| replica % self.values.len()).collect();
        };
        let mut assigned = if shares.iter().all(|share| *share == shares[0]) {
            (0..count).map(|replica| replica % shares.len()).collect()
        } else {
            by_share(shares, count)
        };
        let mut random = Stream::named(SEED, &format!("flow.{flow}.{}", self.path.join(".")));
        for last in (1..count).rev() {
            let other = ((last + 1) as f64 * random.uniform()) as usize;
            assigned.swap(last, other.min(last));
        }
        assigned
    }

    /// Replaces the list or mix in the flow's table by the value with this index.
    pub(crate) fn substitute(&self, table: &mut TomlTable, value: usize) {
        replace(table, &self.path, &self.values[value]);
    }
}

fn replace(table: &mut TomlTable, path: &[String], value: &TomlNode) {
    let [key, rest @ ..] = path else { return };
    let Some(entry) = table.find_mut(key) else { return };
    match (&mut entry.node.content, rest) {
        (_, []) => entry.node = value.clone(),
        (Content::Table(inner), _) => replace(std::sync::Arc::make_mut(inner), rest, value),
        _ => {}
    }
}

/// Assigns values to replicas one after another. Each replica gets the value that is furthest below its share of the
/// replicas so far.
fn by_share(shares: &[f64], count: usize) -> Vec<usize> {
    let sum: f64 = shares.iter().sum();
    let mut given = vec![0.0; shares.len()];
    let next = |replicas: usize| {
        let missing = |value: usize| shares[value] / sum * replicas as f64 - given[value];
        let further = |best, one| if missing(one) > missing(best) + 1e-9 { one } else { best };
        let value = (0..shares.len()).reduce(further).unwrap_or(0);
        given[value] += 1.0;
        value
    };
    (1..=count).map(next).collect()
}
