//! The paper's numbers, from `papers/hasegawa/published.csv`.

use serde::Deserialize;

/// A published number.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Published {
    pub(super) item: String,
    pub(super) series: String,
    pub(super) metric: String,
    pub(super) unit: String,
    /// Where it was found, if the paper says so.
    pub(super) ber: Option<f64>,
    pub(super) value: f64,
    /// The section and the words.
    pub(super) source: String,
}

/// All published numbers, in the file's order. A line that cannot be read is left out; a test reads them all.
pub(super) fn all() -> Vec<Published> {
    let text = include_str!("../../../../../papers/hasegawa/published.csv");
    csv::Reader::from_reader(text.as_bytes()).deserialize().filter_map(Result::ok).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_line_is_read() {
        let text = include_str!("../../../../../papers/hasegawa/published.csv");
        assert_eq!(super::all().len(), text.lines().count() - 1);
    }
}
