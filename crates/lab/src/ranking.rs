//! Ranking of candidates by value, sorted from best to worst.

/// Candidates with captions and headings.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Ranking {
    /// Caption above the ranking.
    pub caption: String,
    /// Heading of the column with the names.
    pub heading: String,
    /// Label of the value axis, with its unit: `gain, %`.
    pub axis: String,
    /// Heading of the column with the remarks. The heading is empty if the ranking has no remarks.
    pub says: String,
    /// Candidates in display order.
    pub rows: Vec<Ranked>,
}

/// A candidate in a ranking.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Ranked {
    /// Name of the candidate.
    pub name: String,
    /// Short remark.
    pub says: String,
    /// Value of the candidate. `None` if the value is undefined.
    pub value: Option<f64>,
    /// 95 % interval of the value.
    pub ci95: Option<[f64; 2]>,
    /// Value and interval in the printed form.
    pub text: String,
}

impl Ranking {
    /// Sorts the rows by falling value. Equal values are sorted by name. Undefined values are last.
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
