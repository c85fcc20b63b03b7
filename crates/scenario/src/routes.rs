//! Routes of flows. A route is the path with the fewest links, unless `[route]` overrides it.

use crate::flows::PlacedFlow;
use crate::key::ValueType;
use crate::links::Network;
use crate::problem::Problem;
use crate::quantities::expected;
use crate::reader::{TableHead, TableReader};
use crate::resolved::{KeyValue, ResolvedSection, ResolvedValue};
use crate::scenario::{Hop, Route};
use crate::source::Span;
use crate::suggest::among;
use crate::tree::{self, TomlTable};
use std::collections::VecDeque;
use std::collections::btree_map::{BTreeMap, Entry};

/// Largest number of links on a route. Packets count their hops in one byte.
const MAX_HOPS: usize = 255;

/// Rules of `[route]`. The key of the map is a pair of a node and a destination. The value is the next node, and the
/// position of the rule in the source text.
pub(crate) type RouteOverrides = BTreeMap<(usize, usize), (usize, Span)>;

/// Reads `[route]`, whose rules have the form node.destination = next node.
pub(crate) fn overrides(
    reader: &mut TableReader<'_>,
    document: &TomlTable,
    net: &Network,
) -> Result<RouteOverrides, Problem> {
    let mut overrides = RouteOverrides::new();
    let Some(entry) = document.find("route") else { return Ok(overrides) };
    let table = reader.table(TableHead { path: "", place: entry.place }, entry)?;
    let mut lines = Vec::new();
    for at in &table.entries {
        let node = known_node(reader, net, "route", &at.key, at.place)?;
        let inner = reader.table(TableHead { path: "route", place: at.place }, at)?;
        for rule in &inner.entries {
            let path = format!("route.{}", at.key);
            let destination = known_node(reader, net, &path, &rule.key, rule.place)?;
            let next = next_node(reader, net, &path, node, rule)?;
            if node == destination {
                return Err(reader
                    .problem(
                        rule.place,
                        format!("{path}.{}: a packet at its destination needs no route", rule.key),
                    )
                    .help("name another destination, or leave the line out"));
            }
            overrides.insert((node, destination), (next, rule.node.place));
            lines.push(KeyValue {
                key: format!("{}.{}", at.key, rule.key).into(),
                value: ResolvedValue::Text(net.nodes[next].clone()),
                is_set: true,
                doc: format!("next node at {} for packets to {}: {}", at.key, rule.key, net.nodes[next]),
            });
        }
    }
    if !lines.is_empty() {
        let doc = Some("node.destination = next node: overrides the shortest path (fewest links)".to_owned());
        reader.resolved.sections.push(ResolvedSection { path: "route".to_owned(), doc, lines });
    }
    Ok(overrides)
}

pub(crate) fn known_node(
    reader: &TableReader<'_>,
    net: &Network,
    path: &str,
    name: &str,
    place: Span,
) -> Result<usize, Problem> {
    net.node(name).ok_or_else(|| {
        let nodes: Vec<&str> = net.nodes.iter().map(String::as_str).collect();
        reader
            .problem(place, format!("{path}: no link has a node `{name}`"))
            .label("unknown node")
            .help(among(name, "nodes", &nodes))
    })
}

fn next_node(
    reader: &TableReader<'_>,
    net: &Network,
    path: &str,
    node: usize,
    rule: &tree::TomlEntry,
) -> Result<usize, Problem> {
    let Some(name) = rule.node.scalar() else {
        let message = format!("{path}.{}: {} is not expected here", rule.key, rule.node.kind());
        return Err(reader.problem(rule.node.place, message).help(expected(&ValueType::Node)));
    };
    let next = known_node(reader, net, &format!("{path}.{}", rule.key), name, rule.node.place)?;
    match hop(net, node, next) {
        Some(_) => Ok(next),
        None => {
            let neighbours: Vec<&str> = (0..net.nodes.len())
                .filter(|other| hop(net, node, *other).is_some())
                .map(|other| net.nodes[other].as_str())
                .collect();
            let message = format!("{path}.{}: no link from `{}` to `{name}`", rule.key, net.nodes[node]);
            Err(reader.problem(rule.node.place, message).label("not a neighbour").help(among(
                name,
                &format!("neighbours of `{}`", net.nodes[node]),
                &neighbours,
            )))
        }
    }
}

