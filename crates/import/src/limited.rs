//! A reader that limits the length of lines and thus the memory for one line.

use std::io::{self, BufRead, BufReader, Read};

/// Longest line that is accepted, bytes.
pub(crate) const LONGEST_LINE: usize = 1 << 20;

/// A reader that fails if a line is longer than [`LONGEST_LINE`].
pub(crate) struct LineLimited<R> {
    inner: R,
    since: usize,
}

impl<R: Read> LineLimited<R> {
    pub(crate) fn new(inner: R) -> LineLimited<R> {
        LineLimited { inner, since: 0 }
    }
}

impl<R: Read> Read for LineLimited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.since = match buffer[..count].iter().rposition(|byte| *byte == b'\n') {
            Some(at) => count - at - 1,
            None => self.since + count,
        };
        if self.since > LONGEST_LINE {
            Err(io::Error::new(io::ErrorKind::InvalidData, "a line of more than a million characters"))
        } else {
            Ok(count)
        }
    }
}

/// Reads the lines of a text, with their numbers from 1. Invalid UTF-8 is replaced.
pub(crate) struct BoundedLines<R> {
    reader: BufReader<LineLimited<R>>,
    buffer: Vec<u8>,
    pub(crate) number: u64,
}

impl<R: Read> BoundedLines<R> {
    pub(crate) fn new(inner: R) -> BoundedLines<R> {
        BoundedLines {
            reader: BufReader::with_capacity(1 << 16, LineLimited::new(inner)),
            buffer: Vec::new(),
            number: 0,
        }
    }

    /// Returns the next line without its line break; `None` at the end of the file.
    pub(crate) fn next(&mut self) -> io::Result<Option<String>> {
        self.buffer.clear();
        if self.reader.read_until(b'\n', &mut self.buffer)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        Ok(Some(String::from_utf8_lossy(&self.buffer).trim_end_matches(['\n', '\r']).to_owned()))
    }
}
