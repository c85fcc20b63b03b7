//! Tests that the embedded object is compiled from its source.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Command;

/// Compiler version of the embedded object; other versions may generate different code.
const COMPILER: &str = "14.0.6";

#[test]
fn the_object_is_built_from_its_source() {
    let Ok(output) = Command::new("clang").arg("-dumpversion").output() else {
        return println!("skipped: clang is not installed");
    };
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if version != COMPILER {
        return println!("skipped: clang is {version}, not {COMPILER}");
    }
    let headers = ["linux/bpf.h", "bpf/bpf_helpers.h"];
    if let Some(absent) = headers.iter().find(|header| !Path::new("/usr/include").join(header).exists()) {
        return println!("skipped: {absent} is not installed");
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir().unwrap();
    let built = folder.path().join("window.o");
    let made = Command::new("make")
        .args(["--silent", "bpf"])
        .arg(format!("BPF_OBJECT={}", built.display()))
        .current_dir(&root)
        .output();
    let Ok(made) = made else { return println!("skipped: make is not installed") };
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let kept = fs::read(root.join("crates/agent/bpf/window.o")).unwrap();
    assert!(fs::read(built).unwrap() == kept, "make bpf");
}
