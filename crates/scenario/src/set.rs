//! `--set path=value`: which keys a path means, putting a value there, and taking one away (`--set path=`).

use crate::catalogue::Catalogue;
use crate::draft::Draft;
use crate::inline;
use crate::key::{Form, Key};
use crate::language;
use crate::links::SERVICES;
use crate::mechanisms::as_table;
use crate::nodes;
use crate::problem::Problem;
use crate::source::Span;
use crate::suggest::{among, listed, nearest};
use crate::traces::BESIDE_TRACE;
use crate::tree::{Content, Node, Table};
use std::sync::Arc;

/// Sets what the path means to a value; `place` is where the path stands.
pub(crate) fn apply(draft: &mut Draft, path: &str, place: Span, value: Node) -> Result<(), Problem> {
    let catalogue = Arc::clone(&draft.catalogue);
    for target in resolve(draft, path, place)? {
        validate(draft, &target, path, place)?;
        for target in spelt_out(draft, target, &value)? {
            if let Some((key, table)) = target.split_last()
                && SERVICES.contains(&key.as_str())
            {
                let beside = if key == "trace" { &[][..] } else { &BESIDE_TRACE[..] };
                for other in SERVICES.iter().filter(|other| *other != key).chain(beside) {
                    remove(&catalogue, &mut draft.document, table, other);
                }
            }
            assign(&catalogue, &mut draft.document, None, &target, place, &value);
        }
    }
    Ok(())
}

/// Takes away what the path means, so that its default holds again.
pub(crate) fn take_away(draft: &mut Draft, path: &str, place: Span) -> Result<(), Problem> {
    let catalogue = Arc::clone(&draft.catalogue);
    let mut found = false;
    for target in resolve(draft, path, place)? {
        validate(draft, &target, path, place)?;
        if let Some((key, table)) = target.split_last() {
            found |= remove(&catalogue, &mut draft.document, table, key);
        }
    }
    match found {
        true => Ok(()),
        false => Err(problem(draft, place, format!("`{path}` is not set, so there is nothing to take away"))
            .label("not set")
            .help(format!("{path}=VALUE sets it; `lasthop show` prints what is set"))),
    }
}

/// Takes a key of a link's direction (`wireless.down`) away. Where the link's own table says it for both directions, this
/// one gets `otherwise`.
pub(crate) fn forget(draft: &mut Draft, direction: &str, key: &str, otherwise: Option<&str>) {
    let Some((link, way)) = direction.rsplit_once('.') else { return };
    let catalogue = Arc::clone(&draft.catalogue);
    let mut path: Path = ["link", link, way].map(str::to_owned).to_vec();
    remove(&catalogue, &mut draft.document, &path, key);
    let both = draft.document.table("link").and_then(|links| links.table(link));
    let place = both.and_then(|both| both.find(key)).map(|entry| entry.place);
    if let (Some(place), Some(text)) = (place, otherwise) {
        path.push(key.to_owned());
        assign(&catalogue, &mut draft.document, None, &path, place, &Node::text(place, text));
    }
}

/// `sender` and `receiver` are tables, but people name a whole TCP by a mechanism: then every key of that side that has
/// a mechanism of this name (`reno` is a recovery and a congestion control).
fn spelt_out(draft: &Draft, target: Path, value: &Node) -> Result<Vec<Path>, Problem> {
    let (Content::Text(word), [top, _, side]) = (&value.content, &target[..]) else {
        return Ok(vec![target]);
    };
    if top != "flow" || !matches!(side.as_str(), "sender" | "receiver") {
        return Ok(vec![target]);
    }
    let questions = draft.catalogue.of_side(side);
    let with_it = questions.iter().filter(|question| question.find(word).is_some());
    let paths: Vec<Path> =
        with_it.map(|question| target.iter().cloned().chain([question.name.to_owned()]).collect()).collect();
    match paths.is_empty() {
        false => Ok(paths),
        true => {
            let names: Vec<&str> = questions.iter().flat_map(|question| question.names()).collect();
            let message = format!("`{word}` is no mechanism of a {side}");
            Err(problem(draft, value.place, message).label("unknown").help(among(
                word,
                &format!("a {side}'s"),
                &names,
            )))
        }
    }
}

type Path = Vec<String>;

