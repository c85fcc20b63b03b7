//! Reads and checks the files of a paper. The check reports names that are used but not defined.

use super::causes::{self, Cause};
use super::expression::Expression;
use super::file::{Answer, Changes, Comparison, File, Measure, Ordered, Over};
use super::measure::with_coordinates;
use super::ns2::{self, Ns2};
use super::published::{self, Published};
use super::reproduce;
use super::source::{NamedText, PaperSource};
use super::value::{Coordinates, Value};
use crate::papers::deviation::{self, Deviation};
use lasthop_scenario::{Problem, nearest};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// Paper as data.
#[derive(Debug)]
pub struct Study {
    /// Source of the paper's files.
    pub source: PaperSource,
    /// Text of `study.toml`, for error messages.
    pub text: NamedText,
    /// Contents of `study.toml`.
    pub file: File,
    /// Contents of `published.csv`.
    pub published: Vec<Published>,
    /// Contents of `ns2.csv`.
    pub ns2: Vec<Ns2>,
    /// Contents of `causes.toml`.
    pub causes: Vec<Cause>,
    /// Contents of `deviations.toml`.
    pub deviations: Vec<Deviation>,
    /// Contents of `chapter.md`. `None` if the file is missing.
    pub prose: Option<String>,
    formulas: BTreeMap<String, Expression>,
    measured: BTreeMap<String, BTreeSet<String>>,
}

impl Study {
    /// Reads a paper. Fails if the paper's files are invalid.
    pub fn read(source: PaperSource) -> Result<Study, Problem> {
        let name = source.path("study.toml");
        let text = source.file("study.toml")?.ok_or_else(|| {
            Problem::at(&name, &name, 0..name.len(), format!("there is no file `{name}`")).advise(
                "a paper's folder needs study.toml, published.csv and scenario files; see docs/how-to/write-a-paper.md",
            )
        })?;
        let file: File = text.toml()?;
        let published = published::read(&source)?;
        let ns2 = ns2::read(&source)?;
        let causes = causes::read(&source)?;
        let deviations: Option<deviation::File> =
            source.file("deviations.toml")?.map(|text| text.toml()).transpose()?;
        let deviations = deviations.unwrap_or_default().deviation;
        let prose = source.text("chapter.md")?;
        let mut study = Study {
            source,
            text,
            file,
            published,
            ns2,
            causes,
            deviations,
            prose,
            formulas: BTreeMap::new(),
            measured: BTreeMap::new(),
        };
        study.formulas = study.formulas()?;
        study.measured = super::references::measured(&study)?;
        ns2::check(&study)?;
        causes::check(&study)?;
        Ok(study)
    }

    fn formulas(&self) -> Result<BTreeMap<String, Expression>, Problem> {
        let parse = |(name, metric): (&String, &super::file::Metric)| match Expression::parse(&metric.of) {
            Ok(formula) => Ok((name.clone(), formula)),
            Err(why) => Err(self.text.problem_near(&[], &metric.of, format!("the metric `{name}`: {why}"))),
        };
        self.file.metric.iter().map(parse).collect()
    }

    /// Returns the metrics that are measured in a grid, each with its formula.
    pub fn metrics_of(&self, grid: &str) -> Vec<(String, Expression)> {
        let names = self.measured.get(grid).into_iter().flatten();
        names.filter_map(|name| Some((name.clone(), self.formulas.get(name)?.clone()))).collect()
    }

