//! Tables of a paper's chapter in the report.

use super::file;
use super::reproduce::PaperResults;
use super::selector::{SelectableRow, Selector};
use super::study::Study;
use super::switches::switched;
use super::value::Value;
use crate::document::{Block, Cell, Table};
use crate::item::Item;
use crate::papers::cells::{measured, short, trimmed, words};
use crate::papers::deviation::Deviation;
use crate::ranking::{Ranked, Ranking};
use lasthop_scenario::Problem;

/// Returns a table of `study.toml`. Fails if the table refers to an unknown axis.
pub fn table(
    study: &Study,
    results: &PaperResults<'_>,
    (name, table): (&str, &file::Table),
) -> Result<Block, Problem> {
    if let Some(ranked) = &table.ranks {
        return Ok(Block::Ranking(ranking(results, table, ranked)));
    }
    Ok(match (table.answers, &table.across) {
        (Some(number), _) => Block::Table(answers_table(results, table, number)),
        (None, Some(asked)) => {
            let context = [&*format!("[table.{name}]"), "across"];
            study.known(&context, "axis", asked, study.file.axis.keys().map(String::as_str))?;
            Block::Table(across(results, table, asked, &study.file.axis[asked]))
        }
        (None, None) => rows(results, &table.caption, |item| table.rows.matches(&item.item)),
    })
}

fn across(results: &PaperResults<'_>, table: &file::Table, name: &str, axis: &file::Axis) -> Table {
    let coordinate = axis.column.as_deref().unwrap_or(name);
    let is_at = |item: &Item, value: &Value| {
        item.series == value.to_string() || item.has_coordinate(coordinate, value)
    };
    let cell = |line: &file::Column, value: &Value| {
        let found = results.items.iter().find(|item| line.row.matches(*item) && is_at(item, value));
        found.map_or(Cell::Empty, measured)
    };
    let label = axis.label.clone().unwrap_or_else(|| name.to_owned());
    let values = || axis.values.iter();
    Table {
        caption: table.caption.clone(),
        columns: std::iter::once(label).chain(values().map(Value::to_string)).collect(),
        rows: table
            .line
            .iter()
            .map(|line| {
                let heading = Cell::Text(line.heading.clone());
                std::iter::once(heading).chain(values().map(|value| cell(line, value))).collect()
            })
            .collect(),
    }
}

fn ranking(results: &PaperResults<'_>, table: &file::Table, ranked: &Selector) -> Ranking {
    let mut axis = String::new();
    let mut rows = Vec::new();
    for row in results.items.iter().filter(|row| ranked.matches(*row)) {
        axis = format!("{}, {}", row.metric, row.unit);
        rows.push(Ranked {
            name: row.series.clone(),
            says: table.says.get(&row.series).cloned().unwrap_or_default(),
            value: row.measured,
            ci95: row.ci95,
            text: measured(row).text().to_owned(),
        });
    }
    let heading = |index: usize| table.headings.get(index).cloned().unwrap_or_default();
    let caption = table.caption.clone();
    Ranking { caption, heading: heading(0), axis, says: heading(1), rows }.sorted()
}

/// Returns a table of the rows that have a verdict and for which `is_meant` returns true. Above the table, the reader
/// of the report can choose an answer that changes a verdict.
pub fn rows(results: &PaperResults<'_>, caption: &str, is_meant: impl Fn(&Item) -> bool) -> Block {
    let items = results.items.iter().filter(|item| item.verdict.is_some() && is_meant(item));
    let items: Vec<&Item> = items.collect();
    let cells = if items.iter().any(|item| item.ns2.is_some()) { with_ns2 } else { row };
    switched(results, rows_table(caption, &items, cells), &items, cells)
}

const COLUMNS: [&str; 7] = ["row", "published", "ours", "off by", "margin", "verdict", "remark"];

