//! A scenario that is not yet checked, so that single values can still be changed.

use crate::catalogue::Catalogue;
use crate::check::check;
use crate::problem::Problem;
use crate::resolved::{Detail, Resolved};
use crate::scenario::Scenario;
use crate::set;
use crate::source::{SourceText, Span, TYPED};
use crate::suggest::among;
use crate::tree::{self, TomlEntry, TomlNode, TomlTable};
use crate::{inline, ready, show};
use std::path::Path;
use std::sync::Arc;

/// Keys in a flow's table that configure its TCP endpoints.
const ENDPOINT_KEYS: [&str; 10] = [
    "profile",
    "segment",
    "sack",
    "dsack",
    "timestamps",
    "timestamp_tick",
    "ecn",
    "ecn_feedback",
    "nagle",
    "time_wait",
];

/// Returns whether this entry, or an entry in a table below this entry, satisfies `is_own`.
fn is_given_within(node: &TomlNode, is_own: &dyn Fn(&&TomlEntry) -> bool, entry: &TomlEntry) -> bool {
    match node.table() {
        Some(table) => table.entries.iter().any(|inner| is_given_within(&inner.node, is_own, inner)),
        None => is_own(&entry),
    }
}

const LARGEST: u64 = 4 << 20;

/// A scenario's document with the changes made to it, not yet checked.
#[derive(Clone, Debug)]
pub struct Draft {
    pub(crate) catalogue: Arc<Catalogue>,
    /// The document's own text, followed by one text for each change.
    pub(crate) sources: Vec<SourceText>,
    pub(crate) document: TomlTable,
    /// Title to use if the document has none: the name of the file.
    pub(crate) title: String,
    /// The one-line scenario from which the draft was read, if any.
    pub(crate) inline: Option<inline::InlineScenario>,
}

impl Draft {
    /// Reads a scenario. `path` is the name of a ready path (a built-in scenario, such as `umts`), a file, or a
    /// one-line scenario (`rate=10Mbit/s,rtt=20ms`; [`crate::inline`] has the keys). A one-line scenario may also
    /// change a ready path or a file (`lte,loss=1%`).
    ///
    /// # Errors
    /// If no such scenario exists, or its text is not TOML.
    pub fn load(path: &str) -> Result<Draft, Problem> {
        Draft::load_with(&Arc::default(), path)
    }

    pub(crate) fn load_with(catalogue: &Arc<Catalogue>, path: &str) -> Result<Draft, Problem> {
        let is_file = catalogue.files.exists(path);
        if let Some((name, text)) = ready::find(path)
            && (name == path || !is_file)
        {
            return Draft::parse_with(catalogue, text, name);
        }
        let before_comma = path.split(',').next().unwrap_or_default();
        if !is_file && before_comma.len() < path.len() && !before_comma.contains('=') {
            return inline::adapted(catalogue, before_comma, path);
        }
        if !is_file && path.contains('=') {
            return inline::draft(catalogue, path);
        }
        let refuse = |why: String| Problem::new(&SourceText::typed(path), 0..path.len(), why);
        let known = || among(path, "ready paths", &ready::names());
        if !is_file && !path.contains('/') && !path.ends_with(".toml") {
            let message = format!("`{path}` is neither a scenario file nor a ready path");
            return Err(
                refuse(message).help(format!("{}; or write it inline: rate=10Mbit/s,rtt=20ms", known()))
            );
        }
        let bytes = catalogue
            .files
            .read(path, LARGEST)
            .map_err(|why| refuse(format!("cannot read `{path}`: {why}")).help(known()))?;
        match String::from_utf8(bytes) {
            Ok(text) => Draft::parse_with(catalogue, &text, path),
            Err(_) => Err(refuse(format!("`{path}` is not a text file"))
                .help("scenarios are written in TOML; `lasthop show umts` prints a scenario to start from")),
        }
    }

    /// Reads a scenario from its text. Messages use `name` as the file's name. File names in the text are relative to
    /// `name`.
    ///
    /// # Errors
    /// If the text is not TOML.
    pub fn parse(text: &str, name: &str) -> Result<Draft, Problem> {
        Draft::parse_with(&Arc::default(), text, name)
    }

    pub(crate) fn parse_with(catalogue: &Arc<Catalogue>, text: &str, name: &str) -> Result<Draft, Problem> {
        let source = SourceText::new(name, text);
        let document = tree::parse(&source, 0)?;
        let stem =
            Path::new(name).file_stem().and_then(|stem| stem.to_str()).filter(|stem| !stem.trim().is_empty());
        Ok(Draft {
            catalogue: Arc::clone(catalogue),
            sources: vec![source],
            document,
            title: stem.unwrap_or("untitled").to_owned(),
            inline: None,
        })
    }

