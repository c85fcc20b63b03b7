//! What runs where no COMMAND is given: the user's shell, whose prompt shows the path.

use std::env;
use std::path::Path;

/// Where the user has none.
const USUAL: &str = "sh";
/// Characters of the path that a prompt shows.
const SHOWN: usize = 40;

/// The words that start it.
pub(super) fn words(path: &str) -> Vec<String> {
    let shell = env::var("SHELL").ok().filter(|shell| !shell.is_empty()).unwrap_or_else(|| USUAL.to_owned());
    vec!["env".to_owned(), prompt(&shell, path), shell]
}

/// The variable that has a shell show the path.
fn prompt(shell: &str, path: &str) -> String {
    let is_shown = |c: &char| !c.is_control() && !"\\$`'\"!%".contains(*c);
    let path: String = path.chars().filter(is_shown).take(SHOWN).collect();
    match Path::new(shell).file_name().is_some_and(|name| name == "bash") {
        // After its own start-up files, which set the prompt.
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
