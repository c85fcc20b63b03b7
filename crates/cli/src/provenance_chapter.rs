//! Last chapter of a report: command line and scenario.

use crate::provenance;
use lasthop_lab::document::{Block, Chapter};

/// Returns the chapter with the command line and the (title, text) pairs in `given`. The report shows each pair as a
/// collapsed section.
pub(crate) fn chapter(given: Vec<(String, String)>) -> Chapter {
    let command = ("The command line".to_owned(), command_line(std::env::args()));
    let folded = |(title, text)| Block::Folded { title, text };
    let version = format!(
        "Made by lasthop {}. The same scenario and seed give the same numbers.",
        provenance::version()
    );
    let mut blocks = vec![Block::Text(version)];
    blocks.extend(std::iter::once(command).chain(given).map(folded));
    Chapter { id: "made".to_owned(), title: "Provenance of this report".to_owned(), blocks }
}

pub(crate) fn scenario(shown: String) -> (String, String) {
    ("The scenario, as lasthop show prints it".to_owned(), shown)
}

/// Returns the command line of this invocation as a shell command. The program's name has no directory, and `--jobs` is
/// omitted because this flag does not change results.
pub(crate) fn command_line(arguments: impl Iterator<Item = String>) -> String {
    let mut words = vec!["lasthop".to_owned()];
    let mut arguments = arguments.skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--jobs" => drop(arguments.next()),
            other if other.starts_with("--jobs=") => {}
            other => words.push(quoted(other)),
        }
    }
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_=+.,:/@%^".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_takes_it_back() {
        let call = |words: &[&str]| command_line(words.iter().map(|word| (*word).to_owned()));
        assert_eq!(
            call(&["/opt/bin/lasthop", "run", "rate=2Mbit/s,loss=1%", "--jobs", "4", "--set", "title=it's"]),
            "lasthop run rate=2Mbit/s,loss=1% --set 'title=it'\\''s'"
        );
        assert_eq!(
            call(&["lasthop", "run", "umts", "--jobs=4", "--set", "channel={kind=iid}", "--pcap", ""]),
            "lasthop run umts --set 'channel={kind=iid}' --pcap ''"
        );
    }
}
