//! The reference: every scenario key, column and field, as text for a terminal or as Markdown.

use lasthop_lab::assertion::stem;
use lasthop_lab::runs::fields as outputs;
use lasthop_scenario::examples::TOPOLOGIES;
use lasthop_scenario::{Catalogue, KeyDescription, ReferenceSection, foreign, nearest};
use std::fmt::Write;
use textwrap::Options;

const WIDTH: usize = 80;
const MEANINGS: usize = 24;

pub(crate) fn fields() -> Vec<ReferenceSection> {
    outputs::sections()
}

/// Returns the sections about a key path or a name: first keys and mechanisms, then columns and fields. The name of a
/// column or field may omit the unit. For a name from another tool, returns the sections about Lasthop's names with the
/// same meaning.
pub(crate) fn explain(path: &str) -> Vec<ReferenceSection> {
    let path = path.trim();
    let own = here(path);
    let Some(entry) = foreign(path) else { return own };
    let lead = ReferenceSection { title: entry.sentence(), text: String::new(), keys: Vec::new() };
    let others: Vec<_> = entry.here.iter().flat_map(|name| here(name)).collect();
    [vec![lead], others, own].concat()
}

/// Returns the sections about a name that Lasthop itself uses.
fn here(path: &str) -> Vec<ReferenceSection> {
    let mut found = Catalogue::default().explain(path);
    let mut add = |is_meant: &dyn Fn(&str) -> bool| {
        for section in fields() {
            let keys: Vec<KeyDescription> =
                section.keys.iter().filter(|key| is_meant(&key.name)).cloned().collect();
            if !keys.is_empty() {
                found.push(ReferenceSection { keys, ..section });
            }
        }
        found.is_empty()
    };
    if add(&|name| name == path) && add(&|name| stem(name) == path) {
        found = with_value(path);
    }
    found
}

/// Returns the keys that accept this word as a value: for example, the key `kind` of a flow for the word `cbr`.
fn with_value(word: &str) -> Vec<ReferenceSection> {
    let accepts = |key: &KeyDescription| {
        let list = key.takes.strip_prefix("one of ");
        list.is_some_and(|list| list.split([',', ';', ' ']).any(|value| value == word))
    };
    let sections = Catalogue::default().reference().into_iter();
    let kept = sections.map(|mut section| {
        section.keys.retain(accepts);
        section
    });
    kept.filter(|section| !section.keys.is_empty()).collect()
}

/// Returns the hint "did you mean …?" for an unknown name.
pub(crate) fn hint(path: &str) -> Option<String> {
    let fields: Vec<String> =
        fields().into_iter().flat_map(|section| section.keys).map(|key| key.name).collect();
    Catalogue::default()
        .nearest_name(path)
        .or_else(|| nearest(path, fields.iter().map(String::as_str)).map(str::to_owned))
        .map(|name| format!("did you mean `{name}`?"))
}

pub(crate) fn text(sections: &[ReferenceSection]) -> String {
    let mut text = String::new();
    for section in sections {
        if !text.is_empty() {
            text.push('\n');
        }
        push(&mut text, "", "", &section.title);
        push(&mut text, "  ", "  ", &section.text);
        for key in &section.keys {
            let head = format!("  {}", key.name);
            let blank = " ".repeat(MEANINGS);
            let first = if head.len() + 2 <= MEANINGS {
                format!("{head:<MEANINGS$}")
            } else {
                text.push_str(&head);
                text.push('\n');
                blank.clone()
            };
            push(&mut text, &first, &blank, &key.doc);
            push(&mut text, &blank, &blank, &about(key));
        }
    }
    text
}

/// Describes the values and the default of a key.
fn about(key: &KeyDescription) -> String {
    [&key.takes, &key.without]
        .into_iter()
        .filter(|part| !part.is_empty())
        .cloned()
        .collect::<Vec<_>>()
        .join("; ")
}

