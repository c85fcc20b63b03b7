//! A ranking: what each candidate is worth, the best first.

/// Candidates, sorted.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Ranking {
    /// Caption above it.
    pub caption: String,
    /// What is ranked: the heading of the names.
    pub heading: String,
    /// What is measured, with its unit: `gain, %`.
    pub axis: String,
    /// The heading of the words beside the names, if there are any.
    pub says: String,
    /// The candidates, in the order in which they are shown.
    pub rows: Vec<Ranked>,
}

/// A candidate.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Ranked {
    /// Its name.
    pub name: String,
    /// What a reader should know of it, in a few words.
    pub says: String,
    /// What it is worth; `None` where that is undefined.
    pub value: Option<f64>,
    /// The 95 % interval.
    pub ci95: Option<[f64; 2]>,
    /// Both as they are printed.
    pub text: String,
}

impl Ranking {
    /// Sorts the rows: the largest value first, equal ones by name, what is undefined last.
    pub fn sorted(mut self) -> Ranking {
        let order = |row: &Ranked| row.value.filter(|value| value.is_finite()).unwrap_or(f64::NEG_INFINITY);
        self.rows.sort_by(|one, other| {
            order(other).total_cmp(&order(one)).then_with(|| one.name.cmp(&other.name))
        });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_stands_first_and_the_undefined_last() {
        let row = |name: &str, value| Ranked { name: name.into(), value, ..Ranked::default() };
        let rows = vec![row("none", None), row("b", Some(1.0)), row("c", Some(-3.0)), row("a", Some(1.0))];
        let sorted = Ranking { rows, ..Ranking::default() }.sorted();
        let names: Vec<&str> = sorted.rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c", "none"]);
    }
}
