//! Finds the entry of docs/troubleshooting.md for an error message.

/// Page with the entries, relative to the repository. The anchor of an entry is `troubleshooting-NAME`.
const PAGE: &str = "docs/troubleshooting.md";

/// Pairs of words that occur in an error message, and the name of the entry about this message. `…` in the words
/// matches one word. The first pair that matches applies.
const ENTRIES: &[(&str, &str)] = &[
    ("the run is invalid", "invalid"),
    ("the recording is invalid", "recording-invalid"),
    ("missing on this machine", "doctor"),
    ("works on Linux only", "linux-only"),
    ("is neither a scenario file nor a ready path", "not-a-path"),
    ("there is no such file", "no-such-file"),
    ("is not a key of this scenario", "unknown-key"),
    ("could mean several keys", "ambiguous-key"),
    ("no … is called", "unknown-mechanism"),
    ("has no parameter", "unknown-parameter"),
    ("has no unit", "no-unit"),
    ("megabytes per second in tc", "mbps"),
    ("this is not TOML", "not-toml"),
    ("no link has a node", "unknown-node"),
    ("needs the key `rate`", "missing-rate"),
    ("an inline scenario needs", "inline-up"),
    ("assertions do not hold", "assertion"),
    ("cannot write … the directory … does not exist", "cannot-write"),
    ("exists already", "exists-already"),
    ("could be a record of losses or a trace", "ambiguous-recording"),
    ("is not a store", "not-a-store"),
    ("another process is writing to", "store-in-use"),
    ("cannot create the TUN device", "tun-device"),
    ("without root, the run needs", "user-namespaces"),
    ("neither `nft` nor `iptables` is installed", "address-translation"),
    ("already connects a path to this host's network", "only-one-path"),
    ("before the command began", "server-ended"),
    ("cannot run `", "cannot-run-command"),
    ("real traffic cannot pass the middlebox", "middlebox"),
    ("this kernel has no congestion control", "congestion-control"),
    ("you have no running emulation", "no-emulation"),
    ("no answer from … (UDP)", "no-answer"),
    ("the agent needs CAP_", "agent-privileges"),
    ("no mechanism is given", "agent-no-mechanism"),
    ("no agent is running", "agent-not-running"),
    ("the directory … cannot be trusted", "run-directory"),
];

/// Returns the last line of an error message: page and anchor of the entry about this kind of failure. Returns `None`
/// if the page has no such entry.
pub(crate) fn pointer(message: &str) -> Option<String> {
    entry(message).map(|name| format!("more: {PAGE}#troubleshooting-{name}"))
}

fn entry(message: &str) -> Option<&'static str> {
    let has = |words: &str| message.char_indices().any(|(at, _)| begins_with(&message[at..], words));
    ENTRIES.iter().find(|(words, _)| has(words)).map(|(_, name)| *name)
}

fn begins_with(text: &str, words: &str) -> bool {
    match words.split_once('…') {
        None => text.starts_with(words),
        Some((before, after)) => text.strip_prefix(before).is_some_and(|rest| {
            begins_with(rest.trim_start_matches(|letter: char| !letter.is_whitespace()), after)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = include_str!("../../../docs/troubleshooting.md");

    /// Returns the anchor and the text of each section of the page.
    fn sections() -> impl Iterator<Item = (&'static str, &'static str)> {
        TEXT.split("\n(troubleshooting-")
            .skip(1)
            .map(|section| section.split_once(")=\n").expect("an anchor"))
    }

    #[test]
    fn each_entry_exists_in_the_page() {
        for (words, name) in ENTRIES {
            let found = sections().filter(|(anchor, _)| anchor == name).count();
            assert_eq!(found, 1, "{words}: {PAGE} has {found} anchors `troubleshooting-{name}`");
        }
    }

    #[test]
    fn each_message_of_the_page_leads_to_its_own_section() {
        let mut messages = 0;
        for (anchor, section) in sections() {
            for message in section.lines().filter_map(|line| line.strip_prefix("  × ")) {
                assert_eq!(entry(message), Some(anchor), "{message}");
                messages += 1;
            }
        }
        assert!(messages >= 20, "{messages} messages");
    }

    /// The sources contain the words of each entry. If a message is reworded only in the sources, the message no longer
    /// leads to its entry.
    #[test]
    fn the_words_are_those_of_the_sources() {
        let crates = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        let mut folders: Vec<_> =
            std::fs::read_dir(crates).expect("crates").flatten().map(|it| it.path().join("src")).collect();
        let mut sources = String::new();
        while let Some(folder) = folders.pop() {
            for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path()) {
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|end| end == "rs")
                    && !path.ends_with(file!().rsplit('/').next().expect("a name"))
                {
                    sources += &std::fs::read_to_string(path).expect("text");
                }
            }
        }
        for (words, _) in ENTRIES {
            for part in words.trim_end_matches("CAP_").split('…') {
                assert!(sources.contains(part), "no message of the program has the words `{part}`");
            }
        }
    }

    #[test]
    fn other_messages_lead_nowhere() {
        for message in
            ["", "no ready trace is called `x`", "no answer from run 7: timed out", "the disk is full"]
        {
            assert_eq!(entry(message), None, "{message}");
        }
    }
}