fn hop(net: &Network, from: usize, to: usize) -> Option<Hop> {
    net.links.iter().enumerate().find_map(|(link, l)| match (l.from, l.to) {
        ends if ends == (from, to) => Some(Hop { link, is_down: true }),
        ends if ends == (to, from) => Some(Hop { link, is_down: false }),
        _ => None,
    })
}

pub(crate) fn find(
    reader: &TableReader<'_>,
    net: &Network,
    overrides: &RouteOverrides,
    flows: &[PlacedFlow],
) -> Result<Vec<Route>, Problem> {
    let mut map = RouteFinder { net, overrides, next: BTreeMap::new() };
    for ((node, destination), (_, place)) in overrides {
        map.hops_between(reader, *node, *destination, *place)?;
    }
    let mut routes: BTreeMap<(usize, usize), Route> = BTreeMap::new();
    let mut all = Vec::with_capacity(flows.len());
    for PlacedFlow { flow, place } in flows {
        let route = match routes.entry((flow.from, flow.to)) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(free) => {
                let there = map.hops_between(reader, flow.from, flow.to, *place)?;
                let back = map.hops_between(reader, flow.to, flow.from, *place)?;
                free.insert(Route { there, back }).clone()
            }
        };
        all.push(route);
    }
    Ok(all)
}

/// Finds routes. The shortest paths to a destination are computed only once.
struct RouteFinder<'a> {
    net: &'a Network,
    overrides: &'a RouteOverrides,
    /// Next hops towards each destination, which is the key of the map. Element `n` of a list is the next hop from node
    /// `n`, and the node at the end of this hop.
    next: BTreeMap<usize, Vec<Option<(Hop, usize)>>>,
}

impl RouteFinder<'_> {
    /// Returns the hops from a node to a destination. Errors are reported at `place`.
    fn hops_between(
        &mut self,
        reader: &TableReader<'_>,
        from: usize,
        to: usize,
        mut place: Span,
    ) -> Result<Vec<Hop>, Problem> {
        let net = self.net;
        let mut hops = Vec::new();
        let mut visited = vec![from];
        let mut is_visited = vec![false; net.nodes.len()];
        is_visited[from] = true;
        let mut at = from;
        while at != to {
            let step = match self.overrides.get(&(at, to)) {
                Some((next, rule)) => {
                    place = *rule;
                    hop(net, at, *next).map(|hop| (hop, *next))
                }
                None => self.next_hops(to)[at],
            };
            let Some((hop, next)) = step else {
                let (from, to) = (&net.nodes[at], &net.nodes[to]);
                return Err(reader
                    .problem(place, format!("no links lead from `{from}` to `{to}`"))
                    .label("no route")
                    .help("add a link between them, or name nodes that are linked"));
            };
            visited.push(next);
            if is_visited[next] {
                let circle: Vec<&str> = visited.iter().map(|node| net.nodes[*node].as_str()).collect();
                let message = format!("packets for `{}` loop: {}", net.nodes[to], circle.join(" -> "));
                return Err(reader
                    .problem(place, message)
                    .label("routing loop")
                    .help("change this line of [route], or leave it out: the shortest path has no loop"));
            }
            if hops.len() == MAX_HOPS {
                let message = format!("the route to `{}` has more than {MAX_HOPS} links", net.nodes[to]);
                return Err(reader
                    .problem(place, message)
                    .label("too long")
                    .help("make the chain of links shorter"));
            }
            is_visited[next] = true;
            hops.push(hop);
            at = next;
        }
        Ok(hops)
    }

    /// Returns the next hop from every node towards a destination, found by breadth-first search. Among equally short
    /// paths, the order of the links in the document decides.
    fn next_hops(&mut self, to: usize) -> &[Option<(Hop, usize)>] {
        let net = self.net;
        self.next.entry(to).or_insert_with(|| {
            let mut next: Vec<Option<(Hop, usize)>> = vec![None; net.nodes.len()];
            let mut around: Vec<Vec<(Hop, usize)>> = vec![Vec::new(); net.nodes.len()];
            for (link, l) in net.links.iter().enumerate() {
                around[l.to].push((Hop { link, is_down: true }, l.from));
                around[l.from].push((Hop { link, is_down: false }, l.to));
            }
            let mut queue = VecDeque::from([to]);
            while let Some(at) = queue.pop_front() {
                for (hop, node) in &around[at] {
                    if *node != to && next[*node].is_none() {
                        next[*node] = Some((*hop, at));
                        queue.push_back(*node);
                    }
                }
            }
            next
        })
    }
}
