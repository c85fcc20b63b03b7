//! Different engines have different names, and the name does not depend on the folder of the build.

#[path = "../build/engine.rs"]
mod engine;

use engine::{CRATES, hashed, sources};
use lasthop_sweep::digest::ENGINE;
use std::fs;
use std::path::{Path, PathBuf};

type Layout = fn(&str) -> String;

/// Creates packages with one source file each. Returns the path of the package lasthop-sweep.
fn packages(folder: &Path, name: impl Fn(&str) -> String, sim: &str) -> PathBuf {
    for one in CRATES {
        let source = folder.join(name(one)).join("src");
        fs::create_dir_all(&source).expect("a folder");
        fs::write(source.join("lib.rs"), if one == "sim" { sim } else { "pub fn same() {}" })
            .expect("a file");
    }
    let here = folder.join(name("sweep"));
    fs::create_dir_all(&here).expect("a folder");
    here
}

#[test]
fn the_same_sources_have_the_same_name_in_every_layout() {
    let folder = tempfile::tempdir().expect("a directory");
    let layouts: [(&str, Layout); 3] = [
        ("repository", |name| name.to_owned()),
        ("vendored", |name| format!("lasthop-{name}")),
        ("registry", |name| format!("lasthop-{name}-0.1.0")),
    ];
    let named = |layout: &str, name: Layout, sim: &str| {
        let here = packages(&folder.path().join(layout), name, sim);
        hashed(&sources(&here, "0.1.0").expect("all sources"))
    };
    let names = layouts.map(|(layout, name)| named(layout, name, "one"));
    assert_eq!(names[0], names[1]);
    assert_eq!(names[0], names[2]);
    for (layout, name) in layouts {
        assert_ne!(
            named(layout, name, "another"),
            names[0],
            "{layout}: a different engine has a different name"
        );
    }
}

#[test]
fn sources_that_are_missing_are_told() {
    let folder = tempfile::tempdir().expect("a directory");
    let here = packages(folder.path(), |name| format!("lasthop-{name}-0.1.0"), "one");
    // A different version is a different engine, whose sources are in different folders.
    assert_eq!(sources(&here, "0.1.1"), Err("base"));
    fs::remove_dir_all(folder.path().join("lasthop-net-0.1.0")).expect("removed");
    assert_eq!(sources(&here, "0.1.0"), Err("net"));
    assert_eq!(sources(&folder.path().join("elsewhere").join("sweep"), "0.1.0"), Err("base"));
}

#[test]
fn this_build_is_named_by_its_sources() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let version = env!("CARGO_PKG_VERSION");
    let name = hashed(&sources(here, version).expect("the repository's crates"));
    assert_eq!(ENGINE, format!("{version}+{name}"));
}