fn rows_table(caption: &str, items: &[&Item], cells: fn(&Item) -> Vec<Cell>) -> Table {
    let rows: Vec<Vec<Cell>> = items.iter().map(|item| cells(item)).collect();
    let mut columns = COLUMNS.map(String::from).to_vec();
    if rows.first().is_some_and(|row| row.len() > COLUMNS.len()) {
        columns.insert(NS2_AT, "ns-2".into());
    }
    Table { caption: caption.into(), columns, rows }
}

fn with_ns2(item: &Item) -> Vec<Cell> {
    let mut cells = row(item);
    cells.insert(NS2_AT, ns2(item));
    cells
}

/// Index of the column with the results of ns-2. The column exists only if some row has such a result.
const NS2_AT: usize = 3;

fn remark(item: &Item) -> String {
    match (&item.cause, &item.experiment) {
        (None, _) => item.note.clone(),
        (Some(cause), None) => format!("{cause}; {}", item.note),
        (Some(cause), Some(command)) => format!("{cause} ({command}); {}", item.note),
    }
}

fn ns2(item: &Item) -> Cell {
    let of_ns2 = Item { measured: item.ns2, ci95: item.ns2_ci95, ..item.clone() };
    with_unit(measured(&of_ns2), &item.unit)
}

fn with_unit(cell: Cell, unit: &str) -> Cell {
    match cell {
        Cell::Number(number) if !unit.is_empty() => Cell::Number(format!("{number} {unit}")),
        other => other,
    }
}

fn row(item: &Item) -> Vec<Cell> {
    let mut cells = vec![Cell::Text(words(item))];
    match item.margin {
        None => {
            let holds = item.measured.map(|share| (share * item.runs as f64).round());
            let ours = holds.map(|holds| Cell::Number(format!("{holds} of {} points", item.runs)));
            cells.extend([Cell::Empty, ours.unwrap_or(Cell::Empty), Cell::Empty, Cell::Empty]);
        }
        Some(margin) => {
            let off = item.deviation_pct.map(|off| Cell::Number(format!("{off:+.1} %")));
            cells.push(
                item.published.map_or(Cell::Empty, |value| with_unit(Cell::Number(short(value)), &item.unit)),
            );
            cells.push(with_unit(measured(item), &item.unit));
            cells.push(off.unwrap_or(Cell::Empty));
            cells.push(Cell::Number(format!("± {}", trimmed(margin))));
        }
    }
    cells.extend([Cell::Verdict(item.verdict), Cell::Text(remark(item))]);
    cells
}

fn answers_table(results: &PaperResults<'_>, table: &file::Table, try_index: usize) -> Table {
    let runs = || results.answer_runs.iter().filter(|run| run.try_index == try_index);
    let mut rows = Vec::new();
    if !runs().any(|run| run.question.is_empty()) {
        rows.push(answer_row("default", table, |column| find_row(&results.items, column)));
    }
    rows.extend(runs().map(|run| answer_row(&run.label, table, |column| find_row(&run.items, column))));
    let mut columns = vec!["open question: answer".to_owned()];
    columns.extend(table.column.iter().map(|column| column.heading.clone()));
    let has_distances = table.column.iter().any(|column| column.verdict);
    let caption =
        if has_distances { format!("{} ({DISTANCES})", table.caption) } else { table.caption.clone() };
    Table { caption, columns, rows }
}

/// Explanation of the texts that [`distance`] returns. Tables with results under single answers show these texts
/// instead of verdicts, because their rows have few repetitions.
pub const DISTANCES: &str = "numbers: distance from the published number in units of the margin (within \
    ±1: inside the margin); claims: number of points at which the mean satisfies the claim";

/// Returns the result of a row under an answer as text. For a number, the text is the distance from the published
/// number in margins. For a claim, the text is the number of points at which the means satisfy the claim.
pub fn distance(item: &Item) -> Option<String> {
    let measured = item.measured.filter(|measured| measured.is_finite())?;
    match (item.published, item.margin) {
        (Some(published), Some(margin)) if margin > 0.0 => {
            Some(format!("{:+.1}", (measured - published) / margin))
        }
        (Some(_), None) => Some(format!("{} of {}", (measured * item.runs as f64).round(), item.runs)),
        _ => None,
    }
}

