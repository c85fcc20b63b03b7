//! Cells: groups of links that share a medium.

use crate::problem::Problem;
use crate::quantities::{NAMES, is_name};
use crate::reader::TableReader;
use crate::scenario::Link;
use crate::source::Span;
use crate::suggest::nearest;
use crate::text;
use crate::tree::TomlEntry;
use lasthop_net::link::Config;

/// Checks the cells of all links; `entries` are the links' tables.
pub(crate) fn check(reader: &TableReader<'_>, entries: &[TomlEntry], links: &[Link]) -> Result<(), Problem> {
    for (link, entry) in links.iter().zip(entries) {
        if let Some(cell) = &link.cell {
            refuse_name(reader, link, place_of(entry, "cell"), cell)?;
        }
    }
    for (number, (link, entry)) in links.iter().zip(entries).enumerate() {
        if link.cell.is_some() {
            let place = place_of(entry, "cell");
            refuse_other_layers(reader, link, place)?;
            refuse_single_link_cell(reader, links, number, place)?;
        }
        refuse_differences(reader, place_of(entry, "arq"), links, link)?;
    }
    Ok(())
}

/// Returns the position of a key in the source text of a link's table. If the table lacks the key, returns the start of
/// the table.
fn place_of(entry: &TomlEntry, key: &str) -> Span {
    let table = entry.node.table();
    table.and_then(|table| table.find(key)).map_or(entry.place, |entry| entry.place)
}

fn refuse_name(reader: &TableReader<'_>, link: &Link, place: Span, cell: &str) -> Result<(), Problem> {
    if is_name(cell) {
        Ok(())
    } else {
        Err(reader.problem(place, format!("link.{}.cell: `{cell}` cannot be a name", link.name)).help(NAMES))
    }
}

fn refuse_other_layers(reader: &TableReader<'_>, link: &Link, place: Span) -> Result<(), Problem> {
    let Some(config) = [&link.down, &link.up].into_iter().find(|config| config.medium().is_none()) else {
        return Ok(());
    };
    Err(reader
        .problem(place, format!("link.{}.cell: this link layer does not share its medium", link.name))
        .label(format!("arq = \"{}\"", config.arq.info.name))
        .help(format!("set link.{}.arq = \"wifi\", or leave `cell` out", link.name)))
}

/// Refuses a cell with only one link, because the name is misspelt or the cell has no effect.
fn refuse_single_link_cell(
    reader: &TableReader<'_>,
    links: &[Link],
    number: usize,
    place: Span,
) -> Result<(), Problem> {
    let (link, others) = (&links[number], links.iter().enumerate().filter(|(other, _)| *other != number));
    let cell = link.cell.as_deref().unwrap_or_default();
    let names: Vec<(&str, &str)> =
        others.filter_map(|(_, other)| Some((other.cell.as_deref()?, &other.name[..]))).collect();
    if names.iter().any(|(name, _)| *name == cell) {
        return Ok(());
    }
    let near = nearest(cell, names.iter().map(|(name, _)| *name));
    let help = match names.iter().find(|(name, _)| Some(*name) == near) {
        Some((name, other)) => format!("did you mean `{name}`, as in link.{other}?"),
        None => format!(
            "set cell = \"{cell}\" in another link too, or leave `cell` out: both directions of a link share a medium \
             anyway"
        ),
    };
    Err(reader
        .problem(place, format!("link.{}.cell: no other link is in `{cell}`", link.name))
        .label("the only link in this cell")
        .help(help))
}

/// Checks that all links of a cell have the same medium parameters. Also checks that all directions with the same
/// sending node have the same contention parameters.
fn refuse_differences(
    reader: &TableReader<'_>,
    place: Span,
    links: &[Link],
    link: &Link,
) -> Result<(), Problem> {
    let shares = |other: &&Link| other.name == link.name || (link.cell.is_some() && other.cell == link.cell);
    let all = || links.iter().filter(shares).flat_map(directions);
    let Some(first) = all().next() else { return Ok(()) };
    let Some(medium) = first.config.medium() else { return Ok(()) };
    for here in directions(link) {
        if here.config.arq.info.name != first.config.arq.info.name {
            let name = |config: &Config| config.arq.info.name.to_owned();
            return Err(differ(reader, place, "arq", [&here, &first], &name));
        }
        let own = all().find(|other| other.sender == here.sender).unwrap_or(first);
        let speaks = |one: &CellDirection<'_>| match medium.equal_if_set.first() {
            Some(count) => one.config.arq.values.count(count) > 0,
            None => false,
        };
        let speaker = if speaks(&here) { all().find(speaks).unwrap_or(here) } else { here };
        let with =
            [(medium.equal_in_cell, first), (medium.equal_per_sender, own), (medium.equal_if_set, speaker)];
        for (parameter, other) in
            with.iter().flat_map(|(list, other)| list.iter().map(move |one| (one, other)))
        {
            let value = |config: &Config| text::plain(config.arq.values.value(parameter));
            if value(here.config) != value(other.config) {
                return Err(differ(reader, place, &format!("arq.{parameter}"), [&here, other], &value));
            }
        }
    }
    Ok(())
}

fn differ(
    reader: &TableReader<'_>,
    place: Span,
    key: &str,
    [here, other]: [&CellDirection<'_>; 2],
    value: &dyn Fn(&Config) -> String,
) -> Problem {
    let paths = [here, other].map(|one| format!("link.{}.{}", one.link, one.side));
    let [this, that] = [here, other].map(|one| value(one.config));
    let label = if here.sender == other.sender {
        "the same node sends on both links, which share one medium"
    } else {
        "both directions share one medium"
    };
    reader
        .problem(place, format!("{}.{key}: {this} here, {that} in {}", paths[0], paths[1]))
        .label(label)
        .help(format!("set the same value of `{}` in both places", key.trim_start_matches("arq.")))
}

#[derive(Clone, Copy)]
struct CellDirection<'a> {
    link: &'a str,
    side: &'static str,
    sender: usize,
    config: &'a Config,
}

fn directions(link: &Link) -> [CellDirection<'_>; 2] {
    let down = CellDirection { link: &link.name, side: "down", sender: link.from, config: &link.down };
    [down, CellDirection { side: "up", sender: link.to, config: &link.up, ..down }]
}
