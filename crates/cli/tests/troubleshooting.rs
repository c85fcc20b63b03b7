//! Error messages name their entry in docs/troubleshooting.md. The tests run the examples of this page.

use std::path::Path;
use std::process::{Command, Output};

const PAGE: &str = include_str!("../../../docs/troubleshooting.md");

/// Runs shell commands in a folder. The name `lasthop` refers to the program under test.
fn shell(lines: &str, folder: &Path) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_lasthop")).parent().expect("a folder").display();
    let path = format!("{program}:{}", std::env::var("PATH").expect("a path"));
    Command::new("sh").args(["-c", lines]).current_dir(folder).env("PATH", path).output().expect("a shell")
}

#[test]
fn the_last_line_of_a_message_names_its_entry() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, set_up) = PAGE.split_once("<!-- set-up\n").expect("the set-up");
    let (set_up, _) = set_up.split_once("-->").expect("the end of the set-up");
    assert!(shell(set_up, folder.path()).status.success());
    let mut judged = 0;
    for section in PAGE.split("\n(troubleshooting-").skip(1) {
        let (name, text) = section.split_once(")=\n").expect("an anchor");
        for block in text.split("```console\n").skip(1) {
            let (block, _) = block.split_once("```").expect("the end of a block");
            let Some(command) = block.strip_prefix("$ ").filter(|_| block.contains("\n  × ")) else {
                continue;
            };
            let command = command.lines().next().expect("a command");
            // The output of these commands depends on the state of the machine.
            if ["lasthop emulate", "lasthop agent", "sudo"].iter().any(|word| command.starts_with(word)) {
                continue;
            }
            let output = shell(command, folder.path());
            let message = String::from_utf8_lossy(&output.stderr);
            let last = message.lines().last().unwrap_or_default().trim_start();
            assert_eq!(
                last,
                format!("more: docs/troubleshooting.md#troubleshooting-{name}"),
                "{command}: {message}"
            );
            judged += 1;
        }
    }
    assert!(judged >= 15, "{judged} examples");
}

/// A message without an entry in the page does not name an entry.
#[test]
fn other_messages_name_no_entry() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = shell("lasthop doctor --format csv", folder.path());
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("doctor has no CSV format") && !message.contains("more:"), "{message}");
}
