//! Finds the tables and values of a document that a key path means. For each match, returns the kind of the table or
//! value, and the mechanism in the key path. The module `set` uses the matches.

use crate::catalogue::Catalogue;
use crate::draft::Draft;
use crate::inline;
use crate::key::ValueType;
use crate::language::{self, TRAFFIC};
use crate::links::SERVICES;
use crate::nodes;
use crate::problem::Problem;
use crate::source::Span;
use crate::suggest::{among, hint, listed};
use crate::tree::{Content, TomlNode, TomlTable};
use lasthop_base::SeamInfo;

pub(crate) type KeyPath = Vec<String>;

#[derive(Clone)]
pub(crate) struct SetTarget<'c> {
    /// Full key path, in parts: `link`, `wireless`, `down`, `queue`, `bytes`.
    pub(crate) path: KeyPath,
    pub(crate) level: Level<'c>,
    /// Mechanism in the key path: the number of parts before the mechanism, and the kind of mechanism.
    pub(crate) mechanism: Option<(usize, &'c SeamInfo)>,
}

/// Position in a document after some parts of a key path: the kind of table or value at that position.
#[derive(Clone, Copy)]
pub(crate) enum Level<'c> {
    Document,
    Named(&'static str),
    Link,
    Direction,
    Node,
    /// A flow with this kind of traffic.
    Flow(&'static str),
    End(&'static str),
    /// A key for a mechanism, such as `queue`. The next part of the key path is a parameter of the chosen mechanism.
    /// The parameter is checked later.
    Mechanism(&'c SeamInfo),
    /// A table of `route`. The variant holds the number of node names that follow in the key path.
    Route(u8),
    /// The key for the rate of a link: constant, planned or recorded.
    Service,
    /// Any other value.
    Value,
}

/// Returns the keys that the key path `written` means: one key, or the same key in several flows. `at` is the position
/// of `written` in the source text.
pub(crate) fn resolve<'c>(
    draft: &Draft,
    catalogue: &'c Catalogue,
    written: &str,
    at: Span,
) -> Result<Vec<SetTarget<'c>>, Problem> {
    let paths = paths(draft, written, at)?;
    paths.into_iter().map(|path| SetTarget::of(draft, catalogue, path, written, at)).collect()
}

impl<'c> SetTarget<'c> {
    fn of(
        draft: &Draft,
        catalogue: &'c Catalogue,
        path: KeyPath,
        written: &str,
        at: Span,
    ) -> Result<SetTarget<'c>, Problem> {
        let (mut level, mut mechanism) = (Level::Document, None);
        for (depth, part) in path.iter().enumerate() {
            // A new link, node or flow may be set as a whole table.
            let is_whole = depth + 1 == path.len();
            let Some(next) = level.child(draft, catalogue, part, is_whole) else {
                return Err(level.unknown_part(
                    draft,
                    catalogue,
                    &path,
                    depth,
                    span_of_part(at, &path, depth, written),
                ));
            };
            if let Level::Mechanism(seam) = next {
                mechanism = Some((depth, seam));
            }
            level = next;
        }
        Ok(SetTarget { path, level, mechanism })
    }

    /// Handles `sender=WORD` and `receiver=WORD`. `sender` and `receiver` are tables; a word selects every mechanism of
    /// this name on that side (`reno` is both a recovery and a congestion control).
    pub(crate) fn expand_mechanism_name(
        self,
        draft: &Draft,
        catalogue: &'c Catalogue,
        value: &TomlNode,
    ) -> Result<Vec<SetTarget<'c>>, Problem> {
        let (Content::Text(word), Level::End(side)) = (&value.content, self.level) else {
            return Ok(vec![self]);
        };
        let seams = catalogue.of_side(side);
        let with_it = seams.iter().filter(|seam| seam.find(word).is_some());
        let targets: Vec<SetTarget<'c>> = with_it.map(|seam| self.at_seam(seam)).collect();
        if targets.is_empty() {
            let names: Vec<&str> = seams.iter().flat_map(|seam| seam.names()).collect();
            let help = among(word, &format!("mechanisms of a {side}"), &names);
            let message = format!("`{word}` is not a mechanism of a {side}");
            return Err(problem(draft, value.place, message).label("unknown").help(help));
        }
        Ok(targets)
    }

    fn at_seam(&self, seam: &'c SeamInfo) -> SetTarget<'c> {
        let mut path = self.path.clone();
        path.push(seam.name.to_owned());
        SetTarget { level: Level::Mechanism(seam), mechanism: Some((self.path.len(), seam)), path }
    }
}

