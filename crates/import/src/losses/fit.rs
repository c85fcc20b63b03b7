//! Fits three loss models to one record of losses.

use super::LossRecord;
use super::elliott::{self, Elliott};
use super::interval::of_share;
use super::runs::{ChiSquare, Lengths, chi_square, class, expected};
use crate::ImportError;
use crate::import_result::{Sourced, shown};

/// A model of losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossModel {
    /// Independent losses with a constant probability.
    Iid,
    /// Gilbert's model (Gilbert 1960, with h = 0): a bad state that loses every packet, and a good state that loses
    /// none.
    Gilbert,
    /// The Gilbert-Elliott model (Elliott 1963): both states lose packets, with different probabilities.
    GilbertElliott,
}

impl LossModel {
    /// All models with their names.
    pub const ALL: [(LossModel, &'static str); 3] = [
        (LossModel::Iid, "iid"),
        (LossModel::Gilbert, "gilbert"),
        (LossModel::GilbertElliott, "gilbert-elliott"),
    ];

    /// Returns the model called `name`.
    pub fn named(name: &str) -> Option<LossModel> {
        LossModel::ALL.iter().find(|(_, known)| *known == name).map(|(model, _)| *model)
    }

    /// Name of the model, such as `gilbert`.
    pub fn name(self) -> &'static str {
        LossModel::ALL.iter().find(|(model, _)| *model == self).map_or("", |(_, name)| name)
    }
}

/// A probability with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probability {
    /// Name of the probability in netem and in a scenario's channel.
    pub name: &'static str,
    /// The most likely value.
    pub value: f64,
    /// The confidence interval.
    pub ci95: [f64; 2],
}

/// A model with the most likely values of its probabilities.
#[derive(Clone, Debug)]
pub struct FittedModel {
    /// The model.
    pub model: LossModel,
    /// Probabilities of the model.
    pub values: Vec<Probability>,
    /// Log likelihood of the record under the model.
    pub log_likelihood: f64,
    /// Schwarz's criterion (BIC, 1978). The model with the smallest value is best.
    pub bic: f64,
    expected: [[f64; 9]; 2],
    chi_square: Option<ChiSquare>,
}

/// All fitted models, and the index of the chosen model.
#[derive(Clone, Debug)]
pub struct Fit {
    /// Fitted models, from the fewest to the most probabilities.
    pub models: Vec<FittedModel>,
    /// Index of the chosen model.
    pub chosen: usize,
    lengths: Lengths,
    is_asked: bool,
}

const MIN_BURSTS: u64 = 20;

