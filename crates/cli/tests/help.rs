//! Output of `list`, `completion` and `man`.

mod common;

use common::{call, call_in, names_in, objects, stderr_of, stdout};
use std::process::Command;

#[test]
fn the_list_fits_a_terminal_of_80_columns_and_has_everything() {
    let entries = objects(&stdout(&["list", "--format", "json"]));
    let mut kinds: Vec<&str> = entries.iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    kinds.dedup();
    let (short, text) = (stdout(&["list"]), stdout(&[&["list"], &kinds[..]].concat()));
    for line in short.lines().chain(text.lines()) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    // The list has one line for each entry, one line for each kind, an empty line, and a hint.
    assert_eq!(short.lines().count(), entries.len() + kinds.len() + 2);
    // Lines break only between words, so the joined text contains every summary and every source unchanged.
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let whole = plain(&text);
    for entry in entries {
        let beginning = format!("  {} ", entry["name"].as_str().unwrap());
        assert!(short.contains(&beginning), "{beginning}");
        let told = |key: &str| plain(entry[key].as_str().unwrap());
        let line = format!("{} {} {}", told("name"), told("summary"), told("source"));
        assert!(whole.contains(&line), "{line}");
    }
}

#[test]
fn the_list_takes_kinds_names_and_texts() {
    let kinds = |words: &[&str]| -> Vec<String> {
        let arguments: Vec<&str> = ["list", "--format", "json"].iter().chain(words).copied().collect();
        let entries = objects(&stdout(&arguments));
        entries.iter().map(|entry| format!("{} {}", entry["kind"], entry["name"]).replace('"', "")).collect()
    };
    assert_eq!(kinds(&["sack"]), ["recovery sack", "recovery sack1", "middlebox snoop_sack"]);
    assert!(kinds(&["queue"]).iter().all(|line| line.starts_with("queue ")));
    // The entries have no duplicates and keep the order of the complete list.
    assert_eq!(
        kinds(&["lte", "cubic", "LTE"]),
        [
            "congestion cubic",
            "path lte",
            "path lte-edge",
            "path lte-am",
            "path lte-handover",
            "path lte-fading"
        ]
    );
    let unknown = call(&["list", "quue"]);
    assert_eq!(unknown.status.code(), Some(2));
    let said = stderr_of(&unknown);
    assert!(
        said.contains("`quue`") && said.contains("did you mean `queue`") && said.contains("recovery"),
        "{said}"
    );
}

/// Hidden commands such as `tidy` are not suggested.
#[test]
fn an_unknown_topic_lists_what_users_call() {
    let unknown = call(&["help", "tidi"]);
    assert_eq!(unknown.status.code(), Some(2));
    let said = stderr_of(&unknown);
    assert!(said.contains("unknown command or topic `tidi`") && said.contains("topologies"), "{said}");
    assert!(!said.contains("tidy"), "{said}");
}

fn completed(words: &[&str]) -> Option<String> {
    let script = stdout(&["completion", "bash"]);
    let call = format!(
        "{script}\nCOMP_WORDS=({}); COMP_CWORD={}; _lasthop lasthop '{}' '{}'; echo \"${{COMPREPLY[@]}}\"",
        words.join(" "),
        words.len() - 1,
        words[words.len() - 1],
        words[words.len() - 2],
    );
    let output = Command::new("bash").args(["--norc", "-c", &call]).output().ok()?;
    assert!(output.status.success(), "{}", stderr_of(&output));
    Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

#[test]
fn bash_completes_commands_flags_and_names() {
    for (words, offered) in [
        (&["lasthop", "rep"][..], "reproduce"),
        (&["lasthop", "reproduce", "hase"], "hasegawa"),
        (&["lasthop", "bench", "dumbbell-100"], "dumbbell-100 dumbbell-1000"),
        (&["lasthop", "run", "--repo"], "--report"),
        (&["lasthop", "list", "--format", "j"], "json"),
    ] {
        match completed(words) {
            Some(completed) => assert_eq!(completed, offered, "{words:?}"),
            None => println!("skipped: bash is not installed"),
        }
    }
}

#[test]
fn zsh_and_fish_have_scripts_that_know_every_command() {
    for (shell, first) in [("zsh", "#compdef lasthop"), ("fish", "#")] {
        let script = stdout(&["completion", shell]);
        assert!(script.starts_with(first), "{shell}");
        for command in ["run", "compare", "reproduce", "list", "emulate", "man"] {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
    assert_eq!(call(&["completion", "tcsh"]).status.code(), Some(2));
}

#[test]
fn manual_pages_are_there_for_all_commands() {
    let page = stdout(&["man"]);
    assert!(page.contains(".TH lasthop 1") && page.contains(".SH SYNOPSIS"), "{page}");
    let page = stdout(&["man", "agent", "measure"]);
    assert!(page.contains("lasthop\\-agent\\-measure") || page.contains("lasthop-agent-measure"), "{page}");
    assert!(page.contains("\\-\\-window"), "{page}");
    let folder = tempfile::tempdir().unwrap();
    let written = call_in(folder.path(), &["man", "--dir", "man1"]);
    assert_eq!(written.status.code(), Some(0), "{}", stderr_of(&written));
    let names = names_in(&folder.path().join("man1"));
    for name in ["lasthop.1", "lasthop-run.1", "lasthop-agent-measure.1"] {
        assert!(names.iter().any(|known| known == name), "{name}: {names:?}");
    }
    let unknown = call(&["man", "rnu"]);
    assert!(unknown.status.code() == Some(2) && stderr_of(&unknown).contains("commands: run"));
}
