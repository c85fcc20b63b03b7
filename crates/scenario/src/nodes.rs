//! Reads the tables under `node`: middleboxes between links.

use crate::flows::PlacedFlow;
use crate::language;
use crate::links::Network;
use crate::problem::Problem;
use crate::reader::{TableHead, TableReader};
use crate::routes::known_node;
use crate::scenario::{Hop, Route};
use crate::source::Span;
use crate::suggest::listed;
use crate::tree::TomlTable;
use lasthop_base::Choice;
use lasthop_middlebox::Build;

/// Returns the nodes that the document's links name, without repetitions.
pub(crate) fn linked(document: &TomlTable) -> Vec<String> {
    ends(document, "link")
}

/// Returns the nodes at which no flow begins or ends.
pub(crate) fn inner(document: &TomlTable) -> Vec<String> {
    let hosts = ends(document, "flow");
    linked(document).into_iter().filter(|node| !hosts.contains(node)).collect()
}

fn ends(document: &TomlTable, top: &str) -> Vec<String> {
    let tables = document.table(top).map(|tables| &tables.entries[..]).unwrap_or_default();
    let mut names: Vec<String> = Vec::new();
    for table in tables.iter().filter_map(|entry| entry.node.table()) {
        for name in ["from", "to"].iter().filter_map(|end| table.find(end)?.node.scalar()) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
    names
}

/// Reads the middlebox of each node, in the order of [`Network::nodes`].
pub(crate) fn read(
    reader: &mut TableReader<'_>,
    document: &TomlTable,
    net: &Network,
    flows: &[PlacedFlow],
    routes: &[Route],
) -> Result<Vec<Choice<Build>>, Problem> {
    let empty = TomlTable::default();
    let tables = match document.find("node") {
        Some(entry) => reader.table(TableHead { path: "", place: entry.place }, entry)?,
        None => &empty,
    };
    for entry in &tables.entries {
        known_node(reader, net, "node", &entry.key, entry.place)?;
    }
    let host_of =
        |node: usize| flows.iter().find(|placed| [placed.flow.from, placed.flow.to].contains(&node));
    let mut middleboxes = Vec::new();
    for (node, name) in net.nodes.iter().enumerate() {
        let (table, place) = match tables.find(name) {
            Some(entry) => {
                (reader.table(TableHead { path: "node", place: entry.place }, entry)?, entry.place)
            }
            None => (&empty, Span { source: 0, start: 0, end: 0 }),
        };
        let mut choice = Choice::of(&lasthop_middlebox::DEFAULT);
        if host_of(node).is_some() && table.entries.is_empty() {
            middleboxes.push(choice);
            continue;
        }
        let path = format!("node.{name}");
        let fields =
            reader.read(TableHead { path: &path, place }, table, &[], &language::node(reader.catalogue))?;
        for seam in reader.catalogue.of_side("node") {
            if let Some(selection) = fields.selection(seam.name) {
                reader.catalogue.node.select(&mut choice, seam, selection);
            }
        }
        if lasthop_middlebox::builds_middlebox(&choice) {
            let place = fields.place("middlebox").unwrap_or(place);
            if let Some(PlacedFlow { flow, .. }) = host_of(node) {
                let does = if flow.from == node { "begins" } else { "ends" };
                let hosts = |node: &&String| host_of(net.node(node).unwrap_or_default()).is_some();
                let others: Vec<&str> =
                    net.nodes.iter().filter(|node| !hosts(node)).map(String::as_str).collect();
                let help = if others.is_empty() {
                    "this path has no node between two links: add such a node".to_owned()
                } else {
                    format!("nodes between links: {}", listed(&others))
                };
                return Err(reader
                    .problem(place, format!("{path}: flow `{}` {does} here, at a host", flow.name))
                    .label("a middlebox needs a node between two links")
                    .help(help));
            }
            refuse_one_way(reader, net, (node, place), flows, routes)?;
        }
        middleboxes.push(choice);
    }
    Ok(middleboxes)
}

/// Refuses a middlebox that would see only one direction of a flow.
fn refuse_one_way(
    reader: &TableReader<'_>,
    net: &Network,
    (node, place): (usize, Span),
    flows: &[PlacedFlow],
    routes: &[Route],
) -> Result<(), Problem> {
    let leads_there = |hop: &Hop| {
        let link = &net.links[hop.link];
        node == if hop.is_down { link.to } else { link.from }
    };
    let passes = |hops: &[Hop]| hops.iter().any(leads_there);
    let Some((placed, route)) =
        flows.iter().zip(routes).find(|(_, route)| passes(&route.there) != passes(&route.back))
    else {
        return Ok(());
    };
    let (way, other) = if passes(&route.there) { ("there", "back") } else { ("back", "there") };
    let (name, flow) = (&net.nodes[node], &placed.flow.name);
    Err(reader
        .problem(
            place,
            format!(
                "node.{name}: flow `{flow}` crosses this node on its way {way}, but not on its way {other}"
            ),
        )
        .label("sees one direction only")
        .help("a middlebox needs both directions: change [route], or move the middlebox"))
}