/// Fits all models for which the record has enough information.
///
/// # Errors
/// Fails if the record has no packets or only losses, or if the requested model cannot be fitted.
pub fn fitted(record: &LossRecord, asked: Option<LossModel>) -> Result<Fit, ImportError> {
    let (packets, lost) = (record.packets() as f64, record.lost() as f64);
    if record.packets() == 0 {
        return Err(ImportError::new(
            "the record has no packets",
            "write 0 for each packet that arrived, 1 for each lost packet",
        ));
    }
    if record.lost() == record.packets() {
        return Err(ImportError::new(
            "every packet was lost, so no model can be fitted",
            "is 1 a loss and 0 an arrival? otherwise invert the record",
        ));
    }
    let lengths = Lengths::of(record);
    let transitions = Transitions::of(record);
    let mut models = Vec::new();
    let mut add = |model: LossModel,
                   values: Vec<Probability>,
                   log_likelihood: f64,
                   longer: [&dyn Fn(u64) -> f64; 2]| {
        let expected =
            [expected(&lengths.bursts, true, longer[0]), expected(&lengths.gaps, false, longer[1])];
        let chi_square =
            chi_square([(&lengths.bursts, &expected[0]), (&lengths.gaps, &expected[1])], values.len());
        let bic = values.len() as f64 * libm::log(packets) - 2.0 * log_likelihood;
        models.push(FittedModel { model, values, log_likelihood, bic, expected, chi_square });
    };
    let probability = |name, happened: f64, of: f64| Probability {
        name,
        value: happened / of,
        ci95: of_share(happened, of),
    };
    let loss = probability("loss", lost, packets);
    let power = |base: f64| move |length: u64| libm::pow(base, length as f64);
    add(LossModel::Iid, vec![loss], of_counts(lost, packets), [&power(loss.value), &power(1.0 - loss.value)]);
    let [[stays_good, to_bad], [to_good, stays_bad]] = transitions.counts;
    if to_bad > 0.0 && to_good > 0.0 {
        let p = probability("p", to_bad, stays_good + to_bad);
        let r = probability("r", to_good, to_good + stays_bad);
        let share = p.value / (p.value + r.value);
        let first = libm::log(if transitions.begins_lost { share } else { 1.0 - share });
        let likelihood =
            first + of_counts(to_bad, stays_good + to_bad) + of_counts(to_good, to_good + stays_bad);
        add(LossModel::Gilbert, vec![p, r], likelihood, [&power(1.0 - r.value), &power(1.0 - p.value)]);
        if to_good as u64 >= MIN_BURSTS {
            let (model, likelihood, [p_in, r_in, bad_in, good_in]) =
                elliott::likeliest(record, (p.value, r.value));
            let Elliott { p, r, bad, good } = model;
            let value = |name, value, ci95| Probability { name, value, ci95 };
            let values = vec![
                value("p", p, p_in),
                value("r", r, r_in),
                value("loss_bad", bad, bad_in),
                value("loss_good", good, good_in),
            ];
            add(LossModel::GilbertElliott, values, likelihood, [&model.longer(true), &model.longer(false)]);
        }
    }
    let best = (0..models.len()).min_by(|a, b| models[*a].bic.total_cmp(&models[*b].bic)).unwrap_or(0);
    let chosen = match asked {
        None => best,
        Some(asked) => models.iter().position(|fitted| fitted.model == asked).ok_or_else(|| {
            let has = format!("{} losses in {} bursts", record.lost(), lengths.bursts.iter().sum::<u64>());
            ImportError::new(
                format!("{has} are too few to fit {}", asked.name()),
                format!("use a longer record, with at least {MIN_BURSTS} bursts, or --model iid"),
            )
        })?,
    };
    Ok(Fit { models, chosen, lengths, is_asked: asked.is_some() })
}

fn of_counts(happened: f64, of: f64) -> f64 {
    let term = |count: f64| if count > 0.0 { count * libm::log(count / of) } else { 0.0 };
    term(happened) + term(of - happened)
}

/// Counts of transitions `[from][to]` between arrived (0) and lost (1) packets.
struct Transitions {
    counts: [[f64; 2]; 2],
    begins_lost: bool,
}

impl Transitions {
    fn of(record: &LossRecord) -> Transitions {
        let mut transitions = Transitions { counts: [[0.0; 2]; 2], begins_lost: false };
        let mut before: Option<bool> = None;
        for (is_lost, length) in record.runs() {
            match before.replace(is_lost) {
                None => transitions.begins_lost = is_lost,
                Some(before) => transitions.counts[usize::from(before)][usize::from(is_lost)] += 1.0,
            }
            // In Gilbert's model each packet shows the state: arrived means good, lost means bad. The counts are [good
            // -> good, good -> bad], [bad -> good, bad -> bad].
            let at = usize::from(is_lost);
            transitions.counts[at][at] += f64::from(length - 1);
        }
        transitions
    }
}

pub(crate) fn share(value: f64) -> String {
    format!("{} %", shown(100.0 * value))
}

impl Fit {
    /// Returns the chosen model.
    pub fn best(&self) -> &FittedModel {
        &self.models[self.chosen]
    }

    /// Returns the channel with the model's values, in the syntax of a scenario.
    pub fn channel(&self) -> Sourced<String> {
        let best = self.best();
        let kind = if best.model == LossModel::Iid { "iid" } else { "two_state" };
        let values: Vec<String> =
            best.values.iter().map(|value| format!("{} = {}", value.name, number(value.value))).collect();
        let why = if self.is_asked { "as requested" } else { "the best of the models by BIC" };
        Sourced::new(
            format!("{{ kind = \"{kind}\", {} }}", values.join(", ")),
            format!("derived: {}, {why}", best.model.name()),
        )
    }