impl<'c> Level<'c> {
    /// Returns the level (kind of table or value) after the next part of a key path; `None` if this level has no such
    /// part.
    fn child(self, draft: &Draft, catalogue: &'c Catalogue, part: &str, is_whole: bool) -> Option<Level<'c>> {
        let of_side = |side: &str| {
            let seam = catalogue.of_side(side).into_iter().find(|seam| seam.name == part);
            let is_own = || language::names(catalogue, side).contains(&part);
            seam.map(Level::Mechanism).or_else(|| is_own().then_some(Level::Value))
        };
        match self {
            Level::Document => match part {
                "link" => Some(Level::Named("link")),
                "node" => Some(Level::Named("node")),
                "flow" => Some(Level::Named("flow")),
                "route" => Some(Level::Route(2)),
                _ => language::top_level_keys().any(|top| top == part).then_some(Level::Value),
            },
            Level::Named(top) => {
                let is_there = is_whole || names(draft, top).iter().any(|name| name == part);
                is_there.then(|| match top {
                    "link" => Level::Link,
                    "node" => Level::Node,
                    _ => Level::Flow(kind(&draft.document, part)),
                })
            }
            Level::Link if matches!(part, "down" | "up") => Some(Level::Direction),
            Level::Link if language::link_ends().iter().any(|key| key.name == part) => Some(Level::Value),
            Level::Link | Level::Direction if SERVICES.contains(&part) => Some(Level::Service),
            Level::Link | Level::Direction => of_side("link"),
            Level::Node => of_side("node"),
            Level::Flow(kind) => {
                let key = language::plain_flow(kind).iter().find(|key| key.name == part);
                let own = key.map(|key| match key.value_type {
                    ValueType::Table => Level::End(key.name),
                    _ => Level::Value,
                });
                own.or_else(|| of_side("flow").filter(|_| language::is_stream(kind)))
            }
            Level::End(side) => of_side(side),
            Level::Mechanism(_) | Level::Route(1) => Some(Level::Value),
            Level::Route(more) => Some(Level::Route(more - 1)),
            Level::Service | Level::Value => None,
        }
    }

    /// Creates the error for a key path that does not exist. `at` is the position of the unknown part in the source
    /// text.
    fn unknown_part(
        self,
        draft: &Draft,
        catalogue: &Catalogue,
        path: &[String],
        depth: usize,
        at: Span,
    ) -> Problem {
        let (before, part) = (path[..depth].join("."), &path[depth]);
        let named;
        let known: Vec<&str> = match self {
            Level::Document => language::top_level_keys().collect(),
            Level::Named(top) => {
                named = names(draft, top);
                named.iter().map(String::as_str).collect()
            }
            Level::Link => {
                let ends = language::link_ends().iter().map(|key| key.name);
                ends.chain(language::names(catalogue, "link")).collect()
            }
            Level::Direction => language::names(catalogue, "link"),
            Level::Node => language::names(catalogue, "node"),
            Level::Flow(kind) => language::flow(catalogue, kind).iter().map(|key| key.name).collect(),
            Level::End(side) => language::names(catalogue, side),
            Level::Mechanism(_) | Level::Route(_) | Level::Service | Level::Value => {
                return problem(draft, at, format!("`{before}` has no keys below it"))
                    .help(format!("write {before}=VALUE"));
            }
        };
        let message = match before.as_str() {
            "" => format!("a scenario has no key `{part}`"),
            before => format!("`{before}` has no `{part}`"),
        };
        problem(draft, at, message).label("unknown").help(among(part, "available", &known))
    }
}

fn names(draft: &Draft, top: &str) -> Vec<String> {
    match top {
        "node" => nodes::linked(&draft.document),
        _ => draft.names(top).into_iter().map(str::to_owned).collect(),
    }
}

/// Returns the full key paths that a written key path means: one key path, or the same key in several flows.
fn paths(draft: &Draft, path: &str, place: Span) -> Result<Vec<KeyPath>, Problem> {
    let parts: KeyPath = path.split('.').map(|part| part.trim().to_owned()).collect();
    if language::top_level_keys().any(|top| top == parts[0]) {
        return named(draft, parts, path, place);
    }
    if language::names(&draft.catalogue, "node").contains(&parts[0].as_str()) {
        return only_inner_node(draft, &parts, path, place);
    }
    for length in (1..=parts.len()).rev() {
        let (head, rest) = parts.split_at(length);
        let mut meant: Vec<KeyPath> = Vec::new();
        each_candidate(draft, &mut |path| {
            let before = path.len().checked_sub(length);
            if before
                .is_some_and(|before| path[before..].iter().zip(head).rev().all(|(one, other)| one == other))
            {
                meant.push(path.iter().copied().map(str::to_owned).chain(rest.iter().cloned()).collect());
            }
        });
        if meant.is_empty() {
            continue;
        }
        meant.sort();
        meant.dedup();
        let is_of_flows = meant.iter().all(|path| path[0] == "flow" && path[2..] == meant[0][2..]);
        if meant.len() == 1 || (is_of_flows && meant[0].len() > 2) {
            return Ok(meant);
        }
        return Err(ambiguous(draft, path, place, &meant));
    }
    let mut known: Vec<KeyPath> = Vec::new();
    each_candidate(draft, &mut |path| known.push(path.iter().copied().map(str::to_owned).collect()));
    known.sort();
    known.dedup();
    let mut known: Vec<&str> = known.iter().filter_map(|path| path.last()).map(String::as_str).collect();
    known.extend(language::top_level_keys().map(|top| -> &str { top }));
    let help = match hint(&parts[0], known) {
        _ if inline::is_own(path) => {
            format!("write it after the path: {},{path}=…; ", draft.sources[0].name)
        }
        Some(hint) => format!("{hint} "),
        None => String::new(),
    };
    let links: Vec<String> = draft
        .document
        .table("link")
        .map(|links| links.keys().iter().map(|name| format!("link.{name}")).collect())
        .unwrap_or_default();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    Err(problem(draft, place, format!("`{path}` is not a key of this scenario")).label("unknown key").help(format!(
        "{help}a full path is like link.wireless.down.channel.rate or flow.bulk.sender.recovery; links: {}",
        listed(&links)
    )))
}

/// Completes a key path that omits the name of the only link or node, or the name of a flow. A key path without a
/// flow's name means every flow. Examples: `link.down.queue`, `node.middlebox`, `flow.sack`.
fn named(draft: &Draft, parts: KeyPath, written: &str, place: Span) -> Result<Vec<KeyPath>, Problem> {
    if let [top, key, ..] = &parts[..]
        && top == "node"
        && language::is_key_of(&draft.catalogue, top, key)
        && nodes::linked(&draft.document).iter().all(|node| node != key)
    {
        return only_inner_node(draft, &parts[1..], written, place);
    }
    let (Some(table), [top, key, ..]) = (draft.document.table(&parts[0]), &parts[..]) else {
        return Ok(vec![parts]);
    };
    let is_key = matches!(top.as_str(), "link" | "flow") && language::is_key_of(&draft.catalogue, top, key);
    if !is_key || table.find(key).is_some() {
        return Ok(vec![parts]);
    }
    let with = |name: &&str| [top.clone(), (*name).to_owned()].into_iter().chain(parts[1..].iter().cloned());
    let meant: Vec<KeyPath> = table.keys().iter().map(|name| with(name).collect()).collect();
    if top == "link" && meant.len() > 1 { Err(ambiguous(draft, written, place, &meant)) } else { Ok(meant) }
}

/// Completes the key path of a node's key that omits the node's name, if only one node lies between links.
fn only_inner_node(
    draft: &Draft,
    key: &[String],
    written: &str,
    place: Span,
) -> Result<Vec<KeyPath>, Problem> {
    let with = |node: String| ["node".to_owned(), node].into_iter().chain(key.iter().cloned());
    let meant: Vec<KeyPath> =
        nodes::inner(&draft.document).into_iter().map(|node| with(node).collect()).collect();
    match meant.len() {
        1 => Ok(meant),
        0 => Err(problem(draft, place, format!("`{written}`: this path has no node between two links"))
            .label("no such node")
            .help(
                "such a node lies between two links, as in hasegawa and lte; `lasthop show lte` prints an example",
            )),
        _ => Err(ambiguous(draft, written, place, &meant)),
    }
}

fn ambiguous(draft: &Draft, path: &str, place: Span, meant: &[KeyPath]) -> Problem {
    let names: Vec<String> = meant.iter().map(|path| path.join(".")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    problem(draft, place, format!("`{path}` could mean several keys"))
        .label("ambiguous")
        .help(format!("write one of these paths in full: {}", listed(&names)))
}

/// Calls `visit` with every key path below `link`, `node` and `flow` in the document, and with every possible key of
/// the document's nodes and flows. Some key paths are visited twice.
fn each_candidate(draft: &Draft, visit: &mut dyn FnMut(&[&str])) {
    let (document, catalogue) = (&draft.document, &draft.catalogue);
    let nodes = nodes::linked(document);
    for key in language::names(catalogue, "node") {
        nodes.iter().for_each(|node| visit(&["node", node, key]));
    }
    for top in ["link", "node", "flow"] {
        if let Some(table) = document.table(top) {
            walk(table, &mut vec![top], visit);
        }
    }
    let sides = ["sender", "receiver"].map(|side| (side, language::names(catalogue, side)));
    for flow in document.table("flow").map(|flows| &flows.entries[..]).unwrap_or_default() {
        for key in language::flow(catalogue, kind(document, &flow.key)) {
            let side = sides
                .iter()
                .find(|(side, _)| *side == key.name && matches!(key.value_type, ValueType::Table));
            for child in side.map(|(_, names)| &names[..]).unwrap_or_default() {
                visit(&["flow", &flow.key, key.name, child]);
            }
            visit(&["flow", &flow.key, key.name]);
        }
    }
}

fn walk<'t>(table: &'t TomlTable, prefix: &mut Vec<&'t str>, visit: &mut dyn FnMut(&[&str])) {
    for entry in &table.entries {
        prefix.push(&entry.key);
        visit(prefix);
        if let Content::Table(inner) = &entry.node.content {
            walk(inner, prefix, visit);
        }
        prefix.pop();
    }
}

/// Returns the kind of a flow's traffic. An unknown kind counts as datagrams.
fn kind(document: &TomlTable, flow: &str) -> &'static str {
    let flow = document.table("flow").and_then(|flows| flows.table(flow));
    let kind = flow.and_then(|flow| flow.find("kind")).and_then(|entry| entry.node.scalar());
    match kind {
        None => "tcp",
        Some(kind) => TRAFFIC.iter().find(|known| **known == kind).unwrap_or(&TRAFFIC[TRAFFIC.len() - 1]),
    }
}

/// Returns the position of one part of a key path in the source text. If the written key path is not a full key path,
/// returns the position of the whole key path.
fn span_of_part(place: Span, target: &[String], depth: usize, written: &str) -> Span {
    if written != target.join(".") {
        return place;
    }
    let start = place.start + target[..depth].iter().map(|part| part.len() + 1).sum::<usize>();
    Span { start, end: start + target[depth].len(), ..place }
}

pub(crate) fn problem(draft: &Draft, place: Span, message: String) -> Problem {
    Problem::new(&draft.sources[place.source], place.start..place.end, message)
}
