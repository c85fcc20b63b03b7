//! Opens the file of a recording, which may be compressed with gzip.

use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

pub(crate) enum RecordingFile {
    Plain(BufReader<File>),
    /// A gzip file (RFC 1952) with one or several members.
    Gzip(Box<MultiGzDecoder<BufReader<File>>>),
}

impl RecordingFile {
    /// Opens a file and detects gzip from the content. Fails if the path is a folder.
    pub(crate) fn open(path: &Path) -> io::Result<RecordingFile> {
        let file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        let mut reader = BufReader::with_capacity(1 << 16, file);
        if reader.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
            Ok(RecordingFile::Gzip(Box::new(MultiGzDecoder::new(reader))))
        } else {
            Ok(RecordingFile::Plain(reader))
        }
    }
}

impl Read for RecordingFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            RecordingFile::Plain(file) => file.read(into),
            RecordingFile::Gzip(file) => file.read(into),
        }
    }
}
