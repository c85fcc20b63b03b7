//! Computes the engine's name, a hash of all sources that determine the result of a run.

use std::fs;
use std::path::{Path, PathBuf};

/// Crates that determine the result of a run.
pub const CRATES: [&str; 8] = ["base", "wire", "tcp", "net", "middlebox", "engine", "scenario", "sim"];

/// The source folders of all [`CRATES`], next to this crate's folder: `../tcp` in the repository, `../lasthop-tcp`
/// among vendored packages, `../lasthop-tcp-VERSION` in a registry's folder.
///
/// # Errors
/// Returns the name of a crate whose sources are in none of these folders.
pub fn sources(here: &Path, version: &str) -> Result<Vec<PathBuf>, &'static str> {
    let find = |name: &&'static str| {
        let beside = here.parent().unwrap_or(here);
        let names = [(*name).to_owned(), format!("lasthop-{name}"), format!("lasthop-{name}-{version}")];
        let mut folders = names.iter().map(|folder| beside.join(folder).join("src"));
        folders.find(|folder| folder.join("lib.rs").is_file()).ok_or(*name)
    };
    CRATES.iter().map(find).collect()
}

/// A hash of all files in these folders, one folder for each crate. The paths of the folders do not affect the hash.
pub fn hashed(folders: &[PathBuf]) -> String {
    let mut hash = Fnv::default();
    for (name, folder) in CRATES.iter().zip(folders) {
        hash.add(name.as_bytes());
        for file in files(folder) {
            let place = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy().replace('\\', "/");
            hash.add(place.as_bytes());
            hash.add(&fs::read(&file).unwrap_or_else(|why| panic!("cannot read {}: {why}", file.display())));
        }
    }
    format!("{:016x}", hash.0)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter().flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The hash FNV-1a (Fowler, Noll, Vo), which is not cryptographic.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    /// Adds a part and an end mark. Carriage returns are left out, so that line ends do not matter.
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().filter(|byte| **byte != b'\r').chain(&[0]) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}
