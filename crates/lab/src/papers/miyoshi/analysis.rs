//! Figs. 5 and 6: the analysis, in its forms side by side.

use super::PAPER;
use crate::figure::{Curve, CurveKind, Figure, Point};
use crate::item::Item;
use crate::papers::published::Published;
use crate::stats::Estimate;
use crate::study::computed::miyoshi_model::{Joined, best_with_two, loss, throughput, throughput_as_printed};

/// §2.4: p_buff = 0.01, RTT = 100 ms, To = 400 ms; b = 2.
const P_BUFF: f64 = 0.01;
const RTT: f64 = 0.1;
const T0: f64 = 0.4;
const B: f64 = 2.0;

fn exactly(value: f64) -> Option<Estimate> {
    Some(Estimate { mean: value, ci95: [value, value], runs: 0 })
}

/// The points of both figures by the default form, and the ends of the range in which two ACKs are best, by each form.
pub(super) fn items(numbers: &[Published]) -> Vec<Item> {
    let mut items = Vec::new();
    for n in 1..=3 {
        for step in 0..=10 {
            let p_err = f64::from(step) / 20.0;
            let p = loss(n, p_err, P_BUFF, Joined::Independent);
            let item = |name: &str| Item::new(PAPER.name, name, format!("n = {n}")).at("p_err", p_err);
            items.push(item("fig5").metric("p(n)", "").measured(exactly(p)));
            let s = throughput(p, RTT, T0, B);
            items.push(item("fig6").metric("throughput", "packets/s").measured(exactly(s)));
        }
    }
    for (place, joined) in Joined::ALL.into_iter().enumerate() {
        let range = best_with_two(P_BUFF, joined);
        for (end, series) in ["two ACKs best from", "two ACKs best to"].into_iter().enumerate() {
            let published = numbers
                .iter()
                .find(|one| one.item == "fig6" && one.series == series)
                .map_or(0.0, |one| one.value);
            let name = if place == 0 { "fig6" } else { "sensitivity-fig6" };
            let mut item = Item::new(PAPER.name, name, series)
                .metric("p_err", "")
                .at("joined", joined.name())
                .measured(range.and_then(|range| exactly(range[end])))
                // It has the shape if there is a range and it overlaps half of the claimed one.
                .published(
                    published,
                    0.05 * published,
                    range.is_some_and(|[from, to]| from < 0.285 && to > 0.285),
                )
                .note("the analysis; no repetitions");
            if range.is_none() {
                item.verdict = Some(crate::item::Verdict::Differs);
                item.note = "two ACKs are nowhere best".into();
            }
            items.push(item);
        }
    }
    items
}

fn curves(of: impl Fn(u32, f64) -> f64) -> Vec<Curve> {
    (1..=3)
        .map(|n| Curve {
            name: format!("n = {n}"),
            kind: CurveKind::Line,
            points: (1..=60).map(|step| f64::from(step) / 100.0).map(|x| Point::exact(x, of(n, x))).collect(),
        })
        .collect()
}

fn figure(id: &str, title: &str, caption: &str, y_label: &str, of: impl Fn(u32, f64) -> f64) -> Figure {
    Figure {
        id: id.into(),
        title: title.into(),
        caption: caption.into(),
        x_label: "p_err".into(),
        y_label: y_label.into(),
        x_log: false,
        curves: curves(of),
        ..Figure::default()
    }
}

/// Figs. 5 and 6 in both forms.
pub(super) fn figures() -> Vec<Figure> {
    let of = |n, x| loss(n, x, P_BUFF, Joined::Independent);
    let printed = |n, x| loss(n, x, P_BUFF, Joined::AsPrinted);
    vec![
        figure(
            "fig5",
            "Fig. 5: loss events, with the loss of all n ACKs",
            "p(n) of Eq. 5, joined with p_err^n as independent: two ACKs are best where their curve is the lowest.",
            "p(n)",
            of,
        ),
        figure(
            "fig5-printed",
            "Fig. 5: loss events, Eq. 5 as printed",
            "Triple duplicate ACKs alone: one ACK is always best, so this cannot be what the paper drew.",
            "p(n)",
            printed,
        ),
        figure(
            "fig6",
            "Fig. 6: throughput, Padhye's formula",
            "p_buff = 0.01, RTT 100 ms, T0 400 ms, b = 2; the paper: two ACKs are best for 0.1 < p_err < 0.47.",
            "packets per second",
            |n, x| throughput(of(n, x), RTT, T0, B),
        ),
        figure(
            "fig6-printed",
            "Fig. 6: throughput, Eq. 13 as printed",
            "The root spans both terms. The order of the three curves is the same: both forms fall with p.",
            "packets per second (if the units agreed)",
            |n, x| throughput_as_printed(of(n, x), RTT, T0, B),
        ),
    ]
}
