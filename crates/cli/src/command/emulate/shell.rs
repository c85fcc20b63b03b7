//! Default COMMAND: the user's shell, with the path in its prompt.

use std::env;
use std::path::Path;

/// Shell if `$SHELL` is unset.
const USUAL: &str = "sh";
/// Number of characters of the path in a prompt.
const SHOWN: usize = 40;

/// Command line that starts the shell.
pub(super) fn words(path: &str) -> Vec<String> {
    let shell = env::var("SHELL").ok().filter(|shell| !shell.is_empty()).unwrap_or_else(|| USUAL.to_owned());
    vec!["env".to_owned(), prompt(&shell, path), shell]
}

/// Environment variable that makes a shell show the path.
fn prompt(shell: &str, path: &str) -> String {
    let is_shown = |c: &char| !c.is_control() && !"\\$`'\"!%".contains(*c);
    let path: String = path.chars().filter(is_shown).take(SHOWN).collect();
    match Path::new(shell).file_name().is_some_and(|name| name == "bash") {
        // Takes effect after bash's start-up files, which set the prompt.
        true => format!("PROMPT_COMMAND=PS1=\"[{path}] $PS1\"; unset PROMPT_COMMAND"),
        false => format!("PS1=[{path}] $ "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_path_is_run_by_the_shell() {
        let line = prompt("/bin/bash", "a`reboot`$(x)'\"\\!b");
        assert_eq!(line, "PROMPT_COMMAND=PS1=\"[areboot(x)b] $PS1\"; unset PROMPT_COMMAND");
        assert_eq!(prompt("dash", "umts"), "PS1=[umts] $ ");
    }
}
