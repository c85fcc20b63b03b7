//! Assertions as JUnit XML for continuous integration. Each assertion is a test case.

use super::{BoundStatus, CheckedBound};
use std::fmt::Write;

/// Returns XML with one test suite named `suite`. An open assertion is a failure of type `open`.
pub fn xml(suite: &str, checked: &[CheckedBound]) -> String {
    let failures = checked.iter().filter(|one| one.status != BoundStatus::Holds).count();
    let (suite, tests) = (escaped(suite), checked.len());
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\"");
    let mut text = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n");
    let _ = writeln!(text, "  <testsuite name=\"{suite}\" {counts} skipped=\"0\">");
    for one in checked {
        let name = escaped(&one.written);
        let line = escaped(&one.line());
        let _ = write!(text, "    <testcase classname=\"{suite}\" name=\"{name}\"");
        let _ = match one.status {
            BoundStatus::Holds => writeln!(text, ">\n      <system-out>{line}</system-out>\n    </testcase>"),
            BoundStatus::Fails => {
                writeln!(text, ">\n      <failure type=\"fails\" message=\"{line}\"/>\n    </testcase>")
            }
            BoundStatus::Open => {
                writeln!(text, ">\n      <failure type=\"open\" message=\"{line}\"/>\n    </testcase>")
            }
        };
    }
    text + "  </testsuite>\n</testsuites>\n"
}

/// Escapes text for XML 1.0 (§2.2, §2.4). Markup characters become entities, and control characters become spaces.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assertion::Assertion;

    #[test]
    fn each_assertion_is_a_case_and_signs_are_escaped() {
        let checked = ["goodput > 5 Mbit/s", "mean_rtt < 100 ms"]
            .map(|text| Assertion::parse(text).ok().unwrap().bound.check(&[Some(80.0)], true));
        let text = xml("lasthop run \"a&b\"\u{1}", &checked);
        assert!(text.contains("<testsuites tests=\"2\" failures=\"1\" errors=\"0\">"), "{text}");
        assert!(text.contains("name=\"goodput &gt; 5 Mbit/s\">\n      <failure type=\"fails\""), "{text}");
        assert!(text.contains("name=\"mean_rtt &lt; 100 ms\">\n      <system-out>"), "{text}");
        assert!(text.contains("lasthop run &quot;a&amp;b&quot; "), "{text}");
    }
}
