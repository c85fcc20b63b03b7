//! Reference of the scenario language, made from the same tables of keys that the reader uses to check scenarios.
//!
//! [`Catalogue::reference`] describes every key. [`Catalogue::explain`] finds the keys and mechanisms that a key path
//! or a name may mean.

use crate::catalogue::Catalogue;
use crate::inline;
use crate::key::{Key, Presence, ValueType, parameters};
use crate::language::{self, QUIC, TRAFFIC};
use crate::mechanisms::LIMITS;
use crate::quantities::takes;
use crate::ready;
use crate::suggest::nearest;
use lasthop_base::{Info, SeamInfo, quantity};

/// Description of the keys of one table, or of the parameters of mechanisms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReferenceSection {
    /// Name of the table that has these keys.
    pub title: String,
    /// Text that applies to all keys of the section; may be empty.
    pub text: String,
    /// The keys.
    pub keys: Vec<KeyDescription>,
}

/// Description of one key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyDescription {
    /// Name within the section, such as `queue` or `limited_transmit`.
    pub name: String,
    /// Key path in a scenario, as for `--set`: `link.NAME.down.queue`. `explain` searches these paths.
    pub path: String,
    /// Accepted values, as text: `a time from …`.
    pub takes: String,
    /// Effect of omitting the key, as text: `required`, `default 60 s`, or `optional, such as 30 s`.
    pub without: String,
    /// Meaning.
    pub doc: String,
}

impl Catalogue {
    /// Describes every key of the language, table by table, followed by every mechanism's parameters.
    pub fn reference(&self) -> Vec<ReferenceSection> {
        sections(self)
    }

    /// Finds the keys and mechanisms that a key path or a name may mean. The sections contain only these keys.
    ///
    /// The path may omit directions, and the names of links, nodes and flows: `link.wireless.down.queue`,
    /// `link.down.queue`, `wireless.queue`, `queue`. The path may end with a parameter: `queue.packets`.
    pub fn explain(&self, path: &str) -> Vec<ReferenceSection> {
        let wanted = parts(self, path);
        let mut ways = vec![wanted.clone()];
        if let [_, rest @ ..] = &wanted[..]
            && !rest.is_empty()
        {
            // The path may begin with the name of a link, node or flow, without the word `link`, `node` or `flow`.
            ways.extend(["link", "node", "flow"].map(|top| [&[top.to_owned()], rest].concat()));
            ways.push(rest.to_vec());
        }
        ways.iter().map(|way| found(self, way)).find(|sections| !sections.is_empty()).unwrap_or_default()
    }

    /// Returns the known name that is nearest to an unknown name.
    pub fn nearest_name(&self, name: &str) -> Option<String> {
        let keys = self.reference().into_iter().flat_map(|section| section.keys).map(|key| key.name);
        let mechanisms = self.seams().into_iter().flat_map(|seam| seam.names()).map(str::to_owned);
        let known: Vec<String> = keys.chain(mechanisms).collect();
        let last = name.rsplit('.').next().unwrap_or(name);
        nearest(last, known.iter().map(String::as_str)).map(str::to_owned)
    }
}

fn sections(catalogue: &Catalogue) -> Vec<ReferenceSection> {
    let mut sections =
        vec![one_line(), section("The document", DOCUMENT, "", &language::document("the file's name"))];
    sections.push(section(
        "[link.NAME]",
        "Naming a node in a link creates the node.",
        "link.NAME",
        language::link_ends(),
    ));
    sections.push(section(
        "[link.NAME.down] and [link.NAME.up]",
        "Keys in [link.NAME] itself apply to both directions unless a direction overrides them.",
        "link.NAME.down",
        &language::direction(catalogue),
    ));
    sections.push(section(
        "[node.NAME]",
        "Keys of a node between links, at which no flow begins or ends.",
        "node.NAME",
        &language::node(catalogue),
    ));
    sections.push(section("[flow.NAME]", "Keys of every flow.", "flow.NAME", &language::any_flow()));
    for kind in TRAFFIC.iter().filter(|kind| **kind != QUIC) {
        let own: Vec<Key> = language::flow(catalogue, kind)
            .into_iter()
            .filter(|key| !language::any_flow().iter().any(|any| any.name == key.name))
            .collect();
        let title = format!("[flow.NAME] with kind = \"{kind}\"");
        let text = if language::is_stream(kind) { QUIC_KEYS } else { "" };
        sections.push(section(&title, text, "flow.NAME", &own));
    }
    sections.push(section(
        "[flow.NAME.sender]",
        "Keys of TCP's sending end.",
        "flow.NAME.sender",
        &language::sender(catalogue),
    ));
    sections.push(section(
        "[flow.NAME.receiver]",
        "Keys of TCP's receiving end.",
        "flow.NAME.receiver",
        &language::receiver(catalogue),
    ));
    sections.extend(catalogue.seams().into_iter().flat_map(mechanisms));
    sections
}

