//! Default command of an emulation: the user's shell, with the path's name in the prompt.

use std::env;
use std::path::Path;

const DEFAULT_SHELL: &str = "sh";
const MAX_PATH_CHARS: usize = 40;

pub(super) fn words(path: &str) -> Vec<String> {
    let shell =
        env::var("SHELL").ok().filter(|shell| !shell.is_empty()).unwrap_or_else(|| DEFAULT_SHELL.to_owned());
    vec!["env".to_owned(), prompt(&shell, path), shell]
}

fn prompt(shell: &str, path: &str) -> String {
    let is_shown = |c: &char| !c.is_control() && !"\\$`'\"!%".contains(*c);
    let path: String = path.chars().filter(is_shown).take(MAX_PATH_CHARS).collect();
    if Path::new(shell).file_name().is_some_and(|name| name == "bash") {
        // bash runs PROMPT_COMMAND after its start-up files, which would overwrite PS1.
        format!("PROMPT_COMMAND=PS1=\"[{path}] $PS1\"; unset PROMPT_COMMAND")
    } else {
        format!("PS1=[{path}] $ ")
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
