//! How curves are told apart: by colour, and by marker and dashes for those who see none.

use crate::figure::{Curve, CurveKind};
use plotly::common::{DashType, MarkerSymbol};

/// How a curve is drawn.
#[derive(Clone, Debug)]
pub struct Look {
    /// A colour of the style sheet: light and dark pages give it their own value.
    pub color: &'static str,
    /// Dashes of its line.
    pub dash: DashType,
    /// Its markers.
    pub symbol: MarkerSymbol,
}

/// Okabe and Ito's colours (Color Universal Design, 2008) but yellow, which white swallows, and black, which
/// is the papers'.
const COLORS: [&str; 6] = ["var(--c1)", "var(--c2)", "var(--c3)", "var(--c4)", "var(--c5)", "var(--c6)"];
/// Black, or white in the dark.
const INK: &str = "var(--ink)";

/// The looks of `curves`.
///
/// A published curve takes the colour of the curve that it is named after and the hollow form of its marker,
/// so that a point which agrees lies in a ring; without such a curve it is black.
pub fn looks(curves: &[Curve]) -> Vec<Look> {
    let mut ours = 0;
    let mut strangers = 0;
    let mut looks = Vec::with_capacity(curves.len());
    for curve in curves {
        looks.push(match (curve.kind, partner(curve, curves)) {
            (CurveKind::Published, Some(partner)) => {
                Look { color: color(partner), dash: DashType::Solid, symbol: hollow(partner) }
            }
            (CurveKind::Published, None) => {
                strangers += 1;
                Look { color: INK, dash: DashType::Solid, symbol: stranger(strangers - 1) }
            }
            _ => {
                ours += 1;
                Look { color: color(ours - 1), dash: dash(ours - 1), symbol: filled(ours - 1) }
            }
        });
    }
    looks
}

/// The name in the legend: says that a published curve is published where its name alone would not.
pub fn legend_name(curve: &Curve, curves: &[Curve]) -> String {
    let twin = curves.iter().any(|other| other.kind != CurveKind::Published && other.name == curve.name);
    if curve.kind == CurveKind::Published && twin {
        format!("{} (published)", curve.name)
    } else {
        curve.name.clone()
    }
}

/// Which of our curves, counted from 0, `published` is named after: the longest name within its own.
fn partner(published: &Curve, curves: &[Curve]) -> Option<usize> {
    let name = published.name.to_lowercase();
    curves
        .iter()
        .filter(|curve| curve.kind != CurveKind::Published)
        .enumerate()
        .filter(|(_, curve)| !curve.name.is_empty() && name.contains(&curve.name.to_lowercase()))
        .max_by_key(|(index, curve)| (curve.name.len(), usize::MAX - index))
        .map(|(index, _)| index)
}

fn color(index: usize) -> &'static str {
    COLORS[index % COLORS.len()]
}

/// Of another period than the colours, so that the seventh curve is not the first again.
fn dash(index: usize) -> DashType {
    match index % 5 {
        0 => DashType::Solid,
        1 => DashType::Dash,
        2 => DashType::Dot,
        3 => DashType::DashDot,
        _ => DashType::LongDash,
    }
}

fn filled(index: usize) -> MarkerSymbol {
    match index % 7 {
        0 => MarkerSymbol::Circle,
        1 => MarkerSymbol::Square,
        2 => MarkerSymbol::TriangleUp,
        3 => MarkerSymbol::Diamond,
        4 => MarkerSymbol::TriangleDown,
        5 => MarkerSymbol::Star,
        _ => MarkerSymbol::Cross,
    }
}

fn hollow(index: usize) -> MarkerSymbol {
    match index % 7 {
        0 => MarkerSymbol::CircleOpen,
        1 => MarkerSymbol::SquareOpen,
        2 => MarkerSymbol::TriangleUpOpen,
        3 => MarkerSymbol::DiamondOpen,
        4 => MarkerSymbol::TriangleDownOpen,
        5 => MarkerSymbol::StarOpen,
        _ => MarkerSymbol::CrossOpen,
    }
}

fn stranger(index: usize) -> MarkerSymbol {
    match index % 5 {
        0 => MarkerSymbol::XThinOpen,
        1 => MarkerSymbol::DiamondOpen,
        2 => MarkerSymbol::CrossThinOpen,
        3 => MarkerSymbol::SquareOpen,
        _ => MarkerSymbol::AsteriskOpen,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(name: &str, kind: CurveKind) -> Curve {
        Curve { name: name.to_string(), kind, points: Vec::new() }
    }

    #[test]
    fn published_curves_follow_the_one_they_are_named_after() {
        let curves = [
            curve("Reno", CurveKind::Measured),
            curve("New Reno", CurveKind::Measured),
            curve("new reno, paper", CurveKind::Published),
            curve("Reno", CurveKind::Published),
            curve("Snoop", CurveKind::Published),
        ];
        let looks = looks(&curves);
        assert_eq!(looks[2].color, looks[1].color);
        assert_eq!(looks[3].color, looks[0].color);
        assert_eq!(looks[4].color, INK);
        assert_ne!(looks[0].color, looks[1].color);
        assert_eq!(legend_name(&curves[3], &curves), "Reno (published)");
        assert_eq!(legend_name(&curves[2], &curves), "new reno, paper");
    }

    #[test]
    fn thirty_curves_differ() {
        let curves = vec![curve("a", CurveKind::Measured); 30];
        let mut seen: Vec<String> = looks(&curves).iter().map(|look| format!("{look:?}")).collect();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 30);
    }
}