/// Text about QUIC flows, in the section about TCP flows. A QUIC flow has the keys of a TCP flow.
const QUIC_KEYS: &str = "A flow with kind = \"quic\" accepts the keys of a TCP flow, of its sender and of its \
    receiver. A QUIC flow uses the keys of applications (`transfer`, `response`, `on`, …), `arrivals`, `segment` (a \
    full datagram has the size of a full segment), `ecn` and `stack`. A QUIC flow also uses these keys of sender and \
    receiver: `congestion`, `initial_window`, `initial_ssthresh`, `ack_counting` and `slow_start`. The other keys \
    change nothing.";

const DOCUMENT: &str = "Keys above all tables.";

/// Returns the units of quantities. Each item has the name of the quantity, and its units.
pub fn units() -> Vec<(String, String)> {
    let mut units: Vec<(String, String)> =
        quantity::units().into_iter().map(|(what, names)| (what.to_owned(), names)).collect();
    units.push(("a share".to_owned(), "a number from 0 to 1, or %".to_owned()));
    units.push((
        "a queue limit".to_owned(),
        "packets (packet, pkt, p), an amount, or bdp: bandwidth-delay products".to_owned(),
    ));
    units
}

/// Other names of the built-in scenarios (ready paths), each with the usual name.
pub fn aliases() -> &'static [(&'static str, &'static str)] {
    ready::ALIASES
}

fn one_line() -> ReferenceSection {
    let keys = inline::KEYS.iter().map(|(name, example, doc)| KeyDescription {
        name: (*name).to_owned(),
        path: (*name).to_owned(),
        takes: format!("such as {example}"),
        without: String::new(),
        doc: (*doc).to_owned(),
    });
    ReferenceSection {
        title: "In one line".to_owned(),
        text: "key=value pairs separated by commas, alone or after a ready path or a file: rate=10Mbit/s,rtt=20ms or \
         lte,loss=1%. Every other key is a key of the document or of the flow: duration=30s, recovery=reno."
            .to_owned(),
        keys: keys.collect(),
    }
}

fn section(title: &str, text: &str, path: &str, keys: &[Key]) -> ReferenceSection {
    let keys = keys.iter().map(|key| described(path, key));
    ReferenceSection { title: title.to_owned(), text: text.to_owned(), keys: keys.collect() }
}

fn described(table: &str, key: &Key) -> KeyDescription {
    let is_limited = matches!(&key.value_type, ValueType::Mechanism(seam) if seam.limited().is_some());
    KeyDescription {
        name: key.name.to_owned(),
        path: if table.is_empty() { key.name.to_owned() } else { format!("{table}.{}", key.name) },
        takes: if is_limited {
            format!("{}; or {LIMITS}", takes(&key.value_type))
        } else {
            takes(&key.value_type)
        },
        without: match &key.presence {
            _ if matches!(key.value_type, ValueType::Table) => String::new(),
            Presence::Required => "required".to_owned(),
            Presence::Optional("") => "optional".to_owned(),
            Presence::Optional(example) => format!("optional, such as {example}"),
            Presence::Default(text) if text.is_empty() => "default: none".to_owned(),
            Presence::Default(text) => format!("default {text}"),
        },
        doc: key.doc.to_owned(),
    }
}