    /// Returns the first 16 digits of the SHA-256 of all files that determine results. Fails if a file cannot be read.
    pub fn digest(&self) -> Result<String, Problem> {
        let mut digest = Sha256::new();
        digest.update(&self.text.text);
        digest.update(self.source.text("published.csv")?.unwrap_or_default());
        digest.update(self.source.text("ns2.csv")?.unwrap_or_default());
        digest.update(self.source.text("causes.toml")?.unwrap_or_default());
        for path in self.paths() {
            digest.update(self.source.text(path)?.unwrap_or_default());
        }
        Ok(digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
    }

    fn changes(&self) -> impl Iterator<Item = &Changes> {
        let of_axes = self.file.axis.values().flat_map(|axis| axis.case.values().chain([&axis.set]));
        let grids = self.file.grid.values();
        of_axes.chain(grids.flat_map(|grid| grid.case.iter().map(|case| &case.changes).chain([&grid.set])))
    }

    fn paths(&self) -> BTreeSet<&str> {
        let answers = self.file.question.values().flat_map(|answers| answers.values());
        let of_answers = answers.flat_map(|answer| answer.0.iter().map(|part| &part.changes));
        let named = self.changes().chain(of_answers).filter_map(|changes| changes.path.as_deref());
        named.chain(self.file.grid.values().filter_map(|grid| grid.path.as_deref())).collect()
    }

    /// Whether any grid or change defines `@name`.
    pub fn has_name(&self, name: &str) -> bool {
        self.changes().any(|changes| changes.names.contains_key(name))
            || self.file.grid.values().any(|grid| grid.names.contains_key(name))
    }

    /// Returns the labels of all answers to open questions, in the form `question: answer`.
    pub fn answers(&self) -> Vec<String> {
        let of = |(question, answers): (&String, &Ordered<Answer>)| -> Vec<String> {
            answers.keys().map(|answer| reproduce::label(question, answer)).collect()
        };
        self.file.question.iter().flat_map(of).collect()
    }

    /// Returns the name of a grid: `named`, or the only grid if `named` is `None`. Fails if the name is unknown, or if
    /// `named` is `None` and the paper does not have exactly one grid.
    pub fn grid<'a>(&'a self, named: Option<&'a str>, context: &[&str]) -> Result<&'a str, Problem> {
        let names: Vec<&str> = self.file.grid.keys().map(String::as_str).collect();
        match (named, &names[..]) {
            (Some(name), _) => self.known(context, "grid", name, names).map(|()| name),
            (None, [only]) => Ok(only),
            (None, _) => Err(self
                .text
                .problem_near(context, "metric", "the grid is ambiguous")
                .advise(format!("write grid = \"…\": {}", names.join(", ")))),
        }
    }

    /// Returns the smallest and the largest possible value of a metric or measure, such as 0 and 1 for a share. Returns
    /// `None` if the bounds are unknown.
    pub fn bounds(&self, quantity: QuantityRef<'_>) -> Option<[f64; 2]> {
        match (quantity.metric, quantity.measure) {
            (Some(metric), _) => {
                let own = self.file.metric.get(metric)?.bounds;
                // Columns of an outcome are never negative, but values of an axis can be negative.
                let is_name = |name: &str| {
                    let values = self.file.axis.get(name).map(|axis| &axis.values[..]).unwrap_or_default();
                    values.iter().filter_map(Value::number).all(|value| value >= 0.0)
                };
                let formula = self.formulas.get(metric);
                own.or_else(|| formula?.is_never_negative(&is_name).then_some([0.0, f64::INFINITY]))
            }
            (None, Some(measure)) => {
                let measure = self.file.measure.get(measure)?;
                // A mean or a maximum has the same bounds as the values from which it is computed. A sum or a position
                // on an axis has different bounds.
                let over = |over: &Over| matches!(over, Over::Mean | Over::Repetitions | Over::Largest);
                let own = self.bounds(measure.quantity()).filter(|_| measure.over.values().all(over));
                let is_positive = own.is_some_and(|[least, _]| least >= 0.0);
                match (&measure.against, measure.comparison) {
                    (None, _) => own,
                    (_, Some(Comparison::Ratio)) if is_positive => Some([0.0, f64::INFINITY]),
                    (_, Some(Comparison::Change | Comparison::ChangeOfMeans)) if is_positive => {
                        Some([-100.0, f64::INFINITY])
                    }
                    _ => None,
                }
            }
            (None, None) => None,
        }
    }

    /// Returns the coordinates that the definition of a measure sets. If the measure refers to a second measure, these
    /// coordinates override the coordinates that the definition of the second measure sets.
    pub fn own_coordinates(&self, quantity: QuantityRef<'_>) -> Coordinates {
        let measure = quantity.measure.and_then(|measure| self.file.measure.get(measure));
        measure.map_or_else(Coordinates::new, |measure| {
            with_coordinates(&self.own_coordinates(measure.quantity()), &measure.at)
        })
    }

    /// Returns the axes whose values a measure reduces to one number.
    pub fn reduced_axes(&self, quantity: QuantityRef<'_>) -> Vec<&str> {
        let measure = quantity.measure.and_then(|measure| self.file.measure.get(measure));
        let Some(measure) = measure else { return Vec::new() };
        let own = measure.over.keys().map(String::as_str);
        own.chain(self.reduced_axes(measure.quantity())).collect()
    }

    /// Checks that the name is in `names`. Fails if the name is unknown.
    pub fn known<'n>(
        &self,
        context: &[&str],
        what: &str,
        name: &str,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<(), Problem> {
        let names: Vec<&str> = names.into_iter().collect();
        if names.contains(&name) { Ok(()) } else { Err(self.unknown(context, what, name, &names)) }
    }

    /// Returns the error for an unknown name.
    pub fn unknown(&self, context: &[&str], what: &str, name: &str, known: &[&str]) -> Problem {
        let help = match nearest(name, known.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if known.is_empty() => format!("the paper defines no {what}"),
            None => format!("known: {}", known.join(", ")),
        };
        self.text.problem_near(context, name, format!("this paper has no {what} `{name}`")).advise(help)
    }

    /// Resolves a reference to a metric or a measure. Fails if the name is unknown, or if the reference does not have
    /// exactly one of metric and measure.
    pub fn resolve<'a>(
        &'a self,
        quantity: QuantityRef<'a>,
        context: &[&str],
    ) -> Result<ResolvedQuantity<'a>, Problem> {
        match (quantity.metric, quantity.measure) {
            (Some(metric), None) => {
                self.known(context, "metric", metric, self.file.metric.keys().map(String::as_str))?;
                Ok(ResolvedQuantity::Metric { metric, grid: self.grid(quantity.grid, context)? })
            }
            (None, Some(name)) => {
                self.known(context, "measure", name, self.file.measure.keys().map(String::as_str))?;
                Ok(ResolvedQuantity::Measure { name, measure: &self.file.measure[name] })
            }
            _ => Err(self.text.problem_near(
                context,
                "grid",
                "exactly one of `metric` and `measure` is required",
            )),
        }
    }
}

