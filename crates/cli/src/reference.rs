//! The reference: every scenario key, column and field, for a terminal and as a page.

use lasthop_lab::assertion::stem;
use lasthop_lab::runs::fields as outputs;
use lasthop_scenario::examples::TOPOLOGIES;
use lasthop_scenario::{Catalogue, Described, Section, foreign, nearest};
use std::fmt::Write;
use textwrap::Options;

/// What a line has room for, columns.
const WIDTH: usize = 80;
/// Where meanings begin, columns.
const MEANINGS: usize = 24;

/// Everything that is printed: columns of CSV, fields of JSON and of traces.
pub(crate) fn fields() -> Vec<Section> {
    outputs::sections()
}

/// Sections about a path or a name: keys and mechanisms, then columns and fields, whose unit may be left out. A name of
/// another tool leads to the names here with the same meaning.
pub(crate) fn explain(path: &str) -> Vec<Section> {
    let path = path.trim();
    let own = here(path);
    let Some(entry) = foreign(path) else { return own };
    let lead = Section { title: entry.sentence(), text: String::new(), keys: Vec::new() };
    let others = if own.is_empty() { entry.here.iter().flat_map(|name| here(name)).collect() } else { own };
    [vec![lead], others].concat()
}

/// Sections about a name of Lasthop.
fn here(path: &str) -> Vec<Section> {
    let mut found = Catalogue::default().explain(path);
    let mut add = |is_meant: &dyn Fn(&str) -> bool| {
        for section in fields() {
            let keys: Vec<Described> =
                section.keys.iter().filter(|key| is_meant(&key.name)).cloned().collect();
            if !keys.is_empty() {
                found.push(Section { keys, ..section });
            }
        }
        found.is_empty()
    };
    if add(&|name| name == path) {
        add(&|name| stem(name) == path);
    }
    found
}

/// "did you mean …?" for a name that nothing has.
pub(crate) fn hint(path: &str) -> Option<String> {
    let fields: Vec<String> =
        fields().into_iter().flat_map(|section| section.keys).map(|key| key.name).collect();
    Catalogue::default()
        .meant(path)
        .or_else(|| nearest(path, fields.iter().map(String::as_str)).map(str::to_owned))
        .map(|name| format!("did you mean `{name}`?"))
}

/// Sections for a terminal of 80 columns.
pub(crate) fn text(sections: &[Section]) -> String {
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
            // A long name has a line of its own.
            let first = match head.len() + 2 <= MEANINGS {
                true => format!("{head:<MEANINGS$}"),
                false => {
                    text.push_str(&head);
                    text.push('\n');
                    blank.clone()
                }
            };
            push(&mut text, &first, &blank, &key.doc);
            push(&mut text, &blank, &blank, &about(key));
        }
    }
    text
}

/// What a key takes, and what holds without it.
fn about(key: &Described) -> String {
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

/// The units of quantities.
pub(crate) fn units() -> String {
    let keys = lasthop_scenario::units().into_iter().map(|(what, names)| Described {
        name: what,
        path: String::new(),
        takes: String::new(),
        without: String::new(),
        doc: names,
    });
    text(&[Section { title: "Units".to_owned(), text: UNITS.to_owned(), keys: keys.collect() }])
}

const UNITS: &str = "A number and a unit, with or without a blank: \"2 Mbit/s\", 45ms. A kilobit is 1000 bits, KB 1000 \
                     bytes, KiB 1024. kbit, mbit, gbit are tc's; its mbps (megabytes) is refused, because others mean \
                     megabits, and kbps is kbit/s here.";

/// Scenarios with several flows.
pub(crate) fn topologies() -> String {
    let one = |(title, text): &(&str, &str)| format!("# {title}\n\n{text}");
    TOPOLOGIES.iter().map(one).collect::<Vec<_>>().join("\n\n")
}

/// What stands above the page's sections.
const ABOUT: &str = "# Reference\n\n\
    Made by `lasthop help reference` from the constants that the program reads and writes by. \
    `lasthop help keys`, `fields`, `units`, `topologies` print parts of it, `lasthop explain link.down.queue` what one \
    key means.\n\n";

/// How paths are written.
const PATHS: &str = "## Paths: --set and --vary\n\n\
    * A full path is `link.NAME.down.KEY`, `flow.NAME.sender.KEY`, or a key of the document: `duration`.\n\
    * The beginning may be left out where that is unambiguous: `wireless.down.channel.rate`, `channel.rate`. The name of \
    the only link may be left out (`link.down.queue`); without the name of a flow every flow is meant: `recovery`, \
    `sender.recovery`, `flow.segment`.\n\
    * A mechanism is set by its name or as a table: `shape=split`, `shape={kind=\"split\",count=3}`. A parameter keeps the \
    others: `shape.count=4`.\n\
    * `sender=cubic` sets every key of the sender that has a mechanism of this name; so does `receiver`. Mechanisms may be \
    spelt as people do: `newreno`, `westwood+`.\n\
    * `rate`, `plan` and `trace` replace each other.\n\
    * `--set PATH=` takes a key away, so that its default holds again.\n\n";

/// What a bandwidth-delay product is.
const BDP: &str = "## Queues in bandwidth-delay products\n\n\
    `queue = \"2.5 bdp\"` has room for 2.5 times the rate of its direction (the mean of a plan or a trace) times the \
    round-trip time of the flows that cross it: the longest one, propagation delays there and back, without queueing, \
    transmission and repeats. From 1 bdp on there is room for ten of the largest packets that cross it, however short the \
    path; below 1 bdp for that share of ten. A link that says nothing of its queue has 1 bdp; `\"unlimited\"` is written \
    out. `lasthop show` prints the room in bytes.\n\n";

/// The whole page.
pub(crate) fn page() -> String {
    let mut page = format!("{ABOUT}{PATHS}{BDP}## Units\n\n{UNITS}\n\n");
    for (what, names) in lasthop_scenario::units() {
        let _ = writeln!(page, "* {what}: {names}");
    }
    page.push_str("\n## Ready paths' other names\n\n");
    for (alias, name) in lasthop_scenario::aliases() {
        let _ = writeln!(page, "* `{alias}` is `{name}`");
    }
    page.push_str("\n# Scenario keys\n");
    Catalogue::default().reference().iter().for_each(|section| markdown(section, &mut page));
    page.push_str("\n# What is printed\n");
    fields().iter().for_each(|section| markdown(section, &mut page));
    page.push_str("\n# Topologies with several flows\n");
    for (title, text) in TOPOLOGIES {
        let _ = write!(page, "\n## {title}\n\n```toml\n{text}```\n");
    }
    page
}

fn markdown(section: &Section, page: &mut String) {
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

/// Text within Markdown's tables: no bars, no tags.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('*', "\\*")
}
