//! `--set path=value`: putting a value at the places that a path means, and taking one away (`--set path=`).

use crate::draft::Draft;
use crate::links::SERVICES;
use crate::mechanisms::as_table;
use crate::place::{Level, problem, resolve};
use crate::problem::Problem;
use crate::source::Span;
use crate::traces::BESIDE_TRACE;
use crate::tree::{Content, Node, Table};
use lasthop_base::Question;
use std::sync::Arc;

/// Sets what the path means to a value; `at` is where the path stands.
pub(crate) fn apply(draft: &mut Draft, path: &str, at: Span, value: Node) -> Result<(), Problem> {
    let catalogue = Arc::clone(&draft.catalogue);
    let mut places = Vec::new();
    for place in resolve(draft, &catalogue, path, at)? {
        places.extend(place.spelt_out(draft, &catalogue, &value)?);
    }
    for place in &places {
        if let (Level::Service, Some((key, table))) = (place.level, place.path.split_last()) {
            let beside = if key == "trace" { &[][..] } else { &BESIDE_TRACE[..] };
            for other in SERVICES.iter().filter(|other| *other != key).chain(beside) {
                remove(&mut draft.document, table, None, other);
            }
        }
        assign(&mut draft.document, None, &place.path, place.mechanism, at, &value);
    }
    Ok(())
}

/// Takes away what the path means, so that its default holds again.
pub(crate) fn take_away(draft: &mut Draft, path: &str, at: Span) -> Result<(), Problem> {
    let catalogue = Arc::clone(&draft.catalogue);
    let mut found = false;
    for place in resolve(draft, &catalogue, path, at)? {
        if let Some((key, table)) = place.path.split_last() {
            found |= remove(&mut draft.document, table, place.mechanism, key);
        }
    }
    match found {
        true => Ok(()),
        false => Err(problem(draft, at, format!("`{path}` is not set, so there is nothing to take away"))
            .label("not set")
            .help(format!("{path}=VALUE sets it; `lasthop show` prints what is set"))),
    }
}

/// Takes a key of a link's direction (`wireless.down`) away. Where the link's own table says it for both directions, this
/// one gets `otherwise`.
pub(crate) fn forget(draft: &mut Draft, direction: &str, key: &str, otherwise: Option<&str>) {
    let Some((link, way)) = direction.rsplit_once('.') else { return };
    let mut path = ["link", link, way].map(str::to_owned).to_vec();
    remove(&mut draft.document, &path, None, key);
    let both = draft.document.table("link").and_then(|links| links.table(link));
    let at = both.and_then(|both| both.find(key)).map(|entry| entry.place);
    if let (Some(at), Some(text)) = (at, otherwise) {
        path.push(key.to_owned());
        assign(&mut draft.document, None, &path, None, at, &Node::text(at, text));
    }
}

/// A mechanism on a path: number of parts before it, and its question.
type OnPath<'c> = Option<(usize, &'c Question)>;

/// The mechanism as seen from the next part on, and its question if it is at this part.
fn step(mechanism: OnPath<'_>) -> (OnPath<'_>, Option<&Question>) {
    match mechanism {
        Some((0, question)) => (None, Some(question)),
        Some((parts, question)) => (Some((parts - 1, question)), None),
        None => (None, None),
    }
}

/// Puts a value at a path, making tables on the way; `both` is what a link's own table says of the path's first part when
/// `table` is one of its directions.
fn assign(
    table: &mut Table,
    both: Option<Content>,
    path: &[String],
    mechanism: OnPath<'_>,
    at: Span,
    value: &Node,
) {
    let Some((key, rest)) = path.split_first() else { return };
    if rest.is_empty() {
        table.set(key, at, value.clone());
        return;
    }
    if table.find(key).is_none() {
        // A parameter of what the link says for both directions: this direction gets its own.
        let content = both.unwrap_or_else(|| Content::Table(Arc::default()));
        table.set(key, at, Node { place: at, content });
    }
    let of_both =
        matches!(key.as_str(), "down" | "up").then(|| rest.first().and_then(|next| table.find(next)));
    let of_both = of_both.flatten().map(|entry| entry.node.content.clone());
    let (mechanism, question) = step(mechanism);
    if let Some(entry) = table.find_mut(key) {
        if let Some(expanded) = as_table(question, entry) {
            entry.node.content = Content::Table(expanded.into());
        }
        if let Content::Table(inner) = &mut entry.node.content {
            assign(Arc::make_mut(inner), of_both, rest, mechanism, at, value);
        }
    }
}

/// Removes a key from the table at a path; whether it was there.
fn remove(document: &mut Table, path: &[String], mut mechanism: OnPath<'_>, key: &str) -> bool {
    let mut table = document;
    for part in path {
        let question;
        (mechanism, question) = step(mechanism);
        let Some(entry) = table.find_mut(part) else { return false };
        if let Some(expanded) = as_table(question, entry) {
            entry.node.content = Content::Table(expanded.into());
        }
        let Content::Table(inner) = &mut entry.node.content else { return false };
        table = Arc::make_mut(inner);
    }
    let before = table.entries.len();
    table.entries.retain(|entry| entry.key != key);
    table.entries.len() < before
}
