//! Tables above which the reader can choose an answer to an open question. The table then shows the rows under that
//! answer.

use super::readings::matching_row;
use super::reproduce::PaperResults;
use crate::document::{Block, Cell, Table, TableSetting};
use crate::item::{Item, Verdict};

/// Headings of the columns whose cells depend on the chosen answer.
const CHANGED: [&str; 4] = ["ours", "off by", "verdict", "remark"];

/// Returns a table as a report block. If a reading or answer reverses a verdict (from agreement to `differs`, or back),
/// the reader of the report can choose that reading or answer above the table. `row` returns the cells of an item.
pub fn switched(
    results: &PaperResults<'_>,
    table: Table,
    items: &[&Item],
    row: impl Fn(&Item) -> Vec<Cell>,
) -> Block {
    let readings = results
        .readings
        .iter()
        .map(|reading_results| (format!("{} reading", reading_results.name), &reading_results.items));
    let answers = results.answer_runs.iter().filter(|run| !run.question.is_empty());
    let answers = answers.map(|run| (run.label.clone(), &run.items));
    let columns: Vec<usize> = CHANGED
        .iter()
        .filter_map(|heading| table.columns.iter().position(|column| column == heading))
        .collect();
    let setting = |(label, others): (String, &Vec<Item>)| {
        let twins: Vec<(usize, &Item)> = items
            .iter()
            .enumerate()
            .filter_map(|(at, item)| Some((at, matching_row(item, others)?)))
            .collect();
        let matters = twins.iter().any(|(at, other)| is_decided_otherwise(items[*at], other));
        let cells = |(at, other): (usize, &Item)| {
            let (own, other) = (row(items[at]), row(other));
            let changed = columns.iter().filter(|column| own[**column] != other[**column]);
            changed.map(|column| (at, *column, other[*column].clone())).collect::<Vec<_>>()
        };
        matters.then(|| TableSetting { label, cells: twins.into_iter().flat_map(cells).collect() })
    };
    let settings: Vec<TableSetting> = readings.chain(answers).filter_map(setting).collect();
    if settings.is_empty() { Block::Table(table) } else { Block::Switched { table, settings } }
}

/// Whether the verdicts contradict each other: one verdict is `agrees` or `shape`, and the second verdict is `differs`.
/// Undecided verdicts contradict no verdict.
fn is_decided_otherwise(one: &Item, other: &Item) -> bool {
    let holds = |item: &Item| match item.verdict? {
        Verdict::Agrees | Verdict::Shape => Some(true),
        Verdict::Differs => Some(false),
        Verdict::Undecidable | Verdict::Inconclusive => None,
    };
    holds(one).zip(holds(other)).is_some_and(|(one, other)| one != other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_matters_if_it_decides_otherwise() {
        let item = |verdict| Item { verdict, ..Item::new("p", "i", "s") };
        let matters = |one, other| is_decided_otherwise(&item(Some(one)), &item(Some(other)));
        assert!(matters(Verdict::Differs, Verdict::Agrees) && matters(Verdict::Shape, Verdict::Differs));
        assert!(
            !matters(Verdict::Shape, Verdict::Agrees) && !matters(Verdict::Differs, Verdict::Inconclusive)
        );
        assert!(!is_decided_otherwise(&item(None), &item(Some(Verdict::Agrees))));
    }
}
