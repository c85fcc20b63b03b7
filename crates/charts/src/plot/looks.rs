//! Colour, marker and dashes of each series. A series looks the same in all pictures of a report's chapter.

use crate::figure::{Curve, CurveKind, Figure};
use std::collections::{BTreeMap, BTreeSet};

/// Number of colours `c1`, `c2`, … in the style sheet. The colour `c0` is the colour of text.
const COLORS: usize = 6;
/// Number of dash patterns. This number differs from the number of colours, so that the seventh series does not look
/// like the first.
const DASHES: usize = 5;
const SHAPES: usize = 7;
/// Number of markers for published series that match no Lasthop series.
const UNMATCHED: usize = 4;

/// Look of a curve: classes of the style sheet, and the id of a marker.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Look {
    /// Class of the colour.
    pub color: String,
    /// Class of the dashes.
    pub dash: String,
    /// Id of the marker.
    pub marker: String,
}

impl Look {
    fn ours(index: usize) -> Look {
        Look {
            color: format!("c{}", index % COLORS + 1),
            dash: format!("d{}", index % DASHES),
            marker: format!("f{}", index % SHAPES),
        }
    }

    /// Returns the look of published points: the hollow form of the Lasthop series' marker. If Lasthop's point agrees
    /// with the published point, Lasthop's marker lies inside the hollow marker.
    fn published(index: usize) -> Look {
        Look { marker: format!("h{}", index % SHAPES), ..Look::ours(index) }
    }

    /// Returns the look of points of a program other than Lasthop. The colour is that of the series to which the points
    /// belong. No other points have this marker.
    fn other(index: Option<usize>) -> Look {
        let beside = index.map_or(Look::unmatched(0), Look::ours);
        Look { dash: "d0".into(), marker: "s4".into(), ..beside }
    }

    /// Returns the look of a dotted line in the colour of the preceding series.
    fn bound(before: Option<&Look>) -> Look {
        let color = before.map_or("c0", |look| &look.color).to_owned();
        Look { color, dash: "bound".into(), marker: "s0".into() }
    }

    fn unmatched(index: usize) -> Look {
        Look { color: "c0".into(), dash: "d0".into(), marker: format!("s{}", index % UNMATCHED) }
    }
}

/// Looks of a chapter's series. The name of a series selects its look.
#[derive(Debug, Default)]
pub struct Looks {
    ours: BTreeMap<String, usize>,
}

impl Looks {
    /// Assigns a look to each series. Series that share a picture have different looks. Series that never share a
    /// picture may have the same look.
    pub fn of<'a>(figures: impl Iterator<Item = &'a Figure> + Clone) -> Looks {
        let mut together: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for figure in figures.clone() {
            for name in own_names(figure) {
                together.entry(name).or_default().extend(own_names(figure));
            }
        }
        let mut ours: BTreeMap<String, usize> = BTreeMap::new();
        for name in figures.flat_map(own_names) {
            if !ours.contains_key(name) {
                let beside = together.get(name).into_iter().flatten();
                let taken: Vec<usize> = beside.filter_map(|other| ours.get(*other).copied()).collect();
                ours.insert(name.to_owned(), free(&taken));
            }
        }
        Looks { ours }
    }

    /// Returns the looks of the curves of one figure.
    pub fn assign(&self, curves: &[Curve]) -> Vec<Look> {
        let mut unmatched_count = 0;
        let mut looks = Vec::with_capacity(curves.len());
        for curve in curves {
            looks.push(match curve.kind {
                CurveKind::Bound => Look::bound(looks.last()),
                CurveKind::Other => Look::other(self.series_of(curve, curves)),
                CurveKind::Published => match self.series_of(curve, curves) {
                    Some(index) => Look::published(index),
                    None => {
                        unmatched_count += 1;
                        Look::unmatched(unmatched_count - 1)
                    }
                },
                _ => Look::ours(self.ours.get(&curve.name).copied().unwrap_or(0)),
            });
        }
        looks
    }

    /// Returns the look index of the Lasthop series whose name is part of the name of `published`. Searches `curves`
    /// first, and then the whole chapter.
    fn series_of(&self, published: &Curve, curves: &[Curve]) -> Option<usize> {
        let here = series_of(published, curves).map(|index| curves[index].name.as_str());
        let name = here.or_else(|| longest_within(&published.name, self.ours.keys().map(String::as_str)))?;
        self.ours.get(name).copied()
    }
}

