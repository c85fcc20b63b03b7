//! Tables of a chapter.

use super::file;
use super::reproduce::{Done, Tried};
use crate::document::{Cell, Table};
use crate::item::Item;
use crate::papers::cells::{measured, number, place};
use crate::papers::deviation::Deviation;

/// A table of the file.
pub fn table(done: &Done<'_>, table: &file::Table) -> Table {
    match table.answers {
        Some(number) => answers(done, table, number),
        None => {
            let is_meant = |item: &&Item| item.verdict.is_some() && table.rows.matches(&item.item);
            rows(&table.caption, done.items.iter().filter(is_meant))
        }
    }
}

/// Rows with their published numbers, ours and verdicts.
pub fn rows<'a>(caption: &str, items: impl Iterator<Item = &'a Item>) -> Table {
    let columns =
        ["item", "series", "at", "published", "ours", "unit", "off by", "margin", "verdict", "what"];
    Table {
        caption: caption.into(),
        columns: columns.map(String::from).to_vec(),
        rows: items.map(row).collect(),
    }
}

fn row(item: &Item) -> Vec<Cell> {
    let text = |text: &str| Cell::Text(text.to_owned());
    let is_claim = item.margin.is_none() && item.verdict.is_some();
    let unit = match (is_claim, item.unit.as_str()) {
        (true, _) => format!("of {} points", item.runs),
        (false, "") => item.metric.clone(),
        (false, unit) => unit.to_owned(),
    };
    let off = item.deviation_pct.filter(|_| !is_claim);
    vec![
        text(&item.item),
        text(&item.series),
        Cell::Text(place(item)),
        item.published.map_or(Cell::Empty, |value| Cell::Number(number(value))),
        measured(item),
        Cell::Text(unit),
        off.map_or(Cell::Empty, |off| Cell::Number(format!("{off:+.1} %"))),
        item.margin.map_or(Cell::Empty, |margin| Cell::Number(format!("± {}", number(margin)))),
        Cell::Verdict(item.verdict),
        text(&item.note),
    ]
}

/// A row for each answer of a try.
fn answers(done: &Done<'_>, table: &file::Table, number: usize) -> Table {
    let tried = || done.tried.iter().filter(|tried| tried.number == number);
    let mut rows = Vec::new();
    if !tried().any(|tried| tried.question.is_empty()) {
        rows.push(line("default", table, |column| find(&done.items, column)));
    }
    rows.extend(tried().map(|tried| line(&tried.label, table, |column| tried.find(column))));
    let mut columns = vec!["open question: answer".to_owned()];
    columns.extend(table.column.iter().map(|column| column.heading.clone()));
    Table { caption: table.caption.clone(), columns, rows }
}

fn line<'a>(label: &str, table: &file::Table, find: impl Fn(&file::Column) -> Option<&'a Item>) -> Vec<Cell> {
    let cell = |column: &file::Column| match (find(column), column.verdict) {
        (Some(item), true) => Cell::Verdict(item.verdict),
        (Some(item), false) => measured(item),
        (None, _) => Cell::Empty,
    };
    std::iter::once(Cell::Text(label.to_owned())).chain(table.column.iter().map(cell)).collect()
}

impl Tried<'_> {
    fn find(&self, column: &file::Column) -> Option<&Item> {
        find(&self.items, column)
    }
}

/// The item of a column.
fn find<'a>(items: &'a [Item], column: &file::Column) -> Option<&'a Item> {
    items.iter().find(|item| {
        let name = item.item.strip_prefix("sensitivity-").unwrap_or(&item.item);
        name == column.item
            && column.series.as_ref().is_none_or(|series| *series == item.series)
            && column.metric.as_ref().is_none_or(|metric| *metric == item.metric)
            && column.at.iter().all(|(name, value)| {
                item.x.get(name).is_some_and(|x| *x == value.json() || x.as_f64() == value.number())
            })
    })
}

/// What the paper leaves open or contradicts.
pub fn deviations(deviations: &[Deviation]) -> Table {
    let text = |text: &str| Cell::Text(text.to_string());
    Table {
        caption: "What the paper leaves open or contradicts, and what was chosen".into(),
        columns: ["about", "the paper's words", "choice", "reason"].map(String::from).to_vec(),
        rows: deviations
            .iter()
            .map(|one| vec![text(&one.about), text(&one.quote), text(&one.choice), text(&one.reason)])
            .collect(),
    }
}