fn push(text: &mut String, first: &str, others: &str, words: &str) {
    if words.is_empty() {
        return;
    }
    let options = Options::new(WIDTH).initial_indent(first).subsequent_indent(others);
    for line in textwrap::wrap(words, options) {
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

pub(crate) fn units() -> String {
    let keys = lasthop_scenario::units().into_iter().map(|(what, names)| KeyDescription {
        name: what,
        path: String::new(),
        takes: String::new(),
        without: String::new(),
        doc: names,
    });
    text(&[ReferenceSection { title: "Units".to_owned(), text: UNITS.to_owned(), keys: keys.collect() }])
}

const UNITS: &str = "Write a number and a unit, with or without a blank: \"2 Mbit/s\", 45ms. A kilobit is 1000 bits, a \
                     KB 1000 bytes, a KiB 1024. kbit, mbit, gbit are as in tc. mbps is refused: it means megabytes in \
                     tc, but megabits in other tools. kbps means kbit/s.";

pub(crate) fn topologies() -> String {
    let one = |(title, text): &(&str, &str)| format!("# {title}\n\n{text}");
    TOPOLOGIES.iter().map(one).collect::<Vec<_>>().join("\n\n")
}

const ABOUT: &str = "# Reference\n\n\
    `lasthop help reference` generates this page from the constants that the program uses for input and output. \
    `lasthop help keys`, `fields`, `units`, `topologies` print parts of the page. `lasthop explain link.down.queue` \
    explains one key.\n\n";

const PATHS: &str = "## Paths: --set and --vary\n\n\
    * A full path is `link.NAME.down.KEY`, `flow.NAME.sender.KEY`, or a key of the document: `duration`.\n\
    * You may omit the beginning if the rest is unambiguous: `wireless.down.channel.rate`, `channel.rate`. You may omit \
    the name of the only link (`link.down.queue`). Without the name of a flow, a path applies to every flow: `recovery`, \
    `sender.recovery`, `flow.segment`.\n\
    * Set a mechanism by name or as a table: `ack_splitting=split`, `ack_splitting={kind=\"split\",count=3}`. Setting one parameter \
    keeps the others: `ack_splitting.count=4`.\n\
    * `sender=cubic` sets every sender key that has a mechanism of this name; `receiver` works alike. Other spellings of \
    mechanisms work: `newreno`, `westwood+`.\n\
    * `rate`, `plan` and `trace` exclude each other: setting one removes the others.\n\
    * `--set PATH=` removes a key: its default applies.\n\n";

const BDP: &str = "## Queues in bandwidth-delay products\n\n\
    The capacity of `queue = \"2.5 bdp\"` is 2.5 times the rate of its direction (the mean of a plan or a trace) times \
    the longest round-trip time of the flows that cross the queue. This time is the sum of propagation delays, without \
    queueing, transmission times and link retransmissions. A capacity of 1 bdp or more is at least ten packets \
    of the largest size, even on a very short path; 0.5 bdp is at least five packets. The default is 1 bdp. Write \
    `\"unlimited\"` for a queue without limit. `lasthop show` prints the capacity in bytes.\n\n";

pub(crate) fn page() -> String {
    let mut page = format!("{ABOUT}{PATHS}{BDP}## Units\n\n{UNITS}\n\n");
    for (what, names) in lasthop_scenario::units() {
        let _ = writeln!(page, "* {what}: {names}");
    }
    page.push_str("\n## Other names of ready paths\n\n");
    for (alias, name) in lasthop_scenario::aliases() {
        let _ = writeln!(page, "* `{alias}` is `{name}`");
    }
    page.push_str("\n# Scenario keys\n");
    Catalogue::default().reference().iter().for_each(|section| markdown(section, &mut page));
    page.push_str("\n# Output\n");
    fields().iter().for_each(|section| markdown(section, &mut page));
    page.push_str("\n# Topologies with several flows\n");
    for (title, text) in TOPOLOGIES {
        let _ = write!(page, "\n## {title}\n\n```toml\n{text}```\n");
    }
    page
}

fn markdown(section: &ReferenceSection, page: &mut String) {
    let _ = write!(page, "\n## {}\n", escaped(&section.title));
    if !section.text.is_empty() {
        let _ = write!(page, "\n{}\n", escaped(&section.text));
    }
    if section.keys.is_empty() {
        return;
    }
    let takes_something = section.keys.iter().any(|key| !about(key).is_empty());
    page.push_str(if takes_something {
        "\n| key | means | takes |\n|---|---|---|\n"
    } else {
        "\n| field | means |\n|---|---|\n"
    });
    for key in &section.keys {
        let _ = write!(page, "| `{}` | {} |", key.name, escaped(&key.doc));
        if takes_something {
            let _ = write!(page, " {} |", escaped(&about(key)));
        }
        page.push('\n');
    }
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('*', "\\*")
}
