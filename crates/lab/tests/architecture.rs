//! The direction of imports that ARCHITECTURE.md promises.

use std::process::Command;

/// Each crate and what it may import of ours.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("wire", &["base"]),
    ("tcp", &["base", "wire"]),
    ("net", &["base", "wire"]),
    ("capture", &["base", "wire"]),
    ("host", &["base", "wire", "tcp"]),
    ("agent", &["base", "wire", "tcp", "emu"]),
    ("emu", &["base", "wire", "tcp", "host", "engine", "capture"]),
    ("engine", &["base", "wire", "net", "tcp"]),
    ("scenario", &["base", "net", "tcp"]),
    ("sim", &["base", "wire", "net", "tcp", "engine", "scenario", "capture"]),
    ("lab", &["base", "wire", "net", "tcp", "engine", "scenario", "capture", "sim"]),
    (
        "",
        &[
            "base", "wire", "net", "tcp", "host", "emu", "agent", "engine", "scenario", "capture", "sim",
            "lab",
        ],
    ),
];

#[test]
fn imports_go_one_way() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    assert_eq!(
        packages.len(),
        MAY_IMPORT.len(),
        "a crate is missing from this test and from ARCHITECTURE.md"
    );
    for package in packages {
        let name = package["name"].as_str().expect("a name");
        let short = name.strip_prefix("lasthop").expect("ours").trim_start_matches('-');
        let (_, allowed) =
            MAY_IMPORT.iter().find(|(known, _)| *known == short).unwrap_or_else(|| panic!("{name}"));
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let is_for_tests = dependency["kind"] == "dev";
            let Some(ours) = dependency["name"].as_str().and_then(|name| name.strip_prefix("lasthop-"))
            else {
                continue;
            };
            assert!(is_for_tests || allowed.contains(&ours), "{name} must not import lasthop-{ours}");
        }
    }
}

/// Inside tcp, the two halves know each other no more than tcp knows net.
#[test]
fn sender_and_receiver_never_meet() {
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tcp/src");
    for (half, other) in [("sender", "receiver"), ("receiver", "sender")] {
        let mut folders = vec![source.join(half)];
        let mut files = 0;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                files += 1;
                let text = std::fs::read_to_string(&path).expect("a source file");
                assert!(!text.contains(&format!("crate::{other}")), "{} knows the {other}", path.display());
            }
        }
        assert!(files > 5);
    }
}