/// The full paths that are meant: one, or the same key of several flows.
fn resolve(draft: &Draft, path: &str, place: Span) -> Result<Vec<Path>, Problem> {
    let parts: Path = path.split('.').map(|part| part.trim().to_owned()).collect();
    if language::tops().any(|top| top == parts[0]) {
        return named(draft, parts, path, place);
    }
    if language::names(&draft.catalogue, "node").contains(&parts[0].as_str()) {
        return inner_nodes(draft, &parts, path, place);
    }
    for length in (1..=parts.len()).rev() {
        let (head, rest) = parts.split_at(length);
        let mut meant: Vec<Path> = Vec::new();
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
    let mut known: Vec<Path> = Vec::new();
    each_candidate(draft, &mut |path| known.push(path.iter().copied().map(str::to_owned).collect()));
    known.sort();
    known.dedup();
    let mut known: Vec<&str> = known.iter().filter_map(|path| path.last()).map(String::as_str).collect();
    known.extend(language::tops().map(|top| -> &str { top }));
    let help = match nearest(&parts[0], known) {
        _ if inline::is_own(path) => {
            format!("it may stand behind the path: {},{path}=…; ", draft.sources[0].name)
        }
        Some(name) => format!("did you mean `{name}`? "),
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

/// A full path, or one that leaves out the name of the only link or node, or of every flow: `link.down.queue`,
/// `node.middlebox`, `flow.sack`.
fn named(draft: &Draft, parts: Path, written: &str, place: Span) -> Result<Vec<Path>, Problem> {
    if let [top, key, ..] = &parts[..]
        && top == "node"
        && language::is_key_of(&draft.catalogue, top, key)
        && nodes::linked(&draft.document).iter().all(|node| node != key)
    {
        return inner_nodes(draft, &parts[1..], written, place);
    }
    let (Some(table), [top, key, ..]) = (draft.document.table(&parts[0]), &parts[..]) else {
        return Ok(vec![parts]);
    };
    let is_key = matches!(top.as_str(), "link" | "flow") && language::is_key_of(&draft.catalogue, top, key);
    if !is_key || table.find(key).is_some() {
        return Ok(vec![parts]);
    }
    let with = |name: &&str| [top.clone(), (*name).to_owned()].into_iter().chain(parts[1..].iter().cloned());
    let meant: Vec<Path> = table.keys().iter().map(|name| with(name).collect()).collect();
    match top == "link" && meant.len() > 1 {
        true => Err(ambiguous(draft, written, place, &meant)),
        false => Ok(meant),
    }
}

/// A node's key without its name: that of the only node between links.
fn inner_nodes(draft: &Draft, key: &[String], written: &str, place: Span) -> Result<Vec<Path>, Problem> {
    let with = |node: String| ["node".to_owned(), node].into_iter().chain(key.iter().cloned());
    let meant: Vec<Path> =
        nodes::inner(&draft.document).into_iter().map(|node| with(node).collect()).collect();
    match meant.len() {
        1 => Ok(meant),
        0 => Err(problem(draft, place, format!("`{written}`: this path has no node between two links"))
            .label("no such node")
            .help(
                "a path with such a node has two links in a row: hasegawa, lte; `lasthop show lte` prints it",
            )),
        _ => Err(ambiguous(draft, written, place, &meant)),
    }
}

fn ambiguous(draft: &Draft, path: &str, place: Span, meant: &[Path]) -> Problem {
    let names: Vec<String> = meant.iter().map(|path| path.join(".")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    problem(draft, place, format!("`{path}` could mean several keys"))
        .label("ambiguous")
        .help(format!("write one of them in full: {}", listed(&names)))
}

/// Visits every path below `link`, `node` and `flow` that the document has, and every key that its nodes and flows could
/// have; some twice.
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
        for key in language::flow(kind(document, &flow.key)) {
            let side = sides.iter().find(|(side, _)| *side == key.name && matches!(key.form, Form::Table));
            for below in side.map(|(_, names)| &names[..]).unwrap_or_default() {
                visit(&["flow", &flow.key, key.name, below]);
            }
            visit(&["flow", &flow.key, key.name]);
        }
    }
}

fn walk<'t>(table: &'t Table, prefix: &mut Vec<&'t str>, visit: &mut dyn FnMut(&[&str])) {
    for entry in &table.entries {
        prefix.push(&entry.key);
        visit(prefix);
        if let Content::Table(inner) = &entry.node.content {
            walk(inner, prefix, visit);
        }
        prefix.pop();
    }
}

fn kind<'a>(document: &'a Table, flow: &str) -> &'a str {
    let flow = document.table("flow").and_then(|flows| flows.table(flow));
    let kind = flow.and_then(|flow| flow.find("kind")).and_then(|entry| entry.node.scalar());
    kind.unwrap_or("tcp")
}

