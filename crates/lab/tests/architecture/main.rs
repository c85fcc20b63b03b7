//! Tests of rules in ARCHITECTURE.md and README.md. Crates may import each other only as ARCHITECTURE.md describes.
//! README.md must name the oldest supported Rust version. `names` tests that no code compares with the name of a
//! mechanism.

mod names;
mod packages;

use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// Name of each crate, and the crates of the workspace that it may import.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("sources", &[]),
    ("scenarios", &[]),
    ("papers", &[]),
    ("base", &["sources"]),
    ("wire", &["base", "sources"]),
    ("stack", &["base", "wire", "sources"]),
    ("quic", &["base", "wire", "tcp", "stack", "sources"]),
    ("tcp", &["base", "wire", "sources"]),
    ("net", &["base", "wire", "sources"]),
    ("capture", &["base", "wire"]),
    ("host", &["base", "wire", "tcp"]),
    ("os", &["base"]),
    ("agent", &["base", "wire", "tcp", "os"]),
    ("emu", &["base", "wire", "tcp", "host", "os", "engine", "capture"]),
    ("middlebox", &["base", "wire", "tcp", "sources"]),
    ("engine", &["base", "wire", "stack", "net", "tcp", "middlebox", "sources"]),
    ("scenario", &["base", "stack", "net", "tcp", "middlebox", "scenarios", "sources"]),
    (
        "sim",
        &[
            "base",
            "wire",
            "stack",
            "quic",
            "net",
            "tcp",
            "middlebox",
            "engine",
            "scenario",
            "capture",
            "sources",
        ],
    ),
    ("import", &["base"]),
    ("record", &["base", "os"]),
    ("stats", &[]),
    ("charts", &["base", "wire", "tcp", "engine", "scenario", "sim", "stats"]),
    (
        "lab",
        &["base", "wire", "net", "tcp", "engine", "scenario", "capture", "sim", "stats", "charts", "papers"],
    ),
    ("page", &["base", "wire", "net", "tcp", "engine", "scenario", "sim", "stats", "charts"]),
    ("sweep", &["lab", "scenario", "sim"]),
    ("python", &["base", "wire", "stack", "tcp", "net", "engine", "scenario", "sim", "lab", "sweep"]),
    (
        "",
        &[
            "base", "wire", "net", "tcp", "host", "os", "emu", "agent", "engine", "scenario", "capture",
            "sim", "lab", "import", "record", "sweep",
        ],
    ),
];

fn metadata(arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline"])
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo prints JSON")
}

