//! Causes of the rows (published numbers and claims) whose result differs from the paper, read from `causes.toml`. A
//! cause may have a command that demonstrates the cause.
//!
//! Every row with the verdict `differs` or `shape` gets a cause: the first entry of `causes.toml` that matches the row.
//! If no entry matches, the program computes the cause, which lists the answers to the paper's open questions under
//! which the row agrees. If the row agrees under no answer, the cause is `open`.

use super::readings::{ReadingResults, matching_row};
use super::reproduce::AnswerRun;
use super::rows::{claim_of, published_of};
use super::selector::Selector;
use super::source::PaperSource;
use super::study::Study;
use super::value::Texts;
use crate::item::{DEFAULT, Item, SENSITIVITY_PREFIX, Verdict};
use lasthop_scenario::{Problem, nearest};
use serde::Deserialize;
use std::fmt;
use toml::Spanned;

const FILE: &str = "causes.toml";

/// Name of the coordinate that holds the answer to an open question, in a row that was measured under that answer.
const SETTING: &str = "setting";

/// Largest number of answers that a computed cause lists by name. The text states only the number of the remaining
/// answers.
const NAMED: usize = 3;

/// Kind of a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(expecting = "enum Kind")]
pub enum CauseKind {
    /// The row agrees under a different answer to an open question.
    #[serde(rename = "answer")]
    Answer,
    /// The cause is an undocumented default of ns-2.
    #[serde(rename = "ns-2")]
    Ns2,
    /// The published number comes from one run, and the difference is within the variation between single runs.
    #[serde(rename = "one run")]
    OneRun,
    /// The paper contradicts itself.
    #[serde(rename = "paper")]
    Paper,
    /// The cause cannot be determined. The sentence in `causes.toml` proves this.
    #[serde(rename = "unknowable")]
    Unknowable,
    /// No cause was found. The sentence lists the causes that were tried.
    #[serde(rename = "open")]
    Open,
}

impl fmt::Display for CauseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CauseKind::Answer => "answer",
            CauseKind::Ns2 => "ns-2",
            CauseKind::OneRun => "one run",
            CauseKind::Paper => "paper",
            CauseKind::Unknowable => "unknowable",
            CauseKind::Open => "open",
        })
    }
}

/// A cause from `causes.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cause {
    rows: Spanned<Selector>,
    /// Readings (sets of answers to open questions) to which the cause applies: `default`, the name of a reading, or a
    /// single answer in the form `question: answer`. `None` means all readings.
    reading: Option<Spanned<Texts>>,
    kind: CauseKind,
    cause: Spanned<String>,
    experiment: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(expecting = "struct Written")]
struct CausesFile {
    #[serde(default)]
    cause: Vec<Cause>,
}

/// Reads the causes of a paper, in file order. Returns an empty list if the file is missing. Fails if the file is
/// invalid.
pub fn read(source: &PaperSource) -> Result<Vec<Cause>, Problem> {
    let written: Option<CausesFile> = source.file(FILE)?.map(|text| text.toml()).transpose()?;
    Ok(written.unwrap_or_default().cause)
}

/// Checks that each cause matches a published number or a claim, and that each named reading exists.
pub fn check(study: &Study) -> Result<(), Problem> {
    let Some(text) = study.source.file(FILE)? else { return Ok(()) };
    let named = study.file.reading.keys().cloned();
    let readings: Vec<String> = std::iter::once(DEFAULT.into()).chain(named).chain(study.answers()).collect();
    for cause in &study.causes {
        let rows = cause.rows.get_ref();
        let has_number = study.published.iter().any(|published| rows.matches(published));
        if !has_number && !study.file.claim.iter().any(|claim| rows.matches(claim)) {
            let message = "these `rows` match no published number or claim of this paper";
            let known: Vec<&str> = study.published.iter().map(|row| row.item.as_str()).collect();
            let known = known.into_iter().chain(study.file.claim.iter().map(|claim| claim.item.as_str()));
            let written = rows.item.iter().flat_map(Texts::all).next();
            let meant = written.and_then(|written| nearest(written, known));
            let help = meant.filter(|meant| Some(*meant) != written.map(String::as_str)).map_or(
                "keys: item, series, metric, x = { NAME = VALUE }, as in published.csv".to_owned(),
                |meant| format!("did you mean item = \"{meant}\"?"),
            );
            return Err(text.at(cause.rows.span(), message).advise(help));
        }
        if let Some(reading) = &cause.reading {
            let unknown = reading.get_ref().all().iter().find(|one| !readings.contains(one));
            if let Some(unknown) = unknown {
                let message = format!("this paper has no reading `{unknown}`");
                let known = readings.iter().map(String::as_str);
                let help = match nearest(unknown, known) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("known: {}", readings.join(", ")),
                };
                return Err(text.at(reading.span(), message).advise(help));
            }
        }
        if cause.cause.get_ref().trim().is_empty() {
            return Err(text.at(cause.cause.span(), "the cause is empty: write a sentence"));
        }
    }
    Ok(())
}

fn explains(study: &Study, selector: &Selector, item: &Item) -> bool {
    claim_of(study, item).is_some_and(|claim| selector.matches(claim))
        || published_of(study, item).is_some_and(|published| selector.matches(published))
}

type CauseText = (String, Option<String>);

