//! Runs ns-2 scripts and parses their output.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crosscheck/ns2");

pub(crate) type NsOutput = HashMap<String, f64>;

const ABSENT: &str = "ns-2 is not installed: no program `ns` in PATH\n  help: `apt install ns2` on Debian";

/// Runs a script and parses its output. The last line that consists of pairs of a name and a number is used. Wireless
/// modules of ns-2 print further lines after this line.
///
/// # Errors
/// Fails if `ns` is missing or fails, or if no line consists of pairs of a name and a number.
pub(crate) fn run(script: &str, run: u32, parameters: &[(String, String)]) -> Result<NsOutput, String> {
    let mut command = Command::new("ns");
    command.arg(Path::new(SCRIPTS).join(script)).arg(run.to_string());
    command.args(parameters.iter().flat_map(|(key, value)| [key, value]));
    let output = command.output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => ABSENT.to_owned(),
        _ => format!("ns: {error}"),
    })?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers = text.lines().rev().find_map(numbers).filter(|_| output.status.success());
    numbers.ok_or_else(|| {
        let errors = String::from_utf8_lossy(&output.stderr);
        format!("{command:?} failed:\n{text}{errors}")
    })
}

fn numbers(line: &str) -> Option<NsOutput> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (pairs, rest) = words.as_chunks::<2>();
    let numbers: Option<NsOutput> =
        pairs.iter().map(|[name, value]| Some(((*name).to_owned(), value.parse().ok()?))).collect();
    numbers.filter(|numbers| rest.is_empty() && !numbers.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_names_and_numbers() {
        let read = numbers("goodput_kbps 773.5 timeouts 22").unwrap();
        assert_eq!((read["goodput_kbps"], read["timeouts"]), (773.5, 22.0));
        for line in ["", "timeouts", "timeouts many"] {
            assert_eq!(numbers(line), None, "{line}");
        }
    }
}
