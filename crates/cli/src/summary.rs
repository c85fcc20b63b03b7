//! Summary of a reproduction: number of rows with each verdict, then the largest differences from the paper.

use crate::items::{coordinates, measured};
use lasthop_lab::item::{Item, Verdict};
use lasthop_lab::papers::Reproduction;
use lasthop_lab::runs::number::plain;
use lasthop_lab::study::counts;

const MAX_GROUPS: usize = 3;

pub(crate) fn text(reproduction: &Reproduction, summary: &str) -> String {
    let default = || reproduction.items.iter().filter(|item| item.is_of_default());
    let found = counts::of(default());
    let groups = groups(default());
    let more = if groups.len() > MAX_GROUPS {
        format!("; the {MAX_GROUPS} of {} items with the largest differences:", groups.len())
    } else {
        String::new()
    };
    let rows = format!("{} rows: {}{more}", found.all(), counts::words(&found));
    let mut text = format!("{}: {summary}\n  {rows}\n", reproduction.paper);
    for group in groups.iter().take(MAX_GROUPS) {
        text += &format!("  {}\n", line(group));
    }
    text
}

/// Returns the rows that differ from the paper, in one group for each item and metric. Rows in a group, and the groups,
/// are sorted by decreasing difference from the published number. Each claim is a separate group, at the end.
fn groups<'a>(items: impl Iterator<Item = &'a Item>) -> Vec<Vec<&'a Item>> {
    let mut groups: Vec<Vec<&Item>> = Vec::new();
    for item in items.filter(|item| item.verdict == Some(Verdict::Differs)) {
        let key = |one: &Item| (one.item.clone(), one.metric.clone(), one.margin.is_none());
        match groups.iter_mut().find(|group| key(group[0]) == key(item) && item.margin.is_some()) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    let distance = |item: &Item| match (item.published, item.measured, item.margin) {
        (Some(published), Some(ours), Some(margin)) if margin > 0.0 => (ours - published).abs() / margin,
        _ => 0.0,
    };
    for group in &mut groups {
        group.sort_by(|one, other| distance(other).total_cmp(&distance(one)));
    }
    groups.sort_by(|one, other| distance(other[0]).total_cmp(&distance(one[0])));
    groups
}

fn line(group: &[&Item]) -> String {
    let item = group[0];
    let ours = measured(item).unwrap_or_else(|| "undefined".to_owned());
    if item.margin.is_none() {
        let share = item.measured.unwrap_or(0.0) * item.runs as f64;
        return format!("✗ {}: holds at {share:.0} of {} points: {}", item.item, item.runs, item.note);
    }
    let several = if group.len() > 1 {
        format!(" (largest difference of {} numbers)", group.len())
    } else {
        String::new()
    };
    let at = coordinates(&item.x);
    let at = if at.is_empty() { at } else { format!(" at {at}") };
    let unit = if item.unit.is_empty() { String::new() } else { format!(" {}", item.unit) };
    let published = item.published.map_or(String::new(), plain);
    let off = item.deviation_pct.map_or(String::new(), |off| format!(" ({off:+.0} %)"));
    format!("✗ {}{several}: {}{at}: {ours}{unit}, published {published}{off}", item.item, item.series)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_lab::document::Chapter;
    use lasthop_lab::stats::Estimate;
    use lasthop_lab::study::overview::Overview;

    fn differing(item: &str, published: f64, mean: f64) -> Item {
        let ours = Estimate { mean, ci95: Some([mean - 1.0, mean + 1.0]), runs: 10 };
        let item =
            Item::new("test", item, "reno").metric("goodput", "kbit/s").at("loss", 0.1).measured(Some(ours));
        Item {
            published: Some(published),
            verdict: Some(Verdict::Differs),
            margin: Some(0.05 * published),
            deviation_pct: Some(100.0 * (mean / published - 1.0)),
            ..item
        }
    }

    #[test]
    fn few_lines_with_the_furthest_first() {
        let mut items: Vec<Item> =
            (0..6).map(|at| differing(&format!("table{at}"), 100.0, 110.0 + f64::from(at))).collect();
        items.push(differing("table3", 100.0, 190.0));
        items.push(Item { reading: "best".into(), ..differing("table9", 100.0, 900.0) });
        let reproduction = Reproduction {
            paper: "test".into(),
            items,
            chapter: Chapter::default(),
            overview: Overview::default(),
        };
        let text = text(&reproduction, "the subject");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[..2],
            ["test: the subject", "  7 rows: 7 differ; the 3 of 6 items with the largest differences:"]
        );
        assert_eq!(
            lines[2],
            "  ✗ table3 (largest difference of 2 numbers): reno at loss=0.1: 190.0 ± 1.0 kbit/s, published 100 (+90 %)"
        );
        assert_eq!(lines.len(), 2 + MAX_GROUPS);
    }
}
