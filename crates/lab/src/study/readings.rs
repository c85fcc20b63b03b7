//! Readings: sets of answers to a paper's open questions. Each reading is compared with the default reading, which has
//! no answers.

use super::counts;
use super::file::{AnswerPart, Reading};
use super::reproduce::PaperResults;
use super::selector::SelectableRow;
use super::study::Study;
use crate::document::{Block, Cell, Table};
use crate::item::Item;
use crate::papers::cells::{measured, short, words};
use lasthop_scenario::Problem;

/// Returns the scenario changes of all answers of a reading, in order. Fails if `study.toml` does not define one of the
/// answers.
pub fn parts<'a>(study: &'a Study, name: &str, reading: &'a Reading) -> Result<Vec<&'a AnswerPart>, Problem> {
    let mut parts = Vec::new();
    for label in &reading.answers {
        let found = study.file.question.iter().find_map(|(question, answers)| {
            let answer = label.strip_prefix(question.as_str())?.strip_prefix(": ")?;
            answers.get(answer)
        });
        let heading = format!("[reading.{name}]");
        let found = found.ok_or_else(|| {
            let known = study.answers();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            study.unknown(&[&heading], "answer", label, &known)
        })?;
        parts.extend(&found.0);
    }
    Ok(parts)
}

/// Results of a reading.
pub struct ReadingResults<'a> {
    /// Name of the reading, such as `best`.
    pub name: &'a str,
    /// Definition of the reading in `study.toml`.
    pub reading: &'a Reading,
    /// Rows of the results.
    pub items: Vec<Item>,
}

/// Returns the report blocks of each reading: its answers, the search that selected these answers, and a comparison of
/// its numbers with the default reading.
pub fn blocks(study: &Study, results: &PaperResults<'_>) -> Vec<Block> {
    results.readings.iter().flat_map(|reading_results| of(study, results, reading_results)).collect()
}

fn of(study: &Study, results: &PaperResults<'_>, reading_results: &ReadingResults<'_>) -> Vec<Block> {
    let is_fitted = |answer: &&String| reading_results.reading.fitted.contains(answer);
    let list = |answers: Vec<&String>| {
        if answers.is_empty() {
            "none".to_owned()
        } else {
            answers.iter().map(|answer| answer.as_str()).collect::<Vec<&str>>().join("; ")
        }
    };
    let fitted = list(reading_results.reading.answers.iter().filter(is_fitted).collect());
    let others = list(reading_results.reading.answers.iter().filter(|answer| !is_fitted(answer)).collect());
    let numbers = |items: &[Item]| counts::of(items.iter().filter(|item| item.margin.is_some()));
    let near = |items: &[Item]| items.iter().filter(|item| is_near(item)).count();
    let (before, after) = (numbers(&results.items), numbers(&reading_results.items));
    let is_answered = |question: &&String| {
        let label = format!("{question}: ");
        reading_results.reading.answers.iter().any(|answer| answer.starts_with(&label))
    };
    let open = list(study.file.question.keys().filter(|question| !is_answered(question)).collect());
    let result = format!(
        "The mean is within the margin for {} of {} numbers (default reading: {} of {}); {} agree (default: {}), {} \
         differ (default: {}).",
        near(&reading_results.items),
        after.all(),
        near(&results.items),
        before.all(),
        after.agrees,
        before.agrees,
        after.differs,
        before.differs,
    );
    let searched = match reading_results.reading.tried {
        0 => "nothing".to_owned(),
        tried => format!(
            "{} Rule: {} Number of sets of answers tried: {tried}.",
            reading_results.reading.space, reading_results.reading.rule
        ),
    };
    let lines = [
        ("Assumed from the paper's text or from the practice of its time: ", others),
        ("Fitted to the numbers: ", fitted),
        ("Questions without an answer, as in the default reading: ", open),
        ("Searched: ", searched),
    ];
    let mut blocks = vec![
        Block::Heading(format!("The {} reading of {}", reading_results.name, study.file.paper)),
        Block::Text(format!("{} {result}", reading_results.reading.words).trim().to_owned()),
    ];
    blocks.extend(lines.map(|(what, words)| Block::Text(format!("{what}{words}"))));
    blocks.push(Block::Table(table(results, reading_results)));
    blocks
}

fn is_near(item: &Item) -> bool {
    match (item.published, item.measured, item.margin) {
        (Some(published), Some(ours), Some(margin)) => (ours - published).abs() <= margin,
        _ => false,
    }
}

fn table(results: &PaperResults<'_>, reading_results: &ReadingResults<'_>) -> Table {
    let columns = ["row", "published", "default", "verdict", reading_results.name, "verdict"];
    let row = |item: &Item| {
        let other = matching_row(item, &reading_results.items);
        vec![
            Cell::Text(words(item)),
            item.published.map_or(Cell::Empty, |value| Cell::Number(short(value))),
            measured(item),
            Cell::Verdict(item.verdict),
            other.map_or(Cell::Empty, measured),
            Cell::Verdict(other.and_then(|other| other.verdict)),
        ]
    };
    Table {
        caption: format!("The default reading and the {} reading", reading_results.name),
        columns: columns.map(String::from).to_vec(),
        rows: results.items.iter().filter(|item| item.verdict.is_some()).map(row).collect(),
    }
}

/// Returns the row in `others` with the same name and coordinates as `item`. If `others` has no such row because a
/// search along an axis found a different position, returns the row with the same published number.
pub fn matching_row<'a>(item: &Item, others: &'a [Item]) -> Option<&'a Item> {
    let is_named = |one: &&Item| one.names() == item.names();
    let is_there = |one: &&Item| item.x.iter().all(|(name, value)| one.x.get(name) == Some(value));
    let is_beside = |one: &&Item| item.margin.is_some() && one.published == item.published;
    let named = || others.iter().filter(is_named);
    named().find(is_there).or_else(|| named().find(is_beside))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_twin_is_at_the_same_place_before_it_has_the_same_number() {
        let at = |awnd: i32, measured: f64| Item {
            published: Some(1.0),
            margin: Some(0.5),
            measured: Some(measured),
            ..Item::new("koga5", "table5.1", "64 kbit/s").at("awnd", awnd)
        };
        let others = [at(5, 1.25), at(6, 0.75)];
        assert_eq!(matching_row(&at(6, 0.0), &others).and_then(|one| one.measured), Some(0.75));
        // The axis value with the largest gain may differ between two readings.
        assert_eq!(matching_row(&at(7, 0.0), &others).and_then(|one| one.measured), Some(1.25));
        assert_eq!(matching_row(&Item { item: "other".into(), ..at(5, 0.0) }, &others), None);
    }
}