fn place(seam: &SeamInfo) -> String {
    match seam.side {
        "link" => format!("link.NAME.down.{}", seam.name),
        "node" => format!("node.NAME.{}", seam.name),
        side => format!("flow.NAME.{side}.{}", seam.name),
    }
}

fn mechanisms(seam: &SeamInfo) -> Vec<ReferenceSection> {
    seam.mechanisms.iter().map(|info| mechanism(seam, info)).collect()
}

fn mechanism(seam: &SeamInfo, info: &Info) -> ReferenceSection {
    ReferenceSection {
        title: format!("{} = \"{}\"", seam.name, info.name),
        text: format!("{}: {} ({})", seam.label, info.summary, info.source),
        keys: parameters(info).iter().map(|key| described(&place(seam), key)).collect(),
    }
}

fn found(catalogue: &Catalogue, wanted: &[String]) -> Vec<ReferenceSection> {
    let mut found = Vec::new();
    for section in catalogue.reference() {
        let is_meant = |key: &&KeyDescription| parts(catalogue, &key.path).ends_with(wanted);
        let keys: Vec<KeyDescription> = section.keys.iter().filter(is_meant).cloned().collect();
        if !keys.is_empty() {
            found.push(ReferenceSection { keys, ..section });
        }
    }
    for seam in catalogue.seams() {
        if parts(catalogue, &place(seam)).ends_with(wanted) {
            found.extend(mechanisms(seam));
        }
        if let [name] = wanted
            && let Some(info) = seam.find(name)
        {
            found.push(mechanism(seam, info));
        }
    }
    found
}

/// Splits a key path, and removes directions and the names of links, nodes and flows.
fn parts(catalogue: &Catalogue, path: &str) -> Vec<String> {
    let mut parts: Vec<String> = path.split('.').map(|part| part.trim().to_owned()).collect();
    if parts.len() > 2 && !language::is_key_of(catalogue, &parts[0], &parts[1]) {
        parts.remove(1);
    }
    let direction = parts.iter().position(|part| part == "down" || part == "up");
    if let (Some(at), true) = (direction, parts.len() > 1) {
        // Only links have directions.
        parts.splice(..=at, ["link".to_owned()]);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(path: &str) -> Vec<String> {
        Catalogue::default().explain(path).into_iter().map(|section| section.title).collect()
    }

    #[test]
    fn a_path_means_the_same_with_and_without_names() {
        let full = titles("link.wireless.down.queue");
        assert_eq!(full[0], "[link.NAME.down] and [link.NAME.up]");
        assert!(full.contains(&"queue = \"red\"".to_owned()), "{full:?}");
        for path in ["link.down.queue", "link.queue", "wireless.down.queue", "wireless.queue", "down.queue"] {
            assert_eq!(titles(path), full, "{path}");
        }
        assert_eq!(titles("queue")[0], "In one line");
        assert_eq!(titles("flow.bulk.sender.loss_discrimination"), titles("sender.loss_discrimination"));
        assert_eq!(titles("flow.segment"), ["[flow.NAME] with kind = \"tcp\""]);
    }

    #[test]
    fn a_name_means_the_key_and_the_mechanism() {
        assert_eq!(titles("sack"), ["[flow.NAME] with kind = \"tcp\"", "recovery = \"sack\""]);
        assert_eq!(titles("Westwood+"), ["congestion = \"westwood_plus\""]);
        assert!(titles("queue.min_threshold").contains(&"queue = \"red\"".to_owned()));
        assert!(titles("recovry").is_empty());
        assert_eq!(Catalogue::default().nearest_name("flow.bulk.recovry").as_deref(), Some("recovery"));
    }

    #[test]
    fn every_key_says_what_it_takes_and_means() {
        let catalogue = Catalogue::default();
        for section in catalogue.reference() {
            for key in &section.keys {
                assert!(!key.takes.is_empty() && !key.doc.is_empty(), "{}", key.path);
                assert!(!catalogue.explain(&key.path).is_empty(), "{}", key.path);
            }
        }
    }
}