#[test]
fn imports_go_one_way() {
    let metadata = metadata(&["--no-deps"]);
    let mut packages = metadata["packages"].as_array().expect("packages").clone();
    packages.retain(|package| package["name"].as_str().is_some_and(|name| name.starts_with("lasthop")));
    assert_eq!(
        packages.len(),
        MAY_IMPORT.len(),
        "the list of crates in this test (and in ARCHITECTURE.md) must have all crates"
    );
    for package in &packages {
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

/// Returns every crate in the package's dependency tree, with the crate's features.
fn features(package: &str) -> BTreeMap<String, String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--edges", "normal,build", "--prefix", "none", "--format", "{p}|{f}"])
        .args(["--package", package])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let listed = String::from_utf8(output.stdout).expect("text");
    listed
        .lines()
        .filter_map(|line| line.trim_end_matches(" (*)").split_once('|'))
        .map(|(name, features)| (name.to_string(), features.to_string()))
        .collect()
}

// If a crate has different features in the command and in the Python extension, the crate and its dependents are
// compiled twice. The second compilation takes minutes in each wheel build.
#[test]
fn the_command_and_the_extension_are_built_from_the_same_crates() {
    let (command, extension) = (features("lasthop"), features("lasthop-python"));
    for (name, wanted) in &command {
        if let Some(other) = extension.get(name) {
            assert_eq!(
                wanted, other,
                "{name}: the features in the command (left) and in the Python extension (right) differ; add the \
                 missing features in crates/cli/Cargo.toml or crates/python/Cargo.toml"
            );
        }
    }
    assert!(command.keys().any(|name| name.starts_with("lasthop-sim ")), "{command:?}");
}

#[test]
fn no_dependency_needs_a_newer_rust_than_we_say() {
    let told = Command::new("rustc").arg("-vV").output().expect("rustc runs").stdout;
    let told = String::from_utf8(told).expect("text");
    let host = told.lines().find_map(|line| line.strip_prefix("host: ")).expect("the host's name");
    let metadata = metadata(&["--filter-platform", host]);
    let packages = metadata["packages"].as_array().expect("packages");
    let version = |package: &Value| -> Vec<u32> {
        let text = package["rust_version"].as_str().unwrap_or("0");
        text.split('.').map(|part| part.parse().expect("a number")).collect()
    };
    let is_ours = |package: &&Value| package["source"].is_null();
    let ours = version(packages.iter().find(is_ours).expect("a package of ours"));
    assert!(packages.iter().filter(is_ours).all(|package| version(package) == ours));
    let mut newer = packages.iter().filter(|package| {
        let mut needed = version(package);
        needed.truncate(ours.len());
        needed > ours
    });
    if let Some(package) = newer.next() {
        panic!(
            "{} needs Rust {}: raise `rust-version` in Cargo.toml",
            package["name"], package["rust_version"]
        );
    }
    let said = format!("Rust toolchain ({}.{} or later)", ours[0], ours[1]);
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = std::fs::read_to_string(readme).expect("README.md");
    assert!(readme.contains(&said), "README.md does not contain: {said}");
}

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
                assert!(
                    !text.contains(&format!("crate::{other}")),
                    "{} must not use crate::{other}",
                    path.display()
                );
            }
        }
        assert!(files > 5);
    }
}

/// Returns the top-level modules that a source file names as `crate::NAME` or `crate::{NAME, …}`.
fn named(text: &str) -> Vec<String> {
    let code =
        text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let word = |text: &str| text.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let names = code.split("crate::").skip(1).flat_map(|rest| match rest.strip_prefix('{') {
        Some(list) => {
            list.split('}').next().unwrap_or_default().split(',').map(word).collect::<Vec<String>>()
        }
        None => vec![word(rest)],
    });
    names.collect()
}

#[test]
fn the_modules_of_net_have_no_circle() {
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../net/src");
    let mut modules: Vec<(String, String)> = Vec::new();
    let mut folders = vec![source.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let below = path.strip_prefix(&source).expect("below it");
            let module = below.iter().next().and_then(|part| part.to_str()).expect("a name");
            modules.push((
                module.trim_end_matches(".rs").to_owned(),
                std::fs::read_to_string(&path).expect("text"),
            ));
        }
    }
    modules.retain(|(module, _)| module != "lib");
    // An item that `lib.rs` re-exports counts as an item of its defining module.
    let home = |name: String| match name.as_str() {
        "Config" | "Line" | "Link" | "Passage" => "link".to_owned(),
        "Element" | "Output" => "element".to_owned(),
        _ => name,
    };
    assert!(modules.len() > 20);
    let one_room = ["discipline", "admission", "queue"];
    let mut uses: Vec<(String, String)> = Vec::new();
    for (module, text) in modules {
        uses.extend(named(&text).into_iter().map(|name| (module.clone(), home(name))));
    }
    uses.retain(|(one, other)| one != other && !(one_room.contains(&&**one) && one_room.contains(&&**other)));
    for (module, _) in &uses {
        let mut reached = vec![module];
        let mut at = 0;
        while let Some(from) = reached.get(at).copied() {
            for (_, to) in uses.iter().filter(|(one, _)| one == from) {
                assert_ne!(to, module, "cyclic imports through module `{from}`");
                if !reached.contains(&to) {
                    reached.push(to);
                }
            }
            at += 1;
        }
    }
}