/// Reference to a metric or a measure.
#[derive(Clone, Copy, Debug, Default)]
pub struct QuantityRef<'a> {
    /// Name of a metric.
    pub metric: Option<&'a str>,
    /// Name of a measure.
    pub measure: Option<&'a str>,
    /// Name of the grid.
    pub grid: Option<&'a str>,
}

impl<'a> QuantityRef<'a> {
    /// Whether the reference names a metric or a measure.
    pub const fn is_named(&self) -> bool {
        self.metric.is_some() || self.measure.is_some()
    }

    /// Returns the reference. If the reference has no grid, the returned reference has the grid `grid`.
    pub fn or_grid(self, grid: Option<&'a str>) -> QuantityRef<'a> {
        QuantityRef { grid: self.grid.or(grid), ..self }
    }
}

/// Resolved reference to a metric or a measure.
#[derive(Clone, Copy, Debug)]
pub enum ResolvedQuantity<'a> {
    /// A metric in a grid.
    Metric {
        /// Name of the metric.
        metric: &'a str,
        /// Name of the grid.
        grid: &'a str,
    },
    /// A measure.
    Measure {
        /// Name of the measure.
        name: &'a str,
        /// Definition.
        measure: &'a Measure,
    },
}

/// Implements the method `quantity` for types with the fields `metric`, `measure` and `grid`.
macro_rules! asking {
    ($($table:ident),*) => {
        $(impl crate::study::file::$table {
            /// Returns the reference to the table's metric or measure, and its grid.
            pub fn quantity(&self) -> QuantityRef<'_> {
                QuantityRef {
                    metric: self.metric.as_deref(),
                    measure: self.measure.as_deref(),
                    grid: self.grid.as_deref(),
                }
            }
        })*
    };
}

asking!(Quantity, Measure, Binding, Points, Condition, Figure, Curve);
