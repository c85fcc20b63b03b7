//! Content of a report, independent of its appearance: chapters of text, figures and tables.

use crate::figure::Figure;
use crate::item::Verdict;
use crate::overview::{Forest, Matrix};
use crate::ranking::Ranking;
use lasthop_charts::segments::Segments;

/// A report. A report is written as one page, or as one page for each chapter.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Document {
    /// Title of the page.
    pub title: String,
    /// Main result, shown at the top of the page.
    pub first_screen: Option<FirstScreen>,
    /// Introductory paragraph.
    pub introduction: String,
    /// Chapters. A reproduction has one chapter for each paper.
    pub chapters: Vec<Chapter>,
}

/// Main result of a report, on the first screen.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct FirstScreen {
    /// Main result in one sentence.
    pub sentence: String,
    /// Most important numbers of the result.
    pub tiles: Vec<Tile>,
    /// One figure, or two figures side by side.
    pub figures: Vec<Figure>,
}

/// A number on the first screen.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Tile {
    /// Name of the number.
    pub label: String,
    /// Number with its interval, such as `1915 ± 12`.
    pub value: String,
    /// Unit of the number. The text is empty if the number has no unit.
    pub unit: String,
}

/// A chapter.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Chapter {
    /// Anchor of the chapter in the page, such as `hasegawa`.
    pub id: String,
    /// Heading.
    pub title: String,
    /// Blocks, in reading order.
    pub blocks: Vec<Block>,
}

/// A block of a chapter.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// Heading within the chapter.
    Heading(String),
    /// Paragraph of plain text.
    Text(String),
    /// Plot.
    Figure(Figure),
    /// Time-sequence graph.
    Sequence(Sequence),
    /// Table.
    Table(Table),
    /// Table in which the reader can choose other settings.
    Switched {
        /// The table under the default setting. A browser without scripts shows only this table.
        table: Table,
        /// Settings that the reader can choose instead.
        settings: Vec<TableSetting>,
    },
    /// Table with chapters as rows and themes as columns. Each cell counts the verdicts on published numbers and
    /// claims.
    Matrix(Matrix),
    /// Forest plot that compares measured with published numbers.
    Forest(Forest),
    /// Ranking of candidates.
    Ranking(Ranking),
    /// Preformatted text, collapsed until the reader opens it.
    Folded {
        /// Heading of the collapsed text.
        title: String,
        /// Lines of the collapsed text.
        text: String,
    },
}

/// Time-sequence graphs. The reader selects one or several of the graphs to show.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Sequence {
    /// Anchor of the block.
    pub id: String,
    /// Title above the graph.
    pub title: String,
    /// Caption below the graph.
    pub caption: String,
    /// Whether the graphs are meant for comparison. If so, the page first shows the first two graphs in one picture.
    pub is_comparison: bool,
    /// Graphs to select from: one for each compared case, or one for each flow.
    pub runs: Vec<FlowSequence>,
}

/// One time-sequence graph.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct FlowSequence {
    /// Name of the graph.
    pub name: String,
    /// Duration of the run, s.
    pub duration_s: f64,
    /// Names of the links, in the scenario's order.
    pub links: Vec<String>,
    /// Observed segments.
    pub segments: Segments,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Table {
    /// Caption above the table.
    pub caption: String,
    /// Column headings, with units.
    pub columns: Vec<String>,
    /// Rows, each with one cell per column.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Returns the table in Markdown, without its caption.
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

/// Setting that the reader can choose for a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableSetting {
    /// Label of the setting, such as `delayed ACKs: on`.
    pub label: String,
    /// Cells that differ under this setting: row and column (from 0), and the new cell.
    pub cells: Vec<(usize, usize, Cell)>,
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A text, aligned left.
    Text(String),
    /// A formatted number, aligned right: `1915 ± 12`.
    Number(String),
    /// A verdict, shown as a coloured word.
    Verdict(Option<Verdict>),
    /// An empty cell, shown as a dash.
    Empty,
}

impl Cell {
    /// Returns the cell's text.
    pub fn text(&self) -> &str {
        match self {
            Cell::Text(text) | Cell::Number(text) => text,
            Cell::Verdict(Some(verdict)) => verdict.name(),
            Cell::Verdict(None) | Cell::Empty => "–",
        }
    }
}