/// Sets the cause of each row with the verdict `differs` or `shape`.
pub fn attach(
    study: &Study,
    items: &mut [Item],
    readings: &mut [ReadingResults<'_>],
    answer_runs: &mut [AnswerRun<'_>],
) {
    let of_default: Vec<Option<CauseText>> = {
        let others: Vec<AlternativeRows<'_>> =
            answers(answer_runs).chain(readings.iter().map(AlternativeRows::of)).collect();
        items.iter().map(|item| cause_of(study, item, &others)).collect()
    };
    let of_readings: Vec<Vec<Option<CauseText>>> = {
        let default = AlternativeRows { label: "the default reading".into(), items: &*items };
        let others: Vec<AlternativeRows<'_>> = answers(answer_runs).chain([default]).collect();
        let of = |reading_results: &ReadingResults<'_>| {
            reading_results.items.iter().map(|item| cause_of(study, item, &others)).collect()
        };
        readings.iter().map(of).collect()
    };
    set(items, of_default);
    for (reading_results, causes) in readings.iter_mut().zip(of_readings) {
        set(&mut reading_results.items, causes);
    }
    for one in answer_runs {
        let causes = one.items.iter().map(|item| under_an_answer(study, item, items)).collect();
        set(&mut one.items, causes);
    }
}

fn set(items: &mut [Item], causes: Vec<Option<CauseText>>) {
    for (item, cause) in items.iter_mut().zip(causes) {
        (item.cause, item.experiment) =
            cause.map_or((None, None), |(cause, experiment)| (Some(cause), experiment));
    }
}

struct AlternativeRows<'a> {
    label: String,
    items: &'a [Item],
}

impl<'a> AlternativeRows<'a> {
    fn of(reading_results: &'a ReadingResults<'_>) -> AlternativeRows<'a> {
        AlternativeRows {
            label: format!("the {} reading", reading_results.name),
            items: &reading_results.items,
        }
    }
}

fn answers<'a>(answer_runs: &'a [AnswerRun<'_>]) -> impl Iterator<Item = AlternativeRows<'a>> {
    let answered = answer_runs.iter().filter(|one| !one.question.is_empty());
    answered.map(|one| AlternativeRows { label: one.label.clone(), items: &one.items })
}

fn has_cause(item: &Item) -> bool {
    matches!(item.verdict, Some(Verdict::Differs | Verdict::Shape))
}

fn cause_of(study: &Study, item: &Item, others: &[AlternativeRows<'_>]) -> Option<CauseText> {
    has_cause(item).then(|| written(study, item).unwrap_or_else(|| computed(study, item, others)))
}

fn written(study: &Study, item: &Item) -> Option<CauseText> {
    let is_of_reading = |cause: &&Cause| {
        cause.reading.as_ref().is_none_or(|readings| readings.get_ref().all().contains(&item.reading))
    };
    let cause = study
        .causes
        .iter()
        .filter(is_of_reading)
        .find(|cause| explains(study, cause.rows.get_ref(), &as_of_default(item)))?;
    let words = format!("{}: {}", cause.kind, cause.cause.get_ref().trim().trim_end_matches('.'));
    Some((words, cause.experiment.clone()))
}

/// Computes the cause: the answers and readings under which the row agrees, or `open` if no such answer exists.
fn computed(study: &Study, item: &Item, others: &[AlternativeRows<'_>]) -> CauseText {
    let holds = |verdict: Verdict| match item.verdict {
        Some(Verdict::Shape) => verdict == Verdict::Agrees,
        _ => matches!(verdict, Verdict::Agrees | Verdict::Shape),
    };
    let verdicts = others.iter().filter_map(|other| Some((other, matching_row(item, other.items)?.verdict?)));
    let verdicts: Vec<(&AlternativeRows<'_>, Verdict)> = verdicts.collect();
    let held: Vec<&str> = verdicts
        .iter()
        .filter(|(_, verdict)| holds(*verdict))
        .map(|(other, _)| other.label.as_str())
        .collect();
    let experiment = format!("lasthop reproduce {} --all", study.source.origin());
    match (held.len(), verdicts.len(), item.verdict) {
        (0, count, Some(Verdict::Shape)) => {
            let words = format!(
                "open: the mean satisfies the claim at all points, but not significantly at some of them; no answer \
                 makes the claim significant ({count} tried)"
            );
            (words, None)
        }
        (0, 0, _) => ("open: no answer was tried".into(), None),
        (0, count, _) => (format!("open: no answer makes the row agree ({count} tried)"), None),
        (several, ..) => {
            let named = held.iter().take(NAMED).copied().collect::<Vec<&str>>().join(" / ");
            let more = if several > NAMED { format!(" / {} more", several - NAMED) } else { String::new() };
            (format!("answer: {named}{more}"), Some(experiment))
        }
    }
}

/// Returns the cause of a row that was measured under an answer to an open question. If the same row has a cause in the
/// default reading (without answers), returns that cause. Otherwise, the cause is the answer itself.
fn under_an_answer(study: &Study, item: &Item, default: &[Item]) -> Option<CauseText> {
    if !has_cause(item) {
        return None;
    }
    if let Some(cause) = written(study, item) {
        return Some(cause);
    }
    let Some(own) = matching_row(&as_of_default(item), default) else {
        return Some(("open: the default reading has no such row".into(), None));
    };
    Some(match (&own.cause, item.reading == DEFAULT) {
        (Some(cause), _) => (cause.clone(), own.experiment.clone()),
        (None, true) => ("open: with the repetitions of a full run, the row does not differ".into(), None),
        (None, false) => {
            let verdict = own.verdict.map_or("has no verdict", Verdict::sentence);
            (
                format!(
                    "answer: the tried answer causes this verdict; in the default reading, the row {verdict}"
                ),
                None,
            )
        }
    })
}

/// Copies a row that was measured under an answer. The copy has the name and the coordinates of the corresponding row
/// in the default reading.
fn as_of_default(item: &Item) -> Item {
    let Some(name) = item.item.strip_prefix(SENSITIVITY_PREFIX) else { return item.clone() };
    let mut own = Item { item: name.to_owned(), ..item.clone() };
    own.x.remove(SETTING);
    own
}