fn answer_row<'a>(
    label: &str,
    table: &file::Table,
    find_row: impl Fn(&file::Column) -> Option<&'a Item>,
) -> Vec<Cell> {
    let cell = |column: &file::Column| match (find_row(column), column.verdict) {
        (Some(item), true) => distance(item).map_or(Cell::Empty, Cell::Number),
        (Some(item), false) => measured(item),
        (None, _) => Cell::Empty,
    };
    std::iter::once(Cell::Text(label.to_owned())).chain(table.column.iter().map(cell)).collect()
}

fn find_row<'a>(items: &'a [Item], column: &file::Column) -> Option<&'a Item> {
    items.iter().find(|item| column.row.matches(*item))
}

/// Returns the table of the paper's gaps and contradictions, with our choices.
pub fn deviations(deviations: &[Deviation]) -> Table {
    let text = |text: &str| Cell::Text(text.to_string());
    Table {
        caption: "Open points and contradictions of the paper, with our choices".into(),
        columns: ["about", "the paper's words", "choice", "reason"].map(String::from).to_vec(),
        rows: deviations
            .iter()
            .map(|one| vec![text(&one.about), text(&one.quote), text(&one.choice), text(&one.reason)])
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Verdict;
    use crate::stats::Estimate;

    #[test]
    fn under_an_answer_there_is_a_distance_and_no_verdict() {
        let number = Item {
            published: Some(100.0),
            margin: Some(5.0),
            measured: Some(88.0),
            ..Item::new("p", "i", "s")
        };
        assert_eq!(distance(&number).as_deref(), Some("-2.4"));
        let claim = Item::new("p", "claim", "claim").with_claim("words", 0.25, 8, Verdict::Differs);
        assert_eq!(distance(&claim).as_deref(), Some("2 of 8"));
        assert_eq!(distance(&Item { measured: None, ..number }), None);
    }

    #[test]
    fn a_number_and_a_claim_share_their_columns() {
        let ours = Estimate { mean: 132.0, ci95: Some([130.0, 134.0]), runs: 20 };
        let number = Item::new("saad", "table2", "reno").metric("mean throughput", "kbit/s").at("flows", 6);
        let number = Item {
            published: Some(139.1),
            margin: Some(6.96),
            deviation_pct: Some(-5.1),
            verdict: Some(Verdict::Inconclusive),
            ..number.measured(Some(ours)).note("Table II")
        };
        let claim =
            Item::new("saad", "claim-fig6", "claim").with_claim("W_CW above Reno", 0.25, 8, Verdict::Differs);
        let table = rows_table("caption", &[&number, &claim], row);
        let texts: Vec<Vec<&str>> =
            table.rows.iter().map(|row| row.iter().map(Cell::text).collect()).collect();
        assert_eq!(
            texts[0],
            [
                "Table 2, reno, 6 flows: mean throughput",
                "139.1 kbit/s",
                "132.0 ± 2.0 kbit/s",
                "-5.1 %",
                "± 6.96",
                "inconclusive",
                "Table II"
            ]
        );
        assert_eq!(texts[1], ["claim: fig6", "–", "2 of 8 points", "–", "–", "differs", "W_CW above Reno"]);
        assert!(table.rows.iter().all(|row| row.len() == table.columns.len()));
        let caused = Item { cause: Some("answer: delayed ACKs: off".into()), ..claim };
        assert_eq!(remark(&caused), "answer: delayed ACKs: off; W_CW above Reno");
        let shown = Item { experiment: Some("lasthop reproduce saad --all".into()), ..caused };
        assert_eq!(
            remark(&shown),
            "answer: delayed ACKs: off (lasthop reproduce saad --all); W_CW above Reno"
        );
    }
}
