//! `--set path=value` sets the value at every key that the path means, at any depth of the scenario. `--set path=` removes
//! the values.

use crate::draft::Draft;
use crate::links::SERVICES;
use crate::mechanisms::as_table;
use crate::problem::Problem;
use crate::source::Span;
use crate::target::{Level, problem, resolve};
use crate::traces::LIGHT_TRACE_KEYS;
use crate::tree::{Content, TomlNode, TomlTable};
use lasthop_base::SeamInfo;
use std::sync::Arc;

/// Sets the key that `path` means to a value. `at` is the position of `path` in the source text.
pub(crate) fn apply(draft: &mut Draft, path: &str, at: Span, value: TomlNode) -> Result<(), Problem> {
    let catalogue = Arc::clone(&draft.catalogue);
    let mut targets = Vec::new();
    for target in resolve(draft, &catalogue, path, at)? {
        targets.extend(target.expand_mechanism_name(draft, &catalogue, &value)?);
    }
    for target in &targets {
        if let (Level::Service, Some((key, table))) = (target.level, target.path.split_last()) {
            let beside = if key == "trace" { &[][..] } else { &LIGHT_TRACE_KEYS[..] };
            for other in SERVICES.iter().filter(|other| *other != key).chain(beside) {
                remove(&mut draft.document, table, None, other);
            }
        }
        assign(&mut draft.document, None, &target.path, target.mechanism, at, &value);
    }
    Ok(())
}

/// Removes the key that a path means, so that the default applies.
pub(crate) fn unset(draft: &mut Draft, path: &str, at: Span) -> Result<(), Problem> {
    let catalogue = Arc::clone(&draft.catalogue);
    let mut found = false;
    for target in resolve(draft, &catalogue, path, at)? {
        if let Some((key, table)) = target.path.split_last() {
            found |= remove(&mut draft.document, table, target.mechanism, key);
        }
    }
    if found {
        Ok(())
    } else {
        Err(problem(draft, at, format!("`{path}` is not set, so it cannot be removed"))
            .label("not set")
            .help(format!("{path}=VALUE sets it; `lasthop show` prints what is set")))
    }
}

/// Removes a key from a link's direction (`wireless.down`). If the link's own table sets the key for both directions,
/// this direction is set to `otherwise` instead.
pub(crate) fn unset_direction_key(draft: &mut Draft, direction: &str, key: &str, otherwise: Option<&str>) {
    let Some((link, way)) = direction.rsplit_once('.') else { return };
    let mut path = ["link", link, way].map(str::to_owned).to_vec();
    remove(&mut draft.document, &path, None, key);
    let both = draft.document.table("link").and_then(|links| links.table(link));
    let at = both.and_then(|both| both.find(key)).map(|entry| entry.place);
    if let (Some(at), Some(text)) = (at, otherwise) {
        path.push(key.to_owned());
        assign(&mut draft.document, None, &path, None, at, &TomlNode::text(at, text));
    }
}

/// Next mechanism that a key path passes: the number of parts of the path before the part that selects the mechanism, and
/// the kind of mechanism.
type OnPath<'c> = Option<(usize, &'c SeamInfo)>;

/// Moves past one part of a key path. Returns two values:
/// * the mechanism further along the path, with the number of parts that still precede it; `None` if none follows;
/// * the kind of mechanism, if the part selects a mechanism.
fn step(mechanism: OnPath<'_>) -> (OnPath<'_>, Option<&SeamInfo>) {
    match mechanism {
        Some((0, seam)) => (None, Some(seam)),
        Some((parts, seam)) => (Some((parts - 1, seam)), None),
        None => (None, None),
    }
}

/// Sets a value at a path below `table`, and creates missing tables. If `table` is a link's direction, `both` is the
/// value that the link's own table has for the first part of the path.
fn assign(
    table: &mut TomlTable,
    both: Option<Content>,
    path: &[String],
    mechanism: OnPath<'_>,
    at: Span,
    value: &TomlNode,
) {
    let Some((key, rest)) = path.split_first() else { return };
    if rest.is_empty() {
        table.set(key, at, value.clone());
        return;
    }
    if table.find(key).is_none() {
        // If the link sets this mechanism for both directions, this direction gets its own copy before one parameter
        // changes.
        let content = both.unwrap_or_else(|| Content::Table(Arc::default()));
        table.set(key, at, TomlNode { place: at, content });
    }
    let of_both =
        matches!(key.as_str(), "down" | "up").then(|| rest.first().and_then(|next| table.find(next)));
    let of_both = of_both.flatten().map(|entry| entry.node.content.clone());
    let (mechanism, seam) = step(mechanism);
    if let Some(entry) = table.find_mut(key) {
        if let Some(expanded) = as_table(seam, entry) {
            entry.node.content = Content::Table(expanded.into());
        }
        if let Content::Table(inner) = &mut entry.node.content {
            assign(Arc::make_mut(inner), of_both, rest, mechanism, at, value);
        }
    }
}

/// Removes a key from the table at a path. Returns whether the key existed.
fn remove(document: &mut TomlTable, path: &[String], mut mechanism: OnPath<'_>, key: &str) -> bool {
    let mut table = document;
    for part in path {
        let seam;
        (mechanism, seam) = step(mechanism);
        let Some(entry) = table.find_mut(part) else { return false };
        if let Some(expanded) = as_table(seam, entry) {
            entry.node.content = Content::Table(expanded.into());
        }
        let Content::Table(inner) = &mut entry.node.content else { return false };
        table = Arc::make_mut(inner);
    }
    let before = table.entries.len();
    table.entries.retain(|entry| entry.key != key);
    table.entries.len() < before
}