    /// Changes one value. Examples: `link.wireless.down.channel.rate` to `3e-5`, `flow.bulk.receiver.ack_splitting` to
    /// `split`.
    ///
    /// The value is TOML or a bare text. A mechanism is set by its name or as a table. If you set one parameter of a
    /// mechanism, its other parameters keep their values. An empty value removes the key. `rate`, `plan` and `trace`
    /// replace each other.
    ///
    /// The path may omit its beginning if the rest is unambiguous: `wireless.down.channel.rate`. Without a flow's name,
    /// the path means every flow: `recovery`, `sender.recovery`. `sender` and `receiver` accept a mechanism's name:
    /// `sender=cubic`. The keys of one-line scenarios ([`inline::KEYS`]) work in drafts read from a one-line scenario;
    /// `loss`, `up_loss` and `ber` work in every draft.
    ///
    /// # Errors
    /// If no such key exists, or the path is ambiguous. This function does not check the value; [`Draft::check`] does.
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), Problem> {
        let typed = SourceText::typed(&format!("{path}={value}"));
        let (source, begins) = (self.sources.len(), path.len() + 1);
        let place = Span { source, start: 0, end: path.len() };
        self.sources.push(typed);
        let done = if !value.trim().is_empty() {
            let there = Span { source, start: begins, end: begins + value.len() };
            let node = tree::parse_typed(value, there);
            self.put(path, place, value, node)
        } else if inline::is_loss_key(path) {
            Err(Problem::new(
                self.sources.last().unwrap_or(&self.sources[0]),
                place.start..place.end,
                format!("`{path}` cannot be removed"),
            )
            .help(format!(
                "{path}=0 sets no losses; to remove the channel of a link, write its full path: link.NAME.down.channel="
            )))
        } else {
            set::unset(self, path, place)
        };
        if done.is_err() {
            self.sources.pop();
        }
        done
    }

    fn put(&mut self, path: &str, place: Span, value: &str, node: TomlNode) -> Result<(), Problem> {
        let before = self.inline.take();
        let line = match &before {
            Some(line) if line.accepts(path) => before.clone(),
            Some(_) => None,
            None => inline::InlineScenario::for_loss_key(self, path)?,
        };
        let done = match &line {
            Some(line) => inline::set(self, line, path, place, value, node),
            None => set::apply(self, path, place, node),
        };
        self.inline = self.inline.take().or(before);
        done
    }

    /// Returns the keys of a flow's TCP endpoints that the author set in a file, in a one-line scenario or by
    /// [`Draft::set`], such as `sender.congestion` and `profile`. The result excludes keys that a ready path (a
    /// built-in scenario) sets. Endpoint keys have no effect if real programs replace the flow's endpoints (`lasthop
    /// emulate`).
    pub fn given_endpoint_keys(&self, flow: &str) -> Vec<String> {
        let Some(table) = self.document.table("flow").and_then(|flows| flows.table(flow)) else {
            return Vec::new();
        };
        let is_own = |entry: &&TomlEntry| {
            let Span { source, start, end } = entry.node.place;
            let source = &self.sources[source];
            let is_ready = ready::find(&source.name).is_some_and(|(_, text)| *text == *source.text);
            // A default that a one-line scenario adds has the whole line as its position in the source text.
            let is_usual = source.name == TYPED && start == 0 && end == source.text.len();
            !is_ready && !is_usual
        };
        let mut given = Vec::new();
        for entry in &table.entries {
            match entry.node.table() {
                Some(end) if ["sender", "receiver"].contains(&entry.key.as_str()) => {
                    let own = end.entries.iter().filter(|inner| is_given_within(&inner.node, &is_own, inner));
                    given.extend(own.map(|inner| format!("{}.{}", entry.key, inner.key)));
                }
                None if ENDPOINT_KEYS.contains(&entry.key.as_str()) && is_own(&entry) => {
                    given.push(entry.key.clone())
                }
                _ => {}
            }
        }
        given
    }

    /// Returns the names of the flows, links or nodes (`table` is `flow`, `link` or `node`), in the document's order.
    pub fn names(&self, table: &str) -> Vec<&str> {
        self.document.table(table).map(TomlTable::keys).unwrap_or_default()
    }

    /// Checks the whole scenario.
    pub fn check(&self) -> Result<Scenario, Problem> {
        self.checked(Detail::Nothing).map(|(scenario, _)| scenario)
    }

    /// Returns the resolved scenario as TOML: every key with its value and meaning. Reading this text gives the same
    /// scenario.
    pub fn show(&self) -> Result<String, Problem> {
        self.checked(Detail::Everything).map(|(_, resolved)| show::text(&resolved))
    }

    /// Returns the scenario, and the text of [`Draft::show`] without comments.
    pub fn check_and_show(&self) -> Result<(Scenario, String), Problem> {
        self.checked(Detail::Values).map(|(scenario, resolved)| (scenario, show::bare(&resolved)))
    }

    fn checked(&self, detail: Detail) -> Result<(Scenario, Resolved), Problem> {
        check(&self.catalogue, &self.sources, &self.document, &self.title, detail)
    }
}

impl Scenario {
    /// Reads and checks a scenario: a built-in scenario by its name, a file, or a one-line scenario; see
    /// [`Draft::load`].
    pub fn load(path: &str) -> Result<Scenario, Problem> {
        Draft::load(path)?.check()
    }

    /// Reads and checks a scenario's text; see [`Draft::parse`].
    pub fn parse(text: &str, name: &str) -> Result<Scenario, Problem> {
        Draft::parse(text, name)?.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_the_ends_are_those_that_somebody_gave() {
        let given = |path: &str, set: &[(&str, &str)]| {
            let mut draft = Draft::load(path).expect("the path exists");
            set.iter().for_each(|(key, value)| draft.set(key, value).expect("the key exists"));
            draft.given_endpoint_keys("bulk")
        };
        assert_eq!(given("umts", &[]), Vec::<String>::new());
        assert_eq!(given("rate=10Mbit/s,rtt=20ms,duration=10s", &[("loss", "1%")]), Vec::<String>::new());
        assert_eq!(given("umts", &[("congestion", "cubic")]), ["sender.congestion"]);
        let line = given(
            "rate=10Mbit/s,rtt=20ms,recovery=sack,profile=plain",
            &[("receiver.ack_splitting", "split")],
        );
        for key in ["sender.recovery", "profile", "receiver.ack_splitting"] {
            assert!(line.iter().any(|one| one == key), "{key}: {line:?}");
        }
        assert_eq!(line.len(), 3, "{line:?}");
        assert_eq!(given("lte,congestion=reno", &[]), ["sender.congestion"]);
    }
}
