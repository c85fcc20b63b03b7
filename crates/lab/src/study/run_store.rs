//! Store of finished runs on disk. After an interruption, the next start of a reproduction reuses the stored runs.
//!
//! Each build of the program has one file. Each line of the file is one run: the run's key, and the bits of the run's
//! metrics. The key is a digest of everything that determines the run. Each finished run is appended as one line;
//! incomplete lines are skipped. The store never reports an error. A run that cannot be read or written is executed
//! again.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Largest number of files in the folder. Each file belongs to one build of the program. If more files exist, the
/// oldest files are removed.
const MAX_FILES: usize = 6;

/// Metrics of a run. A metric is `None` if it is undefined.
pub type Values = Vec<Option<f64>>;

/// Store of finished runs.
#[derive(Debug, Default)]
pub struct RunStore {
    known: BTreeMap<String, Values>,
    file: Option<Mutex<File>>,
}

#[derive(Serialize, Deserialize)]
struct StoredRun {
    key: String,
    bits: Vec<Option<u64>>,
}

impl RunStore {
    /// Returns a store without a file. This store has no runs and stores none.
    pub fn none() -> RunStore {
        RunStore::default()
    }

    /// Opens the store in this folder, with the stored runs of this build of the program.
    pub fn open(folder: &Path) -> RunStore {
        let Some(path) = engine().map(|engine| folder.join(format!("{engine}.jsonl"))) else {
            return RunStore::none();
        };
        if fs::create_dir_all(folder).is_err() {
            return RunStore::none();
        }
        prune(folder, &path);
        let text = fs::read_to_string(&path).unwrap_or_default();
        let read = |line: &str| serde_json::from_str::<StoredRun>(line).ok();
        let values = |line: StoredRun| {
            (line.key, line.bits.into_iter().map(|bits| bits.map(f64::from_bits)).collect())
        };
        let known = text.lines().filter_map(read).map(values).collect();
        let mut file = OpenOptions::new().create(true).append(true).open(&path).ok();
        // If the last line is incomplete, a newline separates the next line from it.
        if !text.is_empty() && !text.ends_with('\n') {
            file = file.and_then(|mut file| file.write_all(b"\n").ok().map(|()| file));
        }
        RunStore { known, file: file.map(Mutex::new) }
    }

    /// Returns the number of runs that the store had when it was opened.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether the store had no runs when it was opened.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Returns the metrics of a run that was in the store when it was opened.
    pub fn find(&self, key: &str) -> Option<&Values> {
        self.known.get(key)
    }

    /// Appends a finished run to the file.
    pub fn insert(&self, key: &str, values: &Values) {
        let Some(file) = &self.file else { return };
        let bits = values.iter().map(|value| value.map(f64::to_bits)).collect();
        let Ok(mut line) = serde_json::to_string(&StoredRun { key: key.to_owned(), bits }) else { return };
        line.push('\n');
        if let Ok(mut file) = file.lock() {
            // Each line is written by one call, so that an interruption leaves at most one incomplete line.
            let _ = file.write_all(line.as_bytes());
        }
    }
}

/// Returns the digest of the program's executable file, which identifies the build.
fn engine() -> Option<String> {
    let program = fs::read(std::env::current_exe().ok()?).ok()?;
    Some(crate::digest::key(&[program]))
}

fn prune(folder: &Path, own: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let files = entries.flatten().map(|entry| entry.path());
    let is_ours = |path: &PathBuf| path.extension().is_some_and(|end| end == "jsonl") && path != own;
    let age = |path: &PathBuf| fs::metadata(path).and_then(|about| about.modified()).ok();
    let mut others: Vec<PathBuf> = files.filter(is_ours).collect();
    others.sort_by_key(|path| std::cmp::Reverse(age(path)));
    for path in others.iter().skip(MAX_FILES - 1) {
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::key;

    #[test]
    fn what_was_finished_is_found_again_to_the_bit() {
        let folder = tempfile::tempdir().unwrap();
        let values = vec![Some(0.1 + 0.2), None, Some(-0.0)];
        let store = RunStore::open(folder.path());
        assert!(store.is_empty());
        store.insert(&key(&["one"]), &values);
        drop(store);
        let again = RunStore::open(folder.path());
        let found = again.find(&key(&["one"])).unwrap();
        assert_eq!(
            found.iter().map(|value| value.map(f64::to_bits)).collect::<Vec<_>>(),
            values.iter().map(|value| value.map(f64::to_bits)).collect::<Vec<_>>()
        );
        assert_eq!(again.find(&key(&["other"])), None);
    }

    #[test]
    fn a_torn_line_loses_only_itself() {
        let folder = tempfile::tempdir().unwrap();
        let store = RunStore::open(folder.path());
        store.insert(&key(&["one"]), &vec![Some(1.0)]);
        drop(store);
        let path = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        fs::write(&path, fs::read_to_string(&path).unwrap() + "{\"key\":\"torn\",\"bi").unwrap();
        let store = RunStore::open(folder.path());
        assert_eq!(store.len(), 1);
        store.insert(&key(&["two"]), &vec![Some(2.0)]);
        drop(store);
        let again = RunStore::open(folder.path());
        assert_eq!((again.len(), again.find(&key(&["two"]))), (2, Some(&vec![Some(2.0)])));
    }
}
