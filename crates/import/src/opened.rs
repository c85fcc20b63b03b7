//! A recording's file, plain or gzip.

use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

pub(crate) enum Opened {
    Plain(BufReader<File>),
    /// gzip (RFC 1952), one or several members.
    Gzip(Box<MultiGzDecoder<BufReader<File>>>),
}

impl Opened {
    /// Opens a file and detects gzip by content. A folder is an error.
    pub(crate) fn open(path: &Path) -> io::Result<Opened> {
        let file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        let mut reader = BufReader::with_capacity(1 << 16, file);
        if reader.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
            Ok(Opened::Gzip(Box::new(MultiGzDecoder::new(reader))))
        } else {
            Ok(Opened::Plain(reader))
        }
    }
}

impl Read for Opened {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Opened::Plain(file) => file.read(into),
            Opened::Gzip(file) => file.read(into),
        }
    }
}
