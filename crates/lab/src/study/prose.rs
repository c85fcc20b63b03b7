//! Text of a paper's chapter in the report, read from `chapter.md`. Directives in the text insert results.
//!
//! The text consists of paragraphs and lists in Markdown, `## headings`, and directives on separate lines:
//! `{verdicts}`, `{rows}`, `{table:ID}`, `{figure:ID}`, `{readings}`, `{deviations}`. Lines directly below a figure are
//! its caption. Sentences may contain placeholders. `{value:ITEM, series=…, x=…}` gives our number with its interval,
//! and `{published:…}` gives the paper's number. `{verdict:…}` gives the row's verdict, and `{count:agrees}` gives the
//! number of rows with the verdict `agrees`.

use super::counts::{self, Chance};
use super::published::Published;
use super::reproduce::PaperResults;
use super::selector::Selector;
use super::study::Study;
use super::{figures, readings, tables};
use crate::document::{Block, Chapter};
use crate::item::Verdict;
use crate::papers::cells::short;
use lasthop_scenario::Problem;

/// Returns the chapter of a paper. Fails if a directive is invalid, or if the run of a figure fails.
pub fn chapter(study: &Study, results: &PaperResults<'_>, seed: u64) -> Result<Chapter, Problem> {
    let default = default_chapter(study);
    let text = study.prose.as_deref().unwrap_or(&default);
    let file = study.source.path("chapter.md");
    let writer = ChapterWriter { study, results, text, file, seed };
    let mut blocks = vec![Block::Text(study.file.citation.clone())];
    let answer = answer(study, results)?;
    if !answer.is_empty() {
        blocks.push(Block::Text(answer));
    }
    for paragraph in paragraphs(text) {
        blocks.extend(writer.blocks(paragraph)?);
    }
    Ok(Chapter { id: study.file.paper.clone(), title: study.file.title.clone(), blocks })
}

/// Returns the result of the reproduction in one sentence, with all placeholders replaced. Fails if a placeholder is
/// invalid.
pub fn answer(study: &Study, results: &PaperResults<'_>) -> Result<String, Problem> {
    let text = &study.file.answer;
    let file = study.text.name.clone();
    ChapterWriter { study, results, text, file, seed: 0 }.fill_placeholders(text)
}

fn default_chapter(study: &Study) -> String {
    let mut text = String::from("{verdicts}\n\n");
    for name in study.file.table.keys() {
        text += &format!("{{table:{name}}}\n\n");
    }
    if study.file.table.is_empty() {
        text += "{rows}\n\n";
    }
    for name in study.file.figure.keys() {
        text += &format!("{{figure:{name}}}\n\n");
    }
    text + "{readings}\n\n{deviations}\n"
}

fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n\n").map(str::trim).filter(|part| !part.is_empty())
}

struct ChapterWriter<'a> {
    study: &'a Study,
    results: &'a PaperResults<'a>,
    text: &'a str,
    file: String,
    seed: u64,
}

