//! Builds the scenario of a grid's cell by applying the cell's changes in order. A cell is one combination of axis
//! values.
//!
//! If an axis and an answer to an open question set the same scenario key, the axis has precedence. Keys with fewer
//! dots are set first, so that a mechanism is chosen before its parameters.

use super::expression::{Expression, Scope};
use super::file::{AnswerPart, Axis, Changes, Draw, Grid, Ordered};
use super::study::Study;
use super::value::{Coordinates, Pick, Texts, Value, matches};
use lasthop_base::Stream;
use lasthop_scenario::{Draft, Problem, Scenario};

/// Extent of the runs: full or quick, for the paper's main results or for tests of answers to open questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// Whether the run is quick, with fewer repetitions and fewer axis values.
    pub quick: bool,
    /// Whether these runs test answers to open questions. The default reading is also run in this mode, for comparison
    /// with the answers at equal numbers of repetitions.
    pub under_answers: bool,
}

impl Mode {
    /// Returns the values of an axis that are run in this mode.
    pub fn values<'a>(&self, axis: &'a Axis) -> &'a [Value] {
        let quick = axis.quick.as_ref().filter(|_| self.quick);
        let under_answers = axis.quick_questions.as_ref().filter(|_| self.quick).or(axis.questions.as_ref());
        let under_answers = under_answers.filter(|_| self.under_answers);
        under_answers.or(quick).unwrap_or(&axis.values)
    }

    fn of(&self, runs: &super::file::RunCounts) -> u32 {
        match (self.quick, self.under_answers) {
            (false, false) => runs.full,
            (true, false) => runs.quick,
            (false, true) => runs.questions,
            (true, true) => runs.quick_questions,
        }
    }

    /// Whether cells get more repetitions if their intervals are too wide.
    pub fn grows(&self) -> bool {
        !self.quick && !self.under_answers
    }

    /// Returns the largest number of repetitions of a grid's cell.
    pub fn most(&self, grid: &Grid) -> u32 {
        let runs = self.runs(grid);
        if self.grows() { grid.runs.most.unwrap_or(runs).max(runs) } else { runs }
    }

    /// Returns the number of repetitions with which each cell of the grid starts.
    pub fn runs(&self, grid: &Grid) -> u32 {
        self.of(&grid.runs)
    }

    /// Returns the value of the variable `{length}`, which is the factor by which this mode lengthens the runs. The
    /// factor is 1 if the grid lacks the key `length`.
    pub fn length(&self, grid: &Grid) -> u32 {
        grid.length.as_ref().map_or(1, |length| self.of(length)).max(1)
    }
}

/// Cell of a grid: one value on each axis, and answers to open questions.
#[derive(Clone)]
pub struct GridCell<'a> {
    /// The paper.
    pub study: &'a Study,
    /// Name of the grid.
    pub name: &'a str,
    /// Definition of the grid.
    pub grid: &'a Grid,
    /// Value of the cell on each axis.
    pub coordinates: Coordinates,
    /// Scenario changes of the answers to open questions.
    pub parts: &'a [&'a AnswerPart],
    /// Extent of the runs.
    pub mode: Mode,
}

struct Assignment {
    key: String,
    value: String,
    written: String,
}

