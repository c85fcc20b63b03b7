//! Wrong command lines and files give exit status 2 and a single message. The message has the error, its position and a
//! remedy.

mod common;

use common::{call_in, stderr_of};
use std::path::Path;

const GOOD: &str = "rate=2Mbit/s,rtt=40ms,duration=1s";

const MISTAKES: &[(&[&str], &[&str])] = &[
    (&[], &["Usage"]),
    (&["runn", "umts"], &["runn", "'run'"]),
    (&["run"], &["PATH"]),
    (&["run", "umst"], &["`umst` is neither a scenario file nor a ready path", "did you mean `umts`"]),
    (&["run", "missing.toml"], &["missing.toml", "no such file"]),
    (&["run", "missing/dir/a.toml"], &["missing/dir/a.toml", "no such file"]),
    (&["run", "."], &["`.`", "directory"]),
    (&["run", "folder"], &["`folder`"]),
    (&["run", "folder/"], &["folder/", "it is a directory"]),
    (&["run", "binary.toml"], &["binary.toml", "not a text file", "lasthop show umts"]),
    (&["run", "empty.toml"], &["empty.toml", "there is no link"]),
    (&["run", "broken.toml"], &["broken.toml"]),
    (&["run", ""], &["neither a scenario file nor a ready path"]),
    (&["run", "rate=2Mbut"], &["rate"]),
    (&["run", "rat=2Mbit/s"], &["no key `rat`", "did you mean `rate`"]),
    (&["run", "rate=1e400Mbit/s"], &["link.path.down.rate", "`1e400` is too large a number"]),
    (&["run", "rate=11Tbit/s"], &["11 Tbit/s is too large: at most 10 Tbit/s"]),
    (&["run", "rate=2Mbit/s,channel=two_state"], &["loses nothing", "mean_loss = 0.01"]),
    (&["run", "lte,los=1%"], &["`los`", "did you mean `loss`"]),
    (&["run", "rate=2Mbit/s,rrt=40ms"], &["rrt", "did you mean `rtt`"]),
    (&["run", GOOD, "--runs", "0"], &["--runs", "whole number from 1"]),
    (&["run", GOOD, "--runs", "-3"], &["-3"]),
    (&["run", GOOD, "--runs", "many"], &["many", "--runs", "whole number from 1"]),
    (&["run", GOOD, "--jobs", "0"], &["--jobs", "whole number from 1"]),
    (&["run", GOOD, "--jobs", "1000000"], &["--jobs", "to 1024"]),
    (&["run", GOOD, "--seed", "-1"], &["--seed", "whole number from 0"]),
    (&["run", GOOD, "--seed", "1.5"], &["--seed", "whole number from 0"]),
    (&["run", GOOD, "--seed", "99999999999999999999"], &["--seed", "whole number from 0"]),
    (&["run", GOOD, "--set", "nonsense"], &["nonsense", "expected path=value"]),
    (&["run", GOOD, "--set", "=1"], &["expected path=value"]),
    (&["run", GOOD, "--set", "recovery="], &["`recovery` is not set, so it cannot be removed"]),
    (&["run", GOOD, "--set", "recovry=sack"], &["recovry", "did you mean `recovery`"]),
    (&["run", GOOD, "--set", "recovery=sak"], &["sak", "did you mean `sack`"]),
    (&["run", GOOD, "--set", "duration=5 parsecs"], &["duration", "5 parsecs"]),
    (&["run", GOOD, "--set", "link.wireless.down.rate=1Mbit/s"], &["wireless", "path"]),
    (&["run", GOOD, "--format", "xml"], &["xml", "table", "json", "csv"]),
    (&["run", GOOD, "--pcap", "folder"], &["cannot write `folder`", "the path is a directory"]),
    (
        &["run", GOOD, "--pcap", "missing/a.pcapng"],
        &["the directory `missing` does not exist", "mkdir -p 'missing'"],
    ),
    (&["run", GOOD, "--trace", ".."], &["cannot write `..`", "directory"]),
    (&["run", GOOD, "--trace", ""], &["--trace"]),
    (&["run", GOOD, "--report", "broken.toml/a.html"], &["cannot write `broken.toml/a.html`"]),
    (&["run", GOOD, "--pcap", "a", "--trace", "a"], &["two flags name the same file, `a`"]),
    (&["run", GOOD, "--snap", "100"], &["--pcap"]),
    (&["run", GOOD, "--pcap", "a", "--snap", "0"], &["--snap", "whole number from 1"]),
    (&["run", GOOD, "--frobnicate"], &["--frobnicate"]),
    (&["run", GOOD, "umts"], &["umts"]),
    (&["compare", GOOD], &["--vary"]),
    (&["compare", GOOD, "--vary", "recovery"], &["expected path=a,b,c"]),
    (&["compare", GOOD, "--vary", "recovery=sack,,reno"], &["expected path=a,b,c"]),
    (&["compare", GOOD, "--vary", "recovery=sack,renoo"], &["renoo", "reno"]),
    (&["compare", GOOD, "--vary", "recovery=sack,sack"], &["`sack` is given twice", "each value once"]),
    (&["compare", GOOD, "--vary", "sender=newreno,sak"], &["`sak` is not a mechanism of a sender", "`sack`"]),
    (&["compare", GOOD, "--vary", "seed=1,2"], &["`seed` cannot be varied", "--seed"]),
    (&["compare", GOOD, "--vary", "rtt=1,2", "--vary", "rtt=3,4"], &["`rtt` is varied twice"]),
    (&["compare", GOOD, "--vary", "ack_counting=bytes", "--runs", "0"], &["--runs"]),
    (
        &["compare", GOOD, "--vary", "ack_counting=bytes", "--metric", "goodputt"],
        &["goodput", "expected one of goodput_kbps,", "timeouts", "fairness"],
    ),
    (
        &["compare", GOOD, "--vary", "ack_counting=bytes", "--samples", "a", "--report", "a"],
        &["two flags name the same file, `a`", "--samples, --report"],
    ),
    (
        &["compare", GOOD, "--vary", "ack_counting=bytes", "--samples", "missing/a.csv"],
        &["the directory `missing` does not exist"],
    ),
    (&["reproduce", "hasegava"], &["hasegava", "hasegawa"]),
    (&["reproduce", "hasegwa"], &["did you mean `hasegawa`?"]),
    (&["reproduce", "--jobs", "0"], &["--jobs"]),
    (&["reproduce", "--report", "missing/a.html"], &["the directory `missing` does not exist", "mkdir"]),
    (&["check", "wrong.toml"], &["wrong.toml", "rat", "did you mean `rate`"]),
    (&["check", "trace.toml"], &["a.down", "abc"]),
    (&["show", "wrong.toml"], &["did you mean `rate`"]),
    (&["list", "umtz"], &["umtz"]),
    (&["list", "--format", "yaml"], &["yaml"]),
    (&["schema", "--pretty"], &["--pretty"]),
    (&["bench", "dumbell-1"], &["dumbell-1", "dumbbell-1"]),
    (&["bench", "--format", "xml"], &["xml"]),
];