impl ChapterWriter<'_> {
    fn blocks(&self, paragraph: &str) -> Result<Vec<Block>, Problem> {
        let (first, rest) = paragraph.split_once('\n').unwrap_or((paragraph, ""));
        let first = first.trim();
        if let Some(heading) = first.strip_prefix("## ") {
            let mut blocks = vec![Block::Heading(heading.trim().into())];
            if !rest.trim().is_empty() {
                blocks.extend(self.blocks(rest.trim())?);
            }
            return Ok(blocks);
        }
        let Some(directive) = first.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')) else {
            return Ok(vec![Block::Text(self.fill_placeholders(&joined(paragraph))?)]);
        };
        let (kind, name) = directive.split_once(':').unwrap_or((directive, ""));
        let caption = self.fill_placeholders(&joined(rest))?;
        let mut blocks = match kind {
            "figure" => {
                let figure = self.known("figure", name, self.study.file.figure.get(name), directive)?;
                let drawn = figures::figure(self.study, self.results, (name, figure), &caption, self.seed)?;
                return Ok(vec![Block::Figure(drawn)]);
            }
            "table" => {
                let table = self.known("table", name, self.study.file.table.get(name), directive)?;
                vec![tables::table(self.study, self.results, (name, table))?]
            }
            "rows" => {
                vec![tables::rows(
                    self.results,
                    "Published numbers and claims, with our measurements",
                    |_| true,
                )]
            }
            "verdicts" => vec![Block::Text(self.verdicts())],
            "readings" => readings::blocks(self.study, self.results),
            "deviations" if self.study.deviations.is_empty() => Vec::new(),
            "deviations" => vec![Block::Table(tables::deviations(&self.study.deviations))],
            _ => return Ok(vec![Block::Text(self.fill_placeholders(&joined(paragraph))?)]),
        };
        if !caption.is_empty() {
            blocks.push(Block::Text(caption));
        }
        Ok(blocks)
    }

    fn known<'b, T>(
        &self,
        what: &str,
        name: &str,
        found: Option<&'b T>,
        directive: &str,
    ) -> Result<&'b T, Problem> {
        found.ok_or_else(|| {
            self.directive_problem(directive, format!("`{name}` is not a {what} of study.toml"))
        })
    }

    fn directive_problem(&self, directive: &str, message: String) -> Problem {
        let at = self.text.find(directive).unwrap_or(0);
        Problem::at(&self.file, self.text, at..at + directive.len(), message)
    }

    fn verdicts(&self) -> String {
        let counts = counts::of(self.results.items.iter());
        let chance = Chance::of(self.results.items.iter());
        format!(
            "Results under the default reading: of {} {} {}. A number agrees if our whole 95 % interval lies within the \
             margin of the published number, and differs if the interval lies outside. A claim agrees if it \
             significantly holds at all of its points, and differs if it significantly fails at a point. {}",
            counts.all(),
            if self.study.file.ours {
                "claims of our own, not published,"
            } else {
                "published numbers and claims"
            },
            counts::words(&counts),
            chance.words()
        )
    }

    fn fill_placeholders(&self, text: &str) -> Result<String, Problem> {
        let mut fill_placeholders = String::new();
        let mut rest = text;
        while let Some((before, from)) = rest.split_once('{') {
            fill_placeholders += before;
            let Some((directive, after)) = from.split_once('}') else {
                return Err(self.directive_problem("{", "the closing `}` of this `{` is missing".into()));
            };
            fill_placeholders += &self.value(directive)?;
            rest = after;
        }
        Ok(fill_placeholders + rest)
    }

    fn value(&self, directive: &str) -> Result<String, Problem> {
        let (kind, wanted) = directive.split_once(':').unwrap_or((directive, ""));
        if kind == "count" {
            let counts = counts::of(self.results.items.iter());
            let each = counts.each().into_iter().map(|(verdict, count)| (verdict.name(), count));
            let count = each.chain([("all", counts.all())]).find(|(name, _)| *name == wanted);
            return match count {
                Some((_, count)) => Ok(count.to_string()),
                None => Err(self.directive_problem(directive, format!("`{wanted}` is not a verdict"))),
            };
        }
        if !matches!(kind, "value" | "published" | "verdict") {
            let known = "value, published, verdict, count; on a separate line: verdicts, rows, table, figure, readings, deviations";
            return Err(self
                .directive_problem(directive, format!("unknown directive `{{{kind}}}`"))
                .advise(format!("known: {known}")));
        }
        let selector = Selector::read(wanted);
        if kind == "published" {
            let is_meant = |row: &&Published| selector.as_ref().is_some_and(|one| one.matches(*row));
            let row = self.study.published.iter().find(is_meant);
            let row = row.ok_or_else(|| {
                self.directive_problem(directive, format!("published.csv has no row `{wanted}`"))
            })?;
            return Ok(with_unit(short(row.value()), &row.unit));
        }
        let item =
            self.results.items.iter().find(|item| selector.as_ref().is_some_and(|one| one.matches(*item)));
        if kind == "verdict" {
            return match item.and_then(|item| item.verdict) {
                Some(verdict) => Ok(predicate(verdict).to_owned()),
                None => Err(self.directive_problem(directive, format!("no row `{wanted}` has a verdict"))),
            };
        }
        let Some(item) = item else { return Ok("–".into()) };
        Ok(with_unit(crate::papers::cells::measured(item).text().to_owned(), &item.unit))
    }
}

/// Returns the verdict as the predicate of a sentence that begins with `the claim`.
fn predicate(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Agrees => "agrees with ours",
        Verdict::Shape => "agrees with ours on average, but not significantly",
        Verdict::Differs => "differs from ours",
        Verdict::Undecidable => "is undecidable with any number of repetitions",
        Verdict::Inconclusive => "is open: more repetitions are needed",
    }
}

fn with_unit(number: String, unit: &str) -> String {
    if unit.is_empty() { number } else { format!("{number} {unit}") }
}

/// Joins the lines of a paragraph. Each list item (`* item`) keeps its own line.
fn joined(paragraph: &str) -> String {
    let mut text = String::new();
    for line in paragraph.lines().map(str::trim) {
        text.push(if line.starts_with("* ") { '\n' } else { ' ' });
        text.push_str(line);
    }
    text.trim().to_owned()
}
