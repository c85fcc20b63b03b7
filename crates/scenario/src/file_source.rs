//! Access to the files that a scenario names.

use std::fmt;
use std::io::Read;
use std::path::Path;

/// Access to files by name. The files are on disk, or a web page provides them.
pub trait FileSource: fmt::Debug + Send + Sync {
    /// Returns whether a file of this name exists.
    fn exists(&self, name: &str) -> bool;

    /// Reads a whole file, which may have at most `largest` bytes.
    ///
    /// # Errors
    /// Returns the reason as a phrase, such as `there is no such file`.
    fn read(&self, name: &str, largest: u64) -> Result<Vec<u8>, String>;
}

/// Files on disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl FileSource for Disk {
    fn exists(&self, name: &str) -> bool {
        Path::new(name).exists()
    }

    fn read(&self, name: &str, largest: u64) -> Result<Vec<u8>, String> {
        contents(Path::new(name), largest)
    }
}

/// Reads a whole regular file of at most `largest` bytes.
fn contents(path: &Path, largest: u64) -> Result<Vec<u8>, String> {
    let words = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    };
    let metadata = std::fs::metadata(path).map_err(words)?;
    if metadata.is_dir() {
        return Err("it is a directory".to_owned());
    }
    if !metadata.is_file() {
        return Err("it is not a file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(words)?;
    file.take(largest + 1).read_to_end(&mut bytes).map_err(words)?;
    if bytes.len() as u64 > largest {
        Err(format!("the file is larger than {largest} bytes"))
    } else {
        Ok(bytes)
    }
}
