//! Tells the crate of which sources the engine is made, so that a store never takes another engine's run for its own.

use std::fs;
use std::path::{Path, PathBuf};

/// The crates that decide what comes out of a run.
const ENGINE: [&str; 8] = ["base", "wire", "tcp", "net", "middlebox", "engine", "scenario", "sim"];

fn main() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut hash = Fnv::default();
    for name in ENGINE {
        let folder = crates.join(name).join("src");
        println!("cargo::rerun-if-changed={}", folder.display());
        for file in files(&folder) {
            let place = file.strip_prefix(&crates).unwrap_or(&file).to_string_lossy().replace('\\', "/");
            hash.add(place.as_bytes());
            hash.add(&fs::read(&file).unwrap_or_default());
        }
    }
    println!("cargo::rustc-env=LASTHOP_ENGINE={}+{:016x}", env!("CARGO_PKG_VERSION"), hash.0);
}

/// All files below a folder, in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter().flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// FNV-1a (Fowler, Noll, Vo): it tells changes apart, it keeps no secrets.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    /// A part and its end; lines end as they do on every system.
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().filter(|byte| **byte != b'\r').chain(&[0]) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}