#[test]
fn every_mistake_is_told_and_none_panics() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path());
    for (arguments, fragments) in MISTAKES {
        let output = call_in(folder.path(), arguments);
        let said = stderr_of(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(!said.contains("panicked"), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty(), "{arguments:?} prints results");
        for fragment in *fragments {
            assert!(said.contains(fragment), "{arguments:?} does not print {fragment:?}:\n{said}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_directory_that_takes_no_files_is_told_from_one_that_is_not_there() {
    let output = common::call(&["run", GOOD, "--samples", "/proc/x.csv"]);
    let said = stderr_of(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("cannot write `/proc/x.csv`: no file can be created in `/proc`"), "{said}");
    assert!(!said.contains("mkdir"), "{said}");
}

#[test]
fn a_key_given_as_a_flag_is_told_how_it_is_set() {
    for (flag, key) in
        [("--duration", "duration"), ("--one-way-delay", "one_way_delay"), ("--recovery", "recovery")]
    {
        let output = common::call(&["run", "umts", flag, "10s"]);
        let said = stderr_of(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(&format!("use --set {key}=10s")) && !said.contains("-- --"), "{said}");
    }
    let said = stderr_of(&common::call(&["run", "umts", "--run", "2"]));
    assert!(said.contains("--runs"), "{said}");
}

/// Suspicious settings give a note; the run continues.
#[test]
fn notes_are_told_and_the_run_goes_on() {
    for (arguments, fragments) in [
        (
            &["run", GOOD, "--runs", "1", "--set", "ecn=true"][..],
            &["note: flow.bulk: ecn = true changes nothing", "link.path.down.queue = \"red\""][..],
        ),
        (
            &["compare", GOOD, "--runs", "1", "--vary", "duration=1s,2s"],
            &["the runs have different lengths", "goodput_kbps"],
        ),
        (&["check", "rate=10Tbit/s,rtt=1ms"], &[]),
        (&["check", "umts", "--set", "duration=9999999s"], &[]),
        (&["check", "starlink,loss=1%"], &[]),
        (&["check", "lte,loss=1%"], &["note: link.wireless.down: `loss` (residual_loss)", "retransmissions"]),
    ] {
        let output = common::call(arguments);
        let said = stderr_of(&output);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {said}");
        assert!(fragments.iter().all(|fragment| said.contains(fragment)), "{arguments:?}: {said}");
        assert_eq!(said.is_empty(), fragments.is_empty(), "{arguments:?}: {said}");
    }
}

#[cfg(unix)]
#[test]
fn arguments_that_are_no_text_are_told() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let odd = OsStr::from_bytes(b"a\xff.toml");
    for before in [&["run"][..], &["run", GOOD, "--set"], &["check"]] {
        let output = common::lasthop().args(before).arg(odd).output().unwrap();
        let said = stderr_of(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("UTF-8") && !said.contains("panicked"), "{said}");
    }
}

/// Messages must not pass on control characters to a terminal.
#[test]
fn control_characters_are_not_repeated() {
    for arguments in
        [&["run", "\u{1b}]0;title\u{7}"][..], &["run", GOOD, "--runs", "\u{1b}[2J"], &["\u{9b}2J"]]
    {
        let output = common::call(arguments);
        assert_eq!(output.status.code(), Some(2));
        let said = stderr_of(&output);
        assert!(!said.contains(|c: char| c.is_control() && c != '\n'), "{said:?}");
    }
}

fn fill(folder: &Path) {
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).unwrap();
    std::fs::create_dir(folder.join("folder")).unwrap();
    write("binary.toml", &[0xff, 0xfe, 0x00, 0x80]);
    write("empty.toml", b"");
    write("broken.toml", b"[link.a\nfrom = ");
    write(
        "wrong.toml",
        b"[link.a]\nfrom = \"x\"\nto = \"y\"\nrat = \"2 Mbit/s\"\n[flow.f]\nfrom = \"x\"\nto = \"y\"\n",
    );
    write(
        "trace.toml",
        b"[link.a]\nfrom = \"x\"\nto = \"y\"\nrate = \"1 Mbit/s\"\n[link.a.down]\ntrace = \"a.down\"\n[flow.f]\nfrom = \"x\"\nto = \"y\"\n",
    );
    write("a.down", b"1\n2\nabc\n");
}