impl<'a> GridCell<'a> {
    /// Returns the changes that the grid and its axes define. An answer may replace the changes `set` of an axis. A
    /// later change overrides an earlier change. The most specific change is the last.
    fn own_changes(&self) -> Vec<&'a Changes> {
        let mut changes = vec![&self.grid.set];
        for name in &self.grid.axes {
            let Some(axis) = self.study.file.axis.get(name) else { continue };
            let instead = self.applicable_parts().find_map(|part| part.axis.get(name));
            changes.push(instead.unwrap_or(&axis.set));
            let value = self.coordinates.get(name).map(Value::to_string).unwrap_or_default();
            let case = axis.case.iter().find(|(text, _)| self.coordinates[name].is(text) || **text == value);
            changes.extend(case.map(|(_, changes)| changes));
        }
        let here = self.grid.case.iter().filter(|case| is_at(&case.when, &self.coordinates));
        changes.extend(here.map(|case| &case.changes));
        changes
    }

    fn applicable_parts(&self) -> impl Iterator<Item = &'a AnswerPart> + use<'a, '_> {
        let is_meant = |part: &&&AnswerPart| {
            (part.grids.all().is_empty() || part.grids.matches(self.name))
                && is_at(&part.when, &self.coordinates)
        };
        self.parts.iter().filter(is_meant).copied()
    }

    /// Returns the name of the cell's scenario file. Fails if neither the grid nor a change names a file.
    pub fn path(&self) -> Result<&'a str, Problem> {
        let answers = self.applicable_parts().map(|part| &part.changes);
        let named = self
            .own_changes()
            .into_iter()
            .chain(answers)
            .filter_map(|changes| changes.path.as_deref())
            .last();
        named.or(self.grid.path.as_deref()).ok_or_else(|| {
            let text = &self.study.text;
            let heading = format!("[grid.{}]", self.name);
            text.problem_near(&[&heading], "axes", format!("the grid `{}` has no `path`", self.name))
                .advise("name the file of its scenario: path = \"path.toml\"")
        })
    }

    /// Builds the scenario of the repetition with this seed. Fails if a change sets a key that the scenario does not
    /// have, or a value that the scenario rejects.
    pub fn scenario(&self, seed: u64) -> Result<Scenario, Problem> {
        let path = self.path()?;
        let about = |message: String| self.study.text.problem_near(&[], path, message);
        let mut draft = self.study.source.draft(path, about)?;
        let assignments = self.assignments(&draft, seed)?;
        for assignment in &assignments {
            let set = draft.set(&assignment.key, &assignment.value);
            set.map_err(|problem| self.located(assignment, &problem))?;
        }
        let mut scenario = draft.check().map_err(|problem| {
            // If a change causes the error, the error message shows the place of the change.
            let underlined = problem.underlined().to_owned();
            let made = assignments.iter().find(|one| [&one.key, &one.value].contains(&&underlined));
            made.map_or(problem.clone(), |one| self.located(one, &problem))
        })?;
        let answers = self.applicable_parts().map(|part| &part.changes);
        let dropped: Vec<&Texts> =
            self.own_changes().into_iter().chain(answers).map(|changes| &changes.drop).collect();
        scenario.flows.retain(|flow| !dropped.iter().any(|patterns| patterns.matches(&flow.name)));
        Ok(scenario)
    }

    /// Whether the cell draws random values for each repetition.
    pub fn draws(&self) -> bool {
        self.drawn().next().is_some()
    }

    fn drawn(&self) -> impl Iterator<Item = &'a Draw> + use<'a, '_> {
        let answers = self.applicable_parts().flat_map(|part| &part.draw);
        self.grid.draw.iter().chain(answers).filter(|draw| is_at(&draw.when, &self.coordinates))
    }

    fn assignments(&self, draft: &Draft, seed: u64) -> Result<Vec<Assignment>, Problem> {
        let mut names = self.grid.names.clone();
        let answers = self.applicable_parts().map(|part| &part.changes);
        for changes in self.own_changes().into_iter().chain(answers) {
            names.extend(changes.names.clone());
        }
        let mut set: Ordered<Assignment> = Ordered::new();
        let mut put = |assignment: Assignment| {
            set.insert(assignment.key.clone(), assignment);
        };
        for draw in self.drawn() {
            self.draw(draft, draw, seed).into_iter().for_each(&mut put);
        }
        let answers = self.applicable_parts().map(|part| &part.changes);
        for changes in answers.chain(self.own_changes()) {
            for (written, value) in &changes.keys {
                for key in self.expand_keys(draft, written, &names)? {
                    put(Assignment {
                        key,
                        value: self.fill_placeholders(&value.to_string()),
                        written: written.clone(),
                    });
                }
            }
        }
        let mut all: Vec<Assignment> = set.into_values().collect();
        all.sort_by_key(|assignment| assignment.key.matches('.').count());
        Ok(all)
    }

    fn draw(&self, draft: &Draft, draw: &Draw, seed: u64) -> Vec<Assignment> {
        let mut random = Stream::named(seed, &draw.stream);
        let keys = draw
            .keys
            .all()
            .iter()
            .flat_map(|written| expand_star(draft, written).into_iter().map(move |key| (written, key)));
        keys.map(|(written, key)| {
            let value = draw.from + (draw.to - draw.from) * random.uniform();
            let value = if draw.whole { value.floor() } else { value };
            Assignment { key, value: format!("{value} {}", draw.unit), written: written.clone() }
        })
        .collect()
    }

    /// Returns the scenario keys that `written` denotes. `@NAME` stands for the keys, or beginnings of keys, that
    /// `names` lists under `NAME`. `*` matches any text in the name of a flow, link or node: `flow.t*.sack`.
    fn expand_keys(
        &self,
        draft: &Draft,
        written: &str,
        names: &Ordered<Texts>,
    ) -> Result<Vec<String>, Problem> {
        let Some(named) = written.strip_prefix('@') else { return Ok(expand_star(draft, written)) };
        let (name, rest) = named.split_once('.').map_or((named, None), |(name, rest)| (name, Some(rest)));
        let Some(places) = names.get(name) else {
            if self.study.has_name(name) {
                // A different grid defines the name. In this grid, the name denotes no key.
                return Ok(Vec::new());
            }
            return Err(self
                .study
                .text
                .problem_near(&[], written, format!("no grid or axis defines the name `@{name}`"))
                .advise(format!("write in the grid: names = {{ {name} = [\"flow.bulk\"] }}")));
        };
        let full =
            places.all().iter().map(|place| rest.map_or(place.clone(), |rest| format!("{place}.{rest}")));
        Ok(full.flat_map(|key| expand_star(draft, &key)).collect())
    }

    /// Replaces each `{…}` in the text of a value. The braces hold the name of an axis, the word `length`, or a formula
    /// with these names. Braces with any other content are kept.
    pub fn fill_placeholders(&self, text: &str) -> String {
        let mut fill_placeholders = String::new();
        let mut rest = text;
        while let Some((before, from)) = rest.split_once('{') {
            fill_placeholders += before;
            let inner =
                from.split_once('}').and_then(|(inner, after)| Some((self.placeholder_value(inner)?, after)));
            match inner {
                Some((value, after)) => {
                    fill_placeholders += &value;
                    rest = after;
                }
                None => {
                    fill_placeholders.push('{');
                    rest = from;
                }
            }
        }
        fill_placeholders + rest
    }

    fn placeholder_value(&self, inner: &str) -> Option<String> {
        if let Some(value) = self.coordinates.get(inner.trim()) {
            return Some(value.to_string());
        }
        Expression::parse(inner).ok()?.value(self).map(|value| value.to_string())
    }

    /// Converts an error of the scenario into an error that points to the assignment in `study.toml`.
    fn located(&self, assignment: &Assignment, problem: &Problem) -> Problem {
        let message = format!("{} (in the grid `{}`)", problem.message(), self.name);
        let located = self.study.text.problem_near(&[], &assignment.written, message);
        match problem.advice() {
            Some(advice) => located.advise(advice),
            None => located,
        }
    }
}

