//! Reads records of losses as text: 0 or 1 for each packet, or the numbers of the lost packets.

use super::{LossRecord, fitted};
use crate::import_result::{ImportResult, plain};
use crate::{ImportError, ImportOptions};
use std::io::{BufRead, BufReader, Read};

/// Largest number of stored runs, which take 400 MB.
const MAX_RUNS: usize = 100_000_000;
const LONGEST: usize = 18;

pub(crate) fn read(file: impl Read, options: &ImportOptions) -> Result<ImportResult, ImportError> {
    let record = record(file, options)?;
    let fit = fitted(&record, options.model)?;
    let mut found = ImportResult { kind: "a record of losses".into(), ..ImportResult::default() };
    found.findings.push(format!(
        "{} of {} packets lost: {}",
        record.lost(),
        record.packets(),
        crate::losses::fit::share(record.lost() as f64 / record.packets() as f64)
    ));
    found.findings.extend(fit.findings());
    found.fit = fit.table();
    found.channel = (record.lost() > 0).then(|| fit.channel());
    found.findings.push(
        "a record of losses has no rate, round trip or queue: these values are given or assumed".into(),
    );
    Ok(found)
}

/// Reads a record. With `--packets`, the text is the list of lost packets. Otherwise the text has a 0 or 1 for each
/// packet.
fn record(file: impl Read, options: &ImportOptions) -> Result<LossRecord, ImportError> {
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut record = LossRecord::default();
    let mut lost_numbers = LostNumbers::default();
    let (mut line, mut token) = (1_u64, Vec::new());
    let mut is_comment = false;
    loop {
        let chunk = reader.fill_buf().map_err(|error| ImportError::io("cannot be read", &error))?;
        if chunk.is_empty() {
            break;
        }
        let length = chunk.len();
        for byte in chunk {
            match byte {
                b'\n' => {
                    is_comment = false;
                    end_token(&mut token, &mut record, &mut lost_numbers, options, line)?;
                    line += 1;
                }
                _ if is_comment => {}
                b'#' => is_comment = true,
                b' ' | b',' | b';' | b'\t' | b'\r' => {
                    end_token(&mut token, &mut record, &mut lost_numbers, options, line)?
                }
                // Each digit of a series of zeros and ones is stored immediately, so that a long series need not be
                // kept as a word.
                b'0' | b'1'
                    if !lost_numbers.are_expected(options)
                        && token.iter().all(|known| matches!(known, b'0' | b'1'))
                        && token.len() >= LONGEST =>
                {
                    record.push(token[0] == b'1');
                    token.remove(0);
                    token.push(*byte);
                }
                _ if token.len() > 4 * LONGEST => {
                    return Err(refused(&token, line));
                }
                _ => token.push(*byte),
            }
        }
        reader.consume(length);
        if record.stored() > MAX_RUNS {
            return Err(ImportError::new(
                "the record has more than a hundred million changes between loss and arrival",
                "use a part of it",
            ));
        }
    }
    end_token(&mut token, &mut record, &mut lost_numbers, options, line)?;
    if lost_numbers.are_expected(options) {
        record = lost_numbers.record(options)?;
    }
    match record.packets() {
        0 => Err(ImportError::new(
            "the record has no packets",
            "write 0 for each packet that arrived, 1 for each lost packet",
        )),
        _ => Ok(record),
    }
}

fn refused(token: &[u8], line: u64) -> ImportError {
    let shown: String = String::from_utf8_lossy(token).chars().take(40).collect();
    ImportError::new(
        format!("line {line}: `{}` is neither 0 nor 1", plain(&shown)),
        "write 0 for each packet that arrived and 1 for each lost packet; or, with --packets N, the numbers of lost \
         packets",
    )
}

fn end_token(
    token: &mut Vec<u8>,
    record: &mut LossRecord,
    lost_numbers: &mut LostNumbers,
    options: &ImportOptions,
    line: u64,
) -> Result<(), ImportError> {
    if token.is_empty() {
        return Ok(());
    }
    if lost_numbers.are_expected(options) {
        let number = std::str::from_utf8(token).ok().and_then(|text| text.parse::<u64>().ok());
        lost_numbers.add(number.ok_or_else(|| refused(token, line))?, line)?;
    } else if token.iter().all(|byte| matches!(byte, b'0' | b'1')) {
        token.iter().for_each(|byte| record.push(*byte == b'1'));
    } else {
        return Err(refused(token, line));
    }
    token.clear();
    Ok(())
}

#[derive(Default)]
struct LostNumbers {
    record: LossRecord,
    last: u64,
}

impl LostNumbers {
    fn are_expected(&self, options: &ImportOptions) -> bool {
        options.packets.is_some()
    }

    fn add(&mut self, number: u64, line: u64) -> Result<(), ImportError> {
        if number <= self.last {
            return Err(ImportError::new(
                format!("line {line}: packet {number} is listed after packet {}", self.last),
                "list each lost packet once, in order, counted from 1",
            ));
        }
        self.record.push_many(false, number - self.last - 1);
        self.record.push(true);
        self.last = number;
        Ok(())
    }

    fn record(&mut self, options: &ImportOptions) -> Result<LossRecord, ImportError> {
        let packets = options.packets.unwrap_or(self.last);
        if packets < self.last {
            return Err(ImportError::new(
                format!("packet {} was lost, but --packets says that there were {packets}", self.last),
                "set --packets to the number of all packets, lost or not",
            ));
        }
        self.record.push_many(false, packets - self.last);
        Ok(std::mem::take(&mut self.record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, packets: Option<u64>) -> Result<LossRecord, ImportError> {
        record(text.as_bytes(), &ImportOptions { packets, ..ImportOptions::default() })
    }

    #[test]
    fn rows_columns_and_lists_are_the_same_record() {
        let expected: LossRecord = [false, false, true, true, false, true, false].into_iter().collect();
        for text in ["0011010", "0 0 1 1 0 1 0\n", "0,0,1,1,0,1,0", "# lost: 1\n0\n0\n1\n1\n0\n1\n0\n"] {
            assert_eq!(of(text, None).as_ref(), Ok(&expected), "{text}");
        }
        assert_eq!(of("3, 4\n6", Some(7)).as_ref(), Ok(&expected));
        let long = "0".repeat(70_000) + &"1".repeat(70_000);
        assert_eq!(of(&long, None).unwrap().runs().collect::<Vec<_>>(), [(false, 70_000), (true, 70_000)]);
    }

    #[test]
    fn what_is_no_record_is_refused_with_its_line() {
        assert!(of("", None).unwrap_err().message.contains("no packets"));
        assert!(of("# nothing\n", None).unwrap_err().message.contains("no packets"));
        assert!(of("0\n0\n2\n", None).unwrap_err().message.starts_with("line 3"));
        assert!(of("5\n4\n", Some(10)).unwrap_err().message.contains("is listed after"));
        assert!(of("5\n12\n", Some(10)).unwrap_err().message.contains("--packets says"));
    }
}
