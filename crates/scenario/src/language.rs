//! The tables of the scenario language and their keys. Keys that do not depend on a catalogue are built only once.
//!
//! This module has the keys of the document and of nodes, and finds the tables that have a given key. Keys of links,
//! flows and senders are in the modules `links`, `flows` and `sender`.

mod flows;
mod links;
mod sender;

pub(crate) use flows::{any_flow, flow, is_stream, plain_flow};
pub(crate) use links::{direction, link_ends, put_direction};
pub(crate) use sender::sender;

use crate::catalogue::Catalogue;
use crate::key::{Key, ValueType};
use crate::mechanisms::DEFAULT_LIMIT;
use lasthop_base::{Duration, SeamInfo, Unit};
use links::direction_names;
use sender::SENDER;
use std::sync::LazyLock;

pub(crate) const LONGEST: Duration = Duration::from_secs(10_000_000);
/// Shortest accepted time for keys that do not accept zero.
const SHORTEST: Duration = Duration::from_micros(1);
/// Largest number of replicas of one flow, and largest number of flows in a scenario.
pub(crate) const MAX_FLOWS: u64 = 1_000_000;
pub(crate) const TRAFFIC: &[&str] = &["tcp", QUIC, "cbr", "on_off"];
/// Kind of traffic that uses QUIC in place of TCP, with the same keys.
pub(crate) const QUIC: &str = "quic";

pub(crate) const TIME: Unit = Unit::Duration(Duration::ZERO, LONGEST);
pub(crate) const SPAN: Unit = Unit::Duration(SHORTEST, LONGEST);

pub(crate) fn document(title: &str) -> Vec<Key> {
    let mut keys = Vec::with_capacity(1 + DOCUMENT.len());
    keys.push(Key::default("title", ValueType::Text, title.to_owned(), "title, one line"));
    keys.extend(DOCUMENT.iter().cloned());
    keys
}

pub(crate) fn top_level_keys() -> impl Iterator<Item = &'static str> {
    std::iter::once("title").chain(DOCUMENT.iter().map(|key| key.name))
}

static DOCUMENT: LazyLock<Vec<Key>> = LazyLock::new(|| {
    vec![
        Key::optional("source", ValueType::Text, "RFC 2488, section 2", "origin of the scenario's numbers"),
        Key::default("duration", ValueType::Unit(SPAN), "60 s", "length of a run, in virtual time"),
        Key::default(
            "seed",
            ValueType::Unit(Unit::Count(0, i64::MAX as u64)),
            "1",
            "seed of the random numbers; each repetition has its own streams",
        ),
        Key::default("runs", ValueType::Unit(Unit::Count(1, 1_000_000)), "10", "number of repetitions"),
        Key::optional(
            "warmup",
            ValueType::Unit(SPAN),
            "5 s",
            "unmeasured first part of `duration`; transfers that begin in it are left out too",
        ),
        Key::default(
            "headers",
            ValueType::WordOr(&["real", "none"], Unit::Bytes(0, 1000)),
            "real",
            "header bytes that links count for each packet: \"real\", \"none\" or an amount",
        ),
        Key::default(
            "sample",
            ValueType::Unit(SPAN),
            "100 ms",
            "time between two samples of a probe; a run longer than 1,000,000 s has at most 10 million samples by default",
        ),
        Key::table("link", "links by name; naming a node in a link creates it"),
        Key::table("node", "nodes by name: middleboxes between links"),
        Key::table("flow", "flows by name"),
        Key::table("route", "node.destination = next node: overrides the shortest path (fewest links)"),
    ]
});

pub(crate) fn node(catalogue: &Catalogue) -> Vec<Key> {
    seam_keys(catalogue, "node")
}

pub(crate) fn receiver(catalogue: &Catalogue) -> Vec<Key> {
    seam_keys(catalogue, "receiver")
}

/// Returns the keys that select the mechanisms of a side (`sender`, `receiver`, `link`, `node` or `flow`). If a bare
/// amount can select the mechanism, as `1 bdp` selects a queue, the default is an amount.
fn seam_keys(catalogue: &Catalogue, side: &str) -> Vec<Key> {
    let key = |seam: &SeamInfo| {
        let default = if seam.limited().is_some() { DEFAULT_LIMIT } else { seam.default.name };
        Key::default(seam.name, ValueType::Mechanism(seam.clone()), default, seam.label)
    };
    catalogue.of_side(side).into_iter().map(key).collect()
}

/// Returns the names of the keys of a node, a sender, a receiver, or one direction of a link (`side` is then `link`).
/// For `flow`, returns only the names of the keys that select a mechanism.
pub(crate) fn names(catalogue: &Catalogue, side: &str) -> Vec<&'static str> {
    let seam_keys = catalogue.of_side(side).into_iter().map(|seam| seam.name);
    match side {
        "link" => direction_names().chain(seam_keys).collect(),
        "sender" => seam_keys.chain(SENDER.iter().map(|key| key.name)).collect(),
        _ => seam_keys.collect(),
    }
}

/// Returns whether a table of this type (`top`: `link`, `node` or `flow`) has a key of this name. For `flow`, the
/// result is true if at least one kind of flow has the key.
pub(crate) fn is_key_of(catalogue: &Catalogue, top: &str, name: &str) -> bool {
    let has = |keys: &[Key]| keys.iter().any(|key| key.name == name);
    match top {
        "link" => has(link_ends()) || names(catalogue, top).contains(&name),
        "node" => names(catalogue, top).contains(&name),
        "flow" => TRAFFIC.iter().any(|kind| has(plain_flow(kind))) || names(catalogue, top).contains(&name),
        _ => true,
    }
}

pub(crate) fn tables_with_key(catalogue: &Catalogue, name: &str) -> Vec<String> {
    let mut tables = vec![
        ("the document, above all tables".to_owned(), document("")),
        ("[link.NAME]".to_owned(), [link_ends(), &direction(catalogue)].concat()),
        ("[node.NAME]".to_owned(), node(catalogue)),
        ("[flow.NAME.sender]".to_owned(), sender(catalogue)),
        ("[flow.NAME.receiver]".to_owned(), receiver(catalogue)),
    ];
    let is_here = |keys: &[Key]| keys.iter().any(|key| key.name == name);
    if is_here(&any_flow()) {
        tables.push(("[flow.NAME]".to_owned(), any_flow()))
    } else {
        let kinds = TRAFFIC.iter().filter(|kind| **kind != QUIC);
        tables
            .extend(kinds.map(|kind| (format!("[flow.NAME] with kind = \"{kind}\""), flow(catalogue, kind))));
    }
    tables.into_iter().filter(|(_, keys)| is_here(keys)).map(|(table, _)| table).collect()
}
