//! What was tried where an item differs: the same item under the other answers to the open questions.

use super::cells::place;
use crate::document::{Cell, Table};
use crate::item::{Item, Verdict};

/// More labels than this are counted rather than named.
const MOST_LABELS: usize = 3;

/// Adds to the note of each item that differs what was tried: how it fares in the items `sensitivity-…` of the same name,
/// series, metric and place. Where there are none, `elsewhere` says what was, by the beginning of the item's name.
pub(crate) fn note(items: &mut [Item], elsewhere: &[(&str, &str)]) {
    let differs =
        |item: &Item| item.verdict == Some(Verdict::Differs) && !item.item.starts_with("sensitivity-");
    for at in 0..items.len() {
        if differs(&items[at]) {
            let tried = tried(&items[at], items, elsewhere);
            let note = &mut items[at].note;
            note.push_str(if note.is_empty() { "Tried: " } else { ". Tried: " });
            note.push_str(&tried);
        }
    }
}

/// The items of tables that have no room for notes, where they differ: each with its note.
pub(crate) fn listed(items: &[Item]) -> Option<Table> {
    let differs = |item: &&Item| {
        item.verdict == Some(Verdict::Differs)
            && item.item.starts_with("table")
            && !item.item.starts_with("sensitivity-")
    };
    let text = |text: &str| Cell::Text(text.to_string());
    let row = |item: &Item| {
        vec![text(&item.item), text(&item.series), text(&place(item)), text(&item.metric), text(&item.note)]
    };
    let rows: Vec<Vec<Cell>> = items.iter().filter(differs).map(row).collect();
    (!rows.is_empty()).then(|| Table {
        caption: "Where the tables differ, and what was tried".into(),
        columns: ["item", "series", "at", "metric", "what"].map(String::from).to_vec(),
        rows,
    })
}

fn tried(item: &Item, items: &[Item], elsewhere: &[(&str, &str)]) -> String {
    let twins: Vec<(&str, Verdict)> = items.iter().filter_map(|one| answer(item, one)).collect();
    if twins.is_empty() {
        let words = elsewhere.iter().find(|(name, _)| item.item.starts_with(name)).map(|(_, words)| *words);
        return words.unwrap_or("the default reading alone").into();
    }
    let under = |verdict| {
        let labels: Vec<&str> =
            twins.iter().filter(|(_, its)| *its == verdict).map(|(label, _)| *label).collect();
        match labels.len() {
            0 => None,
            n if n > MOST_LABELS => Some(format!("{n} of them")),
            _ => Some(labels.join(" / ")),
        }
    };
    let count = twins.len();
    let verdicts = [(Verdict::Agrees, "agrees"), (Verdict::Shape, "has the shape")];
    let held: Vec<String> = verdicts
        .into_iter()
        .filter_map(|(verdict, words)| Some(format!("{words} under {}", under(verdict)?)))
        .collect();
    let answers = if count == 1 { "one other answer" } else { &*format!("{count} other answers") };
    match (held.is_empty(), under(Verdict::Differs)) {
        (true, _) => format!("{answers} to the open questions, differs under each"),
        (false, Some(_)) => {
            format!("{answers} to the open questions: {}; differs under the rest", held.join("; "))
        }
        (false, None) => format!("{answers} to the open questions: {}", held.join("; ")),
    }
}

/// The answer under which `one` is what `item` is under the default, and its verdict.
fn answer<'a>(item: &Item, one: &'a Item) -> Option<(&'a str, Verdict)> {
    let is_twin = one.item.strip_prefix("sensitivity-") == Some(&item.item)
        && (&one.series, &one.metric) == (&item.series, &item.metric)
        && item.x.iter().all(|(name, value)| one.x.get(name) == Some(value));
    let setting = one.x.get("setting")?.as_str()?;
    (is_twin && !setting.starts_with("default")).then_some(())?;
    Some((setting, one.verdict?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(name: &str, setting: &str, share: f64) -> Item {
        let item = Item::new("test", name, "claim").claim("words", share, 10);
        if setting.is_empty() { item } else { item.at("setting", setting) }
    }

    fn noted(others: &[(&str, f64)]) -> String {
        let mut items = vec![claim("one", "", 0.0), claim("sensitivity-one", "default", 0.0)];
        items.push(claim("sensitivity-two", "elsewhere", 1.0));
        items.extend(others.iter().map(|(setting, share)| claim("sensitivity-one", setting, *share)));
        note(&mut items, &[("on", "by hand")]);
        items[0].note.clone()
    }

    #[test]
    fn a_claim_that_differs_says_under_what_it_was_tried() {
        assert_eq!(noted(&[]), "words. Tried: by hand");
        assert_eq!(
            noted(&[("a", 0.0), ("b", 0.5)]),
            "words. Tried: 2 other answers to the open questions, differs under each"
        );
        assert_eq!(
            noted(&[("a", 0.0), ("b", 1.0), ("c", 0.95)]),
            "words. Tried: 3 other answers to the open questions: agrees under b; has the shape under c; differs under \
             the rest"
        );
        assert_eq!(
            noted(&[("a", 1.0), ("b", 1.0), ("c", 1.0), ("d", 1.0)]),
            "words. Tried: 4 other answers to the open questions: agrees under 4 of them"
        );
    }

    #[test]
    fn what_does_not_differ_is_left_alone() {
        let mut items = vec![claim("one", "", 1.0), claim("sensitivity-one", "a", 0.0)];
        note(&mut items, &[]);
        assert_eq!((&*items[0].note, &*items[1].note), ("words", "words"));
    }
}
