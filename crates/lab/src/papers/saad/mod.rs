//! saad: TCP W_CW, Westwood's bandwidth estimate with congestion warning from the routers.
//!
//! * `sender.rs`: the senders that separate the merits, and how each is set up.
//! * `setting.rs`: the paper's three scenarios under one answer to the open questions.
//! * `questions.rs`: the open questions and their values.
//! * `goodput.rs`: Fig. 6, the same with a long path, and the test by marks.
//! * `fairness.rs`: Table I.
//! * `friendliness.rs`: Tables II and III.
//! * `prose.rs`: its sentences with numbers in them.
//! * `chapter.rs`: the report's chapter.

mod chapter;
mod fairness;
mod friendliness;
mod goodput;
mod prose;
mod questions;
mod sender;
mod setting;

use super::published::{self, Published};
use super::{CpuTime, InRust, Reproduction, Settings, tried};
use crate::item::Item;
use crate::progress::Progress;
use fairness::{FairRow, Points};
use goodput::Goodput;
use lasthop_scenario::Problem;
use sender::Sender;
use setting::{Setting, Topology};

/// See the folder.
pub const PAPER: InRust = InRust {
    name: "saad",
    summary: "TCP W_CW: Westwood's estimate with congestion warning",
    citation: "E. S. Saad, J. R. Elbergali, M. A. Ashibani: Enhancing TCP Performance over Heterogeneous Networks \
               (TCP W_CW), 2006",
    effort: CpuTime { quick_s: 17.0, full_s: 150.0 },
    reproduce,
};

/// How many repetitions.
struct Effort {
    runs: u32,
    fairness_runs: u32,
    sensitivity_runs: u32,
    /// Packet loss rates of Fig. 6, and of its sensitivity.
    losses: &'static [f64],
    sensitivity_losses: &'static [f64],
    /// Packet loss rates of Table I's sensitivity, per cent, and repetitions.
    fair_losses: &'static [f64],
    fair_runs: u32,
}

impl Effort {
    fn of(settings: &Settings) -> Effort {
        match settings.quick {
            true => Effort {
                runs: 2,
                fairness_runs: 2,
                sensitivity_runs: 2,
                losses: &goodput::SOME_LOSSES,
                sensitivity_losses: &goodput::FEW_LOSSES[2..],
                fair_losses: &fairness::FEW_LOSSES[..1],
                fair_runs: 1,
            },
            false => Effort {
                runs: 20,
                fairness_runs: 12,
                sensitivity_runs: 8,
                losses: &goodput::LOSSES,
                sensitivity_losses: &goodput::FEW_LOSSES,
                fair_losses: &fairness::FEW_LOSSES,
                fair_runs: 4,
            },
        }
    }
}

/// The paper's numbers. A file that cannot be read gives none; a test reads it.
fn numbers() -> Vec<Published> {
    published::read(include_str!("../../../../../papers/saad/published.csv")).unwrap_or_default()
}

fn reproduce(settings: &Settings, progress: &dyn Progress) -> Result<Reproduction, Problem> {
    let effort = Effort::of(settings);
    let default = Setting::default();
    let seed = settings.seed;
    let run = |topology, losses: &[f64], senders: &[Sender]| {
        Goodput::run(&default, topology, losses, senders, effort.runs, seed, progress)
    };

    let compared = [&Sender::ALL[..], &Sender::RED].concat();
    let steps = |senders| goodput::steps(effort.losses, senders, effort.runs);
    progress.begin("saad: goodput", steps(&compared) + steps(&Sender::ALL));
    let short = run(Topology::Goodput, effort.losses, &compared)?;
    let long = run(Topology::Long, effort.losses, &Sender::ALL)?;
    progress.end();
    let mut items = short.items("fig6");
    items.push(short.claim("claim-fig6"));
    items.extend(long.items("merits-92ms"));
    items.extend(short.test_items("mark-test-fig6"));

    let senders = [Sender::PAPER, Sender::RED].concat();
    let points = Points {
        senders: &senders,
        flows: &fairness::FLOWS,
        losses: &fairness::LOSSES,
        runs: effort.fairness_runs,
    };
    progress.begin("saad: fairness", points.steps());
    let fair = fairness::run(&default, &points, seed, progress)?;
    progress.end();
    items.extend(fairness::items(&fair, &default));

    progress.begin("saad: friendliness", friendliness::steps(effort.runs));
    let friendly = friendliness::run(&default, effort.runs, seed, progress)?;
    progress.end();
    items.extend(friendliness::items(&friendly, &default));
    items.extend(friendliness::claims(&friendly));
    items.extend(friendliness::test_items(&friendly));

    let questions = questions::all();
    let steps = row_steps(&effort);
    progress.begin("saad: open questions", steps * (questions.len() as u64 + 1));
    let mut rows = Vec::new();
    for setting in std::iter::once(&default).chain(&questions) {
        rows.push(Row::run(setting, &effort, seed, progress)?);
    }
    progress.end();
    items.extend(rows.iter().flat_map(|row| row.items.clone()));

    let answers: Vec<Setting> = std::iter::once(default).chain(questions::of_table_1()).collect();
    let points = Points {
        senders: &Sender::PAPER,
        flows: &fairness::FLOWS[..1],
        losses: effort.fair_losses,
        runs: effort.fair_runs,
    };
    progress.begin("saad: Table I's open questions", points.steps() * answers.len() as u64);
    let mut fair_rows = Vec::new();
    for setting in answers {
        let shared = fairness::run(&setting, &points, seed, progress)?;
        fair_rows.push(FairRow { setting, shared });
    }
    progress.end();
    items.extend(fair_rows.iter().flat_map(FairRow::items));

    tried::note(&mut items, &[]);
    let chapter = chapter::chapter(&items, [&short, &long], &fair, (&rows, &fair_rows));
    Ok(Reproduction { paper: PAPER.name.into(), items, chapter })
}

fn row_steps(effort: &Effort) -> u64 {
    let runs = effort.sensitivity_runs;
    goodput::steps(effort.sensitivity_losses, &Sender::PAPER, runs) + friendliness::steps(runs)
}

/// A row of the sensitivity table: a setting, its numbers and whether the claims hold under it.
struct Row {
    setting: Setting,
    items: Vec<Item>,
    /// Mean goodput of Reno over that of W_CW in Tables II and III, by mixture.
    ratios: Vec<Option<f64>>,
}

impl Row {
    fn run(setting: &Setting, effort: &Effort, seed: u64, progress: &dyn Progress) -> Result<Row, Problem> {
        let (losses, runs) = (effort.sensitivity_losses, effort.sensitivity_runs);
        let goodput = Goodput::run(setting, Topology::Goodput, losses, &Sender::PAPER, runs, seed, progress)?;
        let friendly = friendliness::run(setting, runs, seed, progress)?;
        let mut items = goodput.items("fig6");
        items.push(goodput.claim("claim-fig6"));
        items.extend(friendliness::items(&friendly, setting));
        items.extend(friendliness::claims(&friendly));
        items.extend(friendliness::test_items(&friendly));
        for item in &mut items {
            item.item = format!("sensitivity-{}", item.item);
            item.x.insert("setting".into(), setting.label().into());
        }
        let ratios = friendly.iter().map(friendliness::Mixture::ratio).collect();
        Ok(Row { setting: setting.clone(), items, ratios })
    }

    fn item(&self, name: &str) -> Option<&Item> {
        self.items.iter().find(|item| item.item.strip_prefix("sensitivity-") == Some(name))
    }
}