/// Returns the index of the Lasthop curve whose name is part of the name of `published`. If several names match, the
/// longest of them counts.
pub fn series_of(published: &Curve, curves: &[Curve]) -> Option<usize> {
    let ours = || curves.iter().filter(|curve| curve.kind.is_series());
    let name = longest_within(&published.name, ours().map(|curve| curve.name.as_str()))?;
    curves.iter().position(|curve| curve.kind.is_series() && curve.name == name)
}

/// Returns the name in the legend. If a published curve and a different curve have the same name, appends `(published)`
/// to the name of the published curve.
pub fn legend_name(curve: &Curve, curves: &[Curve]) -> String {
    let twin = curves.iter().any(|other| other.kind != CurveKind::Published && other.name == curve.name);
    if curve.kind == CurveKind::Published && twin {
        format!("{} (published)", curve.name)
    } else {
        curve.name.clone()
    }
}

fn own_names(figure: &Figure) -> impl Iterator<Item = &str> {
    let ours = figure.curves.iter().filter(|curve| curve.kind.is_series());
    ours.map(|curve| curve.name.as_str())
}

/// Returns the first look whose colour differs from the colours of all looks in `taken`. If no colour is free, returns
/// the first look that is not in `taken`.
fn free(taken: &[usize]) -> usize {
    let is_new = |index: &usize| taken.iter().all(|other| other % COLORS != index % COLORS);
    let other = || (0..=taken.len()).find(|index| !taken.contains(index));
    (0..COLORS).find(is_new).or_else(other).unwrap_or(0)
}

fn longest_within<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .filter(|candidate| has_words(name, candidate))
        .reduce(|best, other| if other.len() > best.len() { other } else { best })
}

/// Whether `name` contains `words` as whole words: `w_cw` does not contain `cw`.
fn has_words(name: &str, words: &str) -> bool {
    let (name, words) = (name.to_lowercase(), words.to_lowercase());
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    !words.is_empty()
        && name
            .match_indices(&words)
            .any(|(at, _)| !name[..at].ends_with(is_part) && !name[at + words.len()..].starts_with(is_part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(name: &str, kind: CurveKind) -> Curve {
        Curve { name: name.to_string(), kind, points: Vec::new() }
    }

    fn figure(names: &[&str]) -> Figure {
        let curves = names.iter().map(|name| curve(name, CurveKind::Measured)).collect();
        Figure { curves, ..Figure::default() }
    }

    #[test]
    fn published_curves_follow_the_one_they_are_named_after() {
        let curves = vec![
            curve("Reno", CurveKind::Measured),
            curve("New Reno", CurveKind::Measured),
            curve("new reno, paper", CurveKind::Published),
            curve("Reno", CurveKind::Published),
            curve("Snoop", CurveKind::Published),
        ];
        let figure = Figure { curves: curves.clone(), ..Figure::default() };
        let looks = Looks::of([&figure].into_iter()).assign(&curves);
        assert_eq!((&*looks[2].color, &*looks[2].marker), (&*looks[1].color, "h1"));
        assert_eq!(looks[3].color, looks[0].color);
        assert_eq!(looks[4].color, "c0");
        assert_ne!(looks[0].color, looks[1].color);
        assert_eq!(legend_name(&curves[3], &curves), "Reno (published)");
        assert_eq!(legend_name(&curves[2], &curves), "new reno, paper");
    }

    #[test]
    fn a_series_looks_alike_in_all_pictures_of_a_chapter() {
        let figures =
            [figure(&["sack", "mac", "jtcp"]), figure(&["mac", "jtcp"]), figure(&["jtcp", "new", "mac"])];
        let looks = Looks::of(figures.iter());
        let first = looks.assign(&figures[0].curves);
        let second = looks.assign(&figures[1].curves);
        assert_eq!((&second[0], &second[1]), (&first[1], &first[2]));
        let third = looks.assign(&figures[2].curves);
        assert_eq!((&third[0], &third[2]), (&first[2], &first[1]));
        assert_eq!(third[1], first[0], "a series may have the look of sack in a picture without sack");
        // In a picture without the series `mac`, the published curve of `mac` keeps the colour of `mac`.
        let alone = [curve("mac, published", CurveKind::Published)];
        assert_eq!(looks.assign(&alone)[0].color, first[1].color);
    }

    #[test]
    fn names_are_compared_by_words() {
        assert!(has_words("w_cw, published", "w_cw") && has_words("W_CW (paper)", "w_cw"));
        assert!(!has_words("w_cw", "cw") && !has_words("11 ACKs", "1 ACK") && !has_words("a", ""));
    }

    #[test]
    fn thirty_curves_differ() {
        let names: Vec<String> = (0..30).map(|index| format!("series {index}")).collect();
        let figure = figure(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let mut seen = Looks::of([&figure].into_iter()).assign(&figure.curves);
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 30);
    }
}
