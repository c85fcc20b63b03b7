//! What a report says, apart from how it looks: sections of text, figures and tables.

use crate::figure::Figure;
use crate::item::Verdict;
use crate::overview::{Forest, Matrix};
use crate::ranking::Ranking;
use lasthop_charts::segments::Segments;

/// A report: one page, or one page for each chapter.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Document {
    /// Title of the page.
    pub title: String,
    /// What the reader looks at, in a paragraph.
    pub introduction: String,
    /// Its chapters (one per paper in a reproduction).
    pub chapters: Vec<Chapter>,
}

/// A chapter.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Chapter {
    /// Anchor: `hasegawa`.
    pub id: String,
    /// Heading.
    pub title: String,
    /// Its parts, in reading order.
    pub blocks: Vec<Block>,
}

/// A part of a chapter.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A heading within the chapter.
    Heading(String),
    /// A paragraph of plain text.
    Text(String),
    /// A plot.
    Figure(Figure),
    /// A time-sequence graph.
    Sequence(Sequence),
    /// A table.
    Table(Table),
    /// A table that can be shown under other settings.
    Switched {
        /// As it stands, and as it is without scripts.
        table: Table,
        /// What may be chosen instead.
        settings: Vec<Setting>,
    },
    /// Chapters by themes, with counts of verdicts.
    Matrix(Matrix),
    /// Our numbers beside the published ones, in margins.
    Forest(Forest),
    /// Candidates, the best first.
    Ranking(Ranking),
    /// Text of fixed width that shows when it is asked for.
    Folded {
        /// What it is.
        title: String,
        /// Its lines, as they are.
        text: String,
    },
}

/// Time-sequence graphs of which one is shown at a time, or several in one picture.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Sequence {
    /// Anchor.
    pub id: String,
    /// Title above it.
    pub title: String,
    /// A sentence or two below it.
    pub caption: String,
    /// Whether they are there to be compared: then the first two are in one picture from the beginning.
    pub together: bool,
    /// What is chosen by its name: values of a comparison, or flows.
    pub runs: Vec<Sequenced>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Sequenced {
    /// Its name.
    pub name: String,
    /// How long the run was, s.
    pub duration_s: f64,
    /// The names of the links, in the order of the scenario.
    pub links: Vec<String>,
    /// What was seen.
    pub segments: Segments,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Table {
    /// Caption above it.
    pub caption: String,
    /// Column headings, with units.
    pub columns: Vec<String>,
    /// Rows of as many cells.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// The table in Markdown, without its caption.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
        let rule = self.columns.iter().map(|_| "---").collect();
        let mut text = line(self.columns.iter().map(String::as_str).collect()) + &line(rule);
        for row in &self.rows {
            text.push_str(&line(row.iter().map(Cell::text).collect()));
        }
        text
    }
}

/// Another setting of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// What is chosen: `delayed ACKs: on`.
    pub label: String,
    /// The cells that it changes: row and column, from 0, and what stands there then.
    pub cells: Vec<(usize, usize, Cell)>,
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Words, set left.
    Text(String),
    /// A number as it is to be shown, set right: `1915 ± 12`.
    Number(String),
    /// A verdict, coloured and in words.
    Verdict(Option<Verdict>),
    /// Nothing (shown as a dash).
    Empty,
}

impl Cell {
    /// The cell's text.
    pub fn text(&self) -> &str {
        match self {
            Cell::Text(text) | Cell::Number(text) => text,
            Cell::Verdict(Some(verdict)) => verdict.name(),
            Cell::Verdict(None) | Cell::Empty => "–",
        }
    }
}
