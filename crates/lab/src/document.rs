//! Content of a report, independent of its appearance: chapters of text, figures and tables.

use crate::figure::Figure;
use crate::item::Verdict;
use crate::overview::{Forest, Matrix};
use crate::ranking::Ranking;
use lasthop_charts::segments::Segments;

/// A report: one page, or one page per chapter.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Document {
    /// Title of the page.
    pub title: String,
    /// Main result, shown before everything else.
    pub first_screen: Option<FirstScreen>,
    /// Introductory paragraph.
    pub introduction: String,
    /// Chapters (one per paper in a reproduction).
    pub chapters: Vec<Chapter>,
}

/// Main result of a report, on the first screen.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct FirstScreen {
    /// Result in a sentence.
    pub sentence: String,
    /// Most important numbers.
    pub tiles: Vec<Tile>,
    /// One figure, or two side by side.
    pub figures: Vec<Figure>,
}

/// A number on the first screen.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Tile {
    /// Name of the number.
    pub label: String,
    /// Number with its interval: `1915 ± 12`.
    pub value: String,
    /// Unit; may be empty.
    pub unit: String,
}

/// A chapter.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Chapter {
    /// Anchor in the page: `hasegawa`.
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
        /// The table under the default setting, which is also shown without scripts.
        table: Table,
        /// Settings that the reader can choose instead.
        settings: Vec<TableSetting>,
    },
    /// Table of chapters by themes. Each cell counts the verdicts on published numbers and claims.
    Matrix(Matrix),
    /// Forest plot of measured against published numbers.
    Forest(Forest),
    /// Ranking of candidates.
    Ranking(Ranking),
    /// Preformatted text, which is collapsed until the reader opens it.
    Folded {
        /// Heading of the collapsed text.
        title: String,
        /// Lines of the collapsed text.
        text: String,
    },
}

/// Time-sequence graphs, of which the reader selects one or several to show.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Sequence {
    /// Anchor of the block.
    pub id: String,
    /// Title above the graph.
    pub title: String,
    /// Caption below the graph.
    pub caption: String,
    /// Whether the graphs are to be compared. If so, the page first shows the first two graphs in one picture.
    pub is_comparison: bool,
    /// Graphs from which the reader can select: one for each compared case, or one for each flow.
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

/// Setting that the reader can choose for a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableSetting {
    /// Label of the setting: `delayed ACKs: on`.
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
    /// The cell's text.
    pub fn text(&self) -> &str {
        match self {
            Cell::Text(text) | Cell::Number(text) => text,
            Cell::Verdict(Some(verdict)) => verdict.name(),
            Cell::Verdict(None) | Cell::Empty => "–",
        }
    }
}