    /// Returns a command for Linux's emulator with the model's values (tc-netem(8)): p, r, 1-h, 1-k.
    pub fn netem(&self) -> String {
        let best = self.best();
        let values: Vec<String> =
            best.values.iter().map(|value| format!("{}%", number(100.0 * value.value))).collect();
        let kind = if best.model == LossModel::Iid { "random" } else { "gemodel" };
        format!("tc qdisc add dev DEVICE root netem loss {kind} {}", values.join(" "))
    }

    pub(crate) fn findings(&self) -> Vec<String> {
        if self.models[0].values[0].value == 0.0 {
            return vec![format!(
                "no packet was lost: with 95 % confidence the loss is below {}",
                share(self.models[0].values[0].ci95[1])
            )];
        }
        let mut findings: Vec<String> = self
            .models
            .iter()
            .map(|fitted| {
                let values: Vec<String> = fitted
                    .values
                    .iter()
                    .map(|Probability { name, value, ci95: [low, high] }| {
                        format!(
                            "{name} {} ({} to {})",
                            share(*value),
                            shown(100.0 * low),
                            shown(100.0 * high)
                        )
                    })
                    .collect();
                format!(
                    "{}: {}; log likelihood {:.1}, BIC {:.1}",
                    fitted.model.name(),
                    values.join(", "),
                    fitted.log_likelihood,
                    fitted.bic
                )
            })
            .collect();
        findings.push(format!("netem: {}", self.netem()));
        match self.best().chi_square {
            Some(ChiSquare { sum, freedom, p }) if p < 0.01 => findings.push(format!(
                "{} does not fit the lengths of bursts and gaps well (chi-square {sum:.1}, {freedom} degrees of \
                 freedom, p = {p:.2e}): use it only for means",
                self.best().model.name()
            )),
            Some(ChiSquare { sum, freedom, p }) => findings.push(format!(
                "the lengths of bursts and gaps are consistent with {} (chi-square {sum:.1}, {freedom} degrees of \
                 freedom, p = {p:.2})",
                self.best().model.name()
            )),
            None => findings.push("too few bursts to test the model's fit".into()),
        }
        findings
    }

    /// Returns a table of observed run lengths and of the run lengths that each model predicts.
    pub(crate) fn table(&self) -> Vec<String> {
        if self.lengths.count() == 0 {
            return Vec::new();
        }
        let names: Vec<String> =
            self.models.iter().map(|fitted| format!("{:>16}", fitted.model.name())).collect();
        let mut lines = vec![format!("{:<22}{:>10}{}", "length", "observed", names.concat())];
        for (kind, counts, is_lost) in
            [("burst", &self.lengths.bursts, true), ("gap", &self.lengths.gaps, false)]
        {
            for (at, count) in counts.iter().enumerate() {
                let expected: Vec<f64> =
                    self.models.iter().map(|fitted| fitted.expected[usize::from(!is_lost)][at]).collect();
                if *count == 0 && expected.iter().all(|one| *one < 0.5) {
                    continue;
                }
                let cells: Vec<String> = expected.iter().map(|one| format!("{one:>16.1}")).collect();
                lines.push(format!(
                    "{:<22}{count:>10}{}",
                    format!("{kind} {}", class(at, is_lost)),
                    cells.concat()
                ));
            }
        }
        let sums = self.models.iter().map(|fitted| match fitted.chi_square {
            Some(ChiSquare { sum, freedom, .. }) => format!("{:>16}", format!("{sum:.1} ({freedom})")),
            None => format!("{:>16}", "–"),
        });
        lines.push(format!("{:<32}{}", "chi-square (freedom)", sums.collect::<String>()));
        lines
    }
}

/// Formats a number with six significant digits and without an exponent. Probabilities below 1e-9 become 0.
fn number(value: f64) -> String {
    if value < 1e-9 {
        return "0".to_owned();
    }
    let digits = (5 - libm::floor(libm::log10(value)) as i32).clamp(0, 14) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
