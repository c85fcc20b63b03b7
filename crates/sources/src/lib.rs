//! Hash of a crate's sources. The hashes of all crates of the simulator identify its version, so that a store never
//! mixes runs of different versions. Each crate hashes its own files, so that the hash is the same in the repository,
//! in a package, and in a folder of vendored crates.

use proc_macro::{Literal, TokenStream, TokenTree};
use std::path::Path;
use std::{env, fs};

/// Expands to a string of 16 hexadecimal digits: a hash of all files in the folder `src` of the calling crate.
///
/// The compiler expands the macro in each compilation, so that the hash belongs to the compiled sources.
///
/// # Errors
/// Compilation fails if the folder is absent, empty or cannot be read.
#[proc_macro]
pub fn hash(_: TokenStream) -> TokenStream {
    let folder = env::var("CARGO_MANIFEST_DIR").map(|folder| Path::new(&folder).join("src"));
    match folder.map_err(|why| why.to_string()).and_then(|folder| hashed(&folder)) {
        Ok(hash) => TokenTree::from(Literal::string(&hash)).into(),
        Err(why) => format!("compile_error!({why:?})").parse().unwrap_or_default(),
    }
}

/// Hashes paths and contents of all files in a folder. The folder's own path does not affect the hash.
///
/// # Errors
/// A message, if a file cannot be read or the folder has no files.
fn hashed(folder: &Path) -> Result<String, String> {
    let mut hash = Fnv::default();
    add(folder, "", &mut hash)?;
    if hash.0 == Fnv::default().0 {
        return Err(format!("the folder {} has no files", folder.display()));
    }
    Ok(format!("{:016x}", hash.0))
}

fn add(folder: &Path, prefix: &str, hash: &mut Fnv) -> Result<(), String> {
    let failed = |why| format!("cannot read {}: {why}", folder.display());
    let mut entries = fs::read_dir(folder).map_err(failed)?.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if path.is_dir() {
            add(&path, &format!("{name}/"), hash)?;
        } else {
            hash.add(name.as_bytes());
            hash.add(&fs::read(&path).map_err(|why| format!("cannot read {}: {why}", path.display()))?);
        }
    }
    Ok(())
}

/// The hash FNV-1a (Fowler, Noll, Vo), which is not cryptographic.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    /// Adds bytes and a terminating zero byte. Leaves out carriage returns, so that line ends have no effect.
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().filter(|byte| **byte != b'\r').chain(&[0]) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        folder
    }

    fn of(files: &[(&str, &str)]) -> String {
        hashed(folder(files).path()).expect("a hash")
    }

    #[test]
    fn the_hash_depends_on_names_and_contents_alone() {
        let one = of(&[("lib.rs", "mod a;\n"), ("a/mod.rs", "")]);
        assert_eq!(one, of(&[("a/mod.rs", ""), ("lib.rs", "mod a;\n")]), "the folder must not matter");
        assert_eq!(one, of(&[("lib.rs", "mod a;\r\n"), ("a/mod.rs", "")]), "line ends must not matter");
        assert_ne!(one, of(&[("lib.rs", "mod b;\n"), ("a/mod.rs", "")]), "contents must matter");
        assert_ne!(one, of(&[("lib.rs", "mod a;\n"), ("b/mod.rs", "")]), "names must matter");
        assert_ne!(one, of(&[("lib.rs", "mod a;\n")]), "the set of files must matter");
        assert_eq!(one.len(), 16);
    }

    /// The expected value is the hash of one zero byte (reference's test vector "\0"), because `add` appends a zero
    /// byte to the empty input.
    #[test]
    fn the_hash_is_fnv_1a() {
        let mut hash = Fnv::default();
        hash.add(b"");
        assert_eq!(hash.0, 0xaf63_bd4c_8601_b7df);
    }

    #[test]
    fn an_empty_or_absent_folder_is_an_error() {
        let empty = folder(&[]);
        let why = hashed(empty.path()).expect_err("no files");
        assert!(why.ends_with("has no files"), "{why}");
        let why = hashed(&empty.path().join("absent")).expect_err("no folder");
        assert!(why.starts_with("cannot read "), "{why}");
    }
}
