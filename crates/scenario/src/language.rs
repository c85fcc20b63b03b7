//! The tables of the language and their keys, in the order in which a reader would ask. Keys that no catalogue decides are
//! listed once in the life of the program.
//!
//! Here are the document's own keys and those of a node, and which table has a key; those of links, flows and senders are in
//! `links`, `flows` and `sender`.

mod flows;
mod links;
mod sender;

pub(crate) use flows::{any_flow, flow};
pub(crate) use links::{direction, link_ends, put_direction};
pub(crate) use sender::sender;

use crate::catalogue::Catalogue;
use crate::key::{Form, Key};
use crate::mechanisms::USUAL_LIMIT;
use lasthop_base::{Duration, Question, Unit};
use links::direction_names;
use sender::SENDER;
use std::sync::LazyLock;

/// Longest run.
pub(crate) const LONGEST: Duration = Duration::from_secs(10_000_000);
/// Shortest time that must not be zero.
const SHORTEST: Duration = Duration::from_micros(1);
/// Most replicas of one flow, and most flows in all.
pub(crate) const MOST_FLOWS: u64 = 100_000;
/// The kinds of traffic.
pub(crate) const TRAFFIC: &[&str] = &["tcp", "cbr", "on_off"];

pub(crate) const TIME: Unit = Unit::Duration(Duration::ZERO, LONGEST);
pub(crate) const SPAN: Unit = Unit::Duration(SHORTEST, LONGEST);

/// The document's own keys; `title` is the one it has if it says nothing.
pub(crate) fn document(title: &str) -> Vec<Key> {
    let mut keys = Vec::with_capacity(1 + DOCUMENT.len());
    keys.push(Key::default("title", Form::Text, title.to_owned(), "what this is, one line"));
    keys.extend(DOCUMENT.iter().cloned());
    keys
}

/// The names of the document's own keys.
pub(crate) fn tops() -> impl Iterator<Item = &'static str> {
    std::iter::once("title").chain(DOCUMENT.iter().map(|key| key.name))
}

/// What a document has beside its title.
static DOCUMENT: LazyLock<Vec<Key>> = LazyLock::new(|| {
    vec![
        Key::optional("source", Form::Text, "RFC 2488, section 2", "where its numbers come from"),
        Key::default("duration", Form::Unit(SPAN), "60 s", "length of a run, in virtual time"),
        Key::default(
            "seed",
            Form::Unit(Unit::Count(0, i64::MAX as u64)),
            "1",
            "where random numbers begin; each repetition has streams of its own",
        ),
        Key::default("runs", Form::Unit(Unit::Count(1, 1_000_000)), "10", "number of repetitions"),
        Key::optional(
            "warmup",
            Form::Unit(SPAN),
            "5 s",
            "a part of `duration`, from its beginning: what is measured in it is left out, and transfers that begin in it",
        ),
        Key::default(
            "headers",
            Form::WordOr(&["real", "none"], Unit::Bytes(0, 1000)),
            "real",
            "what links charge per packet beside the payload: \"real\", \"none\" or an amount",
        ),
        Key::default(
            "sample",
            Form::Unit(SPAN),
            "100 ms",
            "time between two samples of a probe; longer by default in runs of over a million s",
        ),
        Key::table("link", "links by name; nodes come into being by being named in them"),
        Key::table("node", "nodes by name: what stands at those that links name"),
        Key::table("flow", "flows by name"),
        Key::table("route", "node.destination = next node: overrides the shortest path (fewest links)"),
    ]
});

/// The keys of a node.
pub(crate) fn node(catalogue: &Catalogue) -> Vec<Key> {
    answers(catalogue, "node")
}

/// The keys of a TCP flow's receiver.
pub(crate) fn receiver(catalogue: &Catalogue) -> Vec<Key> {
    answers(catalogue, "receiver")
}

/// A key for each question of a side. Where a bare amount is an answer, one is what holds if nobody says.
fn answers(catalogue: &Catalogue, side: &str) -> Vec<Key> {
    let key = |question: &Question| {
        let default = if question.limited().is_some() { USUAL_LIMIT } else { question.default.name };
        Key::default(question.name, Form::Mechanism(question.clone()), default, question.question)
    };
    catalogue.of_side(side).into_iter().map(key).collect()
}

/// The names of the keys of a node, of a sender or receiver, or of a link's direction (`link`).
pub(crate) fn names(catalogue: &Catalogue, side: &str) -> Vec<&'static str> {
    let answers = catalogue.of_side(side).into_iter().map(|question| question.name);
    match side {
        "link" => direction_names().chain(answers).collect(),
        "sender" => answers.chain(SENDER.iter().map(|key| key.name)).collect(),
        _ => answers.collect(),
    }
}

/// Whether a link's, a node's or a flow's table (`link`, `node`, `flow`) has a key of this name, whatever the kind.
pub(crate) fn is_key_of(catalogue: &Catalogue, top: &str, name: &str) -> bool {
    let has = |keys: &[Key]| keys.iter().any(|key| key.name == name);
    match top {
        "link" => has(link_ends()) || names(catalogue, top).contains(&name),
        "node" => names(catalogue, top).contains(&name),
        "flow" => TRAFFIC.iter().any(|kind| has(flow(kind))),
        _ => true,
    }
}

/// The tables that have a key of this name.
pub(crate) fn homes(catalogue: &Catalogue, name: &str) -> Vec<String> {
    let mut tables = vec![
        ("the document, above all tables".to_owned(), document("")),
        ("[link.NAME]".to_owned(), [link_ends(), &direction(catalogue)].concat()),
        ("[node.NAME]".to_owned(), node(catalogue)),
        ("[flow.NAME.sender]".to_owned(), sender(catalogue)),
        ("[flow.NAME.receiver]".to_owned(), receiver(catalogue)),
    ];
    let is_here = |keys: &[Key]| keys.iter().any(|key| key.name == name);
    match is_here(&any_flow()) {
        true => tables.push(("[flow.NAME]".to_owned(), any_flow())),
        false => {
            tables.extend(
                TRAFFIC
                    .iter()
                    .map(|kind| (format!("[flow.NAME] with kind = \"{kind}\""), flow(kind).to_vec())),
            );
        }
    }
    tables.into_iter().filter(|(_, keys)| is_here(keys)).map(|(table, _)| table).collect()
}
