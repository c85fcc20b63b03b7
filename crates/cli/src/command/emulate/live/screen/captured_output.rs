//! Stores the command's output during `--live` until the end of the run. The screen shows only the last lines.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum size of the stored output, bytes. Further output is discarded.
const MAX_BYTES: usize = 64 << 20;
/// Maximum number of lines stored for drawing.
const MAX_LINES: usize = 200;
const MAX_LINE_CHARS: usize = 500;

#[derive(Debug, Default)]
pub(in super::super) struct CapturedOutput {
    bytes: Vec<u8>,
    discarded: u64,
    lines: VecDeque<String>,
    line: Vec<u8>,
    state: ParserState,
}

/// State of the parser of control sequences (ECMA-48 §5.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum ParserState {
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// Within a control sequence, which ends with a letter: `ESC [ 31 m`.
    Sequence,
    /// Within a control string, which ends with BEL or ESC: `ESC ] 0 ; title BEL`.
    String,
    /// After a carriage return. Following text replaces the line; a following newline ends the line.
    Return,
}

pub(super) fn lock(output: &Mutex<CapturedOutput>) -> MutexGuard<'_, CapturedOutput> {
    output.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CapturedOutput {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let room = MAX_BYTES.saturating_sub(self.bytes.len()).min(bytes.len());
        self.bytes.extend_from_slice(&bytes[..room]);
        self.discarded += (bytes.len() - room) as u64;
        bytes.iter().for_each(|byte| self.print(*byte));
    }

    fn print(&mut self, byte: u8) {
        self.state = match (self.state, byte) {
            (ParserState::Escape, b'[') => ParserState::Sequence,
            (ParserState::Escape, b']' | b'P' | b'X' | b'^' | b'_') => ParserState::String,
            (ParserState::Escape, _) => ParserState::Text,
            (ParserState::Sequence, 0x40..=0x7e) => ParserState::Text,
            (ParserState::Sequence, _) => ParserState::Sequence,
            (ParserState::String, 0x07) => ParserState::Text,
            (_, 0x1b) => ParserState::Escape,
            (ParserState::String, _) => ParserState::String,
            (_, b'\r') => ParserState::Return,
            (_, b'\n') => {
                self.end_line();
                ParserState::Text
            }
            (state, _) => {
                if state == ParserState::Return {
                    self.line.clear();
                }
                match byte {
                    b'\t' => self.line.extend_from_slice(b"    "),
                    0x08 => drop(self.line.pop()),
                    0x20.. if byte != 0x7f => self.line.push(byte),
                    _ => {}
                }
                ParserState::Text
            }
        };
    }

    fn end_line(&mut self) {
        let line = shown(&self.line);
        self.line.clear();
        if self.lines.len() == MAX_LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }

    /// Returns the last lines, at most `count`, including the unfinished line.
    pub(super) fn last(&self, count: usize) -> Vec<String> {
        let open = (!self.line.is_empty()).then(|| shown(&self.line));
        let all = self.lines.len() + usize::from(open.is_some());
        self.lines.iter().cloned().chain(open).skip(all.saturating_sub(count)).collect()
    }

    pub(super) fn write_all(&self, to: &mut impl Write) -> io::Result<()> {
        to.write_all(&self.bytes)?;
        if self.discarded > 0 {
            writeln!(
                to,
                "\r\n({} more bytes were discarded: redirect the command's output to a file)",
                self.discarded
            )?;
        }
        to.flush()
    }
}

fn shown(line: &[u8]) -> String {
    String::from_utf8_lossy(line).chars().filter(|c| !c.is_control()).take(MAX_LINE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_what_a_terminal_shows_and_bytes_what_was_printed() {
        let mut output = CapturedOutput::default();
        let printed =
            b"one\r\n\x1b[31mred\x1b[0m\r\n10 %\r50 %\r100 %\n\x1b]0;title\x07t\x08two\tend \xc3\xa4";
        // The output arrives in pieces that split control sequences.
        printed.chunks(3).for_each(|piece| output.add(piece));
        assert_eq!(output.last(10), ["one", "red", "100 %", "two    end ä"]);
        assert_eq!(output.last(2), ["100 %", "two    end ä"]);
        let mut written = Vec::new();
        output.write_all(&mut written).unwrap();
        assert_eq!(written, printed);
    }

    #[test]
    fn what_is_too_much_is_counted() {
        let mut output = CapturedOutput { bytes: vec![b'x'; MAX_BYTES - 2], ..CapturedOutput::default() };
        output.add(b"12345");
        let mut written = Vec::new();
        output.write_all(&mut written).unwrap();
        let end = String::from_utf8_lossy(&written[MAX_BYTES - 2..]).into_owned();
        assert!(end.starts_with("12\r\n(3 more bytes"), "{end}");
    }
}