/// What may follow a path.
enum Below {
    Keys(Vec<&'static str>),
    /// Links, nodes or flows that there are; a further one only as a whole table.
    Names(Vec<String>),
    Anything,
    Nothing,
}

/// Checks that every part of a path is there to be set.
fn validate(draft: &Draft, target: &[String], written: &str, place: Span) -> Result<(), Problem> {
    for (depth, part) in target.iter().enumerate() {
        let names;
        let known: Vec<&str> = match below(draft, &target[..depth]) {
            Below::Anything => continue,
            Below::Keys(keys) => keys,
            Below::Names(_) if depth + 1 == target.len() => continue,
            Below::Names(list) => {
                names = list;
                names.iter().map(String::as_str).collect()
            }
            Below::Nothing => {
                let before = target[..depth].join(".");
                let place = part_of(place, target, depth, written);
                return Err(problem(draft, place, format!("`{before}` has no keys below it"))
                    .help(format!("write {before}=VALUE")));
            }
        };
        if !known.contains(&part.as_str()) {
            let before = target[..depth].join(".");
            let place = part_of(place, target, depth, written);
            let message = match before.as_str() {
                "" => format!("a scenario has no key `{part}`"),
                before => format!("`{before}` has no `{part}`"),
            };
            return Err(problem(draft, place, message).label("unknown").help(among(
                part,
                "there are",
                &known,
            )));
        }
    }
    Ok(())
}

/// Only the part itself is underlined if the path was written in full.
fn part_of(place: Span, target: &[String], depth: usize, written: &str) -> Span {
    if written != target.join(".") {
        return place;
    }
    let start = place.start + target[..depth].iter().map(|part| part.len() + 1).sum::<usize>();
    Span { start, end: start + target[depth].len(), ..place }
}

fn below(draft: &Draft, path: &[String]) -> Below {
    let catalogue = &draft.catalogue;
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let names_of = |keys: &[Key]| keys.iter().map(|key| key.name).collect();
    let names = |what| {
        let table = draft.document.table(what);
        Below::Names(table.map(|t| t.entries.iter().map(|e| e.key.clone()).collect()).unwrap_or_default())
    };
    match path[..] {
        [] => Below::Keys(language::tops().collect()),
        ["link"] => names("link"),
        ["flow"] => names("flow"),
        ["node"] => Below::Names(nodes::linked(&draft.document)),
        ["node", _] => Below::Keys(language::names(catalogue, "node")),
        ["route"] | ["route", _] => Below::Anything,
        ["link", _] => {
            let ends = language::link_ends().iter().map(|key| key.name);
            Below::Keys(ends.chain(language::names(catalogue, "link")).collect())
        }
        ["link", _, "down" | "up"] => Below::Keys(language::names(catalogue, "link")),
        ["flow", name] => Below::Keys(names_of(language::flow(kind(&draft.document, name)))),
        ["flow", _, side @ ("sender" | "receiver")] => Below::Keys(language::names(catalogue, side)),
        [side @ ("link" | "node"), _, key]
        | [side @ "link", _, "down" | "up", key]
        | ["flow", _, side @ ("sender" | "receiver"), key] => parameters(catalogue, side, key),
        _ => Below::Nothing,
    }
}

/// Below a mechanism its parameters may follow; which ones, its kind decides when all is checked.
fn parameters(catalogue: &Catalogue, side: &str, name: &str) -> Below {
    match catalogue.of_side(side).iter().any(|question| question.name == name) {
        true => Below::Anything,
        false => Below::Nothing,
    }
}

/// Puts a value at a path, making tables on the way; `both` is what a link's own table says of the path's first part when
/// `table` is one of its directions.
fn assign(
    catalogue: &Catalogue,
    table: &mut Table,
    both: Option<Content>,
    path: &[String],
    place: Span,
    value: &Node,
) {
    let Some((key, rest)) = path.split_first() else { return };
    if rest.is_empty() {
        table.set(key, place, value.clone());
        return;
    }
    if table.find(key).is_none() {
        // A parameter of what the link says for both directions: this direction gets its own.
        let content = both.unwrap_or_else(|| Content::Table(Arc::default()));
        table.set(key, place, Node { place, content });
    }
    let of_both =
        matches!(key.as_str(), "down" | "up").then(|| rest.first().and_then(|next| table.find(next)));
    let of_both = of_both.flatten().map(|entry| entry.node.content.clone());
    if let Some(entry) = table.find_mut(key) {
        if let Some(expanded) = as_table(catalogue, entry) {
            entry.node.content = Content::Table(expanded.into());
        }
        if let Content::Table(inner) = &mut entry.node.content {
            assign(catalogue, Arc::make_mut(inner), of_both, rest, place, value);
        }
    }
}

/// Removes a key from the table at a path; whether it was there.
fn remove(catalogue: &Catalogue, document: &mut Table, path: &[String], key: &str) -> bool {
    let mut table = document;
    for part in path {
        let Some(entry) = table.find_mut(part) else { return false };
        if let Some(expanded) = as_table(catalogue, entry) {
            entry.node.content = Content::Table(expanded.into());
        }
        let Content::Table(inner) = &mut entry.node.content else { return false };
        table = Arc::make_mut(inner);
    }
    let before = table.entries.len();
    table.entries.retain(|entry| entry.key != key);
    table.entries.len() < before
}

fn problem(draft: &Draft, place: Span, message: String) -> Problem {
    Problem::new(&draft.sources[place.source], place.start..place.end, message)
}