impl Scope for GridCell<'_> {
    fn name(&self, name: &str) -> Option<f64> {
        match name {
            "length" => Some(f64::from(self.mode.length(self.grid))),
            _ => self.coordinates.name(name),
        }
    }

    fn flows(&self, of: &Expression, group: Option<&str>) -> Vec<f64> {
        self.coordinates.flows(of, group)
    }
}

/// Whether the coordinates match `when`, which lists accepted values for some axes. If the coordinates lack a value on
/// one of these axes, they do not match.
pub fn is_at(when: &Ordered<Pick>, coordinates: &Coordinates) -> bool {
    when.iter().all(|(axis, pick)| coordinates.get(axis).is_some_and(|value| pick.contains(value)))
}

/// Expands `flow.t*.sack` to one key for each matching flow of the scenario.
fn expand_star(draft: &Draft, key: &str) -> Vec<String> {
    let parts: Vec<&str> = key.splitn(3, '.').collect();
    match &parts[..] {
        [table, pattern, rest @ ..] if pattern.contains('*') => {
            let names = draft.names(table).into_iter().filter(|name| matches(pattern, name));
            let tail: String = rest.iter().map(|rest| format!(".{rest}")).collect();
            names.map(|name| format!("{table}.{name}{tail}")).collect()
        }
        _ => vec![key.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::source::PaperSource;

    const STUDY: &str = r#"
paper = "p"
title = "p"
summary = "p"
citation = "p"

[axis.fer]
values = [1.5]
set = { "@loss" = "{fer}e-2" }

[grid.g]
path = "path.toml"
axes = ["fer"]
runs = { full = 1, quick = 1 }
names = { loss = "link.air.down.channel.loss" }

[question.fading]
bursts = { "link.air.down.channel" = "two_state", "link.air.down.channel.mean_burst" = "3", names = { loss = "link.air.down.channel.mean_loss" } }
"#;
    const PATH: &str = r#"
duration = "1 s"

[link.air]
from = "a"
to = "b"
rate = "1 Mbit/s"
one_way_delay = "1 ms"
down.channel = { kind = "iid", loss = 0.5 }

[flow.f]
from = "a"
to = "b"
"#;

    #[test]
    fn an_answer_with_another_channel_says_how_its_error_rate_is_called() {
        let study =
            Study::read(PaperSource::Within("p", &[("study.toml", STUDY), ("path.toml", PATH)])).unwrap();
        let (name, grid) = study.file.grid.first().unwrap();
        let coordinates = Coordinates::from([("fer".into(), Value::Number(1.5))]);
        let mode = Mode { quick: true, under_answers: false };
        let parts: Vec<&AnswerPart> = study.file.question["fading"]["bursts"].0.iter().collect();
        let under = |parts: &[&AnswerPart]| {
            let cell = GridCell { study: &study, name, grid, coordinates: coordinates.clone(), parts, mode };
            cell.scenario(1).unwrap();
            let draft = study.source.draft("path.toml", |_| unreachable!()).unwrap();
            let set = cell.assignments(&draft, 1).unwrap();
            set.iter().map(|one| format!("{} = {}\n", one.key, one.value)).collect::<String>()
        };
        assert!(under(&[]).contains("channel.loss = 1.5e-2"));
        assert!(under(&parts).contains("channel.mean_loss = 1.5e-2"));
    }
}
