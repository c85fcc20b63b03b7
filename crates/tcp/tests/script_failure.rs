//! A failing script prints all steps up to the failed step.

mod script;

use script::{Script, Step::*, config};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn a_script_that_fails_tells_every_step_so_far() {
    let mut script = Script::sender(config("sack"));
    let before = script.log.to_string().lines().count();
    script.run([New(1), Tick(100), Ack(2)]);
    let failed = catch_unwind(AssertUnwindSafe(|| {
        script.run([New(2), New(3), New(4), Cwnd(1)]);
    }));
    assert!(failed.is_err());
    let log = script.log.to_string();
    let steps: Vec<&str> = log
        .lines()
        .skip(before)
        .filter_map(|line| line.split_once(", step "))
        .map(|(_, step)| step)
        .collect();
    assert_eq!(
        steps,
        ["0: New(1)", "1: Tick(100)", "2: Ack(2)", "0: New(2)", "1: New(3)", "2: New(4)"],
        "{log}"
    );
    assert!(log.contains("out: bytes 1000..2000"), "{log}");
    assert!(log.contains("in: bytes 0..0 . ack 1000"), "{log}");
    assert!(log.contains("cwnd 2000, "), "{log}");
    assert!(log.trim_end().ends_with("the last step failed"), "{log}");
}
