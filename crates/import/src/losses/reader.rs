//! Records of losses as text: 0 and 1 for each packet, or the numbers of lost packets.

use super::{Record, fitted};
use crate::found::{Found, plain};
use crate::{Ask, Refusal};
use std::io::{BufRead, BufReader, Read};

/// Most stored runs: 400 MB.
const MOST_RUNS: usize = 100_000_000;
const LONGEST: usize = 18;

pub(crate) fn read(file: impl Read, ask: &Ask) -> Result<Found, Refusal> {
    let record = record(file, ask)?;
    let fit = fitted(&record, ask.model)?;
    let mut found = Found { kind: "a record of losses".into(), ..Found::default() };
    found.says.push(format!(
        "{} of {} packets lost: {}",
        record.lost(),
        record.packets(),
        crate::losses::fit::share(record.lost() as f64 / record.packets() as f64)
    ));
    found.says.extend(fit.says());
    found.fit = fit.table();
    found.channel = (record.lost() > 0).then(|| fit.channel());
    found.says.push("a record of losses has no rate, round trip or queue: they are given or assumed".into());
    Ok(found)
}

/// Reads a record. The first token other than 0 and 1, and --packets, decide the format.
fn record(file: impl Read, ask: &Ask) -> Result<Record, Refusal> {
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut record = Record::default();
    let mut numbers = Numbers::default();
    let (mut line, mut token) = (1_u64, Vec::new());
    let mut is_comment = false;
    loop {
        let chunk = reader.fill_buf().map_err(|error| Refusal::io("cannot be read", &error))?;
        if chunk.is_empty() {
            break;
        }
        let length = chunk.len();
        for byte in chunk {
            match byte {
                b'\n' => {
                    is_comment = false;
                    take(&mut token, &mut record, &mut numbers, ask, line)?;
                    line += 1;
                }
                _ if is_comment => {}
                b'#' => is_comment = true,
                b' ' | b',' | b';' | b'\t' | b'\r' => take(&mut token, &mut record, &mut numbers, ask, line)?,
                // A long row of zeros and ones needs no memory.
                b'0' | b'1'
                    if !numbers.are_these(ask)
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
        if record.stored() > MOST_RUNS {
            return Err(Refusal::new(
                "the record has more than a hundred million changes between loss and arrival",
                "use a part of it",
            ));
        }
    }
    take(&mut token, &mut record, &mut numbers, ask, line)?;
    if numbers.are_these(ask) {
        record = numbers.record(ask)?;
    }
    match record.packets() {
        0 => Err(Refusal::new(
            "the record has no packets",
            "write 0 for each packet that arrived, 1 for each lost packet",
        )),
        _ => Ok(record),
    }
}

fn refused(token: &[u8], line: u64) -> Refusal {
    let shown: String = String::from_utf8_lossy(token).chars().take(40).collect();
    Refusal::new(
        format!("line {line}: `{}` is neither 0 nor 1", plain(&shown)),
        "write 0 for each packet that arrived and 1 for each lost packet; or, with --packets N, the numbers of lost \
         packets",
    )
}

fn take(
    token: &mut Vec<u8>,
    record: &mut Record,
    numbers: &mut Numbers,
    ask: &Ask,
    line: u64,
) -> Result<(), Refusal> {
    if token.is_empty() {
        return Ok(());
    }
    if numbers.are_these(ask) {
        let number = std::str::from_utf8(token).ok().and_then(|text| text.parse::<u64>().ok());
        numbers.take(number.ok_or_else(|| refused(token, line))?, line)?;
    } else if token.iter().all(|byte| matches!(byte, b'0' | b'1')) {
        token.iter().for_each(|byte| record.push(*byte == b'1'));
    } else {
        return Err(refused(token, line));
    }
    token.clear();
    Ok(())
}

#[derive(Default)]
struct Numbers {
    record: Record,
    last: u64,
}

impl Numbers {
    fn are_these(&self, ask: &Ask) -> bool {
        ask.packets.is_some()
    }

    fn take(&mut self, number: u64, line: u64) -> Result<(), Refusal> {
        if number <= self.last {
            return Err(Refusal::new(
                format!("line {line}: packet {number} comes after packet {}", self.last),
                "list each lost packet once, in order, counted from 1",
            ));
        }
        self.record.push_many(false, number - self.last - 1);
        self.record.push(true);
        self.last = number;
        Ok(())
    }

    fn record(&mut self, ask: &Ask) -> Result<Record, Refusal> {
        let packets = ask.packets.unwrap_or(self.last);
        if packets < self.last {
            return Err(Refusal::new(
                format!("packet {} was lost, but --packets says that there were {packets}", self.last),
                "give the number of all packets, lost or not",
            ));
        }
        self.record.push_many(false, packets - self.last);
        Ok(std::mem::take(&mut self.record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, packets: Option<u64>) -> Result<Record, Refusal> {
        record(text.as_bytes(), &Ask { packets, ..Ask::default() })
    }

    #[test]
    fn rows_columns_and_lists_are_the_same_record() {
        let expected: Record = [false, false, true, true, false, true, false].into_iter().collect();
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
        assert!(of("5\n4\n", Some(10)).unwrap_err().message.contains("comes after"));
        assert!(of("5\n12\n", Some(10)).unwrap_err().message.contains("--packets says"));
    }
}
