//! Files that a run writes with `--out`.

use crate::common::{names_in, stderr_of};
use crate::traffic::{client, server};
use crate::{emulate, is_possible};
use std::fs;
use std::process::Command;

#[test]
fn a_folder_gets_summary_capture_and_report() {
    if !is_possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let output = emulate(&[
        "rate=5Mbit/s,rtt=40ms,queue=20packets,loss=1%",
        "--out",
        out.to_str().unwrap(),
        "--format",
        "json",
        "--server",
        &server("cubic"),
        "--",
        "sh",
        "-c",
        &client("{server}", 3.0),
    ]);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", stderr_of(&output));
    assert_eq!(names_in(&out), ["capture.pcapng", "report.html", "summary.json"]);

    let text = fs::read_to_string(out.join("summary.json")).unwrap();
    assert_eq!(text.lines().count(), 1);
    let summary: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(summary, crate::summary(&output));
    for key in ["p50", "p99", "max"] {
        assert!(summary["lateness_us"][key].as_f64().unwrap() > 0.0);
    }
    let lost: u64 =
        ["queue_full", "channel"].iter().map(|why| summary["lost"]["down"][why].as_u64().unwrap()).sum();
    assert!(lost > 0, "{summary}");

    // For each loss, the capture has a comment that gives the cause.
    let capture = fs::read(out.join("capture.pcapng")).unwrap();
    let comments = ["lost on path down: queue_full", "lost on path down: channel"];
    let found: usize = comments.iter().map(|comment| occurrences(&capture, comment.as_bytes())).sum();
    assert_eq!(found as u64, lost);

    let report = fs::read_to_string(out.join("report.html")).unwrap();
    for title in
        ["congestion window", "round-trip time", "retransmissions", "Queue lengths", "Losses by cause"]
    {
        assert!(report.contains(title), "no {title}");
    }
    // The server listens on IPv6 and IPv4. IPv4 addresses are shown as IPv4, not as IPv4-mapped IPv6 addresses.
    assert!(
        report.contains("server, 198.18.0.1:5001 to 198.18.0.2:"),
        "the report has no figures of the server's connection"
    );
}

/// The files of `--out` have well-known names. Other users may have created symlinks of these names in the folder.
#[test]
fn a_link_with_a_files_name_is_replaced_not_followed() {
    if !is_possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let treasure = folder.path().join("treasure");
    fs::write(&treasure, "root's own\n").unwrap();
    let out = folder.path().join("run");
    fs::create_dir(&out).unwrap();
    let names = ["summary.json", "report.html", "capture.pcapng"].map(|name| out.join(name));
    for name in &names {
        std::os::unix::fs::symlink(&treasure, name).unwrap();
    }
    let shown = out.to_str().unwrap();
    let output = emulate(&[crate::CLEAN, "--out", shown, "--server", "exec sleep 1000", "--", "true"]);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", stderr_of(&output));
    assert_eq!(fs::read_to_string(&treasure).unwrap(), "root's own\n");
    assert!(names.iter().all(|name| fs::symlink_metadata(name).unwrap().is_file()));
}

/// Root refuses a symlink of another user, because the symlink could redirect root's output. Root follows its own
/// symlink.
#[test]
fn root_follows_no_link_of_another_user_s() {
    if !is_possible() || !nix::unistd::geteuid().is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let treasure = at("treasure");
    fs::write(&treasure, "root's own\n").unwrap();
    let planted = |name: &str, to: &std::path::Path, owner: u32| {
        std::os::unix::fs::symlink(to, at(name)).unwrap();
        std::os::unix::fs::lchown(at(name), Some(owner), None).unwrap();
    };
    planted("link", &treasure, 65534);
    // A folder within the path may also be a symlink.
    planted("folder", folder.path(), 65534);
    let (link, within) = (at("link"), at("folder/new"));
    for flag in ["--pcap", "--json", "--watch", "--summary"] {
        for name in [&link, &within] {
            let words =
                [crate::CLEAN, flag, name.to_str().unwrap(), "--server", "exec sleep 10", "--", "true"];
            let output = emulate(&words);
            let said = stderr_of(&output);
            assert_eq!(output.status.code(), Some(2), "{flag}: {said}");
            assert!(said.contains("is a symlink of another user (UID 65534)"), "{flag}: {said}");
        }
    }
    assert_eq!(fs::read_to_string(&treasure).unwrap(), "root's own\n");
    assert!(!at("new").exists());
    planted("own", &treasure, 0);
    let own = at("own");
    let words = ["--watch", own.to_str().unwrap(), "--server", "exec sleep 10", "--", "true"];
    let output = emulate(&[&[crate::CLEAN][..], &words].concat());
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", stderr_of(&output));
    assert_ne!(fs::read_to_string(&treasure).unwrap(), "root's own\n");
}

/// The capture does not fit on a disk of 64 kB. The command runs to its end nevertheless, and the summary is printed.
#[test]
fn a_full_disk_ends_no_run() {
    if !is_possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().to_str().unwrap();
    let ran = |words: &[&str]| Command::new(words[0]).args(&words[1..]).status().is_ok_and(|it| it.success());
    if !ran(&["mount", "-t", "tmpfs", "-o", "size=64k", "lasthop-test", disk]) {
        eprintln!("skipped: nothing can be mounted here");
        return;
    }
    let (serve, call) = (server("cubic"), client("{server}", 2.0));
    let file = folder.path().join("run.pcapng");
    let way = ["rate=5Mbit/s,rtt=40ms", "--pcap", file.to_str().unwrap(), "--format", "json"];
    let output = emulate(&[&way[..], &["--server", &serve, "--", "sh", "-c", &call]].concat());
    let left = names_in(folder.path());
    assert!(ran(&["umount", disk]));
    let said = stderr_of(&output);
    assert!(said.contains("cannot write the capture") && output.status.code() == Some(1), "{said}");
    // About 40 packets fit on the disk, so a count above 200 shows that the run continued after the disk was full.
    assert!(crate::summary(&output)["packets"]["down"].as_u64().unwrap() > 200, "{said}");
    assert!(left.is_empty(), "a partial capture is left: {left:?}");
}

fn occurrences(text: &[u8], word: &[u8]) -> usize {
    text.windows(word.len()).filter(|window| *window == word).count()
}
