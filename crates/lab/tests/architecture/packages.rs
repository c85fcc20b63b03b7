//! Tests that every published crate compiles from its own package. All files that the sources include must be in the
//! package.

use super::metadata;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// Macros and attributes that name a file. The text ends with the opening quotation mark of the name.
const NAMES_A_FILE: [&str; 4] =
    ["include_str!(\"", "include_bytes!(\"", "include_bytes_aligned!(\"", "#[path = \""];

/// Returns the files that a source file includes, relative to the folder of the package.
fn included(source: &Path, text: &str) -> Vec<PathBuf> {
    let below = source.parent().expect("a folder");
    let starts = NAMES_A_FILE.iter().flat_map(|start| text.split(start).skip(1));
    let names = starts.map(|rest| rest.split('"').next().unwrap_or_default());
    names.filter_map(|name| resolved(&below.join(name))).collect()
}

/// Returns the path without `..`. Returns `None` if the path leaves the package.
fn resolved(path: &Path) -> Option<PathBuf> {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.into_iter().collect())
}

#[test]
fn no_source_of_a_package_includes_a_file_outside_the_package() {
    let metadata = metadata(&["--no-deps"]);
    let packages = metadata["packages"].as_array().expect("packages");
    let (mut crates, mut files) = (0, 0);
    for package in packages.iter().filter(|package| package["publish"].is_null()) {
        let name = package["name"].as_str().expect("a name");
        let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
        let output = Command::new(env!("CARGO"))
            .args(["package", "--list", "--allow-dirty", "--offline", "--package", name])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .expect("cargo runs");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let listed: Vec<PathBuf> =
            String::from_utf8(output.stdout).expect("text").lines().map(PathBuf::from).collect();
        let has = |path: &str| listed.iter().any(|listed| listed == Path::new(path));
        for file in ["README.md", "LICENSE-APACHE", "LICENSE-MIT"] {
            assert!(has(file), "{name}: the package has no {file}");
        }
        for source in listed.iter().filter(|path| path.extension().is_some_and(|end| end == "rs")) {
            let text = fs::read_to_string(manifest.with_file_name("").join(source)).expect("a source file");
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            let wanted = included(source, code);
            let count = NAMES_A_FILE.iter().map(|start| code.matches(start).count()).sum::<usize>();
            assert_eq!(
                wanted.len(),
                count,
                "{name}: {} includes a file outside the package",
                source.display()
            );
            for file in wanted {
                assert!(
                    listed.contains(&file),
                    "{name}: {} includes {}, which is not in the package: extend `include` in the workspace's \
                     Cargo.toml",
                    source.display(),
                    file.display()
                );
                files += 1;
            }
        }
        crates += 1;
    }
    assert!(crates > 20 && files > 30, "{crates} crates, {files} files");
}

/// A macro composes the paths of the papers' files. The test above cannot find these paths.
#[test]
fn the_data_crate_of_papers_names_every_file_of_every_paper() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../papers");
    let mut files = 0;
    for entry in fs::read_dir(folder).expect("the papers").flatten().filter(|entry| entry.path().is_dir()) {
        let name = entry.file_name().into_string().expect("a name");
        let (_, within) =
            lasthop_papers::ALL.iter().find(|(paper, _)| *paper == name).unwrap_or_else(|| panic!("{name}"));
        for file in fs::read_dir(entry.path()).expect("a paper").flatten() {
            let file = file.file_name().into_string().expect("a name");
            assert!(within.iter().any(|(known, _)| *known == file), "papers/lib.rs lacks {name}/{file}");
            files += 1;
        }
    }
    assert!(files > 80, "{files}");
}

#[test]
fn every_file_that_names_the_version_names_the_same() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |name: &str| fs::read_to_string(root.join(name)).unwrap_or_else(|why| panic!("{name}: {why}"));
    let version = env!("CARGO_PKG_VERSION");
    assert!(read("CITATION.cff").contains(&format!("\nversion: {version}\n")), "CITATION.cff");
    assert!(read("docs/cite.md").contains(&format!("version = {{{version}}}")), "docs/cite.md");
    assert!(read("CHANGELOG.md").contains(&format!("\n## {version}\n")), "CHANGELOG.md");
    let zenodo: serde_json::Value = serde_json::from_str(&read(".zenodo.json")).expect("JSON");
    assert_eq!(zenodo["version"], version, ".zenodo.json");
    for line in read("Cargo.toml").lines().filter(|line| line.starts_with("lasthop-")) {
        assert!(line.contains(&format!("version = \"{version}\"")), "{line}");
    }
}
