//! Format of answers to the page's requests: a JSON header followed by binary columns of numbers.
//!
//! An answer consists of the length of the header in bytes (u32, little-endian), the header, zeros up to a multiple of
//! 8 bytes, and numbers (f64, little-endian). The field `columns` of the header has three entries for each column: the
//! name, the offset of the first byte, and the number of values. Offsets are counted from the end of the zeros. An
//! undefined value is NaN. An answer with `error` in its header has no columns.

use serde_json::{Value, json};

/// Columns, each with its name.
pub type NamedColumns = Vec<(String, Vec<f64>)>;

#[derive(Default)]
pub(crate) struct Columns {
    index: Vec<Value>,
    bytes: Vec<u8>,
}

impl Columns {
    pub(crate) fn push(&mut self, name: &str, values: impl Iterator<Item = f64>) {
        let from = self.bytes.len();
        values.for_each(|value| self.bytes.extend_from_slice(&value.to_le_bytes()));
        self.index.push(json!([name, from, (self.bytes.len() - from) / size_of::<f64>()]));
    }

    /// Adds several columns. The names get the prefix `group`.
    pub(crate) fn push_all(&mut self, group: &str, names: &[&str], columns: &[Vec<f64>]) {
        for (name, values) in names.iter().zip(columns) {
            self.push(&format!("{group}.{name}"), values.iter().copied());
        }
    }
}

pub(crate) fn encode(mut header: Value, columns: Columns) -> Vec<u8> {
    header["columns"] = Value::Array(columns.index);
    let text = header.to_string();
    let mut out = (text.len() as u32).to_le_bytes().to_vec();
    out.extend_from_slice(text.as_bytes());
    out.resize(out.len().next_multiple_of(size_of::<f64>()), 0);
    out.extend_from_slice(&columns.bytes);
    out
}

/// Decodes an answer into its header and its named columns.
///
/// # Errors
/// Fails with a message if the bytes are not an answer.
pub fn decode(answer: &[u8]) -> Result<(Value, NamedColumns), String> {
    let cut =
        |from: usize, to: usize| answer.get(from..to).ok_or_else(|| "the answer is truncated".to_owned());
    let length = cut(0, 4)?.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
    let header: Value = serde_json::from_slice(cut(4, 4 + length)?).map_err(|error| error.to_string())?;
    let begin = (4 + length).next_multiple_of(size_of::<f64>());
    let mut columns = Vec::new();
    for entry in header["columns"].as_array().into_iter().flatten() {
        let number = |at: usize| entry[at].as_u64().map_or(0, |number| number as usize);
        let (from, count) = (begin + number(1), number(2));
        let bytes = cut(from, from + count * size_of::<f64>())?;
        let values =
            bytes.chunks_exact(8).map(|eight| f64::from_le_bytes(std::array::from_fn(|at| eight[at])));
        columns.push((entry[0].as_str().unwrap_or_default().to_owned(), values.collect()));
    }
    Ok((header, columns))
}
